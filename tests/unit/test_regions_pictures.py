"""Pages, screens and drawn X-rays of other parts of the body are not given a chest."""

from __future__ import annotations

import numpy as np
import pytest
from picture_fixtures import PICTURES

from cxrqba.regions.atlas import find_anatomy


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", sorted(PICTURES))
def test_other_pictures_are_refused(name: str, seed: int) -> None:
    picture = PICTURES[name](np.random.default_rng(seed))
    for version in (picture, 1 - picture):
        for view in ("frontal", "lateral"):
            assert find_anatomy(np.ascontiguousarray(version), view) is None, view


@pytest.mark.parametrize("seed", [1, 8, 12])
def test_shins_side_by_side_are_no_lungs(seed: int) -> None:
    """With black and white exchanged: two dark columns on a bright ground, but without an end."""
    picture = 1 - PICTURES["knee"](np.random.default_rng(seed))
    assert find_anatomy(picture, "frontal") is None
