"""MIMIC-CXR 2.1.0 reports with MIMIC-CXR-JPG 2.1.0 tables and images, as PhysioNet lays them out.

Ids are bare integers there; they become ``p########`` and ``s########`` on reading. Reports come
from ``files/`` or from ``mimic-cxr-reports.zip``; the list of images from the metadata table, so
that no folder of 377,110 files is ever walked. A row whose ids have another form is listed as such
and stops nothing. Ids are normalised by column: each shard reads the tables of all.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import polars as pl

from cxrqba.config import MimicSource
from cxrqba.errors import UserError
from cxrqba.reports.listing import (
    ImageEntry,
    StudyEntry,
    decode,
    read_csv,
    require_folder,
    view_of,
)

IMAGE_ENDINGS = (".jpg", ".dcm", ".png", ".jpeg")
LOOKED_AT = 50
"""Rows whose files are looked for to learn how image files end; the first few may be missing."""


def normalised(column: str, prefix: str) -> pl.Expr:
    """``10000032``, ``10000032.0`` or ``p10000032`` as ``p10000032``; null for any other form."""
    digits = pl.col(column).str.strip_chars().str.extract(rf"^{prefix}?(\d{{8}})(?:\.0)?$")
    return (prefix + digits).alias(prefix)


def read(source: MimicSource) -> tuple[Iterator[StudyEntry], Iterator[ImageEntry]]:
    """Studies of the study list and, where images are configured, images of the metadata."""
    splits = _splits(source)
    images = _images(source, splits) if source.images else iter(())
    return _studies(source, splits), images


def _studies(source: MimicSource, splits: dict[str, str]) -> Iterator[StudyEntry]:
    folder = require_folder(source.reports, "source.reports")
    path = _either(folder, "cxr-study-list.csv")
    loader = _loader(folder)
    table = _listed(path, ["subject_id", "study_id", "path"], "the study list of MIMIC-CXR")
    rows = table.select("p", "s", "subject_id", "study_id", _text("path")).iter_rows()
    for number, (patient, study, raw_patient, raw_study, member) in enumerate(rows, start=2):
        yield StudyEntry(
            study_id=study or (raw_study or "").strip(),
            patient_id=patient,
            origin=f"{path}, row {number}",
            report_path=member,
            load=loader(member) if member else None,
            split=splits.get(study),
            wrong_id=_wrong_id(study, patient, raw_study, raw_patient),
        )


def _listed(path: Path, wanted: list[str], what: str) -> pl.DataFrame:
    """A table with its ids normalised in columns ``p`` and ``s``, null where they have no form."""
    table = read_csv(path, wanted, what)
    if table.is_empty():
        raise UserError(f"{path}: the table has no rows")
    return table.with_columns(normalised("subject_id", "p"), normalised("study_id", "s"))


def _wrong_id(
    study: str | None, patient: str | None, raw_study: str | None, raw_patient: str | None
) -> str | None:
    if study is None:
        return f"study_id '{raw_study or ''}' is no id of eight digits"
    if patient is None:
        return f"subject_id '{raw_patient or ''}' is no id of eight digits"
    return None


def _images(source: MimicSource, splits: dict[str, str]) -> Iterator[ImageEntry]:
    path = _either(Path(source.tables), "mimic-cxr-2.0.0-metadata.csv")
    wanted = ["dicom_id", "subject_id", "study_id", "ViewPosition", "Rows", "Columns"]
    table = _listed(path, wanted, "the metadata of MIMIC-CXR-JPG")
    absent = [c for c in OPTIONAL if c not in table.columns]
    table = table.with_columns(pl.lit(None, pl.String).alias(c) for c in absent)
    table = table.with_columns(dicom_id=_text("dicom_id")).with_columns(stem=STEM)
    root = Path(str(source.images))
    ending = _ending(root, table["stem"].drop_nulls().head(LOOKED_AT))
    prefix = f"{root}/files/"
    views: dict[str | None, str] = {
        v: view_of(v) for v in table.select(_text("ViewPosition")).to_series().unique()
    }
    rows = table.select(
        *("p", "s", "subject_id", "study_id", "dicom_id", "stem"),
        _text("ViewPosition"),
        _whole("Rows"),
        _whole("Columns"),
        _text("StudyDate"),
        _whole("StudyTime").cast(pl.String).str.zfill(6),  # a float there: leading zeros are lost
        _text("PerformedProcedureStepDescription"),
    ).iter_rows()
    for number, row in enumerate(rows, start=2):
        patient, study, raw_patient, raw_study, image, stem, view_position, *rest = row
        height, width, date, time, procedure = rest
        wrong = _wrong_id(study, patient, raw_study, raw_patient)
        yield ImageEntry(
            image_id=image or "",
            study_id=study or (raw_study or "").strip(),
            patient_id=patient,
            path=f"{prefix}{stem}{ending}",
            origin=f"{path}, row {number}",
            view_position=view_position,
            view=views[view_position],
            height=height,
            width=width,
            split=splits.get(study),
            study_date=date,
            study_time=time,
            procedure=procedure,
            wrong_id=wrong or (None if image else "no dicom_id"),
        )


OPTIONAL = ("StudyDate", "StudyTime", "PerformedProcedureStepDescription")
"""Columns of the metadata that nothing depends on: cut-down copies lack them."""

STEM = pl.concat_str(pl.col("p").str.head(3), "p", "s", "dicom_id", separator="/")
"""Where an image lies below ``files/``, without ending; null if an id is."""


def _text(column: str) -> pl.Expr:
    """A column without blanks around its cells; blank cells are null."""
    text = pl.col(column).str.strip_chars()
    return pl.when(text != "").then(text).alias(column)


def _whole(column: str) -> pl.Expr:
    """``3056`` or ``72804.968`` as a whole number; anything else is null."""
    number = pl.col(column).str.strip_chars().cast(pl.Float64, strict=False)
    return number.floor().cast(pl.Int64, strict=False)


def _splits(source: MimicSource) -> dict[str, str]:
    path = _either(Path(source.tables), "mimic-cxr-2.0.0-split.csv")
    table = read_csv(path, ["study_id", "split"], "the split of MIMIC-CXR-JPG")
    pairs = table.select(normalised("study_id", "s"), "split").drop_nulls()
    return dict(pairs.unique("s", keep="first", maintain_order=True).iter_rows())


def _either(folder: Path, name: str) -> Path:
    """The gzipped table or, where somebody unpacked it, the plain one."""
    plain = folder / name
    return plain if plain.is_file() else folder / f"{name}.gz"


def _ending(root: Path, stems: Iterable[str]) -> str:
    """How image files end under ``root``, judged by the first that is there: no walk."""
    for stem in stems:
        for ending in IMAGE_ENDINGS:
            if (root / "files" / f"{stem}{ending}").is_file():
                return ending
    return IMAGE_ENDINGS[0]


def _loader(folder: Path) -> Callable[[str], Callable[[], str]]:
    """How to load a report: from the tree, else from the zip.

    Both are asked: next to the zip a folder ``files/`` may hold images alone.
    """
    archive = folder / "mimic-cxr-reports.zip"
    opened: zipfile.ZipFile | None = None
    if archive.is_file():
        try:
            opened = zipfile.ZipFile(archive)
        except zipfile.BadZipFile:
            raise UserError(f"{archive}: not a readable zip; download it again") from None
    elif not (folder / "files").is_dir():
        raise UserError(f"{folder}: neither files/ nor mimic-cxr-reports.zip is there")

    def load(member: str) -> str:
        if Path(member).is_absolute() or ".." in Path(member).parts:
            raise OSError(0, "a path out of the source's folder; correct the study list")
        try:
            return decode((folder / member).read_bytes(), "utf-8")
        except FileNotFoundError:
            if opened is None:
                raise
        try:
            return decode(opened.read(member), "utf-8")
        except KeyError:
            raise FileNotFoundError(member) from None
        except (zipfile.BadZipFile, zlib.error, EOFError):
            raise OSError(0, f"damaged in {archive.name}; download it again") from None

    return lambda member: lambda: load(member)
