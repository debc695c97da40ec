"""The 257 rules: boxes worked out by hand, and all of them against boxes alone.

A chest of rectangles in a frame of 200 x 240, in an image of twice that size. The patient's left
lies on the image's right.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cxrqba.reference.tables import load_regions
from cxrqba.regions.crops import Mask, clean
from cxrqba.regions.engine import Anatomy, Box, localize

REFERENCE = Path(__file__).parents[2] / "resources" / "reference"
REGIONS = load_regions(REFERENCE)
LOCALIZED = {name: region for name, region in REGIONS.items() if region.localized}
LABELS = list(json.loads((REFERENCE / "cxas_labels.json").read_text())["label_dict"].values())
SIZE = (480, 400)  # height, width of the image

MASKS = {  # x1, y1, x2, y2 in the frame
    "lung": (20, 40, 180, 180),
    "left lung": (110, 40, 180, 170),
    "right lung": (20, 40, 90, 180),
    "left apical zone lung": (120, 40, 160, 60),
    "right apical zone lung": (30, 40, 75, 60),
    "left upper zone lung": (115, 60, 178, 95),
    "right upper zone lung": (22, 60, 85, 95),
    "left mid zone lung": (112, 95, 180, 130),
    "right mid zone lung": (20, 95, 88, 130),
    "left lung base": (112, 130, 180, 170),
    "right lung base": (20, 130, 88, 180),
    "lung upper lobe left": (112, 40, 180, 140),
    "lung lower lobe left": (115, 85, 180, 170),
    "lung upper lobe right": (22, 40, 90, 100),
    "lung middle lobe right": (25, 90, 88, 150),
    "lung lower lobe right": (20, 80, 85, 180),
    "heart": (80, 110, 150, 185),
    "heart atrium left": (105, 110, 140, 145),
    "heart ventricle left": (110, 130, 150, 180),
    "heart atrium right": (80, 120, 105, 170),
    "heart ventricle right": (90, 135, 140, 185),
    "cardiomediastinum": (75, 30, 150, 190),
    "upper mediastinum": (80, 30, 120, 90),
    "ascending aorta": (85, 80, 105, 120),
    "aortic arch": (95, 60, 125, 80),
    "descending aorta": (105, 75, 120, 180),
    "pulmonary artery": (100, 78, 130, 95),
    "trachea": (94, 5, 106, 70),
    "tracheal bifurcation": (88, 65, 112, 80),
    "esophagus": (97, 20, 107, 200),
    "stomach": (100, 180, 170, 215),
    "liver": (20, 185, 110, 230),
    "kidney left": (125, 200, 145, 235),
    "kidney right": (60, 205, 85, 238),
    "diaphragm": (20, 150, 180, 195),
    "left hemidiaphragm": (110, 150, 180, 185),
    "right hemidiaphragm": (20, 160, 95, 195),
    "clavicles": (30, 30, 170, 52),
    "clavicle left": (105, 30, 170, 50),
    "clavicle right": (30, 30, 95, 52),
    "scapulas": (5, 35, 195, 112),
    "scapula left": (160, 35, 195, 110),
    "scapula right": (5, 35, 40, 112),
    "sternum": (92, 45, 108, 150),
    "cervical spine": (90, 0, 110, 20),
    "thoracic spine": (90, 20, 110, 202),
    "vertebrae T1": (92, 20, 108, 30),
    "vertebrae T4": (92, 60, 108, 70),
    "vertebrae T12": (90, 190, 110, 202),
    "vertebrae L1": (90, 202, 110, 215),
    "posterior 1st rib left": (108, 38, 150, 48),
    "posterior 4th rib left": (110, 75, 184, 90),
    "posterior 9th rib left": (112, 140, 186, 160),
    "posterior 1st rib right": (50, 38, 92, 50),
    "anterior 4th rib right": (16, 85, 90, 95),
    "anterior 9th rib right": (14, 150, 80, 165),
}
BOXES: dict[str, Box] = {  # in pixels of the image
    "left costophrenic angle": (330, 300, 362, 345),
    "right costophrenic angle": (38, 310, 70, 362),
    "left hilar structures": (215, 180, 260, 250),
    "right hilar structures": (140, 185, 185, 255),
    "left lower lung zone": (224, 250, 360, 340),
    "right lower lung zone": (40, 250, 176, 360),
    "svc": (150, 90, 180, 190),
}

WORKED: dict[str, list[list[float]]] = {
    # masks, twice as large as in the frame
    "left lung": [[220, 80, 360, 340]],
    "heart": [[160, 220, 300, 370]],
    "left lung apex": [[240, 80, 320, 120]],
    "carina": [[176, 130, 224, 160]],
    # pairs: two boxes, left first
    "lungs": [[220, 80, 360, 340], [40, 80, 180, 360]],
    "apical pleura": [[240, 80, 320, 120], [60, 80, 150, 120]],
    "upper lobes": [[224, 80, 360, 280], [44, 80, 180, 200]],
    "atria": [[210, 220, 280, 290], [160, 240, 210, 340]],
    "kidneys": [[250, 400, 290, 470], [120, 410, 170, 476]],
    "shoulders": [[320, 70, 390, 220], [10, 70, 80, 224]],
    "mid to lower lung zones": [[224, 190, 360, 340], [40, 190, 176, 360]],
    "upper abdomen": [[200, 360, 340, 470], [40, 370, 220, 476]],
    "chest wall": [[216, 76, 372, 320], [28, 76, 184, 330]],
    # boxes around parts
    "left mid to lower lung": [[224, 190, 360, 340]],
    "aortopulmonary window": [[190, 120, 260, 190]],
    "left heart": [[210, 220, 300, 360]],
    "right heart": [[160, 240, 280, 370]],
    "right heart border": [[160, 240, 210, 340]],
    "thoracic aorta": [[170, 120, 250, 360]],
    "airways": [[176, 10, 224, 160]],
    "left upper abdomen": [[200, 360, 340, 470]],
    "right upper abdomen": [[40, 370, 220, 476]],
    "neck": [[180, 0, 220, 40]],
    "upper thoracic spine": [[184, 40, 216, 140]],
    "thoracolumbar junction": [[180, 380, 220, 430]],
    "left upper ribs": [[216, 76, 368, 180]],
    "left lower ribs": [[224, 280, 372, 320]],
    "right anterior ribs": [[28, 170, 180, 330]],
    "left hemithorax": [[216, 76, 372, 370]],
    "right hemithorax": [[28, 76, 190, 390]],
    "rib cage": [[28, 76, 372, 330]],
    "bony thorax": [[10, 40, 390, 404]],
    "thorax": [[28, 60, 372, 390]],
    # what masks have in common
    "retrocardiac region": [[230, 220, 300, 340]],
    "left cardiophrenic angle": [[224, 260, 300, 340]],
    "right cardiophrenic angle": [[160, 260, 176, 360]],
    "left medial lung base": [[224, 260, 300, 340]],
    "right medial lung base": [[150, 260, 176, 360]],
    "minor fissure": [[50, 180, 176, 200]],
    "left major fissure": [[230, 170, 360, 280]],
    "right major fissure": [[44, 160, 170, 200]],
    "left paratracheal region": [[230, 120, 240, 180]],
    "right paratracheal region": [[160, 120, 170, 180]],
    "gastroesophageal junction": [[200, 360, 214, 400]],
    "left acromioclavicular joint": [[320, 70, 340, 100]],
    "right acromioclavicular joint": [[60, 70, 80, 104]],
    "left sternoclavicular joint": [[210, 90, 216, 100]],
    "right sternoclavicular joint": [[184, 90, 190, 104]],
    # rules within rules
    "lingula": [[224, 190, 360, 280]],
    "fissures": [[44, 160, 360, 280]],
    "left pleural space": [[220, 80, 362, 345]],
    "pleural spaces": [[220, 80, 362, 345], [38, 80, 180, 362]],
    # boxes of ImaGenome
    "left costophrenic angle": [[330, 300, 362, 345]],
    "hila": [[215, 180, 260, 250], [140, 185, 185, 255]],
    "lower lung zones": [[224, 250, 360, 340], [40, 250, 176, 360]],
    "superior vena cava": [[150, 90, 180, 190]],
}


def rectangle(x1: int, y1: int, x2: int, y2: int) -> Mask:
    mask = np.zeros((240, 200), dtype=bool)
    mask[y1:y2, x1:x2] = True
    return mask


def rows(
    masks: dict[str, tuple[int, int, int, int]], boxes: dict[str, Box], view: str = "frontal"
) -> dict[str, dict[str, Any]]:
    crops = clean((name, rectangle(*corners)) for name, corners in masks.items())
    anatomy = Anatomy(view, crops, frame=(240, 200), imagenome=boxes, sides_known=view == "frontal")
    return {r["region"]: r for r in localize(anatomy, REGIONS, SIZE, 25)}


FOUND = rows(MASKS, BOXES)


@pytest.mark.parametrize("name", WORKED)
def test_boxes_worked_out_by_hand(name: str) -> None:
    assert FOUND[name]["bboxes"] == WORKED[name]
    assert not FOUND[name]["is_fallback"]
    assert FOUND[name]["reference_region"] == name


def test_there_are_enough_of_them() -> None:
    assert len(WORKED) >= 50
    assert len(LOCALIZED) == 257


# --- all rules ------------------------------------------------------------------------------------


def corners(number: int) -> tuple[int, int, int, int]:
    """A rectangle of its own for each structure; all of them hold the frame's middle."""
    return 5 + number % 37, 3 + number % 41, 190 - number % 31, 230 - number % 43


