"""Masks as run lengths: the table ``masks`` that :mod:`cxrqba.regions.segment` writes.

Masks are kept in the run-length encoding of COCO (columns first, compressed counts), one row a
structure: about 300 bytes instead of two million pixels, and one structure is decoded without the
others. Any COCO library reads ``{"size": [height, width], "counts": rle}``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pycocotools import mask as coco

from cxrqba.errors import UserError
from cxrqba.regions.crops import Crop, Mask


def encode(crop: Crop, frame: tuple[int, int]) -> bytes:
    """COCO counts of a crop in its ``frame`` (height, width), without ever filling the frame."""
    height, width = frame
    high, wide = crop.pixels.shape
    columns = np.zeros((wide, high + 1), dtype=bool)  # an empty pixel ends every column
    columns[:, :high] = crop.pixels.T
    flat = columns.ravel()
    edges = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    if flat[0]:
        edges = np.concatenate([[0], edges])
    column, row = np.divmod(edges, high + 1)
    edges = (column + crop.left) * height + row + crop.top
    # a run that goes on at the top of the next column is one run
    starts, ends = edges[::2], edges[1::2]
    goes_on = np.flatnonzero(ends[:-1] == starts[1:])
    starts, ends = np.delete(starts, goes_on + 1), np.delete(ends, goes_on)
    borders = np.stack([starts, ends], axis=1).ravel()
    counts = np.diff(borders, prepend=0, append=height * width)
    if counts[-1] == 0:
        counts = counts[:-1]
    run_lengths = {"size": [height, width], "counts": counts.tolist()}
    encoded: bytes = coco.frPyObjects(run_lengths, height, width)["counts"]
    return encoded


def decode(rle: bytes, height: int, width: int) -> Mask:
    """The (height, width) mask of COCO counts. :class:`ValueError` if they do not fill it."""
    counts = _counts(rle)
    if (counts < 0).any() or counts.sum() != height * width:
        raise ValueError("the run lengths do not fill the mask")
    # not by pycocotools, which trusts its input and writes beyond the mask
    pixels = np.repeat(np.arange(counts.size) % 2 == 1, counts)
    mask: Mask = pixels.reshape(width, height).T
    return mask


def _counts(rle: bytes) -> NDArray[np.int64]:
    """Run lengths of compressed COCO counts: 5 bits a character, from the third as differences."""
    codes = np.frombuffer(rle, dtype=np.uint8).astype(np.int64) - 48
    last = (codes & 0x20) == 0  # of its number
    if not codes.size or not last[-1] or (codes < 0).any() or (codes > 0x3F).any():
        raise ValueError("no run lengths")
    starts = np.flatnonzero(np.concatenate([[True], last[:-1]]))
    place = np.arange(codes.size) - np.repeat(starts, np.diff(starts, append=codes.size))
    if place.max() > 7:
        raise ValueError("a run length is too long")
    values = np.add.reduceat((codes & 0x1F) << (5 * place), starts)
    values -= np.where(codes[last] & 0x10, 1 << (5 * (place[last] + 1)), 0)
    counts: NDArray[np.int64] = values
    counts[1::2] = values[1::2].cumsum()
    counts[2::2] = values[2::2].cumsum()
    return counts


def read_mask(path: str | Path, image_id: str, mask_id: str) -> Mask:
    """One (height, width) mask of a table of masks; no other is read. Scale it to the image."""
    one = (pl.col("image_id") == image_id) & (pl.col("mask_id") == mask_id)
    rows: list[dict[str, Any]] = pl.scan_parquet(path).filter(one).collect().to_dicts()
    if not rows:
        raise UserError(f"{path}: no mask '{mask_id}' of image '{image_id}'")
    return decode(rows[0]["rle"], rows[0]["height"], rows[0]["width"])
