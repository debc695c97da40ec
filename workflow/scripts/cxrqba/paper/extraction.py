"""The extraction table: observations, sections and attributes against annotated reports.

Rows are aspects and systems, parts of the gold stand in blocks of their own, and below them is
where the errors of our system arose (``evaluate.extraction`` says how all of it is counted).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.evaluate.extraction import PEER
from cxrqba.evaluate.extraction_counts import METRICS, SHARES
from cxrqba.paper.tables import UNDEFINED, Block, Table, count, interval, no_data
from cxrqba.schema import EXTRACTION_SCORES, EXTRACTION_STAGES
from cxrqba.tables import read_table

CAPTION = "Extraction against annotated reports"
NOT_RUN = "not run"
HEADINGS = {
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "accuracy": "Right",
    "wrong": "Wrong",
    "unknown": "Not stated",
}
STAGES = ("reference", "section", "mention", "scope", "mapping", "graph", "side")


def extraction_table(scores_path: Path, stages_path: Path, dataset: str) -> Table:
    """All blocks of all annotated sets and parts."""
    scores = read_table(scores_path, EXTRACTION_SCORES)
    stages = read_table(stages_path, EXTRACTION_STAGES)
    if scores.is_empty():
        return no_data("", CAPTION, dataset, scores, "no annotated reports are configured")
    blocks = []
    for (name, part), rows in scores.group_by("reference", "part", maintain_order=True):
        title = f"{name}, {part} ({rows['studies'][0]} studies of {rows['patients'][0]} patients)"
        blocks += [
            _scored(rows, METRICS, ("Gold", "Predicted"), title),
            _scored(rows, SHARES, ("Pairs",), f"{title}: agreement of matched pairs"),
            _stages(
                stages.filter(pl.col("reference") == name, pl.col("part") == part),
                f"{title}: errors of ours by the step they arose in",
            ),
        ]
    return Table(
        "", CAPTION, dataset, scores, [b for b in blocks if b.frame.height], _notes(scores)
    )


def _scored(
    scores: pl.DataFrame, metrics: Sequence[str], counts: Sequence[str], heading: str
) -> Block:
    """One row per aspect and system."""
    part = scores.filter(pl.col("metric").is_in(metrics))
    rows = []
    for (aspect,), systems in part.group_by("aspect", maintain_order=True):
        for (system,), cells in systems.group_by("system", maintain_order=True):
            by_metric = {r["metric"]: r for r in cells.iter_rows(named=True)}
            numbers = [cells["gold"][0], cells["predicted"][0]]
            rows.append(
                {"Aspect": str(aspect), "System": str(system)}
                | {h: count(n) for h, n in zip(counts, numbers, strict=False)}
                | {HEADINGS[m]: _cell(by_metric.get(m)) for m in metrics}
            )
    if rows and PEER not in scores["system"]:
        others = dict.fromkeys(rows[0], UNDEFINED) | {HEADINGS[m]: NOT_RUN for m in metrics}
        rows.append(others | {"Aspect": "all", "System": PEER})
    return Block(pl.DataFrame(rows), heading, ("Aspect", "System"))


def _cell(row: Mapping[str, Any] | None) -> str:
    return interval(row["value"], row["low"], row["high"]) if row else UNDEFINED


def _stages(stages: pl.DataFrame, heading: str) -> Block:
    """One row per kind of error, one column per step."""
    rows = []
    for (error,), part in stages.group_by("error", maintain_order=True):
        counts = dict(part.select("stage", "count").iter_rows())
        rows.append({"Error": str(error)} | {s: count(counts.get(s, 0)) for s in STAGES})
    return Block(pl.DataFrame(rows), heading, ("Error",))


def _notes(scores: pl.DataFrame) -> list[str]:
    protocols = scores["protocol"].drop_nulls().unique(maintain_order=True)
    return [
        "A match is finding, polarity and evidence sentence, one to one, of observations from the "
        "report; recall is over annotated rows, precision over observations. Uncertain: all short "
        "of certain. Regions and the agreement blocks are over matched pairs; kin: a region within "
        "the other counts as well; side, stated: a sentence of the observation has a word for a "
        "side; side, annotated: all rows with one, by convention too. The baseline and the peer "
        "are given our sentences and names, and the nearest side word. Brackets: 95 % bootstrap "
        "interval over patients. – : undefined.",
        *(f"Protocol: {p}." for p in protocols),
    ]
