"""Whether a dataset may be released: leaks and imbalances against configured limits."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.config import LeaksConfig
from cxrqba.errors import UserError
from cxrqba.evaluate.balance import Guess
from cxrqba.evaluate.leaks import ordered
from cxrqba.schema import LEAK_SCORES
from cxrqba.tables import frame

Row = dict[str, Any]
EXAMPLES = 5
ONE_SIDED = 0.95
"""A tag is one-sided if this share of its parts, or more, say the same."""

_SAID = {
    "max_shared_patients": "patients are in more than one split",
    "max_duplicate_reports": "of held-out reports nearly repeat one of an earlier split",
    "max_duplicate_answers": "of held-out answers nearly repeat one of an earlier split",
    "max_question_only": "balanced accuracy of guessing the answer from the question alone",
    "min_positive": "of main answers are positive",
    "max_positive": "of main answers are positive",
    "max_one_sided_tags": "of frequent tags are nearly always positive, or nearly always negative",
}
_CHECK_OF = {
    "max_shared_patients": "patients",
    "max_duplicate_reports": "reports",
    "max_duplicate_answers": "answers",
    "max_one_sided_tags": "tags",
}


def split_rows(check: str, texts: pl.DataFrame, pairs: pl.DataFrame) -> Iterator[Row]:
    """LEAK_SCORES of near-duplicates: share of each later split, and of all of them."""
    found = pairs.filter(pl.col("check") == check)
    sizes = dict(texts.group_by("split").len().iter_rows())
    splits = ordered(sizes)
    held = sum(sizes[s] for s in splits[1:])
    for place, split in enumerate(splits[1:], start=1):
        hits = found.filter(pl.col("split") == split).height
        yield _row(check, f"{split} in {', '.join(splits[:place])}", "repeated", hits, sizes[split])
    if held:
        limit = f"max_duplicate_{check}"
        yield _row(check, "all held-out", "repeated", found.height, held, limit)


def patient_row(studies: pl.DataFrame, pairs: pl.DataFrame) -> Row:
    """LEAK_SCORES of patients in several splits."""
    known = studies.drop_nulls(["patient_id", "split"])["patient_id"].n_unique()
    shared = pairs.filter(pl.col("check") == "patients")["item"].n_unique()
    return {
        "check": "patients",
        "subject": "all splits",
        "metric": "shared",
        "value": float(shared) if known else math.nan,
        "count": known,
        "limit": "max_shared_patients",
    }


def guess_rows(found: dict[str, Guess]) -> Iterator[Row]:
    """LEAK_SCORES of the majority and of questions alone."""
    for strategy, one in found.items():
        whole = strategy == "all"
        values = {
            "question_only": {"balanced accuracy": one.balanced, "accuracy": one.accuracy},
            "majority": {"accuracy": one.majority},
        }
        for check, metrics in values.items():
            for metric, value in metrics.items():
                limited = whole and metric == "balanced accuracy"
                yield {
                    "check": check,
                    "subject": strategy,
                    "metric": metric,
                    "value": value,
                    "count": one.answers,
                    "limit": "max_question_only" if limited else None,
                }


def positive_rows(counts: pl.DataFrame) -> Iterator[Row]:
    """LEAK_SCORES of the share of positive main answers, of all and by strategy."""
    yes, no = int(counts["positive"].sum()), int(counts["negative"].sum())
    for limit in ("min_positive", "max_positive"):
        yield _row("positive", "all", "positive", yes, yes + no, limit)
    for (strategy,), part in sorted(counts.group_by("question_strategy")):
        yes, no = int(part["positive"].sum()), int(part["negative"].sum())
        yield _row("positive", str(strategy), "positive", yes, yes + no)


def tag_rows(tags: pl.DataFrame, least: int) -> Iterator[Row]:
    """LEAK_SCORES of the positive ratio of each tag of ``least`` parts or more, and a summary."""
    total = pl.col("positive") + pl.col("negative")
    frequent = tags.filter(total >= least).sort(
        total, "kind", "tag", descending=[True, False, False]
    )
    sided = 0
    for kind, tag, yes, no in frequent.iter_rows():
        sided += max(yes, no) >= ONE_SIDED * (yes + no)
        yield _row("tags", f"{kind}: {tag}", "positive", yes, yes + no)
    yield _row("tags", "all", "one-sided", sided, frequent.height, "max_one_sided_tags")


def _row(
    check: str, subject: str, metric: str, part: int, whole: int, limit: str | None = None
) -> Row:
    return {
        "check": check,
        "subject": subject,
        "metric": metric,
        "value": part / whole if whole else math.nan,
        "count": whole,
        "limit": limit,
    }


def scores_table(rows: Sequence[Row], dataset: str) -> pl.DataFrame:
    """Rows as LEAK_SCORES."""
    return frame(({"dataset": dataset, **row} for row in rows), LEAK_SCORES)


def verdict(scores: pl.DataFrame, pairs: pl.DataFrame, limits: LeaksConfig) -> dict[str, Any]:
    """``{"passed", "findings", "not_checked"}``: what is beyond its limit, and what is unknown.

    A finding has limit, allowed, found, what, and examples by id; never report text.
    """
    findings, unknown = [], []
    for row in scores.drop_nulls("limit").iter_rows(named=True):
        key, value = row["limit"], row["value"]
        if math.isnan(value):
            unknown.append(f"evaluate.leaks.{key}: nothing to check")
            continue
        allowed = getattr(limits, key)
        if value < allowed if key.startswith("min") else value > allowed:
            findings.append(
                {
                    "limit": f"evaluate.leaks.{key}",
                    "allowed": allowed,
                    "found": round(value, 6),
                    "what": _what(key, value),
                    "examples": _examples(key, scores, pairs),
                }
            )
    return {"passed": not findings, "findings": findings, "not_checked": unknown}


def _what(key: str, value: float) -> str:
    figure = f"{value:.0f}" if key == "max_shared_patients" else f"{100 * value:.1f} %"
    return f"{figure} {_SAID[key]}"


def _examples(key: str, scores: pl.DataFrame, pairs: pl.DataFrame) -> list[str]:
    check = _CHECK_OF.get(key)
    if check == "tags":
        sided = (pl.col("value") >= ONE_SIDED) | (pl.col("value") <= 1 - ONE_SIDED)
        tags = scores.filter((pl.col("check") == "tags") & (pl.col("metric") == "positive") & sided)
        return [f"{s} ({100 * v:.0f} %)" for s, v in tags["subject", "value"].rows()[:EXAMPLES]]
    found = pairs.filter(pl.col("check") == check).head(EXAMPLES) if check else pairs.head(0)
    return [
        f"{r['item']} ({r['split']}, {r['other_split']})"
        if check == "patients"
        else f"{r['item']} ({r['split']}) ~ {r['other_item']} ({r['other_split']})"
        for r in found.iter_rows(named=True)
    ]


def require_passed(path: Path) -> None:
    """:class:`UserError` with all that was found if the gate of ``path`` did not pass."""
    try:
        gate = json.loads(path.read_text(encoding="utf-8"))
        passed, findings = gate["passed"], gate["findings"]
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"{path}: no verdict of evaluate_leaks; run the workflow again") from None
    if passed is not True:
        told = "; ".join(
            f"{f['what']} (limit {f['limit']} = {f['allowed']}"
            + (f"; {', '.join(f['examples'])})" if f["examples"] else ")")
            for f in findings
        )
        raise UserError(
            f"{path}: not passed, so nothing is released: {told or 'no reason is given'}; mend "
            "the data, or set the limits under evaluate.leaks in the dataset file"
        )
