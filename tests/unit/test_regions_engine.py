"""From structures to region boxes: values worked out by hand on a 100 x 100 frame."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cxrqba.reference.tables import load_regions
from cxrqba.regions.crops import Mask, clean, remove_outliers
from cxrqba.regions.engine import Anatomy, localize
from cxrqba.regions.rules import Found, parse_rule

REFERENCE = Path(__file__).parents[2] / "resources" / "reference"
REGIONS = load_regions(REFERENCE)
SIZE = (200, 200)  # original pixels: twice the frame of the masks


def mask(x1: int, y1: int, x2: int, y2: int) -> Mask:
    found = np.zeros((100, 100), dtype=bool)
    found[y1:y2, x1:x2] = True
    return found


def film(view: str, masks: Mapping[str, Mask] | None = None, **found: Any) -> Anatomy:
    return Anatomy(view, clean((masks or {}).items()), frame=(100, 100), **found)


def rows(anatomy: Anatomy, min_area: float = 25) -> dict[str, dict[str, Any]]:
    return {r["region"]: r for r in localize(anatomy, REGIONS, SIZE, min_area)}


# the patient's left lies on the image's right
LUNGS = {"left lung": mask(55, 10, 90, 80), "right lung": mask(10, 10, 45, 80)}


def test_mask_boxes_are_in_original_pixels() -> None:
    row = rows(film("frontal", LUNGS))["left lung"]
    assert row["bboxes"] == [[110, 20, 180, 160]]
    assert row["source"] == "mask"
    assert row["mask_ids"] == ["left lung"]
    assert row["localization_quality"] == "BBOX_AND_MASK_LOCALIZATION"


def test_a_pair_stays_two_boxes_left_first() -> None:
    row = rows(film("frontal", {**LUNGS, "lung": mask(10, 10, 90, 80)}))["lungs"]
    assert row["bboxes"] == [[110, 20, 180, 160], [20, 20, 90, 160]]
    assert not row["is_fallback"]


def test_one_side_of_a_pair_is_incomplete() -> None:
    found = rows(film("frontal", {"left lung": mask(55, 10, 90, 80)}))
    assert found["hemithoraces"]["bboxes"] == [[110, 20, 180, 160]]
    assert found["hemithoraces"]["localization_quality"] == "INCOMPLETE_LOCALIZATION"
    assert found["lungs"]["localization_quality"] == "INCOMPLETE_LOCALIZATION"


def test_superbox_intersection_and_nesting() -> None:
    found = rows(
        film(
            "frontal",
            {
                "left mid zone lung": mask(60, 30, 90, 50),
                "left lung base": mask(58, 50, 92, 80),
                "lung upper lobe left": mask(55, 10, 85, 60),
                "lung lower lobe left": mask(60, 40, 90, 80),
                "heart": mask(40, 50, 70, 85),
            },
        )
    )
    assert found["left mid to lower lung"]["bboxes"] == [[116, 60, 184, 160]]
    assert found["lingula"]["bboxes"] == [[116, 60, 170, 120]]
    assert found["retrocardiac region"]["bboxes"] == [[120, 100, 140, 160]]
    assert found["retrocardiac region"]["mask_ids"] == ["heart", "lung lower lobe left"]
    assert found["left major fissure"]["bboxes"] == [[120, 80, 170, 120]]
    assert found["left cardiophrenic angle"]["bboxes"] == [[116, 100, 140, 160]]


def test_masks_that_do_not_meet_are_intersected_as_boxes() -> None:
    wedge = mask(58, 50, 92, 80)
    wedge[50:79, 58:70] = False  # the heart's place, so that box and mask differ
    found = rows(film("frontal", {"left lung base": wedge, "heart": mask(40, 50, 68, 78)}))
    row = found["left cardiophrenic angle"]
    assert row["bboxes"] == [[116, 100, 136, 156]]
    assert row["source"] == "composed"
    assert row["mask_ids"] == []


def test_fallbacks_are_ordered_flagged_and_named() -> None:
    found = rows(film("frontal", LUNGS))
    row = found["left hilum"]  # left mid lung zone is missing too, its fallback is the lung
    assert row["bboxes"] == [[110, 20, 180, 160]]
    assert row["is_fallback"]
    assert row["reference_region"] == "left lung"
    assert row["localization_quality"] == "FALLBACK_LOCALIZATION"
    assert "heart" not in found
    assert "liver" not in found


def test_a_side_never_takes_the_other_sides_box() -> None:
    right = {"right lung": mask(10, 10, 45, 80), "kidney right": mask(20, 85, 30, 95)}
    found = rows(film("frontal", right))
    left = [r for n, r in found.items() if REGIONS[n].laterality == "left"]
    assert all(box[0] >= 90 for r in left for box in r["bboxes"]), left
    assert found["right upper abdomen"]["bboxes"] == [[40, 170, 60, 190]]
    assert "left upper abdomen" not in found  # its fallback, the pair, shows the right side alone


def test_lateral_films_have_no_sides_unless_known() -> None:
    masks = {**LUNGS, "lung": mask(10, 10, 90, 80), "stomach": mask(60, 82, 80, 95)}
    found = rows(film("lateral", masks, sides_known=False))
    assert found["lungs"]["bboxes"] == [[20, 20, 180, 160]]
    assert found["left lung"]["bboxes"] == [[20, 20, 180, 160]]
    assert found["left lung"]["is_fallback"]
    assert found["left lung"]["reference_region"] == "lungs"
    assert found["left hilum"]["reference_region"] == "lungs"
    assert not found["stomach"]["is_fallback"]  # one organ, whatever side it lies on
    known = rows(film("lateral", masks, sides_known=True))
    assert known["left lung"]["bboxes"] == [[110, 20, 180, 160]]


def test_imagenome_box_instead_of_a_missing_mask_is_a_fallback() -> None:
    anatomy = film("frontal", imagenome={"trachea": (90, 0, 110, 80), "svc": (80, 40, 90, 90)})
    found = rows(anatomy)
    assert found["superior vena cava"]["localization_quality"] == "BBOX_LOCALIZATION"
    assert found["superior vena cava"]["source"] == "imagenome"
    assert found["trachea"]["bboxes"] == [[90, 0, 110, 80]]
    assert found["trachea"]["is_fallback"]


def test_boxes_are_clipped_and_small_ones_dropped() -> None:
    anatomy = film(
        "frontal",
        boxes={
            "heart": (-20, 50, 150, 260),
            "sternum": (10, 10, 14, 15),
            "liver": (300, 0, 400, 9),
        },
    )
    found = rows(anatomy)
    assert found["heart"]["bboxes"] == [[0, 50, 150, 200]]
    assert "sternum" not in found
    assert "liver" not in found


def test_outliers_are_removed() -> None:
    lung = mask(55, 10, 90, 80)
    lung[95:97, 2:4] = True
    assert rows(film("frontal", {"left lung": lung}))["left lung"]["bboxes"] == [
        [110, 20, 180, 160]
    ]
    assert remove_outliers(np.zeros((5, 5), dtype=bool)) is None
    two = mask(0, 0, 10, 10) | mask(50, 50, 60, 60)  # both parts are large: none is an outlier
    crop = remove_outliers(two)
    assert crop is not None
    assert crop.pixels.shape == (60, 60)


@pytest.mark.parametrize("side", [90, 300, 700, 1601])
def test_outliers_are_removed_at_any_resolution(side: int) -> None:
    film = np.zeros((side, side - 3), dtype=bool)
    film[side // 3 : side // 2, side // 5 : side // 2] = True
    film[-4:, :3] = True
    crop = remove_outliers(film)
    assert crop is not None
    assert (crop.top, crop.left) == (side // 3, side // 5)
    assert crop.pixels.shape == (side // 2 - side // 3, side // 2 - side // 5)
    assert crop.pixels.all()


def test_every_rule_gives_boxes_when_all_structures_are_found() -> None:
    names = json.loads((REFERENCE / "cxas_labels.json").read_text())["label_dict"].values()
    everything = {name: mask(20, 20, 60, 60) for name in names}
    imagenome = {
        r.imagenome_bbox: (40.0, 40.0, 120.0, 120.0) for r in REGIONS.values() if r.imagenome_bbox
    }
    found = rows(film("frontal", everything, imagenome=imagenome))
    assert len(found) == 257
    for name, row in found.items():
        assert not row["is_fallback"], name
        assert row["reference_region"] == name
        assert all(box == [40, 40, 120, 120] for box in row["bboxes"]), name


def test_without_any_structure_there_is_no_box() -> None:
    assert rows(film("frontal")) == {}
    assert rows(film("frontal", {"heart": np.zeros((100, 100), dtype=bool)})) == {}


def test_structures_of_the_rules_are_structures_of_cxas() -> None:
    names = set(json.loads((REFERENCE / "cxas_labels.json").read_text())["label_dict"].values())
    for region in REGIONS.values():
        rule = parse_rule(region.rule)
        if isinstance(rule, Found) and rule.kind == "cxas":
            assert rule.structure in names, region.name
