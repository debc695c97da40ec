"""The validity table of the judge: planted errors, and answers known to be wrong.

One block for each part of the annotation and test; the rows are kinds of errors.
``evaluate.judge_validity`` says how all of it is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.paper.tables import UNDEFINED, Block, Table, count, interval, no_data
from cxrqba.schema import JUDGE_SCORES
from cxrqba.tables import read_table

CAPTION = "Validity of the judge"
PLANTED = {
    "accepted": "Right accepted",
    "charged": "Right called misleading",
    "detected": "Error detected",
}
NATURAL = ("recall", "precision", "false alarms", "unrated")


def validity_table(scores_path: Path, dataset: str) -> Table:
    """All blocks of all tests, sets and parts."""
    scores = read_table(scores_path, JUDGE_SCORES)
    if scores.is_empty():
        return no_data("", CAPTION, dataset, scores, "the judge was not tested")
    blocks = []
    keys = ["part", "test", "judge"]
    for (part, test, judge), rows in scores.group_by(keys, maintain_order=True):
        block = _planted(rows) if test == "planted" else _natural(rows)
        what = "planted errors" if test == "planted" else "answer parts as they came"
        blocks.append(Block(block, f"{judge}, {part}: {what}", ("Set", "Criterion", "Error")))
    return Table("", CAPTION, dataset, scores, blocks, _NOTES)


def _planted(rows: pl.DataFrame) -> pl.DataFrame:
    """A row per source and kind of error."""
    shown = []
    for (source, kind), cells in rows.group_by(["source", "kind"], maintain_order=True):
        by_metric = {r["metric"]: r for r in cells.iter_rows(named=True)}
        shown.append(
            {
                "Set": str(source),
                "Criterion": str(cells["criterion"][0]).replace("_", " "),
                "Error": str(kind),
                "Pairs": count(by_metric["accepted"]["count"]),
                "Studies": count(cells["studies"][0]),
                **{heading: _cell(by_metric.get(m)) for m, heading in PLANTED.items()},
            }
        )
    return pl.DataFrame(shown)


def _natural(rows: pl.DataFrame) -> pl.DataFrame:
    """A row per source, kind of error and metric."""
    return pl.DataFrame(
        {
            "Set": row["source"],
            "Criterion": row["criterion"],
            "Error": row["kind"],
            "Measure": row["metric"],
            "Value": _cell(row),
            "Parts": count(row["count"]),
            "Studies": count(row["studies"]),
        }
        for row in rows.iter_rows(named=True)
    )


def _cell(row: Mapping[str, Any] | None) -> str:
    return interval(row["value"], row["low"], row["high"], 3) if row else UNDEFINED


_NOTES = (
    "Planted: an error put into an answer that is right by annotation; two texts a pair. Right "
    "accepted: nothing found in the right answer; right called misleading: it is called misleading "
    "or contradicting; error detected: of the accepted answers, those whose level falls once the "
    "error is in. Contradictions: polarity and side. Brackets: Wilson's 95 % interval.",
    "Answer parts as they came: recall over parts that rest on an observation the annotation "
    "contradicts, precision over parts that entailment calls not aligned, false alarms over right "
    "parts. Brackets: 95 % bootstrap interval over studies.",
    "Planted errors are a check that texts are told apart, not a claim about answers as they come.",
)
