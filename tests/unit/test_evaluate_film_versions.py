"""Altered versions of films: what changes, that masks follow, and what is measured on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from cxrqba.evaluate.film_versions import VERSIONS, Masks, by_version, measure
from cxrqba.evaluate.regions import MASK_FOLDERS
from cxrqba.regions.phantom import Phantom
from cxrqba.regions.phantom_film import draw

REFERENCE = Path(__file__).parents[2] / "resources" / "reference"
GRAY_ONLY = ("as they are", "darker", "brighter", "overexposed", "underexposed", "noisy",
             "inverted", "with text")  # fmt: skip
MOVED = [name for name in VERSIONS if name not in GRAY_ONLY]


def square() -> tuple[np.ndarray, Masks]:
    """A bright rectangle on dark, and its mask under every name."""
    film = np.full((200, 160), 0.2, dtype=np.float32)
    film[70:130, 50:100] = 0.9
    return film, dict.fromkeys(MASK_FOLDERS, film > 0.5)


@pytest.mark.parametrize("name", GRAY_ONLY)
def test_gray_versions_leave_masks_alone(name: str) -> None:
    film, masks = square()
    changed, same = VERSIONS[name](film, masks)
    assert changed.shape == film.shape
    assert 0 <= changed.min() <= changed.max() <= 1
    assert (same["heart"] == masks["heart"]).all()
    assert (np.array_equal(changed, film)) == (name == "as they are")


@pytest.mark.parametrize("name", MOVED)
def test_masks_move_with_the_film(name: str) -> None:
    changed, masks = VERSIONS[name](*square())
    assert masks["heart"].shape == changed.shape
    bright = changed[3:-3, 3:-3] > 0.55
    if name == "bordered":
        bright &= masks["heart"][3:-3, 3:-3] | (changed[3:-3, 3:-3] < 0.95)
    mask = masks["heart"][3:-3, 3:-3]
    assert mask.any()
    assert (bright & mask).sum() > 0.95 * (bright | mask).sum()


def test_turns_are_the_angles_they_say() -> None:
    film = np.zeros((201, 201), dtype=np.float32)
    film[100, 100:190] = 1
    masks = dict.fromkeys(MASK_FOLDERS, film > 0.5)
    for name, sign in (("rotated 10° left", 1), ("rotated 10° right", -1)):
        _, turned = VERSIONS[name](film, masks)
        rows, columns = np.nonzero(turned["heart"])
        far = columns.argmax()
        angle = np.degrees(np.arctan2(100 - rows[far], columns[far] - 100))
        assert angle == pytest.approx(sign * 10, abs=1.5), name


def test_overlap_and_refusals_are_counted_a_version(tmp_path: Path) -> None:
    image = Phantom("90000001", "90000002", "d1", "PA", 500, 425, 1)
    chest = image.chest()
    (tmp_path / "images").mkdir()
    blank = np.full((500, 425), 128, dtype=np.uint8)
    for name, pixels in (("a", blank), ("b", draw(image, chest)), ("c", blank), ("d", blank)):
        Image.fromarray(pixels).save(tmp_path / "images" / f"{name}.png")
        for structure, folder in MASK_FOLDERS.items():
            (tmp_path / "masks" / folder).mkdir(parents=True, exist_ok=True)
            mask = Image.fromarray(chest.masks[structure]).resize((425, 500))
            mask.save(tmp_path / "masks" / folder / f"{name}.png")
    table = measure(tmp_path, REFERENCE, {"as they are": VERSIONS["as they are"]}, 2)
    assert table["films"].unique().to_list() == [2]  # every second one: b and d
    assert table["refused"].unique().to_list() == [0.5]
    lung = table.filter(pl.col("structure") == "left lung")
    assert 0.4 < lung["iou_mean"].item() <= 0.5  # the refused film counts as 0
    line = by_version(table).splitlines()[2]
    assert line.startswith("| as they are | 0.4")
    assert line.endswith(" 0.50 |")
