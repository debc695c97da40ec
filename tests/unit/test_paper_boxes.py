"""Tables 2b, 9, 10 and the figure of thresholds, from scores worked out by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from box_fixtures import MS_CXR_HEADER, Reflacx, lung, ms_cxr, observation, run
from matplotlib import pyplot as plt
from matplotlib.text import Text

from cxrqba import schema
from cxrqba.evaluate.boxes import Evaluation, Expert
from cxrqba.evaluate.reflacx import Cut
from cxrqba.paper import style
from cxrqba.paper.box_tables import class_table, pooled_table
from cxrqba.paper.box_thresholds import threshold_data, threshold_figure
from cxrqba.paper.tables import to_latex, to_markdown, write_csv, write_outputs
from cxrqba.tables import write_table

SEEN = [
    observation("pleural effusion", "i1", [0, 0, 40, 20]),
    observation("cardiomegaly", "i1", [0, 0, 9, 9], obs_id="O03"),
]
LUNGS = [lung("i1", "left lung", 0, 0, 50, 100)]


@pytest.fixture
def boxes(tmp_path: Path) -> Evaluation:
    path = ms_cxr(
        tmp_path,
        "i1,Pleural Effusion,small effusion,p,0,0,20,20,100,100,test",
        "i2,Pleural Effusion,air,p,0,0,10,10,100,100,test",
    )
    return run(Expert("boxes", "ms_cxr", path), SEEN, lungs=LUNGS, bootstrap=0)


@pytest.fixture
def ellipses(tmp_path: Path) -> Evaluation:
    source = Reflacx(tmp_path)
    source.reading("P300R000001", "i1", [((0, 0, 40, 20), 5, ["Pleural abnormality"])])
    expert = Expert("ellipses", "reflacx", tmp_path, {}, ("union", "reading"), Cut((3,)))
    return run(expert, SEEN, bootstrap=0)


def written(found: Evaluation, folder: Path, name: str = "a") -> tuple[Path, Path]:
    scores, pairs = folder / f"{name}.scores.parquet", folder / f"{name}.pairs.parquet"
    write_table(found.scores, scores, schema.BOX_SCORES)
    write_table(found.pairs, pairs, schema.BOX_PAIRS)
    return scores, pairs


def test_table_2b_pools_classes(boxes: Evaluation, tmp_path: Path) -> None:
    table = pooled_table([written(boxes, tmp_path)[0]], "Demo")
    rows = table.blocks[0].frame.rows(named=True)
    assert [r["System"] for r in rows] == ["ours", "lungs", "whole image"]
    ours, lungs, image = rows
    assert (ours["Targets"], ours["Pairs"], ours["IoU @30"]) == ("2", "1", "1.00")
    assert (ours["IoU @30 of all targets"], ours["Targets without box"]) == ("0.50", "1")
    assert ours["Boxes without target"] == "1"
    assert (lungs["IoU"], image["IoU"]) == ("0.08", "0.04")
    assert lungs["Boxes without target"] == "–"
    assert table.title == "Table 2b. Finding boxes against expert boxes (Demo)"
    assert "boxes: positive observations of the report, of any certainty" in to_markdown(table)


def test_table_9_has_the_classes_of_ms_cxr(boxes: Evaluation, tmp_path: Path) -> None:
    table = class_table("Table 9", "ms_cxr", [written(boxes, tmp_path)[0]], "Demo")
    frame = table.blocks[0].frame
    assert frame["Class"].to_list() == ["all pairs", "Cardiomegaly", "Pleural Effusion"]
    effusion = frame.row(2, named=True)
    assert (effusion["IoP"], effusion["Lungs: IoU @30"]) == ("0.50", "0.00")
    assert frame.row(1, named=True)["IoU @30"] == "–"
    assert "neither a target nor a box for Atelectasis, Consolidation" in to_markdown(table)
    assert r"\begin{tabular}" in to_latex(table)


def test_table_10_has_a_block_for_each_way_to_pool(ellipses: Evaluation, tmp_path: Path) -> None:
    scores = written(ellipses, tmp_path)[0]
    table = class_table("Table 10", "reflacx", [scores], "Demo")
    assert [b.heading for b in table.blocks] == [
        "ellipses: all that any reader marked",
        "ellipses: each reader alone",
    ]
    row = table.blocks[0].frame.row(
        by_predicate=pl.col("Class") == "Pleural abnormality", named=True
    )
    assert (row["IoU @30"], row["IoP"]) == ("1.00", "0.79")
    assert class_table("Table 9", "ms_cxr", [scores], "Demo").blocks == ()


def test_without_a_common_image_the_table_says_so(tmp_path: Path) -> None:
    path = ms_cxr(tmp_path, "i9,Edema,a,p,0,0,20,20,100,100,test")
    scores = written(run(Expert("boxes", "ms_cxr", path)), tmp_path)[0]
    for table in (pooled_table([scores], "D"), class_table("Table 9", "ms_cxr", [scores], "D")):
        assert "boxes: **no target in any image of the dataset**." in to_markdown(table)


def test_without_references_the_tables_say_so() -> None:
    assert "No data: no box reference is configured" in to_markdown(pooled_table([], "Demo"))
    text = to_markdown(class_table("Table 10", "reflacx", [], "Demo"))
    assert "No data: no reference in REFLACX's format" in text


def test_thresholds_count_what_reaches_them(boxes: Evaluation, tmp_path: Path) -> None:
    data = threshold_data([written(boxes, tmp_path)[1]])
    iou = data.filter(pl.col("ratio") == "iou").select("line", "threshold", "share")
    share = {(line, round(t, 2)): s for line, t, s in iou.iter_rows()}
    assert (share["ours", 0.5], share["ours", 0.52]) == (1.0, 0.0)
    assert (share["ours, all targets", 0.5], share["ours, all targets", 0.52]) == (0.5, 0.0)
    assert (share["whole image", 0.04], share["whole image", 0.06]) == (1.0, 0.0)
    assert ("ours, all targets", 0.0) not in share


@pytest.mark.parametrize("empty", [False, True])
def test_nothing_of_the_figure_is_cut(
    boxes: Evaluation, ellipses: Evaluation, tmp_path: Path, empty: bool
) -> None:
    paths = (
        [] if empty else [written(f, tmp_path, n)[1] for f, n in ((boxes, "a"), (ellipses, "b"))]
    )
    figure = threshold_figure(threshold_data(paths), "Demo")
    figure.canvas.draw()
    width, height = figure.canvas.get_width_height()
    texts = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    for text in texts:
        box = text.get_window_extent()
        assert min(box.x0, box.y0) >= -1, text.get_text()
        assert box.x1 <= width + 1, text.get_text()
        assert box.y1 <= height + 1, text.get_text()
    assert any("Demo" in t.get_text() for t in texts)
    plt.close(figure)


def test_bytes_do_not_change(boxes: Evaluation, tmp_path: Path) -> None:
    scores, pairs = written(boxes, tmp_path)
    made = []
    for name in ("one", "two"):
        folder = tmp_path / name
        write_outputs(pooled_table([scores], "D"), folder / "t.csv", folder / "t.md")
        data = threshold_data([pairs])
        write_csv(data, folder / "f.csv")
        style.save(threshold_figure(data, "D"), folder / "f.pdf", folder / "f.png")
        made.append({p.name: p.read_bytes() for p in folder.iterdir()})
    assert made[0] == made[1]
    assert {"f.csv", "f.pdf", "f.png", "t.csv", "t.md", "t.tex"} <= set(made[0])


def test_the_header_is_that_of_ms_cxr() -> None:
    gold = Path(__file__).parents[2] / "resources" / "demo" / "gold"
    with (gold / "MS_CXR_Local_Alignment_v1.1.0.csv").open(encoding="utf-8") as file:
        assert file.readline() == MS_CXR_HEADER
