"""Exact areas of unions and overlaps of rectangles and axis-aligned ellipses: no rasterising.

The plane is cut into vertical slabs at every place where two outlines can cross. Within a slab the
outlines keep their order from top to bottom, so the area between two neighbours is a difference of
integrals known in closed form: a constant for the side of a rectangle, the integral of a circular
arc for half of an ellipse. Which cells lie within what is decided once, in the middle of the slab.
A cut too many is harmless, so crossings are found generously (paper Sec. 4.1: areas in pixels).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Shape(NamedTuple):
    """A rectangle, or the ellipse inscribed in it; pixels, x1 < x2 and y1 < y2."""

    x1: float
    y1: float
    x2: float
    y2: float
    ellipse: bool = False


def overlap(
    predicted: Sequence[Shape],
    readers: Sequence[Sequence[Shape]],
    window: Shape,
    needed: int = 1,
) -> tuple[float, float, float]:
    """Areas of the prediction, of the target and of both, within the rectangle ``window``.

    The prediction is the union of its shapes; the target is what at least ``needed`` of the
    ``readers`` cover, each reader by the union of the shapes he drew.
    """
    groups = [list(predicted), *map(list, readers)]
    shapes = [*(s for group in groups for s in group), window]
    owner = np.array([n for n, group in enumerate(groups) for _ in group] + [-1])
    cuts = _cuts(shapes, window)
    left, right = cuts[:-1], cuts[1:]
    upper, lower, active = _outlines(shapes, (left + right) / 2)
    inside, order = _cells(upper, lower, active)
    integral = np.concatenate(_integrals(shapes, left, right), axis=1)
    area = np.diff(np.take_along_axis(integral, order, axis=1), axis=1)
    area = np.where(inside[..., -1], area, 0.0)  # the window is the last shape
    covered = [inside[..., owner == n].any(axis=-1) for n in range(len(groups))]
    votes = np.sum(covered[1:], axis=0) if len(groups) > 1 else np.zeros(area.shape)
    prediction, target = covered[0], votes >= needed
    return (
        float(area[prediction].sum()),
        float(area[target].sum()),
        float(area[prediction & target].sum()),
    )


def _cuts(shapes: Sequence[Shape], window: Shape) -> Floats:
    """Sorted x of all ends and tops of shapes and crossings of outlines, within the window."""
    found = [x for s in shapes for x in (s.x1, (s.x1 + s.x2) / 2, s.x2)]
    for one, two in combinations(shapes, 2):
        if one.x1 < two.x2 and two.x1 < one.x2 and one.y1 < two.y2 and two.y1 < one.y2:
            found += _crossings(one, two)
    cuts = np.unique(np.array(found))
    return cuts[(cuts >= window.x1) & (cuts <= window.x2)]


def _crossings(one: Shape, two: Shape) -> list[float]:
    """x where outlines of two shapes can meet, other than at ends and tops of the shapes."""
    if one.ellipse and two.ellipse:
        return _ellipses(one, two)
    if not one.ellipse and not two.ellipse:
        return []
    ellipse, box = (one, two) if one.ellipse else (two, one)
    cx, cy, a, b = _axes(ellipse)
    reach = [1 - ((y - cy) / b) ** 2 for y in (box.y1, box.y2)]
    return [cx + sign * a * share**0.5 for share in reach if share > 0 for sign in (-1, 1)]


def _ellipses(one: Shape, two: Shape) -> list[float]:
    """x where two ellipses meet: roots of the second's equation on the first, as e^(it).

    The distance of a root from the unit circle tells whether it is real; as spare cuts do no harm
    the bound is wide, which keeps the doubled roots of ellipses that touch.
    """
    cx, cy, a, b = _axes(one)
    dx, dy, c, d = _axes(two)
    # ((cx - dx + a cos t) / c)^2 + ((cy - dy + b sin t) / d)^2 - 1 as a polynomial in z = e^(it)
    p, q, u, v = (cx - dx) / c, a / c, (cy - dy) / d, b / d
    outer, middle = (q * q - v * v) / 4, p * q - 1j * u * v
    roots = np.roots(
        [outer, middle, p * p + u * u - 1 + (q * q + v * v) / 2, middle.conjugate(), outer]
    )
    near = np.abs(np.abs(roots) - 1) < 1e-3
    return [float(cx + a * x) for x in np.cos(np.angle(roots[near]))]


def _axes(shape: Shape) -> tuple[float, float, float, float]:
    """Centre (x, y) and half axes of an ellipse."""
    x1, y1, x2, y2, _ = shape
    return (x1 + x2) / 2, (y1 + y2) / 2, (x2 - x1) / 2, (y2 - y1) / 2


def _outlines(shapes: Sequence[Shape], x: Floats) -> tuple[Floats, Floats, Bools]:
    """Upper and lower y of each shape at each x, (x, shapes), and whether it reaches there."""
    table = np.array([s[:4] for s in shapes])
    round_ = np.array([s.ellipse for s in shapes])
    x1, y1, x2, y2 = table.T
    active = (x1 < x[:, None]) & (x[:, None] < x2)
    height = np.where(round_, np.sqrt(1 - _unit(table, x) ** 2), 1.0) * (y2 - y1) / 2
    middle = np.broadcast_to((y1 + y2) / 2, height.shape)
    return middle - height, middle + height, active


def _unit(table: Floats, x: Floats) -> Floats:
    """Place of each x between the ends of each shape as -1 ... 1, (x, shapes)."""
    x1, x2 = table[:, 0], table[:, 2]
    share: Floats = np.clip((2 * x[:, None] - x1 - x2) / (x2 - x1), -1.0, 1.0)
    return share


def _cells(upper: Floats, lower: Floats, active: Bools) -> tuple[Bools, npt.NDArray[np.intp]]:
    """What the cells between neighbouring outlines lie in, (slabs, cells, shapes), and their order.

    Outlines of shapes that do not reach into a slab are put at its end and form no cell.
    """
    outlines = np.concatenate([upper, lower], axis=1)
    shown = np.concatenate([active, active], axis=1)
    order = np.argsort(np.where(shown, outlines, np.inf), axis=1, kind="stable")
    sorted_y = np.take_along_axis(outlines, order, axis=1)
    used = np.take_along_axis(shown, order, axis=1)
    middle = ((sorted_y[:, 1:] + sorted_y[:, :-1]) / 2)[..., None]
    cell = (used[:, 1:] & used[:, :-1])[..., None]
    within = (upper[:, None, :] < middle) & (middle < lower[:, None, :])
    return within & active[:, None, :] & cell, order


def _integrals(shapes: Sequence[Shape], left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Integrals of upper and lower outline of each shape over each slab, (slabs, shapes)."""
    table = np.array([s[:4] for s in shapes])
    round_ = np.array([s.ellipse for s in shapes])
    x1, y1, x2, y2 = table.T
    width = (right - left)[:, None]
    arc = (_arc(_unit(table, right)) - _arc(_unit(table, left))) * (x2 - x1) / 2
    half = np.where(round_, arc, width) * (y2 - y1) / 2
    middle = width * (y1 + y2) / 2
    return middle - half, middle + half


def _arc(u: Floats) -> Floats:
    """Integral of sqrt(1 - u^2)."""
    area: Floats = (u * np.sqrt(1 - u * u) + np.arcsin(u)) / 2
    return area
