"""Masks and boxes that follow from the outlines found in an image (backend ``atlas``)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy import ndimage

from cxrqba.regions.contours import Array, Field
from cxrqba.regions.crops import Mask, clean
from cxrqba.regions.engine import Anatomy, Box

ZONES = (("apical zone lung", 0.0, 0.15), ("upper zone lung", 0.15, 0.40),
         ("mid zone lung", 0.40, 0.66), ("lung base", 0.66, 1.0))  # fmt: skip
"""CXAS names and shares of the lung's height."""
HILUM = (0.36, 0.58, 0.38)
"""First and last share of the lung's height, share of its width from the medial border."""
ANGLE = (0.86, 0.32)
"""First share of the lung's height, share of its width from the lateral border."""
SPINE_WIDTH = 0.12
"""Share of the width of both lungs."""


@dataclass
class Drawing:
    """Masks and boxes of one image on the grid."""

    shape: tuple[int, int]
    masks: dict[str, Mask] = field(default_factory=dict)
    boxes: dict[str, Box] = field(default_factory=dict)
    imagenome: dict[str, Box] = field(default_factory=dict)

    def polygon(self, x: Array, y: Array) -> Mask:
        image = Image.new("1", (self.shape[1], self.shape[0]))
        points = [(float(a), float(b)) for a, b in zip(x, y, strict=True)]
        ImageDraw.Draw(image).polygon(points, fill=1)
        return np.array(image, dtype=bool)

    def turned(self, image: Field) -> Drawing:
        """All that was drawn upright, as it lies in an image with a tilt."""
        sine, cosine = np.sin(image.tilt), np.cos(image.tilt)
        back = np.array([[cosine, -sine], [sine, cosine]])  # row and column
        middle = (np.array(self.shape) - 1) / 2
        shift = middle - back @ middle

        def mask(drawn: Mask) -> Mask:
            turned = ndimage.affine_transform(drawn.astype(np.uint8), back, shift, order=0)
            return np.asarray(turned > 0)

        def box(upright: Box) -> Box:
            x1, y1, x2, y2 = upright
            x, y = image.turn(np.array([x1, x2, x2, x1]), np.array([y1, y1, y2, y2]))
            return float(x.min()), float(y.min()), float(x.max()), float(y.max())

        return Drawing(
            self.shape,
            {name: mask(m) for name, m in self.masks.items()},
            {name: box(b) for name, b in self.boxes.items()},
            {name: box(b) for name, b in self.imagenome.items()},
        )

    def anatomy(self, view: str, quality: float, size: tuple[int, int]) -> Anatomy:
        """With boxes in original pixels; ``size`` is (height, width) of the image."""
        sx, sy = size[1] / self.shape[1], size[0] / self.shape[0]

        def scaled(boxes: dict[str, Box]) -> dict[str, Box]:
            return {n: (b[0] * sx, b[1] * sy, b[2] * sx, b[3] * sy) for n, b in boxes.items()}

        return Anatomy(
            view=view,
            masks=clean(self.masks.items()),
            frame=self.shape,
            boxes=scaled(self.boxes),
            imagenome=scaled(self.imagenome),
            derived=True,
            sides_known=view == "frontal",
            quality=quality,
        )


def add_lung_parts(drawing: Drawing, frames: dict[str, Array], domes: dict[str, float]) -> None:
    """Zones, hila, costophrenic angles and hemidiaphragms, by position in the lung found."""
    rows = np.arange(drawing.shape[0])[:, None]
    columns = np.arange(drawing.shape[1])[None, :]
    for side, (x1, y1, x2, y2) in frames.items():
        lung, height, width = drawing.masks[f"{side} lung"], y2 - y1, x2 - x1
        for name, first, last in ZONES:
            zone = lung & (rows >= y1 + first * height) & (rows < y1 + last * height)
            drawing.masks[f"{side} {name}"] = zone
        base = _box(drawing.masks[f"{side} lung base"])
        if base is not None:
            drawing.imagenome[f"{side} lower lung zone"] = base
        medial = {"right": x2, "left": x1}[side]
        inwards = {"right": -1.0, "left": 1.0}[side]
        first, last, reach = HILUM
        hilum = lung & (rows >= y1 + first * height) & (rows < y1 + last * height)
        hilum &= inwards * (columns - medial) < reach * width
        angle = lung & (rows >= y1 + ANGLE[0] * height)
        angle &= inwards * (columns - medial) > (1 - ANGLE[1]) * width
        for name, mask in (("hilar structures", hilum), ("costophrenic angle", angle)):
            box = _box(mask)
            if box is not None:
                drawing.imagenome[f"{side} {name}"] = box
        below = np.logical_or.accumulate(lung, axis=0) & ~lung & (rows < y2)
        drawing.masks[f"{side} hemidiaphragm"] = below & (rows >= domes[side])


def between_lungs(right: Mask, left: Mask) -> Mask:
    """What lies right of the right lung and left of the left lung, row by row, in the image."""
    beside_right = np.logical_or.accumulate(right, axis=1) & ~right
    beside_left = np.logical_or.accumulate(left[:, ::-1], axis=1)[:, ::-1] & ~left
    between: Mask = beside_right & beside_left
    return between


def add_midline(drawing: Drawing, frames: dict[str, Array], around: Array, heart: Array) -> None:
    """What lies between the lungs: mediastinum, spine."""
    rows = np.arange(drawing.shape[0])[:, None]
    right, left = drawing.masks["right lung"], drawing.masks["left lung"]
    between = between_lungs(right, left)
    top, bottom = max(frames["right"][1], frames["left"][1]), heart[3]
    middle = (between & (rows >= top) & (rows < bottom)) | drawing.masks["heart"]
    middle &= ~(drawing.masks["right hemidiaphragm"] | drawing.masks["left hemidiaphragm"])
    drawing.masks["cardiomediastinum"] = middle | drawing.masks["heart"]
    upper = middle & (rows < heart[1])
    drawing.masks["upper mediastinum"] = upper
    drawing.masks["lower mediastinum"] = drawing.masks["cardiomediastinum"] & (rows >= heart[1])
    box = _box(drawing.masks["cardiomediastinum"])
    if box is not None:
        drawing.imagenome["mediastinum"] = box
    centre = (frames["right"][2] + frames["left"][0]) / 2
    half = SPINE_WIDTH / 2 * (around[2] - around[0])
    drawing.boxes["thoracic spine"] = (centre - half, around[1], centre + half, around[3])
    drawing.boxes["spine"] = (centre - half, 0.0, centre + half, float(drawing.shape[0]))
    drawing.imagenome["abdomen"] = (
        float(around[0]),
        float(min(frames["right"][3], frames["left"][3])),
        float(around[2]),
        float(drawing.shape[0]),
    )


def merge_sides(drawing: Drawing) -> None:
    """The structures that CXAS gives for both sides at once."""
    pairs = [("lung", "right lung", "left lung"), ("clavicles", "clavicle right", "clavicle left"),
             ("diaphragm", "right hemidiaphragm", "left hemidiaphragm")]  # fmt: skip
    pairs += [(name, f"right {name}", f"left {name}") for name, _, _ in ZONES]
    for name, right, left in pairs:
        if right in drawing.masks and left in drawing.masks:
            drawing.masks[name] = drawing.masks[right] | drawing.masks[left]


def _box(mask: NDArray[np.bool_]) -> Box | None:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if rows.size == 0:
        return None
    return float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1)
