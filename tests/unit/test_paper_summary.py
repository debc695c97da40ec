"""The summary at the end of a run."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from paper_fixtures import label_row, question, rated, write_rows

from cxrqba import schema
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.summary import _images, summarize


def test_summary_says_what_was_made_and_what_to_open(tmp_path: Path):
    accounting = [
        {"stage": "prepare_studies", "what": "studies in", "reason": None, "count": 60},
        {"stage": "all", "what": "studies out", "reason": None, "count": 57},
        {"stage": "prepare_studies", "what": "studies lost", "reason": "no_report", "count": 2},
        {"stage": "build_graphs", "what": "studies lost", "reason": "no_text", "count": 1},
        {"stage": "build_graphs", "what": "observations", "reason": None, "count": 1234},
    ]
    pairs = [
        rated(question("s1", f"q{i}", "D02_has_finding", "?", []), rating, None)
        for i, rating in enumerate(["A", "A", "B", None])
    ]
    scores = [label_row("macro", "CXP-5", "mcc", 0.8), label_row("micro", "CXP-5", "mcc", 0.75)]
    text = summarize(
        [write_rows(tmp_path / "a.parquet", accounting, schema.ACCOUNTING)],
        [write_rows(tmp_path / "r.parquet", pairs, schema.RATED)],
        [write_rows(tmp_path / "s.parquet", scores, schema.LABEL_SCORES)],
        paper_settings({"title": "Demo", "open_first": "results/demo/figure.png"}),
        Path("results/demo"),
    )
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == "Demo"
    assert "studies 60 in, 57 out, 3 lost (2 no report, 1 no text)" in lines
    assert "observations 1,234" in lines
    assert "QA pairs 4" in lines
    assert "grades A 50.0 %, B 25.0 %, not rated 25.0 %" in lines
    assert "subsets 2 fine-tuning, 3 pre-training (frontal images only)" in lines
    assert "label MCC gold, ours, exact tags: CXP-5 0.80, micro 0.75" in lines
    assert "open first results/demo/figure.png" in lines
    assert "tables results/demo/tables/" in lines


def test_summary_of_images_alone_has_no_pairs():
    text = summarize([], [], [], paper_settings({"title": "Films"}), Path("results/films"))
    assert "QA pairs" not in text
    assert "figures" not in text
    assert "– in, – out" in text


def test_a_source_without_images_is_said_to_have_none() -> None:
    rows = [("prepare_studies", "studies in", None, 3)]
    none = pl.DataFrame(rows, schema=schema.ACCOUNTING, orient="row")
    assert _images(none).startswith("none in this source: no boxes")
    some = [
        ("segment_anatomy", "images", reason, n) for reason, n in (("ok", 4), ("unreadable", 1))
    ]
    assert _images(pl.DataFrame(some, schema=schema.ACCOUNTING, orient="row")) == "5 (1 unreadable)"