ALL_MASKS = {label: corners(n) for n, label in enumerate(LABELS)}
ALL_BOXES: dict[str, Box] = {
    name: (30.0 + n, 40.0 + 2 * n, 380.0 - n, 470.0 - 3 * n)
    for n, name in enumerate(sorted({r.imagenome_bbox or "" for r in REGIONS.values()} - {""}))
}
ALL_FOUND = rows(ALL_MASKS, ALL_BOXES)


def expected(rule: str, laterality: str = "midline", name: str = "") -> list[list[float]]:
    """The boxes that a rule gives where every structure is a rectangle: arithmetic on corners."""
    region = REGIONS.get(name)
    kind, _, rest = rule.partition("(")
    inner = rest[:-1]
    if kind in ("cxas", "imagenome"):
        if region is not None and laterality == "bilateral" and region.left and region.right:
            return [of(region.left), of(region.right)]
        if kind == "imagenome":
            return [list(ALL_BOXES[inner])]
        return [[2.0 * v for v in ALL_MASKS[inner]]]
    parts = [
        expected(part)[0] if "(" in part else around(boxes_of(part))
        for part in re.split(r";(?![^(]*\))", inner)
    ]
    if kind == "bilateral":
        return parts
    if kind == "superbox":
        return [around(parts)]
    x1, y1, x2, y2 = zip(*parts, strict=True)
    return [[max(x1), max(y1), min(x2), min(y2)]]


