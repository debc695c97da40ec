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

MAX_REPORT = 30_000
"""Characters; the longest reports of MIMIC-CXR have some 6,000."""

STAGE = "prepare_studies"
SUBJECT = re.compile(r"p1\d{7}")
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
        digest = hashlib.sha256(
            (patient_id or study_id).encode("utf-8", "surrogateescape")
        ).digest()
        width = len(str(shards.count - 1))
        return f"{int.from_bytes(digest[:8], 'big') % shards.count:0{width}d}"
    if not patient_id or not SUBJECT.fullmatch(patient_id):
        raise UserError(
            f"shards: subject_prefix needs MIMIC subject ids (p1xxxxxxx), found "
            f"'{patient_id or study_id}'; use shards: {{by: hash, count: N}}"
        )
    return patient_id[: shards.digits + 1]


def prepare(source: Source, shards: Shards, shard: str) -> Prepared:
    """Read ``source`` and keep the studies and images of one shard, sorted by id.

    Whether an id is a duplicate is decided over the whole source, so that the shards together
    hold the same whatever their number: the first row with an id is taken, later ones are entered
    in the ledger. Rows that no shard can own, their ids being wrong, are entered by the first one.
    """
    listed, pictures = READERS[type(source)](source)
    shelf = _Shelf(shards, shard, Ledger(STAGE))
    for entry in listed:
        shelf.add_study(entry)
    if not shelf.homes:
        shelf.explain_emptiness()
    for image in pictures:
        shelf.add_image(image)
    return shelf.tables()


def _first_shard(shards: Shards) -> str:
    """Where rows without a usable id are reported, once."""
    if isinstance(shards, HashShards):
        return "0".zfill(len(str(shards.count - 1)))
    return "p1" + "0" * (shards.digits - 1)


@dataclass(slots=True)
class _Home:
    """What is known of every study of the source, whichever its shard."""

    shard: str
    patient_id: str | None
    origin: str


@dataclass
class _Shelf:
    """Studies and images of one shard while they are read."""

    shards: Shards
    shard: str
    ledger: Ledger
    homes: dict[str, _Home] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)  # image ids of the whole source
    studies: dict[str, dict[str, Any]] = field(default_factory=dict)
    images: dict[str, dict[str, Any]] = field(default_factory=dict)
    wrong: str | None = None  # the first wrong id, for the message if there is no right one

    def add_study(self, entry: StudyEntry) -> None:
        """Keep the study, or say in the ledger why not; nothing if another shard owns it."""
        home = self.homes.get(entry.study_id)
        if home is not None:
            if home.shard == self.shard:
                detail = (
                    f"{entry.origin}: same id as {home.origin}, which is taken; "
                    "give each study its own id"
                )
                self.ledger.item(entry.study_id, None, "duplicate_id", detail)
            return
        wrong = self._wrong_id(entry)
        if wrong:
            self.wrong = self.wrong or f"{entry.origin}: {wrong}"
            if self.shard == _first_shard(self.shards):
                reason = "wrong_id" if entry.study_id else "no_study_id"
                detail = f"{entry.origin}: {wrong}; correct the row"
                self.ledger.study(entry.study_id or entry.origin, reason, detail)
            return
        shard = shard_of(entry.patient_id, entry.study_id, self.shards)
        self.homes[entry.study_id] = _Home(shard, entry.patient_id, entry.origin)
        if shard == self.shard:
            self._load(entry)

    def _wrong_id(self, entry: StudyEntry) -> str | None:
        if not entry.study_id:
            return "no study id"
        by_subject = isinstance(self.shards, SubjectPrefixShards)
        if by_subject and not entry.wrong_id and not SUBJECT.fullmatch(entry.patient_id or ""):
            return f"patient id '{entry.patient_id or ''}' is no MIMIC subject id (p1xxxxxxx)"
        return entry.wrong_id

    def _load(self, entry: StudyEntry) -> None:
        report, reason, detail = _read_report(entry)
        if reason:
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

    def explain_emptiness(self) -> None:
        """Raise: not one study of the source can be used."""
        if self.wrong and isinstance(self.shards, SubjectPrefixShards):
            raise UserError(
                f"{self.wrong}, nor is any other; shards by subject_prefix need MIMIC ids, "
                "others use shards: {by: hash, count: N}"
            )
        if self.wrong:
            raise UserError(f"{self.wrong}, nor has any other row a usable one; check the columns")
        raise UserError("source: it names no study; check the paths of the dataset file")

    def add_image(self, image: ImageEntry) -> None:
        """Keep the image with its study, or say in the ledger why not."""
        home = self.homes.get(image.study_id)
        owner = home.shard if home else _first_shard(self.shards)
        reason, detail = self._image_fault(image, home)
        if not reason:
            self.taken.add(image.image_id)
        if owner != self.shard:
            return
        if not reason and image.study_id not in self.studies:
            reason, detail = "study_lost", "its study could not be used, see its own row"
        if reason:
            study_id = image.study_id or image.origin
            self.ledger.image(study_id, image.image_id, reason, f"{image.origin}: {detail}")
            return
        study = self.studies[image.study_id]
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

    def _image_fault(self, image: ImageEntry, home: _Home | None) -> tuple[str | None, str]:
        if image.wrong_id:
            return "wrong_id", f"{image.wrong_id}; correct the row"
        if home is None:
            return "unknown_study", "its study is not among those the source names"
        if image.patient_id and home.patient_id and image.patient_id != home.patient_id:
            return "other_patient", f"another patient than the study's in {home.origin}"
        if image.image_id in self.taken:
            return "duplicate_id", "image id listed before; the first is kept"
        return None, ""

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
    except ValueError:
        return None, "report_unreadable", "its path is no path of a file; correct the study list"
    if not text.strip():
        return None, "empty_report", f"{entry.report_path}: no text in it"
    if "\0" in text:
        return None, "undecodable", f"{entry.report_path}: holds zero bytes; is it a text file?"
    if len(text) > MAX_REPORT:
        detail = (
            f"{entry.report_path}: {len(text):,} characters; a report has at most {MAX_REPORT:,}"
        )
        return None, "report_too_long", detail
    return text, None, ""
