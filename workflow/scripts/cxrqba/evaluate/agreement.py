"""Agreement of a judge with people and with another judge (paper Sec. 4.2, C.1, Tab. 5, Fig. 12).

Of each criterion: the share of equal levels; Cohen's kappa; kappa weighted by the squared distance
of the grades that the levels allow (Tab. 12); Gwet's AC1, which does not fall when nearly all cases
are of one level; and, across the cuts at A (fine-tuning grade) and B (pre-training grade), the
share of cases the judge rates above the cut and the rater below it (*over*), and the reverse
(*under*). Intervals come from a bootstrap over studies.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cxrqba.evaluate.metrics import draw_weights, interval
from cxrqba.judge.ratings import rate
from cxrqba.schema import AGREEMENT, CONFUSION, RATINGS, TEXT_QUALITY
from cxrqba.tables import frame

Counts = npt.NDArray[np.float64]
"""(levels, levels): judge by rater."""
KEY = ("study_id", "question_id", "answer_id", "criterion")
CUTS = ("A", "B")
NO_MODEL = ("rules", "dummy")
"""Backends whose judgements are no language model's: never in Tab. 5 and Fig. 12."""


def is_model(judge: str | None) -> bool:
    """Whether ``judge`` (backend and version) names a language model."""
    return bool(judge) and str(judge).partition("/")[0] not in NO_MODEL


def agreement(
    judgements: pl.DataFrame, ratings: pl.DataFrame, bootstrap: int, seed: int
) -> pl.DataFrame:
    """AGREEMENT of JUDGEMENTS with the ratings (HUMAN_RATINGS) of each rater.

    Cases that only one of the two has a level for are left out.
    """
    ours = judgements.filter(pl.col("level").is_not_null()).select(*KEY, "judge", ours="level")
    rows: list[dict[str, Any]] = []
    for (rater,), given in ratings.group_by(["rater"], maintain_order=True):
        both = given.select(*KEY, "level").join(ours, on=list(KEY), how="inner", nulls_equal=True)
        for criterion in TEXT_QUALITY:
            cases = both.filter(pl.col("criterion") == criterion)
            if cases.height:
                rows += _rows(cases, criterion, str(rater), bootstrap, seed)
    return frame(rows, AGREEMENT)


def _rows(
    cases: pl.DataFrame, criterion: str, rater: str, bootstrap: int, seed: int
) -> list[dict[str, Any]]:
    levels = list(TEXT_QUALITY[criterion])
    numbers = {s: i for i, s in enumerate(cases["study_id"].unique().sort())}
    counts = np.zeros((len(numbers), len(levels), len(levels)))
    for study, ours, theirs in cases.select("study_id", "ours", "level").iter_rows():
        counts[numbers[study], levels.index(ours), levels.index(theirs)] += 1
    weights = draw_weights(len(numbers), bootstrap, seed)
    drawn = np.tensordot(weights, counts, axes=1) if weights.size else None
    rows = []
    for metric, measure in measures(criterion).items():
        draws = None if drawn is None else np.array([measure(d) for d in drawn])
        value = measure(counts.sum(axis=0))
        low, high = interval(draws) if not math.isnan(value) else (math.nan, math.nan)
        rows.append(
            {
                "criterion": criterion,
                "judge": cases["judge"][0],
                "rater": rater,
                "metric": metric,
                "value": value,
                "low": low,
                "high": high,
                "cases": cases.height,
                "studies": len(numbers),
            }
        )
    return rows


def measures(criterion: str) -> dict[str, Callable[[Counts], float]]:
    """Name -> measure of a matrix of counts (judge by rater, levels of ``criterion``)."""
    grades = np.array([RATINGS.index(g) for g in TEXT_QUALITY[criterion].values()])
    squared = (grades[:, None] - grades[None, :]) ** 2.0
    found: dict[str, Callable[[Counts], float]] = {
        "agreement": lambda c: _share(np.trace(c), c.sum()),
        "kappa": lambda c: kappa(c, 1.0 - np.eye(len(grades))),
        "weighted kappa": lambda c: kappa(c, squared),
        "AC1": ac1,
    }
    for cut in CUTS:
        above = grades >= RATINGS.index(cut)
        found[f"over {cut}"] = _crossing(above, ~above)
        found[f"under {cut}"] = _crossing(~above, above)
    return found


def kappa(counts: Counts, cost: npt.NDArray[np.float64]) -> float:
    """Cohen's kappa with disagreement costs; NaN where chance alone cannot disagree."""
    total = counts.sum()
    if not total:
        return math.nan
    chance = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total
    expected = float((cost * chance).sum())
    return 1.0 - float((cost * counts).sum()) / expected if expected else math.nan


def ac1(counts: Counts) -> float:
    """Gwet's AC1; NaN of nothing. All levels of the criterion count as categories."""
    total, categories = counts.sum(), len(counts)
    if not total:
        return math.nan
    share = (counts.sum(axis=0) + counts.sum(axis=1)) / (2 * total)
    chance = float((share * (1 - share)).sum()) / (categories - 1)
    return (float(np.trace(counts) / total) - chance) / (1 - chance)


def _crossing(
    judge: npt.NDArray[np.bool_], rater: npt.NDArray[np.bool_]
) -> Callable[[Counts], float]:
    return lambda c: _share(c[np.ix_(judge, rater)].sum(), c.sum())


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else math.nan


def judge_confusion(
    questions: pl.DataFrame,
    answers: pl.DataFrame,
    images: pl.DataFrame,
    ours: pl.DataFrame,
    theirs: pl.DataFrame,
) -> pl.DataFrame:
    """CONFUSION of the ratings that two judges' JUDGEMENTS give the same questions (Fig. 12).

    Pairs that one of the two did not judge at all are left out; a pair whose judging failed is not
    rated, and counts as that.
    """
    if not theirs.height:
        return frame([], CONFUSION)
    names = [_judge_name(table) for table in (ours, theirs)]
    key = ["study_id", "question_id"]
    wanted = theirs.select(key).unique()
    judged, parts = (t.join(wanted, on=key, how="semi") for t in (questions, answers))
    first, second = (rate(judged, parts, table, images)[0] for table in (ours, theirs))
    both = first.select(*key, first="rating").join(
        second.select(*key, second="rating"), on=key, how="inner"
    )
    return (
        both.group_by("first", "second")
        .agg(pl.len().cast(pl.Int64).alias("count"))
        .sort("first", "second", nulls_last=True)
        .select(
            pl.lit(names[0]).alias("judge_first"),
            pl.lit(names[1]).alias("judge_second"),
            "first",
            "second",
            "count",
        )
    )


def _judge_name(judgements: pl.DataFrame) -> str:
    """The judge of a table; several are named together."""
    return ", ".join(judgements["judge"].drop_nulls().unique().sort())
