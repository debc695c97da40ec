"""Masks as COCO run lengths: the same bytes as pycocotools makes of the whole mask, and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pycocotools import mask as coco

from cxrqba.errors import UserError
from cxrqba.regions.crops import Crop, shrink
from cxrqba.regions.masks import decode, encode, read_mask

SHAPES = arrays.array_shapes(min_dims=2, max_dims=2, max_side=9)


@settings(max_examples=200, deadline=None)
@given(arrays.arrays(bool, SHAPES, elements=st.booleans()), st.integers(0, 3), st.integers(0, 3))
def test_crops_are_encoded_as_pycocotools_encodes_the_whole(
    mask: np.ndarray, before: int, after: int
) -> None:
    whole = np.pad(mask, ((before, after), (after, before)))
    crop = shrink(Crop(whole, 0, 0))
    if crop is None:
        return
    rle = encode(crop, (whole.shape[0], whole.shape[1]))
    assert rle == coco.encode(np.asfortranarray(whole.astype(np.uint8)))["counts"]
    assert (decode(rle, *whole.shape) == whole).all()


def test_runs_over_the_ends_of_columns_are_one_run() -> None:
    """A full block of 2 columns in a frame of 3 columns: 4 pixels skipped, 8 set, none after."""
    rle = encode(Crop(np.ones((4, 2), dtype=bool), 0, 1), (4, 3))
    assert rle == coco.frPyObjects({"size": [4, 3], "counts": [4, 8]}, 4, 3)["counts"]


@pytest.mark.parametrize(
    "rle", [b"", b"48", b"\x00", b"o", b"~~~~", b"ooooooooooooo0", "5ö".encode()]
)
def test_damaged_run_lengths_are_refused(rle: bytes) -> None:
    with pytest.raises(ValueError, match="run length"):
        decode(rle, 4, 4)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=12))
def test_no_bytes_are_decoded_beyond_the_frame(rle: bytes) -> None:
    try:
        mask = decode(rle, 5, 7)
    except ValueError:
        return
    assert mask.shape == (5, 7)


def test_one_mask_is_read_from_the_table(tmp_path: Path) -> None:
    crop = Crop(np.ones((2, 3), dtype=bool), 1, 2)
    rows = {
        "image_id": ["a", "a", "b"],
        "mask_id": ["heart", "liver", "heart"],
        "height": [6] * 3,
        "width": [8] * 3,
        "rle": [encode(crop, (6, 8)), b"never decoded", b"never decoded"],
    }
    path = tmp_path / "masks.parquet"
    pl.DataFrame(rows).write_parquet(path)
    mask = read_mask(path, "a", "heart")
    assert mask.sum() == 6
    assert mask[1:3, 2:5].all()
    with pytest.raises(UserError, match="no mask 'spine' of image 'a'"):
        read_mask(path, "a", "spine")
