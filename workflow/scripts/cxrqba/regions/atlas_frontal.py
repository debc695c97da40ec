"""Heart, clavicles and what follows from them, where both lungs were found (backend ``atlas``)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cxrqba.regions.atlas_drawing import (
    Drawing,
    add_lung_parts,
    add_midline,
    between_lungs,
    merge_sides,
)
from cxrqba.regions.atlas_lungs import Lungs
from cxrqba.regions.atlas_shapes import CLAVICLES, HEART_SHAPE, LUNGS
from cxrqba.regions.contours import Array, Field, Shape, fit_within

HEART_IN_LUNGS = ((0.35, 0.48, 0.83, 0.88), (0.028, 0.036, 0.045, 0.054))
"""Median and spread of the heart's box, as shares of the box around both lungs."""
HEART_SHIFT = (-0.005, 0.024, 0.02, 0.091)
"""From the fitted outline to the border a reader draws, as shares of the box."""
CLAVICLE_IN_LUNG = {
    "left": ((0.007, 0.031, 0.647, 0.172), (0.035, 0.030, 0.082, 0.037)),
    "right": ((0.340, 0.034, 0.980, 0.171), (0.068, 0.032, 0.034, 0.038)),
}
"""Likewise of a clavicle in the box of the lung of its side."""
CLAVICLE_SHIFT = {"left": (-0.005, 0.04, -0.01, 0.10), "right": (0.02, 0.04, 0.01, 0.07)}
HEART_PULL, CLAVICLE_PULL = 0.05, 0.1
MIN_CLAVICLE_FLUX = 0.0


def contrast(image: Field, lungs: Lungs) -> float:
    """How much darker the brighter lung is than what lies between both, in gray values 0..1."""
    drawing = Drawing(image.shape)
    right, left = (drawing.polygon(*lungs.outline(side)) for side in ("right", "left"))
    between = between_lungs(right, left)
    if not between.any() or not right.any() or not left.any():
        return 0.0
    gray = image.gray
    return float(gray[between].mean() - max(gray[right].mean(), gray[left].mean()))


def draw_frontal(image: Field, lungs: Lungs) -> Drawing:
    drawing = Drawing(image.shape)
    frames: dict[str, Array] = {}
    domes: dict[str, float] = {}
    for side in ("right", "left"):
        x, y = lungs.outline(side)
        drawing.masks[f"{side} lung"] = drawing.polygon(x, y)
        frames[side] = np.array([x.min(), y.min(), x.max(), y.max()])
        domes[side] = float(y[_on_dome(LUNGS[side])].min())
    around = np.array(
        [
            frames["right"][0],
            (frames["right"][1] + frames["left"][1]) / 2,
            frames["left"][2],
            (frames["right"][3] + frames["left"][3]) / 2,
        ]
    )
    heart, _ = fit_within(image, HEART_SHAPE, around, HEART_IN_LUNGS, HEART_PULL)
    heart = _grow(heart, HEART_SHIFT)
    drawing.masks["heart"] = drawing.polygon(*(c[0] for c in HEART_SHAPE.place(heart[None])))
    for side, shape in CLAVICLES.items():
        prior = CLAVICLE_IN_LUNG[side]
        clavicle, strength = fit_within(image, shape, frames[side], prior, CLAVICLE_PULL)
        if strength >= MIN_CLAVICLE_FLUX:
            clavicle = _grow(clavicle, CLAVICLE_SHIFT[side])
            mask = drawing.polygon(*(c[0] for c in shape.place(clavicle[None])))
            drawing.masks[f"clavicle {side}"] = mask
    add_lung_parts(drawing, frames, domes)
    add_midline(drawing, frames, around, heart)
    merge_sides(drawing)
    return drawing.turned(image) if image.tilt else drawing


def _on_dome(lung: Shape) -> NDArray[np.bool_]:
    """Which points (n,) of a lung's outline lie on the dome, away from both its ends."""
    share = -lung.modes[0, :, 1]
    middle: NDArray[np.bool_] = (share > 0.3) & (share < 0.9) & (lung.v > 0.78)
    return middle


def _grow(box: Array, shift: tuple[float, ...]) -> Array:
    """Move the sides of (x1, y1, x2, y2) by shares of its size."""
    grown: Array = box + np.array(shift) * np.tile(box[2:] - box[:2], 2)
    return grown
