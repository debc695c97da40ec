"""The lungs' common outline and the heart in a lateral film (backend ``atlas``)."""

from __future__ import annotations

import numpy as np

from cxrqba.regions.atlas_drawing import ZONES, Drawing
from cxrqba.regions.atlas_lungs import HEIGHT_REWARD, PRIOR_PULL, SELDOM, WIDTH_REWARD
from cxrqba.regions.atlas_shapes import LATERAL, LATERAL_HEART_SHAPE
from cxrqba.regions.contours import Array, Field, Shape, fit_within, flux, search

MIN_LATERAL_FLUX = 0.68
"""One outline finds more look-alikes: drawings and frontal films reach 0.66, drawn lateral films
0.87. Not tried on real lateral films."""
LATERAL_TYPICAL = (0.18, 0.10, 0.80, 0.86)
HEART_IN_LATERAL = ((0.50, 0.48, 0.95, 0.83), (0.04, 0.04, 0.03, 0.03))
"""Median and spread of the heart's box in the lungs' common one; back at 0, sternum at 1."""
LATERAL_HEART_PULL = 0.1
MIN_LATERAL_HEART_FLUX = 0.25


def draw_lateral(image: Field) -> tuple[Drawing, float] | None:
    """The lungs' common outline, facing either way, and the heart where its border is seen."""
    height, width = image.shape
    fits = []
    for faces_right, shape in ((True, LATERAL), (False, LATERAL.mirrored())):
        placement, score = _fitdraw_lateral(image, shape)
        strength = float(flux(image, shape, placement[None])[0])
        fits.append((score, strength, placement, shape, faces_right))
    _, strength, placement, shape, faces_right = max(fits, key=lambda fit: fit[0])
    if strength < MIN_LATERAL_FLUX:
        return None
    drawing = Drawing((height, width))
    x, y = (c[0] for c in shape.place(placement[None]))
    drawing.masks["lung"] = drawing.polygon(x, y)
    x1, y1, x2, y2 = x.min(), y.min(), x.max(), y.max()
    rows = np.arange(height)[:, None]
    for name, first, last in ZONES:
        inside = (rows >= y1 + first * (y2 - y1)) & (rows < y1 + last * (y2 - y1))
        drawing.masks[name] = drawing.masks["lung"] & inside
    heart_shape, (mean, spread) = LATERAL_HEART_SHAPE, HEART_IN_LATERAL
    if not faces_right:
        heart_shape = heart_shape.mirrored()
        mean = (1 - mean[2], mean[1], 1 - mean[0], mean[3])
    around = np.array([x1, y1, x2, y2])
    prior = (mean, spread)
    heart, seen = fit_within(image, heart_shape, around, prior, LATERAL_HEART_PULL)
    if seen >= MIN_LATERAL_HEART_FLUX:
        drawing.masks["heart"] = drawing.polygon(*(c[0] for c in heart_shape.place(heart[None])))
    return drawing, float(np.clip((strength - 0.35) / 0.45, 0, 1))


def _fitdraw_lateral(image: Field, shape: Shape) -> tuple[Array, float]:
    x1, y1, x2, y2 = image.content
    width, height = x2 - x1, y2 - y1
    unit = np.array([width, width, width, width, 0.4], dtype=float)

    def score(p: Array) -> Array:
        sizes = np.maximum(p[:, 2] - p[:, 0], 1), np.maximum(p[:, 3] - p[:, 1], 1)
        prior = -0.5 * ((sizes[0] / sizes[1] - 0.72) / 0.12) ** 2 - 0.5 * (p[:, 4] / 0.05) ** 2
        total: Array = (
            flux(image, shape, p)
            + HEIGHT_REWARD * np.log(sizes[1])
            + WIDTH_REWARD * np.log(sizes[0])
            + PRIOR_PULL * prior
        )
        return np.where(np.minimum(*sizes) < 20, -1e4, total)

    def moves(_: Array, noise: Array) -> Array:
        own = noise[:, :5] * unit * (np.abs(noise[:, 5:10]) < 2 * SELDOM)
        own[:, [0, 2]] += noise[:, 10:11] * width * (np.abs(noise[:, 12:13]) < SELDOM)
        own[:, [1, 3]] += noise[:, 11:12] * width * (np.abs(noise[:, 13:14]) < SELDOM)
        moved: Array = own
        return moved

    extent = np.array([width, height, width, height, 1], dtype=float)
    corner = np.array([x1, y1, x1, y1, 0], dtype=float)
    found = []
    for scale in (1.0, 0.8):
        start = (np.array([*LATERAL_TYPICAL, 0.0]) - 0.5) * scale + 0.5
        start[4] = 0.0
        spreads = [0.08 * 0.65**i for i in range(8)]
        found.append(search(score, corner + start * extent, moves, 14, spreads))
    best = max(found, key=lambda item: item[1])[0]
    return search(score, best, moves, 14, [0.03 * 0.65**i for i in range(6)])
