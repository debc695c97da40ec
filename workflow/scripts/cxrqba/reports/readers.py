"""Reading a source: which studies there are, their reports and their images.

One reader a kind of source (``config.py``): MIMIC-CXR, Open-i, one's own table, a folder of text
files, images without reports. A reader lists what the source names; :func:`prepare` keeps one
shard of it. Every study the source names ends in the studies table or in the ledger.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from cxrqba.config import (
    HashShards,
    ImageSource,
    MimicSource,
    OpeniSource,
    Source,
    SubjectPrefixShards,
    TableSource,
    TextSource,
)
from cxrqba.errors import UserError
from cxrqba.ledger import Ledger
from cxrqba.reports import mimic, openi, own
from cxrqba.reports.listing import ImageEntry, StudyEntry
from cxrqba.schema import IMAGES, STUDIES
from cxrqba.tables import frame

STAGE = "prepare_studies"
Shards = SubjectPrefixShards | HashShards

READERS: dict[type, Callable[[Any], tuple[Iterable[StudyEntry], Iterable[ImageEntry]]]] = {
    MimicSource: mimic.read,
    OpeniSource: openi.read,
    TableSource: own.read_table_source,
    TextSource: own.read_text_source,
    ImageSource: own.read_image_source,
}

read_openi_mesh = openi.read_mesh


@dataclass
class Prepared:
    """Tables of one shard: STUDIES, IMAGES, LEDGER."""

    studies: pl.DataFrame
    images: pl.DataFrame
    ledger: pl.DataFrame


def shard_of(patient_id: str | None, study_id: str, shards: Shards) -> str:
    """The shard a study belongs to; all studies of one patient share it.

    Raises :class:`UserError` where shards go by subject prefix and the id is no MIMIC id.
    """
    if isinstance(shards, HashShards):
        digest = hashlib.sha256((patient_id or study_id).encode()).digest()
        width = len(str(shards.count - 1))
        return f"{int.from_bytes(digest[:8], 'big') % shards.count:0{width}d}"
    if not patient_id or not re.fullmatch(r"p1\d{7}", patient_id):
        raise UserError(
            f"shards: subject_prefix needs MIMIC subject ids (p1xxxxxxx), found "
            f"'{patient_id or study_id}'; use shards: {{by: hash, count: N}}"
        )
    return patient_id[: shards.digits + 1]


def prepare(source: Source, shards: Shards, shard: str) -> Prepared:
    """Read ``source`` and keep the studies and images of one shard, sorted by id."""
    listed, pictures = READERS[type(source)](source)
    shelf = _Shelf(Ledger(STAGE))
    for entry in listed:
        if entry.study_id and shard_of(entry.patient_id, entry.study_id, shards) == shard:
            shelf.add_study(entry)
        elif not entry.study_id and _first_shard(shards) == shard:
            shelf.ledger.study(entry.origin, "no_study_id", f"{entry.origin}: fill in a study id")
    for image in pictures:
        if shard_of(image.patient_id, image.study_id, shards) == shard:
            shelf.add_image(image)
    return shelf.tables()


def _first_shard(shards: Shards) -> str:
    """Where rows without an id are reported, once."""
    if isinstance(shards, HashShards):
        return "0".zfill(len(str(shards.count - 1)))
    return "p1" + "0" * (shards.digits - 1)


@dataclass
class _Shelf:
    """Studies and images of one shard while they are read."""

    ledger: Ledger
    studies: dict[str, dict[str, Any]] = field(default_factory=dict)
    images: dict[str, dict[str, Any]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    origins: dict[str, str] = field(default_factory=dict)

    def add_study(self, entry: StudyEntry) -> None:
        if entry.study_id in self.origins:
            self.ledger.item(
                entry.study_id,
                None,
                "duplicate_id",
                f"{entry.origin}: same id as {self.origins[entry.study_id]}, which is kept; "
                "give each study its own id",
            )
            return
        self.origins[entry.study_id] = entry.origin
        report, reason, detail = _read_report(entry)
        if reason:
            self.refused.add(entry.study_id)
            self.ledger.study(entry.study_id, reason, detail)
            return
        self.studies[entry.study_id] = {
            "patient_id": entry.patient_id,
            "study_id": entry.study_id,
            "split": entry.split,
            "study_date": entry.study_date,
            "study_time": entry.study_time,
            "procedure": entry.procedure,
            "report_path": entry.report_path if report is not None else None,
            "report": report,
            "num_images": 0,
        }

    def add_image(self, image: ImageEntry) -> None:
        study = self.studies.get(image.study_id)
        if study is None:
            reason = "study_lost" if image.study_id in self.refused else "unknown_study"
            detail = f"{image.origin}: its study is not among those read"
            self.ledger.image(image.study_id, image.image_id, reason, detail)
        elif image.image_id in self.images:
            detail = f"{image.origin}: image id listed before; the first is kept"
            self.ledger.image(image.study_id, image.image_id, "duplicate_id", detail)
        else:
            study["num_images"] += 1
            for key in ("split", "study_date", "study_time", "procedure"):
                study[key] = study[key] or getattr(image, key)
            self.images[image.image_id] = {
                "patient_id": study["patient_id"],
                "study_id": image.study_id,
                "image_id": image.image_id,
                "path": image.path,
                "view_position": image.view_position,
                "view": image.view,
                "height": image.height,
                "width": image.width,
            }

    def tables(self) -> Prepared:
        return Prepared(
            frame(self.studies.values(), STUDIES).sort("study_id"),
            frame(self.images.values(), IMAGES).sort("study_id", "image_id"),
            self.ledger.table(),
        )


def _read_report(entry: StudyEntry) -> tuple[str | None, str | None, str]:
    """Report text, and where it cannot be used the reason and a detail for the ledger."""
    if entry.load is None:
        return None, None, ""
    try:
        text = entry.load()
    except FileNotFoundError:
        detail = f"{entry.report_path}: no such file; complete the download or drop the row"
        return None, "report_missing", detail
    except UnicodeDecodeError as error:
        detail = (
            f"{entry.report_path}: byte {error.start} is not {error.encoding}; save it as UTF-8 or "
            "name its encoding in the dataset file"
        )
        return None, "undecodable", detail
    except OSError as error:
        return (
            None,
            "report_unreadable",
            f"{entry.report_path}: {error.strerror or 'cannot be read'}",
        )
    if not text.strip():
        return None, "empty_report", f"{entry.report_path}: no text in it"
    if "\0" in text:
        return None, "undecodable", f"{entry.report_path}: holds zero bytes; is it a text file?"
    return text, None, ""
