"""Figures of the paper: right numbers behind them, nothing cut or overlapping, stable bytes."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text
from paper_fixtures import (
    localization,
    part,
    question,
    rated,
    write_boxes,
    write_demo,
    write_parts,
    write_questions,
    write_rows,
)

from cxrqba import schema
from cxrqba.paper import style
from cxrqba.paper.examples import Tables, choose_examples, examples_frame
from cxrqba.paper.examples_figure import examples_figure
from cxrqba.paper.lengths import length_counts, length_figure, quantile
from cxrqba.paper.names import ANSWER_TYPE_NAMES, GRADE_GROUPS, GRADES, STRATEGY_NAMES
from cxrqba.paper.quality import quality, quality_figure, subsets
from cxrqba.paper.tags import tag_counts, tag_figure

EXAMPLE_TABLES = (
    "questions", "answers", "observations", "regions", "rated", "images", "studies",
)  # fmt: skip
SCRIPTS = Path(__file__).parents[2] / "workflow" / "scripts"
INPUTS = {
    "figure_1_examples": EXAMPLE_TABLES,
    "figure_4_quality": ("rated", "rated_answers"),
    "figure_5_tags": ("answers",),
    "figure_6_lengths": ("answers",),
}


def shown(figure: Figure) -> list[Text]:
    """All texts that are drawn."""
    figure.canvas.draw()
    return [
        t
        for t in figure.findobj(Text)
        if isinstance(t, Text) and t.get_visible() and t.get_text().strip()
    ]


def assert_nothing_cut(figure: Figure) -> None:
    width, height = figure.canvas.get_width_height()
    for text in shown(figure):
        box = text.get_window_extent()
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1
        assert inside, f"'{text.get_text()}' leaves the figure"
    plt.close(figure)


def test_names_cover_the_vocabularies():
    assert tuple(STRATEGY_NAMES) == schema.STRATEGIES
    assert tuple(ANSWER_TYPE_NAMES) == schema.ANSWER_TYPES
    assert [g for group in GRADE_GROUPS.values() for g in group] == list(GRADES)
    assert set(style.GRADE_COLOURS) == set(GRADES)


def test_quality_shares_and_causes(tmp_path: Path):
    pairs = [
        rated(question("s1", f"q{i}", kind, "?", []), rating, limit)
        for i, (kind, rating, limit) in enumerate(
            [
                ("B01_describe_all", "A", "entailment=ALIGNED_GENERAL_STATEMENT"),
                ("B01_describe_all", "B", "completeness=NOT_ANSWERED"),
                ("B03_is_abnormal", "B", "region_quality=NO_REGIONS"),
                ("D02_has_finding", None, None),
            ]
        )
    ]
    pairs[1]["pre_training"] = False  # no frontal image
    path = write_rows(tmp_path / "r.parquet", pairs, schema.RATED)
    data = quality([path], [])
    grades = data.filter(pl.col("panel") == "grades")
    share = {(r["group"], r["rating"]): r["share"] for r in grades.iter_rows(named=True)}
    assert share["all QA pairs", "B"] == 0.5
    assert share["all QA pairs", "not rated"] == 0.25
    assert share["abnormal", "A"] == pytest.approx(1 / 3)
    assert share["B01_describe_all", "B"] == 0.5
    causes = data.filter(pl.col("panel") == "causes", pl.col("rating") == "B")
    assert dict(causes.select("limiting_aspect", "share").iter_rows()) == {
        "completeness=NOT_ANSWERED": 0.5,
        "region_quality=NO_REGIONS": 0.5,
    }
    kept = {r[0]: r[2:] for r in subsets([path]).iter_rows()}
    assert kept["B01_describe_all"] == (2, 1, 1)
    figure = quality_figure(data, subsets([path]), "Demo")
    texts = [t.get_text() for t in shown(figure)]
    assert "not judged" in texts
    assert texts.count("50") >= 2  # two causes of B, half each
    assert_nothing_cut(figure)


def test_tags_count_parts_once_and_leave_comparisons_out(tmp_path: Path):
    answers = [
        part("q", 1, "a", obs_entities=["edema", "edema"], regions=["left lung"]),
        part("q", 2, "b", obs_entities=["edema"], positiveness="neg"),
        part("q", 3, "c", obs_entities=["edema"], positiveness="comparison_only"),
        part("q", 4, "d", obs_entities=["mass"], positiveness="neg"),
    ]
    rows = [question("s1", "q", "D02_has_finding", "?", answers)]
    path = write_parts(tmp_path / "a.parquet", rows)
    data = tag_counts([path])
    assert data.rows() == [
        ("region", "left lung", "finding", 1, 0, 1.0),
        ("finding", "edema", "finding", 1, 1, 0.5),
        ("finding", "mass", "finding", 0, 1, 0.0),
    ]


def test_lengths_count_words_of_answers_and_of_parts(tmp_path: Path):
    answers = [
        part("q", 1, "Yes, there is edema."),
        part("q", 2, "It  is\nmild.", answer_type="details", positiveness="neg"),
    ]
    rows = [question("s1", "q", "D02_has_finding", "?", answers)]
    path = write_parts(tmp_path / "a.parquet", rows)
    found = {r[:2]: r[3:] for r in length_counts([path]).iter_rows()}
    assert found == {
        ("overall", "all answers"): (7, 1),
        ("question_strategy", "finding"): (7, 1),
        ("answer_type", "main_answer"): (4, 1),
        ("answer_type", "details"): (3, 1),
        ("positiveness", "pos"): (4, 1),
        ("positiveness", "neg"): (3, 1),
    }


@given(
    st.dictionaries(st.integers(0, 60), st.integers(1, 5), min_size=1, max_size=8),
    st.sampled_from([0.0, 0.25, 0.5, 0.75, 0.98, 1.0]),
)
def test_quantile_of_counts_is_that_of_the_values(counts: dict[int, int], share: float):
    table = pl.DataFrame({"words": list(counts), "count": list(counts.values())})
    values = np.repeat(list(counts), list(counts.values()))
    assert quantile(table, share) == pytest.approx(float(np.quantile(values, share)))


def test_examples_come_from_good_pairs_of_different_studies_and_not_from_shards(tmp_path: Path):
    chosen = []
    for shards in (1, 3):
        paths = write_demo(tmp_path / "demo", studies=9, shards=shards)
        chosen.append(choose_examples(Tables(**{n: paths[n] for n in EXAMPLE_TABLES})))
    assert examples_frame(chosen[0]).equals(examples_frame(chosen[1]))
    assert [e.strategy for e in chosen[0]] == list(schema.STRATEGIES)
    assert len({e.study_id for e in chosen[0]}) == 4
    assert all(e.rating in GRADE_GROUPS["fine-tuning grade"] for e in chosen[0])
    assert all(any(p.boxes for p in e.parts) for e in chosen[0])


def one_example(tmp_path: Path, answers: list[dict], text: str = "Is there edema?", images=()):
    row = question("s1", "q", "D02_has_finding", text, answers)
    tables = {name: [] for name in EXAMPLE_TABLES} | {
        "questions": [write_questions(tmp_path / "q.parquet", [row])],
        "answers": [write_parts(tmp_path / "a.parquet", [row])],
        "rated": [write_rows(tmp_path / "r.parquet", [rated(row, "A", None)], schema.RATED)],
        "images": [write_rows(tmp_path / "i.parquet", list(images), schema.IMAGES)],
        "observations": [write_boxes(tmp_path / "o.parquet", [row])],
    }
    return choose_examples(Tables(**tables))


def test_without_images_the_panel_is_text_and_says_so(tmp_path: Path):
    figure = examples_figure(one_example(tmp_path, [part("q", 1, "Yes.")]), "Demo")
    assert any("no image" in t.get_text() for t in shown(figure))
    assert_nothing_cut(figure)


def test_an_unreadable_image_is_said_and_the_text_stays(tmp_path: Path):
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"not an image")
    image = {"study_id": "s1", "image_id": "i1", "path": str(broken), "view": "frontal"}
    answers = [part("q", 1, "Yes.", localization=[localization("i1", (1, 2, 30, 40))])]
    figure = examples_figure(one_example(tmp_path, answers, images=[image]), "Demo")
    texts = [t.get_text() for t in shown(figure)]
    assert any("cannot be read" in t for t in texts)
    assert "Yes." in texts
    plt.close(figure)


def test_long_and_hostile_text_is_wrapped_not_interpreted(tmp_path: Path):
    text = "Costs $5 and $6_{x}$ " + "pneumonoultramicroscopic" * 12 + " effusion" * 60
    answers = [part("q", i, text, answer_level=i) for i in range(1, 10)]
    figure = examples_figure(one_example(tmp_path, answers, text), "Demo")
    texts = shown(figure)
    assert any("$5" in t.get_text() for t in texts)
    assert any(t.get_text() == "… and 2 more answer parts" for t in texts)
    lines = [t for t in texts if len(t.get_text()) > 20]
    for first, second in itertools.pairwise(lines):
        a, b = (t.get_window_extent() for t in (first, second))
        overlap = min(a.x1, b.x1) > max(a.x0, b.x0) and min(a.y1, b.y1) - max(a.y0, b.y0) > 1.5
        assert not overlap, (first.get_text(), second.get_text())
    assert_nothing_cut(figure)


@pytest.mark.parametrize("images", [True, False])
def test_no_figure_of_a_whole_dataset_is_cut(tmp_path: Path, images: bool):
    paths = write_demo(tmp_path, studies=8, images=images)
    assert_nothing_cut(
        examples_figure(choose_examples(Tables(**{n: paths[n] for n in EXAMPLE_TABLES})), "Demo")
    )
    data = quality(paths["rated"], paths["rated_answers"])
    assert_nothing_cut(quality_figure(data, subsets(paths["rated"]), "Demo"))
    assert_nothing_cut(tag_figure(tag_counts(paths["answers"]), "Demo"))
    assert_nothing_cut(length_figure(length_counts(paths["answers"]), "Demo"))


def test_scripts_give_the_same_bytes_again_and_say_no_data(tmp_path: Path):
    paths = write_demo(tmp_path / "in", studies=6)
    sums = [run_figures(tmp_path / seed, paths, seed) for seed in ("1", "2")]
    assert sums[0] == sums[1]
    empty = run_figures(tmp_path / "empty", {}, "1")
    assert empty.keys() == sums[0].keys()
    assert all(empty[name] != sums[0][name] for name in empty)


def run_figures(folder: Path, paths: dict[str, list[Path]], seed: str) -> dict[str, str]:
    """Run all figure scripts in a process with a given hash seed; sums of their files."""
    code = "import importlib, json, sys\nfor name, argv in json.loads(sys.argv[1]).items():\n"
    code += "    sys.argv[1:] = argv\n    importlib.import_module(name).main()\n"
    outputs, commands = {}, {}
    for name, inputs in INPUTS.items():
        argv = ["--settings", '{"title": "Demo"}']
        for option in inputs:
            argv += [f"--{option.replace('_', '-')}", *map(str, paths.get(option, []))]
        for ending in ("csv", "pdf", "png"):
            outputs[f"{name}.{ending}"] = folder / f"{name}.{ending}"
            argv += [f"--{ending}", str(outputs[f"{name}.{ending}"])]
        commands[name] = argv
    subprocess.run(
        [sys.executable, "-c", code, json.dumps(commands)],
        check=True,
        cwd=SCRIPTS,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    return {n: hashlib.sha256(p.read_bytes()).hexdigest() for n, p in outputs.items()}


def test_tables_do_without_matplotlib():
    code = (
        "import sys; import table_2a_labels, table_2b_boxes, table_3_uniqueness, table_accounting, "
        "table_regions, summarize_run; assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=SCRIPTS)
