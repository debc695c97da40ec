"""MIMIC-CXR 2.1.0 reports with MIMIC-CXR-JPG 2.1.0 tables and images, as PhysioNet lays them out.

Ids are bare integers there; they become ``p########`` and ``s########`` on reading. Reports come
from ``files/`` or from ``mimic-cxr-reports.zip``; the list of images from the metadata table, so
that no folder of 377,110 files is ever walked.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from cxrqba.config import MimicSource
from cxrqba.errors import UserError
from cxrqba.reports.listing import (
    ImageEntry,
    StudyEntry,
    read_csv,
    text_or_none,
    view_of,
    whole_number,
)

IMAGE_ENDINGS = (".jpg", ".dcm", ".png", ".jpeg")


def normalise_id(text: str | None, prefix: str, where: str) -> str:
    """``10000032``, ``10000032.0`` or ``p10000032`` as ``p10000032``."""
    match = re.fullmatch(rf"{prefix}?(\d{{8}})(?:\.0)?", (text or "").strip())
    if not match:
        raise UserError(f"{where}: '{text}' is no id of eight digits")
    return prefix + match[1]


def read(source: MimicSource) -> tuple[Iterator[StudyEntry], Iterator[ImageEntry]]:
    """Studies of the study list and, where images are configured, images of the metadata."""
    splits = _splits(source)
    images = _images(source, splits) if source.images else iter(())
    return _studies(source, splits), images


def _studies(source: MimicSource, splits: dict[str, str]) -> Iterator[StudyEntry]:
    folder = Path(source.reports)
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder (source.reports); check the dataset file")
    path = _either(folder, "cxr-study-list.csv")
    loader = _loader(folder)
    table = read_csv(path, ["subject_id", "study_id", "path"], "the study list of MIMIC-CXR")
    for number, row in enumerate(table.iter_rows(named=True), start=2):
        where = f"{path}, row {number}"
        study_id = normalise_id(row["study_id"], "s", where)
        member = text_or_none(row, "path")
        yield StudyEntry(
            study_id=study_id,
            patient_id=normalise_id(row["subject_id"], "p", where),
            origin=where,
            report_path=member,
            load=loader(member) if member else None,
            split=splits.get(study_id),
        )


def _images(source: MimicSource, splits: dict[str, str]) -> Iterator[ImageEntry]:
    path = _either(Path(source.tables), "mimic-cxr-2.0.0-metadata.csv")
    wanted = ["dicom_id", "subject_id", "study_id", "ViewPosition", "Rows", "Columns"]
    table = read_csv(path, wanted, "the metadata of MIMIC-CXR-JPG")
    root = Path(str(source.images))
    ending = _ending(root, table.head(1).to_dicts())
    for number, row in enumerate(table.iter_rows(named=True), start=2):
        where = f"{path}, row {number}"
        patient = normalise_id(row["subject_id"], "p", where)
        study = normalise_id(row["study_id"], "s", where)
        image = text_or_none(row, "dicom_id") or ""
        view_position = text_or_none(row, "ViewPosition")
        yield ImageEntry(
            image_id=image,
            study_id=study,
            patient_id=patient,
            path=str(root / "files" / patient[:3] / patient / study / f"{image}{ending}"),
            origin=where,
            view_position=view_position,
            view=view_of(view_position),
            height=whole_number(row["Rows"]),
            width=whole_number(row["Columns"]),
            split=splits.get(study),
            study_date=text_or_none(row, "StudyDate"),
            study_time=_time(text_or_none(row, "StudyTime")),
            procedure=text_or_none(row, "PerformedProcedureStepDescription"),
        )


def _time(text: str | None) -> str | None:
    """HHMMSS: the table holds a float and has lost leading zeros."""
    number = whole_number(text)
    return None if number is None else f"{number:06d}"


def _splits(source: MimicSource) -> dict[str, str]:
    path = _either(Path(source.tables), "mimic-cxr-2.0.0-split.csv")
    table = read_csv(path, ["study_id", "split"], "the split of MIMIC-CXR-JPG").unique("study_id")
    return {
        normalise_id(study, "s", str(path)): split
        for study, split in table.select("study_id", "split").iter_rows()
    }


def _either(folder: Path, name: str) -> Path:
    """The gzipped table or, where somebody unpacked it, the plain one."""
    plain = folder / name
    return plain if plain.is_file() else folder / f"{name}.gz"


def _ending(root: Path, first: list[dict[str, str]]) -> str:
    """How image files end under ``root``, judged by the first row: one look, no walk."""
    for row in first:
        patient, study = f"p{row['subject_id']}", f"s{row['study_id']}"
        stem = root / "files" / patient[:3] / patient / study / row["dicom_id"]
        for ending in IMAGE_ENDINGS:
            if stem.with_name(stem.name + ending).is_file():
                return ending
    return IMAGE_ENDINGS[0]


def _loader(folder: Path) -> Callable[[str], Callable[[], str]]:
    """How to load a report: from the tree, else from the zip."""
    archive = folder / "mimic-cxr-reports.zip"
    if (folder / "files").is_dir():
        return lambda member: lambda: (folder / member).read_bytes().decode("utf-8")
    if not archive.is_file():
        raise UserError(f"{folder}: neither files/ nor mimic-cxr-reports.zip is there")
    try:
        opened = zipfile.ZipFile(archive)
    except zipfile.BadZipFile:
        raise UserError(f"{archive}: not a readable zip; download it again") from None

    def load(member: str) -> str:
        try:
            return opened.read(member).decode("utf-8")
        except KeyError:
            raise FileNotFoundError(member) from None
        except zipfile.BadZipFile as error:
            raise OSError(0, str(error)) from None

    return lambda member: lambda: load(member)