def boxes_of(name: str) -> list[list[float]]:
    region = REGIONS[name]
    return expected(region.rule, region.laterality, name)


def of(name: str) -> list[float]:
    return boxes_of(name)[0]


def around(boxes: list[list[float]]) -> list[float]:
    x1, y1, x2, y2 = zip(*boxes, strict=True)
    return [min(x1), min(y1), max(x2), max(y2)]


@pytest.mark.parametrize("name", LOCALIZED)
def test_every_rule_is_arithmetic_on_rectangles(name: str) -> None:
    row = ALL_FOUND[name]
    assert row["bboxes"] == boxes_of(name)
    assert not row["is_fallback"]


# --- fallbacks and views --------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOCALIZED)
def test_without_its_own_structures_a_region_takes_a_named_fallback_or_none(name: str) -> None:
    """With lungs, heart and mediastinum alone, every other region is a fallback or absent."""
    few = {n: MASKS[n] for n in ("lung", "left lung", "right lung", "heart", "cardiomediastinum")}
    row = rows(few, {}).get(name)
    if row is None or row["reference_region"] == name:
        return
    assert row["is_fallback"]
    assert row["localization_quality"] == "FALLBACK_LOCALIZATION"
    assert row["reference_region"] in _reachable(name)


def _reachable(name: str) -> set[str]:
    """All fallbacks of a region, and theirs."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for fallback in REGIONS[waiting.pop()].fallbacks:
            if fallback not in found:
                found.add(fallback)
                waiting.append(fallback)
    return found


@pytest.mark.parametrize(
    ("missing", "name", "reference", "boxes"),
    [
        (
            ["lung middle lobe right"],
            "right middle lobe",
            "right mid lung zone",
            [[40, 190, 176, 260]],
        ),
        (
            ["lung middle lobe right", "right mid zone lung"],
            "right middle lobe",
            "right lung",
            [[40, 80, 180, 360]],
        ),
        (["svc"], "superior vena cava", "upper mediastinum", [[160, 60, 240, 180]]),
        (["left hilar structures"], "left hilum", "left mid lung zone", [[224, 190, 360, 260]]),
        (["heart"], "retrocardiac region", "left lung base", [[224, 260, 360, 340]]),
        (["stomach"], "gastroesophageal junction", "esophagus", [[194, 40, 214, 400]]),
        (["scapula left"], "left acromioclavicular joint", "", []),
    ],
)
def test_fallbacks_are_taken_in_order(
    missing: list[str], name: str, reference: str, boxes: list[list[float]]
) -> None:
    masks = {n: b for n, b in MASKS.items() if n not in missing}
    row = rows(masks, {n: b for n, b in BOXES.items() if n not in missing}).get(name)
    if not boxes:  # shoulder and scapula are gone as well, and no other side stands in
        assert row is None
        return
    assert row is not None
    assert (row["reference_region"], row["bboxes"], row["is_fallback"]) == (reference, boxes, True)


def test_a_lateral_film_shows_no_side_of_its_own() -> None:
    found = rows(ALL_MASKS, {}, "lateral")
    for name, row in found.items():
        region = REGIONS[name]
        if region.lateral_view == "no":
            assert row["is_fallback"], name
        if region.laterality in ("left", "right") and region.lateral_view == "partial":
            assert row["is_fallback"], name
            assert REGIONS[row["reference_region"]].laterality not in ("left", "right"), name
    assert found["heart"]["bboxes"] == boxes_of("heart")
    assert len(found) > 200
