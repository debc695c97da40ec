"""How far a judge can be trusted: planted and natural errors (paper Sec. 3.3, 4.2).

Planted: right answers and the same with one error (``judge_planted``). *accepted* is the share of
right answers the judge finds nothing in; *charged* (entailment alone) the share it calls misleading
or contradicting; *detected* the share of accepted answers whose level falls in the criterion
concerned once the error is in. Intervals are Wilson's.

Natural: answer parts as they came, right or wrong by the annotation (``judge_natural``). *recall*
is the share of wrong parts that entailment calls not aligned, *precision* the share of parts so
called that are wrong, *false alarms* the share of right parts so called. One observation stands in
many parts, so intervals come from a bootstrap over studies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from cxrqba.evaluate.judge_natural import ERRORS, RIGHT
from cxrqba.evaluate.judge_planted import CONTRADICTIONS, CRITERION, Case
from cxrqba.evaluate.metrics import draw_weights, interval
from cxrqba.schema import ANSWERS, JUDGE_MISSES, QUESTIONS, STUDIES, TEXT_QUALITY
from cxrqba.tables import frame

ACCEPTED = {
    "entailment": frozenset(level for level in TEXT_QUALITY["entailment"] if level[0] == "A"),
    "relevance": frozenset({"RELEVANT_MAIN_ANSWER"}),
    "completeness": frozenset({"FULLY_COMPLETE", "DETAILS_MISSING"}),
    "answer_clarity": frozenset({"OPTIMAL"}),
}
"""Levels with which a judge accepts a right answer."""
CHARGES = frozenset({"NON_ALIGNED_MISLEADING", "NON_ALIGNED_CONTRADICTING"})
_ORDER = {c: {level: i for i, level in enumerate(levels)} for c, levels in TEXT_QUALITY.items()}
_WHOLE = "completeness"
_RIGHT, _WRONG = "right", "wrong"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case and the levels the judge gave its right and its wrong answer."""

    source: str
    case: Case
    right: str | None
    wrong: str | None

    @property
    def criterion(self) -> str:
        """The criterion concerned."""
        return CRITERION[self.case.kind]

    @property
    def accepted(self) -> bool:
        """Whether the judge finds nothing in the right answer."""
        return self.right in ACCEPTED[self.criterion]

    @property
    def charged(self) -> bool:
        """Whether it calls the right answer misleading or contradicting."""
        return self.right in CHARGES

    @property
    def detected(self) -> bool:
        """Whether it accepts the right answer and gives the wrong one a lower level."""
        if not self.accepted or self.right is None or self.wrong is None:
            return False
        order = _ORDER[self.criterion]
        return self.wrong not in ACCEPTED[self.criterion] or order[self.wrong] > order[self.right]


