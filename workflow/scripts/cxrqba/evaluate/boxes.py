"""Finding boxes against expert boxes (paper Sec. 4.1, C.3; Tabs 2b, 9).

A pair is an (image, class) with at least one expert box and at least one box of an observation from
the report that asserts the class; each side is the union of its boxes, in original pixels. IoU is
the intersection over the union, IoP over the prediction, IoT over the target; "@30" is the share of
pairs that reach 0.3. These scores are conditional on a prediction, as in the paper; the targets
without one are counted beside them. The whole image as prediction is the baseline.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cxrqba.errors import UserError, nearest
from cxrqba.evaluate.metrics import draw_weights, interval
from cxrqba.evaluate.rectangles import Box, overlap
from cxrqba.reference.tables import Reference
from cxrqba.schema import BOX_SCORES
from cxrqba.tables import frame

OURS = "ours"
BASELINE = "whole image"
CLASSES = "ms_cxr"
THRESHOLD = 0.3
METRICS = ("iou", "iop", "iot", "iou@30", "iop@30", "iot@30")
_COLUMNS = ("dicom_id", "category_name", "x", "y", "w", "h", "image_width", "image_height")
Key = tuple[str, str]  # image id, class


@dataclass
class Target:
    """Expert boxes of one class in one image, and the size of the frame they are given in."""

    width: float
    height: float
    boxes: list[Box] = field(default_factory=list)


@dataclass(frozen=True)
class Settings:
    """Title of the dataset, bootstrap draws and seed."""

    dataset: str
    bootstrap: int = 1000
    seed: int = 0


def read_ms_cxr(path: Path, classes: Iterable[str]) -> dict[Key, Target]:
    """Targets of an MS-CXR CSV: one row a box, x, y, w, h in pixels of the stated image size."""
    known = set(classes)
    targets: dict[Key, Target] = {}
    for line, row in _rows(path):
        where = f"{path}, line {line}"
        name = row["category_name"].strip()
        if name not in known:
            raise UserError(f"{where}: unknown category '{name}'{nearest(name, known)}")
        x, y, w, h, width, height = (_number(row[c], f"{where}, {c}") for c in _COLUMNS[2:])
        if w <= 0 or h <= 0 or width <= 0 or height <= 0:
            raise UserError(f"{where}: width and height of box and image must be positive")
        target = targets.setdefault((row["dicom_id"].strip(), name), Target(width, height))
        if (target.width, target.height) != (width, height):
            raise UserError(f"{where}: image size differs from that of an earlier row of the image")
        target.boxes.append((x, y, x + w, y + h))
    return targets


def predicted_boxes(
    observations: pl.DataFrame, classes: Mapping[str, frozenset[str]]
) -> dict[Key, list[Box]]:
    """Boxes of the observations that assert a class, by (image, class).

    ``observations`` needs obs_id, obs_entities, positiveness, from_report, localization.
    """
    asserted = observations.filter(
        pl.col("from_report"), pl.col("positiveness") == "pos", pl.col("obs_id") != "OIND"
    ).select("obs_entities", "localization")
    boxes: dict[Key, list[Box]] = {}
    for entities, localization in asserted.iter_rows():
        found = [c for c, members in classes.items() if members.intersection(entities or ())]
        for entry in localization or ():
            for name in found:
                if entry["bboxes"]:
                    boxes.setdefault((entry["image_id"], name), []).extend(entry["bboxes"])
    return boxes


def evaluate(
    observations: pl.DataFrame,
    images: pl.DataFrame,
    references: Iterable[tuple[str, str, Path]],
    reference: Reference,
    settings: Settings,
) -> pl.DataFrame:
    """Score all reference sets (name, format, path); returns BOX_SCORES.

    ``images`` needs image_id, study_id, patient_id, height, width. Targets in images that are not
    among them are left out; a target's frame is scaled to the image's size where they differ.
    """
    classes = {
        label: frozenset(entry["exact"]) | frozenset(entry["implied"])
        for label, entry in reference.labels[CLASSES].items()
    }
    predicted = predicted_boxes(observations, classes)
    sizes = {
        image: (patient or study, width, height)
        for image, patient, study, width, height in images.select(
            "image_id", "patient_id", "study_id", "width", "height"
        ).iter_rows()
    }
    rows: list[dict[str, Any]] = []
    for name, _, path in references:
        targets = {k: t for k, t in read_ms_cxr(path, classes).items() if k[0] in sizes}
        for system in (OURS, BASELINE):
            pairs = _pairs(system, targets, predicted, sizes)
            rows += _scores(name, system, list(classes), targets, predicted, pairs, settings)
    return frame(rows, BOX_SCORES)


@dataclass(frozen=True, slots=True)
class _Pair:
    unit: str  # patient, or study where no patient is known
    name: str
    values: tuple[float, ...]  # METRICS


def _pairs(
    system: str,
    targets: Mapping[Key, Target],
    predicted: Mapping[Key, list[Box]],
    sizes: Mapping[str, tuple[str, int | None, int | None]],
) -> list[_Pair]:
    pairs = []
    for (image, name), target in sorted(targets.items()):
        unit, width, height = sizes[image]
        scale_x = (width or target.width) / target.width
        scale_y = (height or target.height) / target.height
        gold = [
            (x1 * scale_x, y1 * scale_y, x2 * scale_x, y2 * scale_y)
            for x1, y1, x2, y2 in target.boxes
        ]
        whole: Box = (0.0, 0.0, target.width * scale_x, target.height * scale_y)
        boxes = [whole] if system == BASELINE else predicted.get((image, name), [])
        if boxes:
            pairs.append(_Pair(unit, name, _values(boxes, gold)))
    return pairs


def _values(predicted: Iterable[Box], gold: Iterable[Box]) -> tuple[float, ...]:
    p, t, both = overlap(predicted, gold)
    union = p + t - both
    shares = [both / area if area > 0 else 0.0 for area in (union, p, t)]
    return (*shares, *(float(s >= THRESHOLD) for s in shares))


def _scores(
    reference: str,
    system: str,
    classes: list[str],
    targets: Mapping[Key, Target],
    predicted: Mapping[Key, list[Box]],
    pairs: list[_Pair],
    settings: Settings,
) -> list[dict[str, Any]]:
    units = {u: i for i, u in enumerate(sorted({p.unit for p in pairs}))}
    weights = draw_weights(len(units), settings.bootstrap, settings.seed)
    images = {image for image, _ in targets}
    rows: list[dict[str, Any]] = []
    for name in ("micro", *classes):
        inside = [p for p in pairs if name in ("micro", p.name)]
        wanted = {k for k in targets if name in ("micro", k[1])}
        common = {
            "dataset": settings.dataset,
            "reference": reference,
            "system": system,
            "class": name,
            "pairs": len(inside),
        }
        for number, metric in enumerate(METRICS):
            value, low, high = _mean(inside, number, units, weights)
            rows.append({**common, "metric": metric, "value": value, "low": low, "high": high})
        given = wanted if system == BASELINE else {k for k in predicted if k[0] in images}
        given = {k for k in given if name in ("micro", k[1])}
        for metric, count in (
            ("targets_without_prediction", len(wanted - given)),
            ("predictions_without_target", len(given - wanted)),
        ):
            rows.append({**common, "metric": metric, "value": float(count)})
    return rows


def _mean(
    pairs: list[_Pair], number: int, units: Mapping[str, int], weights: npt.NDArray[np.int64]
) -> tuple[float, float, float]:
    """Mean of one metric over pairs with its bootstrap interval over units; NaN without pairs."""
    if not pairs:
        return float("nan"), float("nan"), float("nan")
    sums = np.zeros((len(units), 2))
    for pair in pairs:
        sums[units[pair.unit]] += (pair.values[number], 1.0)
    total = sums.sum(axis=0)
    drawn = weights @ sums if weights.size else np.zeros((0, 2))
    means = np.full(len(drawn), np.nan)
    np.divide(drawn[:, 0], drawn[:, 1], out=means, where=drawn[:, 1] > 0)
    return float(total[0] / total[1]), *interval(means)


def _rows(path: Path) -> Iterable[tuple[int, dict[str, str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            header = list(reader.fieldnames or [])
            for wanted in _COLUMNS:
                if wanted not in header:
                    raise UserError(f"{path}: no column '{wanted}'{nearest(wanted, header)}")
            for row in reader:
                yield reader.line_num, row
    except FileNotFoundError:
        raise UserError(
            f"{path}: no such file; correct evaluate.boxes in the dataset file"
        ) from None


def _number(text: str | None, where: str) -> float:
    try:
        return float(text or "")
    except ValueError:
        raise UserError(f"{where}: '{text}' is not a number") from None
