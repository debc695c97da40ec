"""Masks of anatomical structures, cut to their box and freed of outliers (paper Sec. E.1.1).

A film has up to 159 masks of some million pixels each; nearly all of these are empty. Every mask
is looked at once as a whole and from then on only inside its box.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Mask = NDArray[np.bool_]

OUTLIER_SHARE = 0.05
"""A connected part of a mask smaller than this share of its largest part is an outlier."""

BLOCKS = (8, 4, 2, 1)
"""Sides of the blocks, in pixels, on which the parts of a mask are told apart."""

NEIGHBOURS = np.ones((3, 3), dtype=bool)


@dataclass(frozen=True, slots=True)
class Crop:
    """A mask cut to its box: ``pixels`` (h, w) with its corner ``top``, ``left`` in the frame."""

    pixels: Mask
    top: int
    left: int

    @property
    def bottom(self) -> int:
        """First row of the frame below the crop."""
        return self.top + int(self.pixels.shape[0])

    @property
    def right(self) -> int:
        """First column of the frame beyond the crop."""
        return self.left + int(self.pixels.shape[1])


def clean(masks: Iterable[tuple[str, Mask]]) -> dict[str, Crop]:
    """Crops without outliers by name; empty masks are left out. Takes one mask at a time."""
    crops = ((name, remove_outliers(mask)) for name, mask in masks)
    return {name: crop for name, crop in crops if crop is not None}


def remove_outliers(mask: Mask) -> Crop | None:
    """Drop the small connected parts of a (h, w) mask and cut it to its box; None if empty.

    Parts are told apart on blocks of 1, 2, 4 or 8 pixels, so that a mask of a whole film costs no
    more than a small one; parts within a block of each other count as one.
    """
    block = next(b for b in BLOCKS if b == 1 or max(mask.shape) >= 128 * b)
    crop = _cut(mask, block)
    if crop is None:
        return None
    height, width = crop.pixels.shape[0] // block, crop.pixels.shape[1] // block
    # one integer holds a row of a block: no pixel is looked at on its own
    filled = crop.pixels.view(f"u{block}") != 0
    blocks = filled.reshape(height, block, width).any(axis=1)
    labels, count = ndimage.label(blocks, structure=NEIGHBOURS)
    if count > 1:
        areas = np.bincount(labels.ravel())
        areas[0] = 0
        kept = (areas >= OUTLIER_SHARE * areas.max())[labels]
        rows, columns = np.nonzero(blocks & ~kept)
        crop.pixels.reshape(height, block, width, block)[rows, :, columns, :] = False
        blocks &= kept
    part = shrink(Crop(blocks, 0, 0))
    if part is None:
        return None
    top, left = part.top * block, part.left * block
    pixels = crop.pixels[top : part.bottom * block, left : part.right * block]
    return shrink(Crop(pixels, crop.top + top, crop.left + left))


def _cut(mask: Mask, block: int) -> Crop | None:
    """A copy of a mask cut to its box, whose corners lie on blocks; None if empty."""
    rows = np.flatnonzero(mask.any(axis=1))
    if rows.size == 0:
        return None
    top, bottom = int(rows[0]) // block * block, -(-(int(rows[-1]) + 1) // block) * block
    band = mask[top:bottom]
    columns = np.flatnonzero(band.any(axis=0))
    left, right = int(columns[0]) // block * block, -(-(int(columns[-1]) + 1) // block) * block
    part = band[:, left:right]
    padded = np.zeros((bottom - top, right - left), dtype=bool)
    padded[: part.shape[0], : part.shape[1]] = part
    return Crop(padded, top, left)


def shrink(crop: Crop) -> Crop | None:
    """The crop cut to the box of its mask; None if empty."""
    rows = np.flatnonzero(crop.pixels.any(axis=1))
    if rows.size == 0:
        return None
    columns = np.flatnonzero(crop.pixels.any(axis=0))
    t, b, le, r = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
    # a copy, where it is smaller: a view would keep all of the larger one in memory
    pixels = np.ascontiguousarray(crop.pixels[t:b, le:r])
    return Crop(pixels, crop.top + t, crop.left + le)


def combine(crops: Sequence[Crop], meet: bool) -> Crop | None:
    """Intersection (``meet``) or union of masks of one frame; None if empty."""
    pick = (max, min) if meet else (min, max)
    left, top = pick[0](c.left for c in crops), pick[0](c.top for c in crops)
    right, bottom = pick[1](c.right for c in crops), pick[1](c.bottom for c in crops)
    if right <= left or bottom <= top:
        return None
    pixels = np.full((bottom - top, right - left), meet)
    for crop in crops:
        a, b = max(left, crop.left), max(top, crop.top)
        c, d = min(right, crop.right), min(bottom, crop.bottom)
        target = (slice(b - top, d - top), slice(a - left, c - left))
        part = crop.pixels[b - crop.top : d - crop.top, a - crop.left : c - crop.left]
        pixels[target] = pixels[target] & part if meet else pixels[target] | part
    return shrink(Crop(pixels, top, left))


def rescale(crop: Crop, frame: tuple[int, int], target: tuple[int, int]) -> Crop | None:
    """The crop in a frame of another size, by nearest pixel; None if nothing is left of it."""
    rows = np.arange(target[0]) * frame[0] // target[0]
    columns = np.arange(target[1]) * frame[1] // target[1]
    top, bottom = np.searchsorted(rows, [crop.top, crop.bottom])
    left, right = np.searchsorted(columns, [crop.left, crop.right])
    picked = crop.pixels[np.ix_(rows[top:bottom] - crop.top, columns[left:right] - crop.left)]
    return shrink(Crop(picked, int(top), int(left)))
