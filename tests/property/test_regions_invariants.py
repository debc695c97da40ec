"""What holds for the region boxes of any image, whatever structures were found in it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cxrqba.reference.tables import load_regions
from cxrqba.regions.crops import clean
from cxrqba.regions.engine import Anatomy, localize
from cxrqba.schema import EXTRACTION_QUALITY

REFERENCE = Path(__file__).parents[2] / "resources" / "reference"
REGIONS = load_regions(REFERENCE)
NAMES = sorted(json.loads((REFERENCE / "cxas_labels.json").read_text())["label_dict"].values())
SIDED = [n for n in NAMES if "left" in n or "right" in n]
SIZE = (90, 120)
MIN_AREA = 16.0

corner = st.integers(0, 59)
boxes = st.tuples(corner, corner, st.integers(1, 60), st.integers(1, 45))


def _anatomy(found: dict[str, tuple[int, int, int, int]], view: str, sides: bool) -> Anatomy:
    masks = {}
    for name, (x, y, width, height) in found.items():
        mask = np.zeros((45, 60), dtype=bool)
        mask[y : y + height, x : x + width] = True
        masks[name] = mask
    return Anatomy(view, clean(masks.items()), frame=(45, 60), sides_known=sides)


@settings(max_examples=60, deadline=None)
@given(
    found=st.dictionaries(st.sampled_from(NAMES), boxes, max_size=25),
    view=st.sampled_from(["frontal", "lateral"]),
    sides=st.booleans(),
)
def test_boxes_are_valid(
    found: dict[str, tuple[int, int, int, int]], view: str, sides: bool
) -> None:
    rows = localize(_anatomy(found, view, sides), REGIONS, SIZE, MIN_AREA)
    names = [r["region"] for r in rows]
    assert len(names) == len(set(names))
    for row in rows:
        assert REGIONS[row["region"]].localized
        assert 1 <= len(row["bboxes"]) <= 2
        assert row["localization_quality"] in EXTRACTION_QUALITY["localization_quality"]
        assert row["is_fallback"] == (row["localization_quality"] == "FALLBACK_LOCALIZATION")
        assert row["is_fallback"] or row["reference_region"] == row["region"]
        assert set(row["mask_ids"]) <= found.keys()
        for x1, y1, x2, y2 in row["bboxes"]:
            assert 0 <= x1 < x2 <= SIZE[1]
            assert 0 <= y1 < y2 <= SIZE[0]
            assert (x2 - x1) * (y2 - y1) >= MIN_AREA


@settings(max_examples=60, deadline=None)
@given(found=st.dictionaries(st.sampled_from(SIDED), st.just(0), min_size=1, max_size=20))
def test_no_region_takes_a_box_of_the_other_side(found: dict[str, int]) -> None:
    """Structures of the left lie in the right half of the image, and the other way round."""
    placed = {n: (35, 5, 20, 35) if "left" in n else (5, 5, 20, 35) for n in found}
    for row in localize(_anatomy(placed, "frontal", True), REGIONS, SIZE, MIN_AREA):
        side = REGIONS[row["region"]].laterality
        for x1, _, x2, _ in row["bboxes"]:
            if side == "left":
                assert x1 >= 60, row
            elif side == "right":
                assert x2 <= 60, row
