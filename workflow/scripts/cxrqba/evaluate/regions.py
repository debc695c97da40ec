"""Region boxes against known anatomy: manual masks of real films, outlines of drawn ones.

Intersection over union of our box and the reference box, per structure and side; a structure that
is not found counts as 0, a box that is a fallback as not found. Beside ours stand two systems that
look for nothing: the median box, one constant box per structure and view (as shares of the image),
and the median box in the lungs we found (as shares of the box around them). Both are fitted on the
other half of the images, so that no image is compared with a box it helped to fit. Intervals come
from a bootstrap over images.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from PIL import Image

from cxrqba.errors import UserError
from cxrqba.evaluate.metrics import draw_weights
from cxrqba.evaluate.rectangles import overlap
from cxrqba.schema import PHANTOM_TRUTH, REGION_OVERLAPS, REGION_SCORES
from cxrqba.tables import frame, read_table

Floats = npt.NDArray[np.float64]

OURS, MEDIAN, IN_LUNGS = "ours", "median box", "median box in our lungs"
LATERAL = " (lateral)"
"""Suffix of structures in lateral images: heart and spine look different from the side."""

MASK_FOLDERS = {
    "left lung": "left_lung",
    "right lung": "right_lung",
    "heart": "heart",
    "left clavicle": "left_clavicle",
    "right clavicle": "right_clavicle",
}
"""Structures of a reference in ``masks`` format and their folders."""


@dataclass(frozen=True)
class Target:
    """One structure in one image: its true box and the image's size, in original pixels."""

    structure: str
    image_id: str
    box: tuple[float, ...]
    height: int
    width: int

    @classmethod
    def of_mask(
        cls, structure: str, image_id: str, mask: npt.NDArray[np.bool_], size: tuple[int, int]
    ) -> Target:
        """The box of a mask that is not empty, stretched to ``size`` (height, width)."""
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        sx, sy = size[1] / mask.shape[1], size[0] / mask.shape[0]
        box = (columns[0] * sx, rows[0] * sy, (columns[-1] + 1) * sx, (rows[-1] + 1) * sy)
        return cls(structure, image_id, tuple(map(float, box)), *size)


@dataclass(frozen=True)
class Settings:
    """What to write into the scores, and how to draw."""

    dataset: str
    bootstrap: int
    seed: int


