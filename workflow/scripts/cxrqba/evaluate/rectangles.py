"""Exact areas of unions of rectangles, by coordinate compression: no rasterising."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

Box = Sequence[float]
"""(x1, y1, x2, y2) with x1 <= x2 and y1 <= y2; areas are in the square of its unit."""


def overlap(first: Iterable[Box], second: Iterable[Box]) -> tuple[float, float, float]:
    """Areas of the union of ``first``, of the union of ``second`` and of their intersection."""
    one, two = _array(first), _array(second)
    both = np.concatenate([one, two])
    if not len(both):
        return 0.0, 0.0, 0.0
    xs = np.unique(both[:, [0, 2]])
    ys = np.unique(both[:, [1, 3]])
    cells = np.outer(np.diff(ys), np.diff(xs))
    covered_one, covered_two = _covered(one, xs, ys), _covered(two, xs, ys)
    return (
        float(cells[covered_one].sum()),
        float(cells[covered_two].sum()),
        float(cells[covered_one & covered_two].sum()),
    )


def _array(boxes: Iterable[Box]) -> npt.NDArray[np.float64]:
    array = np.array([list(b) for b in boxes], dtype=np.float64).reshape(-1, 4)
    return array[(array[:, 2] > array[:, 0]) & (array[:, 3] > array[:, 1])]


def _covered(
    boxes: npt.NDArray[np.float64], xs: npt.NDArray[np.float64], ys: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    grid = np.zeros((max(len(ys) - 1, 0), max(len(xs) - 1, 0)), dtype=np.bool_)
    for x1, y1, x2, y2 in boxes:
        left, right = np.searchsorted(xs, (x1, x2))
        top, bottom = np.searchsorted(ys, (y1, y2))
        grid[top:bottom, left:right] = True
    return grid
