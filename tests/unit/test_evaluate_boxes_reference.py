"""All box scores against a plain second implementation that counts points of a fine raster."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box_fixtures import PHASE_1, Reflacx, images, ms_cxr, observation, run, values
from numpy.typing import NDArray

from cxrqba.evaluate.boxes import Expert
from cxrqba.evaluate.reflacx import Cut

SIDE, FINE = 100, 8
Mask = NDArray[np.bool_]
MS_CXR = {
    "Pneumothorax": "pneumothorax",
    "Cardiomegaly": "cardiomegaly",
    "Pleural Effusion": "pleural effusion",
}
"""Classes of which no finding implies another, and a finding of each."""
REFLACX = {
    "Pneumothorax": "pneumothorax",
    "Consolidation": "consolidation",
    "Atelectasis": "atelectasis",
}
X = (np.arange(SIDE * FINE) + 0.5) / FINE


def raster(box: Sequence[float], ellipse: bool) -> Mask:
    """Points of the image inside a rectangle or the ellipse that fills it."""
    x1, y1, x2, y2 = box
    if not ellipse:
        rows, columns = ((low < X) & (high > X) for low, high in ((y1, y2), (x1, x2)))
        return rows[:, None] & columns[None]
    u, v = (2 * X - x1 - x2) / (x2 - x1), (2 * X - y1 - y2) / (y2 - y1)
    return np.asarray(u[None] ** 2 + v[:, None] ** 2 < 1)


def corners(rng: np.random.Generator) -> tuple[int, int, int, int]:
    x, y, w, h = (int(n) for n in (*rng.integers(-10, 80, 2), *rng.integers(12, 60, 2)))
    return x, y, x + w, y + h


def slow_scores(
    readers: dict[tuple[str, str], list[list[Mask]]],
    needed: dict[tuple[str, str], int],
    boxes: dict[tuple[str, str], list[Mask]],
    asked: set[tuple[str, str]],
) -> dict[str, float]:
    """Micro scores of our system: one pair after the other, one point after the other."""
    ratios, targets, hits = [], 0, 0
    with_target = set()
    for key, drawn in readers.items():
        votes = np.sum([np.any(shapes, axis=0) for shapes in drawn], axis=0)
        target = votes >= needed[key]
        if len(drawn) >= needed[key]:
            with_target.add(key)  # they agree that it is there, if not where
        if not target.any():
            continue
        targets += 1
        if key not in boxes:
            continue
        prediction = np.any(boxes[key], axis=0)
        both = (prediction & target).sum()
        union = (prediction | target).sum()
        ratios.append((both / union, both / max(prediction.sum(), 1), both / target.sum()))
        hits += ratios[-1][0] >= 0.3
    means = np.mean(ratios, axis=0) if ratios else [math.nan] * 3
    return {
        **dict(zip(("iou", "iop", "iot"), map(float, means), strict=True)),
        "pairs": len(ratios),
        "targets": targets,
        "hits@30": hits / targets if targets else math.nan,
        "targets_without_prediction": targets - len(ratios),
        "predictions_without_target": len((boxes.keys() & asked) - with_target),
    }


def ours(
    rng: np.random.Generator, classes: dict[str, str]
) -> tuple[list[dict[str, Any]], dict[tuple[str, str], list[Mask]]]:
    """Observations with up to two boxes, clear of the image's edge, and their rasters."""
    seen, boxes = [], {}
    for image in ("i1", "i2"):
        for name, finding in classes.items():
            drawn = [np.clip(corners(rng), 0, SIDE) for _ in range(rng.integers(0, 3))]
            if drawn:
                seen.append(observation(finding, image, *drawn))
                boxes[image, name] = [raster(b, False) for b in drawn]
    return seen, boxes


def compare(found: dict[tuple[str, str, str], float], slow: dict[str, float], by: float) -> None:
    for metric, expected in slow.items():
        value = found["ours", "micro", metric]
        assert value == pytest.approx(expected, abs=by, nan_ok=True), metric


@pytest.mark.parametrize("seed", range(8))
def test_boxes_agree_with_counting_points(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    seen, boxes = ours(rng, MS_CXR)
    rows, readers = [], {}
    for image in ("i1", "i2"):
        for name in MS_CXR:
            drawn = [corners(rng) for _ in range(rng.integers(0, 3))]
            for x1, y1, x2, y2 in drawn:
                rows.append(f"{image},{name},x,p,{x1},{y1},{x2 - x1},{y2 - y1},100,100,test")
            if drawn:
                readers[image, name] = [[raster(b, False) for b in drawn]]
    asked = {(r.split(",")[0], n) for r in rows for n in MS_CXR}
    slow = slow_scores(readers, dict.fromkeys(readers, 1), boxes, asked)
    found = run(Expert("gold", "ms_cxr", ms_cxr(tmp_path, *rows)), seen, images())
    compare(values(found), slow, 1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_readers_agree_with_counting_points(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    seen, boxes = ours(rng, REFLACX)
    source = Reflacx(tmp_path)
    readers: dict[tuple[str, str], list[list[Mask]]] = {}
    for image in ("i1", "i2"):
        for reader in range(3):
            ellipses = [
                (corners(rng), 5, [name])
                for name in REFLACX
                for _ in range(rng.integers(0, 3))
            ]  # fmt: skip
            number = f"P10{image[1]}R00000{reader}"
            source.reading(number, image, ellipses, labels=PHASE_1)
            for name in REFLACX:
                drawn = [raster(box, True) for box, _, (label,) in ellipses if label == name]
                if drawn:
                    readers.setdefault((image, name), []).append(drawn)
    expert = Expert("gold", "reflacx", tmp_path, {}, ("union", "majority"), Cut((1,)))
    found = run(expert, seen, images())
    asked = {(image, name) for image in ("i1", "i2") for name in REFLACX}
    for pooling, votes in (("union", 1), ("majority", 2)):
        slow = slow_scores(readers, dict.fromkeys(readers, votes), boxes, asked)
        compare(values(found, pooling), slow, 0.01)