def case_tables(
    cases: Mapping[str, Sequence[Case]], reports: Mapping[str, Mapping[str, str]]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """(STUDIES, QUESTIONS, ANSWERS) of all cases, as judges read them; source -> cases, reports.

    The study of a case is ``<source>/<study>``, its questions ``<number>.right`` and ``.wrong``.
    """
    studies = [
        {"study_id": f"{source}/{study}", "report": report}
        for source, found in cases.items()
        for study, report in reports[source].items()
        if any(c.study_id == study for c in found)
    ]
    questions = []
    answers = []
    for source, found in cases.items():
        for number, case in enumerate(found):
            for name, parts in ((_RIGHT, case.right), (_WRONG, case.wrong)):
                key = f"{number:05d}.{name}"
                ids = {"study_id": f"{source}/{case.study_id}", "question_id": key}
                questions.append({**ids, "question": case.question})
                answers += [
                    {**ids, "answer_id": f"{key}.a{i:02d}", "text": text}
                    for i, text in enumerate(parts)
                ]
    return frame(studies, STUDIES), frame(questions, QUESTIONS), frame(answers, ANSWERS)


def outcomes(cases: Mapping[str, Sequence[Case]], judgements: pl.DataFrame) -> list[Outcome]:
    """Cases with their levels, from the JUDGEMENTS of :func:`case_tables`."""
    columns = ("study_id", "question_id", "answer_id", "criterion", "level")
    levels = {tuple(row[:-1]): row[-1] for row in judgements.select(columns).iter_rows()}

    def level(source: str, number: int, case: Case, name: str) -> str | None:
        criterion, key = CRITERION[case.kind], f"{number:05d}.{name}"
        at = case.part[name == _WRONG]
        answer = None if criterion == _WHOLE else f"{key}.a{at:02d}"
        return levels.get((f"{source}/{case.study_id}", key, answer, criterion))

    return [
        Outcome(
            source, case, level(source, number, case, _RIGHT), level(source, number, case, _WRONG)
        )
        for source, found in cases.items()
        for number, case in enumerate(found)
    ]


def planted_scores(found: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Rows of JUDGE_SCORES without dataset, part and judge; each source alone, then all."""
    rows = []
    sources = list(dict.fromkeys(o.source for o in found))
    for source in [*sources, "all"]:
        own = [o for o in found if source in ("all", o.source)]
        for kind in (*CRITERION, "contradictions"):
            kinds = CONTRADICTIONS if kind == "contradictions" else (kind,)
            some = [o for o in own if o.case.kind in kinds]
            if some:
                rows += [{"source": source, "kind": kind, **r} for r in _kind_rows(some)]
    return rows


def _kind_rows(found: Sequence[Outcome]) -> list[dict[str, Any]]:
    accepted = [o for o in found if o.accepted]
    shares = {"accepted": (len(accepted), len(found))}
    if found[0].criterion == "entailment":
        shares["charged"] = (sum(o.charged for o in found), len(found))
    shares["detected"] = (sum(o.detected for o in accepted), len(accepted))
    studies = len({(o.source, o.case.study_id) for o in found})
    rows = []
    for metric, (part, whole) in shares.items():
        value = part / whole if whole else math.nan
        low, high = wilson(part, whole)
        rows.append(
            {
                "test": "planted",
                "criterion": found[0].criterion,
                "metric": metric,
                "value": value,
                "low": low,
                "high": high,
                "count": whole,
                "studies": studies,
            }
        )
    return rows


def wilson(part: int, whole: int, z: float = 1.96) -> tuple[float, float]:
    """95 % score interval of a share; NaN of nothing."""
    if not whole:
        return math.nan, math.nan
    share, weight = part / whole, z * z / whole
    middle = share + weight / 2
    spread = z * math.sqrt(share * (1 - share) / whole + weight / (4 * whole))
    low, high = (middle - spread) / (1 + weight), (middle + spread) / (1 + weight)
    return (0.0 if part == 0 else low), (1.0 if part == whole else high)


def misses(found: Iterable[Outcome]) -> pl.DataFrame:
    """JUDGE_MISSES of outcomes."""
    rows = [
        {
            "source": o.source,
            "study_id": o.case.study_id,
            "kind": o.case.kind,
            "criterion": o.criterion,
            "fault": "miss" if o.accepted else "alarm",
            "right_level": o.right,
            "wrong_level": o.wrong,
            "question": o.case.question,
            "right": " | ".join(o.case.right),
            "wrong": " | ".join(o.case.wrong),
        }
        for o in found
        if not o.detected
    ]
    return frame(rows, JUDGE_MISSES)


def natural_scores(
    parts: pl.DataFrame, judgements: pl.DataFrame, bootstrap: int, seed: int
) -> list[dict[str, Any]]:
    """Rows of JUDGE_SCORES of one annotated set; ``parts`` from ``part_verdicts``.

    Parts that were not judged are left out; their number is the row *unrated*.
    """
    key = ["study_id", "question_id", "answer_id"]
    entailed = judgements.filter(pl.col("criterion") == "entailment").select(*key, "level")
    joined = parts.join(entailed, on=key, how="left")
    judged = joined.filter(pl.col("level").is_not_null())
    kinds = (RIGHT, *ERRORS)
    numbers = {s: i for i, s in enumerate(judged["study_id"].unique().sort())}
    counts = np.zeros((len(numbers), len(kinds), 2), dtype=np.int64)  # flagged or not
    for study, verdict, level in judged.select("study_id", "verdict", "level").iter_rows():
        flagged = level not in ACCEPTED["entailment"]
        counts[numbers[study], kinds.index(verdict), int(flagged)] += 1
    weights = draw_weights(len(numbers), bootstrap, seed)
    rows = []
    for kind, metric, columns in _natural_metrics(kinds):
        of = counts[:, columns]
        above, whole = _shares(metric, of)
        value = float(above.sum() / whole.sum()) if whole.sum() else math.nan
        low, high = interval(_drawn(weights, above, whole))
        rows.append(_natural_row(kind, metric, value, low, high, int(whole.sum()), len(numbers)))
    unrated = joined.height - judged.height
    share = unrated / joined.height if joined.height else math.nan
    rows.append(
        _natural_row("any", "unrated", share, math.nan, math.nan, joined.height, len(numbers))
    )
    return rows


def _natural_metrics(kinds: Sequence[str]) -> list[tuple[str, str, list[int]]]:
    """(kind, metric, columns of the counts it is made of)."""
    wrong = [kinds.index(e) for e in ERRORS]
    found = [(e, "recall", [kinds.index(e)]) for e in ERRORS]
    return [
        ("any", "recall", wrong),
        *found,
        ("any", "precision", [*wrong, kinds.index(RIGHT)]),
        (RIGHT, "false alarms", [kinds.index(RIGHT)]),
    ]


def _shares(metric: str, counts: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """(above, whole) by study of counts (studies, kinds, not flagged or flagged)."""
    if metric == "precision":  # the last kind is "right"
        return counts[:, :-1, 1].sum(axis=1), counts[:, :, 1].sum(axis=1)
    return counts[:, :, 1].sum(axis=1), counts.sum(axis=(1, 2))


def _drawn(weights: Any, above: Any, whole: Any) -> Any:
    if not weights.size:
        return None
    tops, wholes = weights @ above, weights @ whole
    return np.where(wholes > 0, tops / np.maximum(wholes, 1), np.nan)


def _natural_row(
    kind: str, metric: str, value: float, low: float, high: float, count: int, studies: int
) -> dict[str, Any]:
    return {
        "test": "natural",
        "criterion": "entailment",
        "kind": kind,
        "metric": metric,
        "value": value,
        "low": low,
        "high": high,
        "count": count,
        "studies": studies,
    }
