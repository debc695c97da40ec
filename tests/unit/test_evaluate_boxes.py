"""Box overlap: exact areas, pairs, unpaired targets, frames of another size, bad files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxrqba.errors import UserError
from cxrqba.evaluate.boxes import Settings, evaluate, read_ms_cxr
from cxrqba.evaluate.rectangles import overlap
from cxrqba.reference.tables import load_reference
from cxrqba.schema import BOX_SCORES, IMAGES, OBSERVATIONS
from cxrqba.tables import frame

REFERENCE = load_reference(Path(__file__).parents[2] / "resources" / "reference")
HEADER = "dicom_id,category_name,label_text,path,x,y,w,h,image_width,image_height,split\n"

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


def observation(
    study: str, finding: str, image: str, box: list[float], **more: Any
) -> dict[str, Any]:
    return {
        "study_id": study,
        "obs_id": "O01",
        "obs_entities": [finding],
        "positiveness": "pos",
        "from_report": True,
        "localization": [{"image_id": image, "bboxes": [box]}],
        **more,
    }


def images(width: int = 100, height: int = 100) -> pl.DataFrame:
    return frame(
        [
            {
                "patient_id": f"p{i}",
                "study_id": f"s{i}",
                "image_id": f"i{i}",
                "width": width,
                "height": height,
            }
            for i in (1, 2)
        ],
        IMAGES,
    )


def gold(folder: Path, *rows: str) -> Path:
    path = folder / "gold.csv"
    path.write_text(HEADER + "".join(f"{r}\n" for r in rows), encoding="utf-8")
    return path


def score(
    path: Path, observations: list[dict[str, Any]], shown: pl.DataFrame | None = None
) -> dict[tuple[str, str, str], dict[str, Any]]:
    table = evaluate(
        frame(observations, OBSERVATIONS),
        images() if shown is None else shown,
        [("gold", "ms_cxr", path)],
        REFERENCE,
        Settings("test", bootstrap=20),
    )
    assert table.schema == BOX_SCORES
    return {(r["system"], r["class"], r["metric"]): r for r in table.iter_rows(named=True)}


def test_values_worked_out_by_hand(tmp_path: Path) -> None:
    path = gold(
        tmp_path,
        "i1,Pleural Effusion,small effusion,p,0,0,20,10,100,100,test",
        "i1,Pleural Effusion,another phrase,p,0,0,20,20,100,100,test",
        "i2,Pneumothorax,air,p,0,0,10,10,100,100,test",
        "i9,Pneumothorax,image not in the run,p,0,0,10,10,100,100,test",
    )
    found = score(
        path,
        [
            observation("s1", "pleural effusion", "i1", [0.0, 0.0, 40.0, 20.0]),
            observation("s1", "empyema", "i1", [0.0, 0.0, 10.0, 10.0], obs_id="O02"),
            observation("s1", "cardiomegaly", "i1", [0.0, 0.0, 9.0, 9.0], obs_id="O03"),
            observation("s2", "pneumothorax", "i2", [0.0, 0.0, 9.0, 9.0], positiveness="neg"),
            observation("s2", "pneumothorax", "i2", [0.0, 0.0, 9.0, 9.0], from_report=False),
            observation("s2", "pneumothorax", "i2", [0.0, 0.0, 9.0, 9.0], obs_id="OIND"),
        ],
    )
    effusion = {m: found["ours", "Pleural Effusion", m]["value"] for m in ("iou", "iop", "iot")}
    assert effusion == {"iou": 0.5, "iop": 0.5, "iot": 1.0}
    assert found["ours", "micro", "iou"]["pairs"] == 1
    assert found["ours", "micro", "iou@30"]["value"] == 1.0
    assert found["ours", "micro", "targets_without_prediction"]["value"] == 1
    assert found["ours", "Pneumothorax", "targets_without_prediction"]["value"] == 1
    assert found["ours", "Cardiomegaly", "predictions_without_target"]["value"] == 1
    assert np.isnan(found["ours", "Pneumothorax", "iou"]["value"])
    whole = found["whole image", "micro", "iot"]
    assert (whole["value"], whole["pairs"]) == (1.0, 2)
    assert found["whole image", "Pneumothorax", "iop"]["value"] == pytest.approx(0.01)


def test_a_frame_of_another_size_is_scaled(tmp_path: Path) -> None:
    path = gold(tmp_path, "i1,Pneumothorax,air,p,10,10,10,10,100,100,test")
    prediction = observation("s1", "pneumothorax", "i1", [20.0, 30.0, 40.0, 60.0])
    found = score(path, [prediction], images(width=200, height=300))
    assert found["ours", "micro", "iou"]["value"] == 1.0
    assert found["whole image", "micro", "iop"]["value"] == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["i1,Pneumotorax,a,p,0,0,1,1,9,9,test"], r"line 2: unknown category 'Pneumotorax'.*x'"),
        (["i1,Pneumothorax,a,p,0,zero,1,1,9,9,test"], "line 2, y: 'zero' is not a number"),
        (["i1,Pneumothorax,a,p,0,0,0,1,9,9,test"], "line 2: width and height"),
        (
            [
                "i1,Pneumothorax,a,p,0,0,1,1,9,9,test",
                "i1,Pneumothorax,a,p,0,0,1,1,8,9,test",
            ],
            "line 3: image size differs",
        ),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, rows: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_ms_cxr(gold(tmp_path, *rows), ["Pneumothorax"])


def test_bad_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        read_ms_cxr(tmp_path / "absent.csv", [])
    path = tmp_path / "gold.csv"
    path.write_text(HEADER.replace("category_name", "category"), encoding="utf-8")
    with pytest.raises(UserError, match=r"no column 'category_name' \(did you mean 'category'"):
        read_ms_cxr(path, [])


def test_no_references_give_an_empty_table() -> None:
    table = evaluate(frame([], OBSERVATIONS), images(), [], REFERENCE, Settings("test"))
    assert table.is_empty()
    assert table.schema == BOX_SCORES