def evaluate(
    boxes: pl.DataFrame,
    status: pl.DataFrame,
    references: Iterable[tuple[str, str, Path]],
    settings: Settings,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """REGION_SCORES and REGION_OVERLAPS of the REGION_BOXES of the images in ``status``.

    ``status`` is an IMAGE_STATUS table; ``references`` are (name, format, path) with format masks
    or phantom. Unreadable images cannot
    be compared; images without localisation count as not found.
    """
    sizes = {
        r["image_id"]: (r["height"], r["width"])
        for r in status.filter(pl.col("status") != "unreadable").iter_rows(named=True)
    }
    refused = set(status.filter(pl.col("status") == "no_localization")["image_id"])
    found = {
        (r["image_id"], r["region"]): r["bboxes"]
        for r in boxes.filter(~pl.col("is_fallback")).iter_rows(named=True)
    }
    rows: list[dict[str, Any]] = []
    single: list[dict[str, Any]] = []
    for name, kind, path in references:
        read = read_phantom_truth if kind == "phantom" else read_masks
        targets = read(path, sizes)
        if not targets:
            raise UserError(f"{path}: no reference for any image of dataset '{settings.dataset}'")
        for structure in sorted({t.structure for t in targets}):
            chosen = sorted(
                (t for t in targets if t.structure == structure), key=lambda t: t.image_id
            )
            single += [_overlap(t, name, found) for t in chosen]
            systems = _systems(chosen, found)
            for system, values in systems.items():
                rows += _scores(values, settings, name, system, structure)
            missing = np.array([t.image_id in refused for t in chosen], dtype=np.float64)
            given = systems[OURS][1]
            rows += _scores((missing, given), settings, name, OURS, structure, ("refused",))
    return frame(rows, REGION_SCORES), frame(single, REGION_OVERLAPS)


def _overlap(
    target: Target, reference: str, found: Mapping[tuple[str, str], Sequence[Sequence[float]]]
) -> dict[str, Any]:
    """One row of REGION_OVERLAPS."""
    given = found.get((target.image_id, target.structure.removesuffix(LATERAL)), [])
    return {
        "reference": reference,
        "image_id": target.image_id,
        "structure": target.structure,
        "iou": box_iou(target.box, given),
        "true_box": list(target.box),
        "found_boxes": [list(box) for box in given],
    }


def read_phantom_truth(path: Path, sizes: Mapping[str, tuple[int, int]]) -> list[Target]:
    """Targets of the drawn images that are in ``sizes`` (image id -> height, width)."""
    targets = []
    for row in read_table(path, PHANTOM_TRUTH).iter_rows(named=True):
        if row["image_id"] in sizes:
            suffix = LATERAL if row["view"] == "lateral" else ""
            for box in row["bboxes"]:
                target = Target(
                    row["structure"] + suffix, row["image_id"], tuple(box), *sizes[row["image_id"]]
                )
                targets.append(target)
    return targets


def read_masks(path: Path, sizes: Mapping[str, tuple[int, int]]) -> list[Target]:
    """Targets from ``masks/<structure>/<image id>.png``, scaled to the size of the image."""
    folder = path / "masks"
    if not folder.is_dir():
        raise UserError(f"{path}: no folder masks/ with one folder a structure in it")
    targets = []
    for structure, name in MASK_FOLDERS.items():
        for image_id, size in sorted(sizes.items()):
            file = folder / name / f"{image_id}.png"
            if not file.is_file():
                continue
            mask = _mask(file)
            if mask.any():
                targets.append(Target.of_mask(structure, image_id, mask, size))
    return targets


def _mask(file: Path) -> npt.NDArray[np.bool_]:
    try:
        with Image.open(file) as image:
            return np.asarray(image.convert("L")) > 0
    except OSError as error:
        raise UserError(f"{file}: the mask cannot be read ({error})") from None


def _systems(
    targets: Sequence[Target], found: Mapping[tuple[str, str], Sequence[Sequence[float]]]
) -> dict[str, tuple[Floats, int]]:
    """IoU per target (n,) and number of boxes given, by system."""
    region = targets[0].structure.removesuffix(LATERAL)
    ours = [found.get((t.image_id, region), []) for t in targets]
    systems = {OURS: ours}
    if len(targets) > 1:
        systems[MEDIAN] = _constant(targets, [(0, 0, t.width, t.height) for t in targets])
        if "lung" not in region:
            lungs = [_around(found.get((t.image_id, "lungs"), [])) for t in targets]
            systems[IN_LUNGS] = _constant(targets, lungs)
    return {
        name: (
            np.array([box_iou(t.box, b) for t, b in zip(targets, given, strict=True)]),
            sum(1 for b in given if b),
        )
        for name, given in systems.items()
    }


def box_iou(box: Sequence[float], given: Sequence[Sequence[float]]) -> float:
    """Intersection over union of a box and the union of those given; 0 without any."""
    one, other, both = overlap([box], given)
    return both / (one + other - both) if both else 0.0


def _constant(
    targets: Sequence[Target], frames: Sequence[Sequence[float] | None]
) -> list[Sequence[Sequence[float]]]:
    """Per target the median box of the other half, in its frame (x1, y1, x2, y2); none without."""
    halves = [_median_box(targets[1::2], frames[1::2]), _median_box(targets[::2], frames[::2])]
    given: list[Sequence[Sequence[float]]] = []
    for number, box in enumerate(frames):
        shares = halves[number % 2]
        if box is None or shares is None:
            given.append([])
        else:
            given.append([(_corner(box) + shares * _size(box)).tolist()])
    return given


def _median_box(
    targets: Sequence[Target], frames: Sequence[Sequence[float] | None]
) -> Floats | None:
    """(4,) median box as shares of the frames; None without any frame."""
    shares = [
        (np.array(t.box) - _corner(f)) / _size(f)
        for t, f in zip(targets, frames, strict=True)
        if f is not None
    ]
    return np.asarray(np.median(np.array(shares), axis=0)) if shares else None


def _corner(box: Sequence[float]) -> Floats:
    return np.tile(np.array(box[:2], dtype=np.float64), 2)


def _size(box: Sequence[float]) -> Floats:
    return np.tile(np.array(box[2:], dtype=np.float64), 2) - _corner(box)


def _around(boxes: Sequence[Sequence[float]]) -> Sequence[float] | None:
    """The one box around others; None without any."""
    if not boxes:
        return None
    array = np.array(boxes)
    return [*array[:, :2].min(axis=0), *array[:, 2:].max(axis=0)]


def _scores(
    values: tuple[Floats, int],
    settings: Settings,
    reference: str,
    system: str,
    structure: str,
    metrics: Sequence[str] = ("iou_mean", "iou_p10"),
) -> list[dict[str, Any]]:
    overlaps, given = values
    weights = draw_weights(len(overlaps), settings.bootstrap, settings.seed)
    drawn = [np.repeat(overlaps, w) for w in weights] if settings.bootstrap else []
    rows = []
    for metric in metrics:
        draws = [_value(metric, d) for d in drawn]
        low, high = np.percentile(draws, [2.5, 97.5]) if draws else (None, None)
        rows.append(
            {
                "dataset": settings.dataset,
                "reference": reference,
                "system": system,
                "structure": structure,
                "metric": metric,
                "value": _value(metric, overlaps),
                "low": low,
                "high": high,
                "images": len(overlaps),
                "found": given,
            }
        )
    return rows


def _value(metric: str, overlaps: Floats) -> float:
    if metric == "iou_p10":
        return float(np.percentile(overlaps, 10))
    return float(overlaps.mean())
