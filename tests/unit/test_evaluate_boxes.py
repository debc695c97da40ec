"""Finding boxes against MS-CXR: pairs, counts, baselines, frames of another size, bad files."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from box_fixtures import MS_CXR_HEADER, images, lung, ms_cxr, observation, run, values
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import evaluate_boxes
from cxrqba.config import BoxReference, load_config
from cxrqba.errors import UserError
from cxrqba.evaluate.boxes import Expert
from cxrqba.evaluate.ms_cxr import read_ms_cxr
from cxrqba.evaluate.rectangles import overlap
from cxrqba.schema import BOX_PAIRS, BOX_SCORES, LEDGER

ROOT = Path(__file__).parents[2]
AIR = "i1,Pneumothorax,air,p,0,0,10,10,100,100,test"
boxes = st.lists(
    st.tuples(*[st.integers(0, 12)] * 4).map(
        lambda c: (min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]), max(c[1], c[3]))
    ),
    max_size=5,
)


@given(boxes, boxes)
def test_areas_agree_with_counting_pixels(
    first: list[tuple[int, ...]], second: list[tuple[int, ...]]
) -> None:
    grids = []
    for side in (first, second):
        grid = np.zeros((12, 12), dtype=bool)
        for x1, y1, x2, y2 in side:
            grid[y1:y2, x1:x2] = True
        grids.append(grid)
    expected = (grids[0].sum(), grids[1].sum(), (grids[0] & grids[1]).sum())
    assert overlap(first, second) == expected


def expert(path: Path, **more: object) -> Expert:
    return Expert("gold", "ms_cxr", path, **more)  # type: ignore[arg-type]


def test_values_worked_out_by_hand(tmp_path: Path) -> None:
    path = ms_cxr(
        tmp_path,
        "i1,Pleural Effusion,small effusion,p,0,0,20,10,100,100,test",
        "i1,Pleural Effusion,another phrase,p,0,0,20,20,100,100,test",
        "i2,Pneumothorax,air,p,0,0,10,10,100,100,test",
        "i9,Pneumothorax,image not in the run,p,0,0,10,10,100,100,test",
    )
    seen = [
        observation("pleural effusion", "i1", [0, 0, 40, 20]),
        observation("empyema", "i1", [0, 0, 10, 10], obs_id="O02"),
        observation("cardiomegaly", "i1", [0, 0, 9, 9], obs_id="O03"),
        observation("pneumothorax", "i2", [0, 0, 9, 9], positiveness="neg"),
        observation("pneumothorax", "i2", [0, 0, 9, 9], from_report=False),
        observation("pneumothorax", "i2", [0, 0, 9, 9], obs_id="OIND"),
    ]
    found = run(expert(path), seen, lungs=[lung("i1", "left lung", 0, 0, 50, 100)])
    assert (found.scores.schema, found.pairs.schema) == (BOX_SCORES, BOX_PAIRS)
    cells = values(found)
    effusion = {m: cells["ours", "Pleural Effusion", m] for m in ("iou", "iop", "iot")}
    assert effusion == {"iou": 0.5, "iop": 0.5, "iot": 1.0}
    assert (cells["ours", "micro", "pairs"], cells["ours", "micro", "targets"]) == (1, 2)
    assert cells["ours", "micro", "iou@30"] == 1.0
    assert cells["ours", "micro", "hits@30"] == 0.5
    assert cells["ours", "micro", "targets_without_prediction"] == 1
    assert cells["ours", "Pneumothorax", "targets_without_prediction"] == 1
    assert cells["ours", "Cardiomegaly", "predictions_without_target"] == 1
    assert cells["ours", "micro", "predictions_without_target"] == 1
    assert math.isnan(cells["ours", "Pneumothorax", "iou"])
    assert cells["ours", "Pneumothorax", "hits@30"] == 0.0
    assert cells["whole image", "micro", "pairs"] == 1  # the pairs of ours
    assert cells["whole image", "micro", "iop"] == pytest.approx(0.04)
    assert cells["lungs", "micro", "iop"] == pytest.approx(0.08)
    assert cells["lungs", "micro", "targets_without_prediction"] == 1  # no lungs found in i2
    assert found.ledger.rows(named=True)[0]["reason"] == "not_in_dataset"


def test_pairs_hold_every_target_with_every_system(tmp_path: Path) -> None:
    found = run(expert(ms_cxr(tmp_path, AIR)), [observation("pneumothorax", "i1", [5, 0, 15, 10])])
    ours = found.pairs.row(by_predicate=pl.col("system") == "ours", named=True)
    assert (ours["paired"], ours["predicted_area"], ours["target_area"]) == (True, 100, 100)
    assert ours["iou"] == pytest.approx(1 / 3)
    assert found.pairs["system"].to_list() == ["ours", "lungs", "whole image"]


def test_a_fallback_is_no_lung(tmp_path: Path) -> None:
    lungs = [lung("i1", "left lung", 0, 0, 50, 100, is_fallback=True)]
    found = run(expert(ms_cxr(tmp_path, AIR)), lungs=lungs)
    assert values(found)["lungs", "micro", "targets_without_prediction"] == 1


def test_intervals_are_over_patients(tmp_path: Path) -> None:
    path = ms_cxr(tmp_path, AIR, AIR.replace("i1", "i2"))
    seen = [observation("pneumothorax", i, [0, 0, 10, 10 * n]) for n, i in ((1, "i1"), (10, "i2"))]
    row = run(expert(path), seen, bootstrap=200).scores.row(
        by_predicate=(pl.col("metric") == "iou@30") & (pl.col("class") == "micro")
        & (pl.col("system") == "ours"),
        named=True,
    )  # fmt: skip
    assert (row["value"], row["low"], row["high"]) == (0.5, 0.0, 1.0)


def test_a_frame_of_another_size_is_scaled(tmp_path: Path) -> None:
    path = ms_cxr(tmp_path, "i1,Pneumothorax,air,p,10,10,10,10,100,100,test")
    seen = [observation("pneumothorax", "i1", [20, 20, 40, 40])]
    assert values(run(expert(path), seen, images(200, 200)))["ours", "micro", "iou"] == 1.0
    assert values(run(expert(path), seen, images(None, None)))["ours", "micro", "iou"] == 0.0


def test_a_frame_of_another_shape_is_left_out(tmp_path: Path) -> None:
    found = run(expert(ms_cxr(tmp_path, AIR)), shown=images(200, 300))
    assert found.pairs.is_empty()
    (row,) = found.ledger.iter_rows(named=True)
    assert (row["item_id"], row["reason"]) == ("i1", "frame_differs")
    assert "100 x 100, the image 200 x 300" in row["detail"]


def test_gold_without_overlap_is_said(tmp_path: Path) -> None:
    found = run(expert(ms_cxr(tmp_path, AIR.replace("i1", "elsewhere"))))
    assert "WARNING: no image in common" in found.remarks[0]
    assert values(found)["ours", "micro", "targets"] == 0
    assert math.isnan(values(found)["ours", "micro", "iou"])


def test_classes_can_be_merged(tmp_path: Path) -> None:
    path = ms_cxr(
        tmp_path,
        "i1,Pneumonia,a,p,0,0,10,10,100,100,test",
        "i1,Consolidation,b,p,10,0,10,10,100,100,test",
    )
    merged = expert(path, merges={"Airspace": ["Pneumonia", "Consolidation"]})
    found = run(merged, [observation("pneumonia", "i1", [0, 0, 20, 10])])
    cells = values(found)
    assert (cells["ours", "Airspace", "iou"], cells["ours", "micro", "targets"]) == (1.0, 1)
    assert ("ours", "Pneumonia", "iou") not in cells
    assert "Airspace = Pneumonia + Consolidation" in found.scores["protocol"][0]
    for merges, message in (
        ({"A": ["Pneumonja"]}, "unknown class 'Pneumonja' .did you mean 'Pneumonia'"),
        ({"A": ["Pneumonia"], "B": ["Pneumonia"]}, "merged twice"),
    ):
        with pytest.raises(UserError, match=message):
            run(expert(path, merges=merges))


@pytest.mark.parametrize(
    ("row", "reason", "area"),
    [
        ("i1,Pneumothorax,a,p,,0,10,10,100,100,test", "no_coordinates", None),
        ("i1,Pneumothorax,a,p,nan,0,10,10,100,100,test", "no_coordinates", None),
        ("i1,Pneumothorax,a,p,5,5,0,10,100,100,test", "no_area", None),
        ("i1,Pneumothorax,a,p,5,5,10,-3,100,100,test", "no_area", None),
        ("i1,Pneumothorax,a,p,100,5,10,10,100,100,test", "outside_image", None),
        ("i1,Pneumothorax,a,p,95,5,10,10,100,100,test", "beyond_image", 50),
    ],
)
def test_unusable_boxes_stand_in_the_ledger(
    tmp_path: Path, row: str, reason: str, area: float | None
) -> None:
    found = run(expert(ms_cxr(tmp_path, row)))
    assert found.ledger.schema == LEDGER
    (entry,) = found.ledger.iter_rows(named=True)
    assert (entry["item_id"], entry["reason"]) == ("i1", reason)
    assert "line 2: box of 'Pneumothorax'" in entry["detail"]
    areas = found.pairs["target_area"].unique().to_list()
    assert areas == ([] if area is None else [area])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["i1,Pneumotorax,a,p,0,0,1,1,9,9,test"], r"line 2: unknown category 'Pneumotorax'.*x'"),
        (["i1,Pneumothorax,a,p,0,zero,1,1,9,9,test"], "line 2, y: 'zero' is not a number"),
        (["i1,Pneumothorax,a,p,0,0,1,1,0,9,test"], "line 2: the image's size 0 x 9"),
        (["i1,Pneumothorax,a,p,0,0"], "line 2: not the 11 cells of the header"),
        ([AIR, AIR.replace("100,100", "90,100")], "line 3: image size differs"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, rows: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_ms_cxr(ms_cxr(tmp_path, *rows), ["Pneumothorax"])


def test_options_of_readers_are_none_of_ms_cxr() -> None:
    given = {"name": "x", "format": "ms_cxr", "path": "x.csv"}
    whole = BoxReference(**given)
    assert BoxReference(**whole.model_dump()) == whole  # as the rule passes it on
    with pytest.raises(ValidationError, match="ms_cxr knows no phases, certainty"):
        BoxReference(**given, phases=[1], certainty=4)


def test_the_step_takes_what_the_demo_configures() -> None:
    dataset = load_config({"dataset": "demo"}, ROOT)[1]
    experts = [
        evaluate_boxes.expert(BoxReference(**given)) for given in dataset.references("r")["boxes"]
    ]
    assert [(e.format, e.poolings, e.cut.phases) for e in experts] == [
        ("ms_cxr", ("union",), (1, 2, 3)),
        ("reflacx", ["union"], [3]),
    ]


def scene_graph(folder: Path, image: str, attributes: dict[str, list[str]]) -> None:
    """Six regions of 10 x 10 pixels side by side, some with attributes."""
    names = ["left lung", "right lung", "cardiac silhouette", "trachea", "carina", "spine"]
    objects = [
        {
            "bbox_name": name,
            "original_x1": 10 * n,
            "original_y1": 0,
            "original_x2": 10 * n + 10,
            "original_y2": 10,
        }
        for n, name in enumerate(names)
    ]
    found = [{"bbox_name": n, "attributes": [texts]} for n, texts in attributes.items()]
    content = {"image_id": image, "objects": objects, "attributes": found}
    (folder / f"{image}_SceneGraph.json").write_text(json.dumps(content))


def test_chest_imagenome_is_compared_on_pairs_of_its_own(tmp_path: Path) -> None:
    path = ms_cxr(tmp_path, AIR, AIR.replace("i1", "i2"))
    attributes = {
        "left lung": ["anatomicalfinding|yes|pneumothorax", "nlp|yes|abnormal"],
        "right lung": ["anatomicalfinding|no|pneumothorax"],
        "cardiac silhouette": ["anatomicalfinding|yes|enlarged cardiac silhouette"],
        "neck": ["anatomicalfinding|yes|pneumothorax"],  # a region that has no box
    }
    scene_graph(tmp_path, "i1", attributes)
    found = run(expert(path, imagenome=tmp_path))
    cells = values(found)
    assert cells["Chest ImaGenome", "Pneumothorax", "iou"] == 1.0
    assert (cells["Chest ImaGenome", "micro", "pairs"], cells["ours", "micro", "pairs"]) == (1, 0)
    assert cells["Chest ImaGenome", "micro", "hits@30"] == 0.5
    assert cells["Chest ImaGenome", "Cardiomegaly", "predictions_without_target"] == 1
    (row,) = found.ledger.iter_rows(named=True)
    assert (row["item_id"], row["reason"]) == ("i2", "no_scene_graph")


def test_a_missing_folder_of_scene_graphs_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nowhere: no such folder; correct 'imagenome'"):
        run(expert(ms_cxr(tmp_path, AIR), imagenome=tmp_path / "nowhere"))


@pytest.mark.parametrize("text", ["{", "[]", '{"image_id": "i1", "objects": []}'])
def test_a_scene_graph_that_is_none_stands_in_the_ledger(tmp_path: Path, text: str) -> None:
    (tmp_path / "i1_SceneGraph.json").write_text(text)
    found = run(expert(ms_cxr(tmp_path, AIR), imagenome=tmp_path))
    (row,) = found.ledger.iter_rows(named=True)
    assert row["reason"] == "no_scene_graph"
    assert values(found)["Chest ImaGenome", "micro", "targets_without_prediction"] == 1


def test_bad_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        read_ms_cxr(tmp_path / "absent.csv", [])
    path = ms_cxr(tmp_path, header=MS_CXR_HEADER.replace("category_name", "category"))
    with pytest.raises(UserError, match=r"no column 'category_name' \(did you mean 'category'"):
        read_ms_cxr(path, [])
    path.write_bytes(b"\x1f\x8b\xff\xfe")
    with pytest.raises(UserError, match="no UTF-8 text"):
        read_ms_cxr(path, [])
