"""Overlap of region boxes with known anatomy, on boxes worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from cxrqba.errors import UserError
from cxrqba.evaluate.regions import Settings, evaluate
from cxrqba.schema import IMAGE_STATUS, PHANTOM_TRUTH, REGION_BOXES
from cxrqba.tables import frame, write_table

SETTINGS = Settings("test", bootstrap=50, seed=1)


def box_row(image: str, region: str, box: list[float], **more: Any) -> dict[str, Any]:
    row = {"study_id": "s1", "image_id": image, "region": region, "bboxes": [box]}
    return {**row, "is_fallback": False, **more}


def status(*images: str, state: str = "ok") -> pl.DataFrame:
    rows = [
        {"study_id": "s1", "image_id": i, "status": state, "height": 100, "width": 100}
        for i in images
    ]
    return frame(rows, IMAGE_STATUS)


def truth(path: Path, *rows: tuple[str, str, list[float], str]) -> Path:
    table = [{"image_id": i, "structure": s, "bboxes": [b], "view": v} for i, s, b, v in rows]
    write_table(frame(table, PHANTOM_TRUTH), path, PHANTOM_TRUTH)
    return path


def values(scores: pl.DataFrame, system: str, metric: str = "iou_mean") -> dict[str, float]:
    chosen = scores.filter(pl.col("system") == system, pl.col("metric") == metric)
    return dict(chosen.select("structure", "value").iter_rows())


def test_overlap_misses_and_fallbacks(tmp_path: Path) -> None:
    gold = truth(
        tmp_path / "truth.parquet",
        ("a", "heart", [0, 0, 10, 10], "frontal"),
        ("b", "heart", [0, 0, 10, 10], "frontal"),
        ("c", "heart", [0, 0, 10, 10], "frontal"),
        ("d", "heart", [0, 0, 10, 10], "lateral"),
        ("z", "heart", [0, 0, 10, 10], "frontal"),  # not in this run
    )
    boxes = frame(
        [
            box_row("a", "heart", [0, 0, 10, 20]),  # 100 of 200
            box_row("b", "heart", [0, 0, 10, 10], is_fallback=True),  # counts as not found
            box_row("d", "heart", [5, 0, 15, 10]),  # 50 of 150
        ],
        REGION_BOXES,
    )
    scores, _ = evaluate(boxes, status(*"abcd"), [("drawn", "phantom", gold)], SETTINGS)
    ours = values(scores, "ours")
    assert ours["heart"] == pytest.approx(0.5 / 3)
    assert ours["heart (lateral)"] == pytest.approx(1 / 3)
    row = scores.filter(pl.col("structure") == "heart", pl.col("system") == "ours").row(
        0, named=True
    )
    assert (row["images"], row["found"]) == (3, 1)
    assert row["low"] <= row["value"] <= row["high"]
    assert values(scores, "median box")["heart"] == pytest.approx(1.0)
    assert "heart (lateral)" not in values(scores, "median box")  # one image: nothing to fit on


def test_the_median_box_is_fitted_on_the_other_half(tmp_path: Path) -> None:
    small, large = [0.0, 0.0, 10.0, 10.0], [0.0, 0.0, 20.0, 10.0]
    gold = truth(
        tmp_path / "truth.parquet",
        *((i, "heart", small if n % 2 == 0 else large, "frontal") for n, i in enumerate("abcd")),
    )
    scores, _ = evaluate(
        frame([], REGION_BOXES), status(*"abcd"), [("drawn", "phantom", gold)], SETTINGS
    )
    assert values(scores, "median box")["heart"] == pytest.approx(0.5)
    assert values(scores, "ours")["heart"] == 0


def test_masks_are_scaled_to_the_image(tmp_path: Path) -> None:
    (tmp_path / "masks" / "left_lung").mkdir(parents=True)
    mask = np.zeros((50, 50), dtype=np.uint8)
    mask[10:20, 30:40] = 255
    Image.fromarray(mask).save(tmp_path / "masks" / "left_lung" / "a.png")
    boxes = frame([box_row("a", "left lung", [60, 20, 80, 40])], REGION_BOXES)
    scores, _ = evaluate(boxes, status("a"), [("films", "masks", tmp_path)], SETTINGS)
    assert values(scores, "ours") == {"left lung": 1.0}
    assert values(scores, "ours", "iou_p10") == {"left lung": 1.0}


def test_unreadable_images_are_not_compared(tmp_path: Path) -> None:
    gold = truth(tmp_path / "truth.parquet", ("a", "heart", [0, 0, 10, 10], "frontal"))
    with pytest.raises(UserError, match="no reference for any image"):
        evaluate(
            frame([], REGION_BOXES),
            status("a", state="unreadable"),
            [("drawn", "phantom", gold)],
            SETTINGS,
        )


def test_a_folder_without_masks_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no folder masks/"):
        evaluate(frame([], REGION_BOXES), status("a"), [("films", "masks", tmp_path)], SETTINGS)


def test_bootstrap_can_be_left_out(tmp_path: Path) -> None:
    gold = truth(tmp_path / "truth.parquet", ("a", "heart", [0, 0, 10, 10], "frontal"))
    scores, _ = evaluate(
        frame([], REGION_BOXES), status("a"), [("drawn", "phantom", gold)], Settings("t", 0, 0)
    )
    assert scores["low"].null_count() == scores.height


def test_the_place_in_our_lungs_is_fitted_on_the_other_half(tmp_path: Path) -> None:
    gold = truth(
        tmp_path / "truth.parquet",
        *((i, "heart", [10 * n + 4.0, 5, 10 * n + 8.0, 10], "frontal") for n, i in enumerate("ab")),
        ("c", "heart", [0, 0, 10, 10], "frontal"),
    )
    lungs = [box_row(i, "lungs", [10 * n, 0, 10 * n + 10, 10]) for n, i in enumerate("ab")]
    status_table = pl.concat([status("a", "b"), status("c", state="no_localization")])
    scores, _ = evaluate(
        frame(lungs, REGION_BOXES), status_table, [("d", "phantom", gold)], SETTINGS
    )
    # heart lies at the same place in both lungs; without lungs there is no place
    assert values(scores, "median box in our lungs")["heart"] == pytest.approx(2 / 3)
    assert values(scores, "ours", "refused")["heart"] == pytest.approx(1 / 3)


def test_lungs_are_not_placed_in_themselves(tmp_path: Path) -> None:
    gold = truth(
        tmp_path / "truth.parquet",
        *((i, "left lung", [0, 0, 10, 10], "frontal") for i in "ab"),
    )
    scores, _ = evaluate(
        frame([], REGION_BOXES), status("a", "b"), [("d", "phantom", gold)], SETTINGS
    )
    assert set(scores["system"]) == {"ours", "median box"}


def test_every_image_has_its_overlap_and_both_boxes(tmp_path: Path) -> None:
    gold = truth(
        tmp_path / "t.parquet",
        ("a", "heart", [0, 0, 10, 10], "frontal"),
        ("b", "heart", [0, 0, 10, 10], "frontal"),
    )
    boxes = frame([box_row("a", "heart", [0, 0, 10, 5])], REGION_BOXES)
    scores, overlaps = evaluate(boxes, status("a", "b"), [("drawn", "phantom", gold)], SETTINGS)
    assert set(scores.filter(system="ours")["found"]) == {1}  # of whichever metric
    rows = {r["image_id"]: r for r in overlaps.iter_rows(named=True)}
    assert rows["a"]["iou"] == 0.5
    assert rows["a"]["found_boxes"] == [[0, 0, 10, 5]]
    assert rows["b"]["iou"] == 0
    assert rows["b"]["found_boxes"] == []
    assert rows["b"]["true_box"] == [0, 0, 10, 10]
