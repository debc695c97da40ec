"""The files of `snakemake labels` and the difference between two of them."""

from __future__ import annotations

from typing import Any

import polars as pl

from cxrqba.evaluate import label_files
from cxrqba.label_changes import changes, describe
from cxrqba.schema import LABELS, LEDGER, STUDIES
from cxrqba.tables import frame

REPORT = "FINDINGS: Small effusion."


def labels(**values: str) -> pl.DataFrame:
    """LABELS of study s1: class -> value."""
    evidence = [
        {
            "says": "positive",
            "finding": "pleural effusion",
            "sent_id": "S01",
            "start": 16,
            "end": 24,
        }
    ]
    rows: list[dict[str, Any]] = [
        {
            "study_id": "s1",
            "class": name,
            "value": value,
            "certainty": None if value == "not mentioned" else "certain",
            "evidence": evidence if value == "positive" else [],
        }
        for name, value in values.items()
    ]
    return frame(rows, LABELS)


ALL = labels(A="positive", B="negative", C="uncertain", D="not mentioned")


def test_the_wide_table_is_written_as_chexpert_writes_it() -> None:
    table = label_files.wide(ALL)
    assert table.columns == ["patient_id", "study_id", "A", "B", "C", "D"]
    assert table.write_csv() == "patient_id,study_id,A,B,C,D\n,s1,1.0,0.0,-1.0,\n"


def test_a_shard_without_studies_still_makes_files() -> None:
    none = frame([], LABELS)
    assert label_files.wide(none).columns == ["patient_id", "study_id"]
    assert label_files.evidence(none).is_empty()
    assert "0 studies" in label_files.summary(none, 3, "x", "y")


def test_evidence_quotes_the_report_only_on_request() -> None:
    assert "text" not in label_files.evidence(ALL).columns
    studies = frame([{"study_id": "s1", "report": REPORT}], STUDIES)
    quoted = label_files.evidence(ALL, studies)
    assert quoted["text"].to_list() == ["effusion"]
    assert "report" not in quoted.columns


def test_each_study_left_out_is_listed_once() -> None:
    row = {"scope": "study", "study_id": "s2", "reason": "no_report", "detail": "x"}
    rows = [{**row, "stage": "prepare_studies"}, {**row, "stage": "build_graphs"}]
    rows.append({**row, "scope": "item", "study_id": "s3", "stage": "x"})
    found = label_files.left_out(frame(rows, LEDGER))
    assert found.select("study_id", "stage").rows() == [("s2", "prepare_studies")]


def test_every_kind_of_change_is_told_apart() -> None:
    new = labels(A="negative", B="negative", C="not mentioned", D="positive")
    new = new.with_columns(
        certainty=pl.when(pl.col("class") == "B").then(pl.lit("likely")).otherwise("certainty")
    )
    found = dict(changes(ALL, new).select("class", "change").iter_rows())
    assert found == {"A": "changed", "B": "certainty", "C": "lost", "D": "gained"}
    told = describe(ALL, new)
    assert "s1  B: negative (certain) -> negative (likely)" in told
    assert describe(ALL, ALL) == "0 labels of 0 studies differ\n"


def test_what_only_one_side_has_is_said() -> None:
    other = labels(A="positive", Z="positive").with_columns(study_id=pl.lit("s9"))
    told = describe(ALL, other)
    assert "1 studies only before, e.g. s1" in told
    assert "1 classes only after, e.g. Z" in told
