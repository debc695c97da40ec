"""The table of leaks between splits and of what can be answered without looking."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.paper.names import STRATEGY_NAMES
from cxrqba.paper.tables import Block, Table, count, no_data, number
from cxrqba.schema import LEAK_SCORES
from cxrqba.tables import read_table

CAPTION = "Leaks between splits, and balance"
SHOWN_TAGS = 15
_NOTES = (
    "Near-duplicates share most of their runs of three words; each item of a later split counts "
    "once. Reports: FINDINGS and IMPRESSION sentences. Answers: distinct whole answers of a sample "
    "of studies, short ones left out.",
    "Question alone: the answer given more often to the same question in the training split (else "
    "to its type). Balanced accuracy of chance is 50 %. An answer is positive if a main part is.",
    "The limits are ours, not the paper's (evaluate.leaks in the configuration).",
)


def leaks_table(scores_path: Path, gate_path: Path, dataset: str) -> Table:
    """Blocks: the verdict, splits, guesses by strategy, the most frequent tags."""
    scores = read_table(scores_path, LEAK_SCORES)
    if scores.is_empty():
        return no_data("", CAPTION, dataset, scores, "there are no questions")
    gate = json.loads(gate_path.read_text(encoding="utf-8"))
    blocks = [
        _limits(scores, gate),
        Block(_splits(scores), "Splits", ("What", "Where")),
        Block(_guesses(scores), "Answers without looking", ("Strategy",)),
        Block(_tags(scores), f"The {SHOWN_TAGS} most frequent tags", ("Kind", "Tag")),
    ]
    shown = [block for block in blocks if not block.frame.is_empty()]
    return Table("", CAPTION, dataset, scores, shown, _NOTES)


def _limits(scores: pl.DataFrame, gate: dict[str, Any]) -> Block:
    beyond = {f["limit"].rpartition(".")[2]: f["allowed"] for f in gate["findings"]}

    def told(limit: str, value: float) -> str:
        if limit in beyond:
            return f"beyond {beyond[limit]:g}"
        return "not checked" if math.isnan(value) else "kept"

    rows = [
        {
            "Limit": row["limit"],
            "Found": number(row["value"], 0 if row["check"] == "patients" else 3),
            "Of": count(row["count"]),
            "Verdict": told(row["limit"], row["value"]),
        }
        for row in scores.drop_nulls("limit").iter_rows(named=True)
    ]
    verdict = "passed" if gate["passed"] else "not passed: no release"
    return Block(pl.DataFrame(rows), f"Gate: {verdict}", ("Limit", "Verdict"))


def _splits(scores: pl.DataFrame) -> pl.DataFrame:
    names = {"patients": "patients in several splits", "reports": "reports", "answers": "answers"}
    rows = scores.filter(pl.col("check").is_in(list(names)))
    return pl.DataFrame(
        [
            {
                "What": names[r["check"]],
                "Where": r["subject"],
                "Repeated": number(r["value"], 0)
                if r["check"] == "patients"
                else _percent(r["value"]),
                "Of": count(r["count"]),
            }
            for r in rows.iter_rows(named=True)
        ]
    )


def _guesses(scores: pl.DataFrame) -> pl.DataFrame:
    wanted = scores.filter(pl.col("check").is_in(["question_only", "majority", "positive"]))
    values: dict[str, dict[tuple[str, str], float]] = {}
    counts: dict[str, int] = {}
    for row in wanted.iter_rows(named=True):
        values.setdefault(row["subject"], {})[row["check"], row["metric"]] = row["value"]
        if row["check"] == "question_only":
            counts[row["subject"]] = row["count"]
    columns = {
        "Positive": ("positive", "positive"),
        "Majority": ("majority", "accuracy"),
        "Question alone": ("question_only", "accuracy"),
        "Balanced": ("question_only", "balanced accuracy"),
    }
    return pl.DataFrame(
        [
            {
                "Strategy": STRATEGY_NAMES.get(strategy, strategy),
                "Held-out answers": count(counts.get(strategy)),
                **{name: _percent(found.get(key)) for name, key in columns.items()},
            }
            for strategy, found in values.items()
        ]
    )


def _tags(scores: pl.DataFrame) -> pl.DataFrame:
    rows = scores.filter((pl.col("check") == "tags") & (pl.col("metric") == "positive"))
    return pl.DataFrame(
        [
            {
                "Kind": r["subject"].partition(": ")[0],
                "Tag": r["subject"].partition(": ")[2],
                "Parts": count(r["count"]),
                "Positive": _percent(r["value"]),
            }
            for r in rows.head(SHOWN_TAGS).iter_rows(named=True)
        ]
    )


def _percent(value: float | None) -> str:
    """A share in per cent; NaN and null are undefined."""
    text = number(None if value is None else 100 * value, 1)
    return text if value is None or text == number(None) else f"{text} %"
