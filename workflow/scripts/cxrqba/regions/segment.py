"""Localise anatomy in the images of one shard (paper Sec. E.1.1).

A few images are in memory at a time. An image that cannot be read, or in which the backend finds
no chest, has a status and a ledger row; it never stops the shard. A shard that was killed goes on
at the image where it stopped (:mod:`cxrqba.regions.journal`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.config import SegmentationConfig
from cxrqba.ledger import Ledger
from cxrqba.reference.tables import Region, load_regions
from cxrqba.regions.backends import Atlas, Backend, Film, Finding, Note
from cxrqba.regions.cxas import Cxas, load_network
from cxrqba.regions.cxas_files import load_labels
from cxrqba.regions.engine import localize
from cxrqba.regions.journal import Journal
from cxrqba.regions.masks import encode
from cxrqba.regions.precomputed import Precomputed
from cxrqba.reports.images import ImageError, read_image
from cxrqba.schema import IMAGE_STATUS, LEDGER, MASKS, REGION_BOXES
from cxrqba.step import log, progress
from cxrqba.tables import TableWriter, frame, write_table

STAGE = "segment_anatomy"

NO_LOCALIZATION = (
    "no chest of the expected view found in the image; check the image and its view, "
    "its study goes on without boxes for it"
)

PIECE = 64
"""Images whose rows make one piece of a table."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Recipe:
    """What the results of a shard depend on besides the images; ``code`` is a hash of the code."""

    settings: SegmentationConfig
    reference: Path
    code: str

    def digest(self) -> str:
        """A hash over settings, code and reference tables."""
        digest = hashlib.sha256(self.settings.model_dump_json().encode() + self.code.encode())
        for name in ("regions.csv", "cxas_labels.json"):
            digest.update((self.reference / name).read_bytes())
        for path in self.settings.files():
            digest.update(json.dumps(_stamp(Path(path))).encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class Outputs:
    """Where the tables of a shard go; all are sorted by study and image id."""

    boxes: Path  # REGION_BOXES
    masks: Path  # MASKS
    status: Path  # IMAGE_STATUS
    ledger: Path  # LEDGER


def segment(images: pl.DataFrame, recipe: Recipe, outputs: Outputs, journal: Path) -> pl.DataFrame:
    """Boxes and masks in every image of ``images`` (IMAGES rows); returns their status.

    ``journal`` is the file that a killed run left or is to leave; it is gone when all is written.
    """
    rows = list(images.sort("study_id", "image_id").iter_rows(named=True))
    regions = load_regions(recipe.reference)
    backend = _backend(recipe, regions)
    digest = recipe.digest()
    keys = [_key(row, backend, digest) for row in rows]
    with Journal(journal) as known:
        waiting = [(key, row) for key, row in zip(keys, rows, strict=True) if key not in known]
        if len(waiting) < len(rows):
            log.info("%s: %d of %d images are known", STAGE, len(rows) - len(waiting), len(rows))
        size = backend.batch_size
        batches = [waiting[start : start + size] for start in range(0, len(waiting), size)]
        for batch in progress(batches, len(batches), STAGE):
            for key, result in _batch(batch, backend, recipe.settings, regions):
                known.add(key, result)
        status = _write(list(zip(keys, rows, strict=True)), known, outputs)
        known.remove()
    return status


def _backend(recipe: Recipe, regions: Mapping[str, Region]) -> Backend:
    """The backend that the settings name; its model is loaded here, once a shard."""
    settings = recipe.settings
    if settings.backend == "atlas":
        return Atlas()
    labels = load_labels(recipe.reference)
    if settings.backend == "precomputed":
        return Precomputed(settings.cxas_folder, settings.imagenome_folder, labels, regions)
    network = load_network(str(settings.weights), settings.device)
    return Cxas(network, labels, settings.batch_size)


def _key(row: Row, backend: Backend, recipe: str) -> str:
    """Key of an image's result: a repaired file or a new setting asks again."""
    files = [Path(row["path"]), *backend.sources(row)] if row["path"] is not None else []
    content = json.dumps([recipe, row, [_stamp(path) for path in files]], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _stamp(path: Path) -> list[Any]:
    try:
        found = path.stat()
    except OSError:
        return [str(path)]
    return [str(path), found.st_size, found.st_mtime_ns]


# --- one batch ------------------------------------------------------------------------------------


def _batch(
    batch: Sequence[tuple[str, Row]],
    backend: Backend,
    settings: SegmentationConfig,
    regions: Mapping[str, Region],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """(key, result) of every image of a batch."""
    keys, films = [], []
    for key, row in batch:
        try:
            if row["path"] is None:
                raise ImageError("the image manifest names no file")
            films.append(Film(row, read_image(Path(row["path"]))))
            keys.append(key)
        except ImageError as error:
            detail = f"{row['path'] or row['image_id']}: {error}"
            yield key, _nothing(row, "unreadable", [("image", "unreadable_image", detail)])
    findings = backend.find(films) if films else []
    for key, film, finding in zip(keys, films, findings, strict=True):
        yield key, _result(film, finding, settings, regions)


def _nothing(row: Row, status: str, ledger: list[tuple[str, str, str]]) -> dict[str, Any]:
    """Result of an image without boxes."""
    state = {"path": row["path"], "view": row["view"], "status": status, "num_regions": 0}
    return {"status": state, "boxes": [], "masks": [], "frame": None, "ledger": ledger}


def _result(
    film: Film, finding: Finding, settings: SegmentationConfig, regions: Mapping[str, Region]
) -> dict[str, Any]:
    """Rows of one film, as JSON holds them."""
    anatomy = finding.anatomy
    ledger = [("item", note.reason, _detail(film, note)) for note in finding.notes]
    boxes = localize(anatomy, regions, film.size, settings.min_area) if anatomy else []
    height, width = film.size
    size = {"height": height, "width": width}
    if anatomy is None or not boxes:
        ledger.append(("image", "no_localization", f"{film.row['path']}: {NO_LOCALIZATION}"))
        result = _nothing(film.row, "no_localization", ledger)
        result["status"] |= {**size, "quality": 0.0}
        return result
    status = {"path": film.row["path"], "view": anatomy.view, "status": "ok", **size}
    return {
        "status": {
            **status,
            "num_regions": len(boxes),
            "quality": round(anatomy.quality, 3),
        },
        "boxes": sorted(boxes, key=lambda row: str(row["region"])),
        "masks": [
            [name, encode(crop, anatomy.frame).decode("ascii")]
            for name, crop in sorted(anatomy.masks.items())
        ],
        "frame": list(anatomy.frame),
        "ledger": ledger,
    }


def _detail(film: Film, note: Note) -> str:
    return f"{film.row['path']}: {note.detail}"


# --- tables ---------------------------------------------------------------------------------------


def _write(images: Sequence[tuple[str, Row]], journal: Journal, outputs: Outputs) -> pl.DataFrame:
    """Write all tables; returns the status of the images."""
    ledger = Ledger(STAGE)
    status = []
    with (
        TableWriter(outputs.boxes, REGION_BOXES) as all_boxes,
        TableWriter(outputs.masks, MASKS) as all_masks,
    ):
        for start in range(0, max(len(images), 1), PIECE):
            boxes: list[dict[str, Any]] = []
            masks: list[dict[str, Any]] = []
            for key, row in images[start : start + PIECE]:
                result = journal.get(key)
                ids = {"study_id": row["study_id"], "image_id": row["image_id"]}
                status.append({**ids, **result["status"]})
                boxes.extend({**ids, **box} for box in result["boxes"])
                masks.extend({**ids, **mask} for mask in _mask_rows(result))
                _record(ledger, ids, result["ledger"])
            all_boxes.add(frame(boxes, REGION_BOXES))
            all_masks.add(frame(masks, MASKS))
    states = frame(status, IMAGE_STATUS)
    write_table(states, outputs.status, IMAGE_STATUS)
    write_table(ledger.table(), outputs.ledger, LEDGER)
    return states


def _mask_rows(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if result["frame"] is not None:
        height, width = result["frame"]
        for name, rle in result["masks"]:
            row = {"mask_id": name, "height": height, "width": width}
            yield {**row, "rle": rle.encode("ascii")}


def _record(ledger: Ledger, ids: dict[str, str], rows: Sequence[Sequence[str]]) -> None:
    for scope, reason, detail in rows:
        if scope == "image":
            ledger.image(**ids, reason=reason, detail=detail)
        else:
            ledger.item(ids["study_id"], ids["image_id"], reason, detail)
