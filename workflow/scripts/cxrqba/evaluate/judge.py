"""The judge against hand-annotated reports: all tests of all sets and parts (paper Sec. 3.3, 4.2).

Dev and sealed parts are never pooled. Pairs written by hand were seen by those who wrote the rules
judge, as the dev part was: they are scored with it. Single faults are listed of these alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.config import ExtractionReference
from cxrqba.evaluate.extraction_claims import Claim, PlainWords, graph_claims
from cxrqba.evaluate.extraction_gold import PARTS, Gold, read_gold
from cxrqba.evaluate.judge_natural import part_verdicts, verdicts
from cxrqba.evaluate.judge_planted import HAND, Case, planted, written
from cxrqba.evaluate.judge_validity import (
    Outcome,
    case_tables,
    misses,
    natural_scores,
    outcomes,
    planted_scores,
)
from cxrqba.reference.tables import Reference
from cxrqba.schema import JUDGE_MISSES, JUDGE_SCORES
from cxrqba.tables import frame

LISTED = "dev"
"""The part whose single faults are listed, and that the pairs written by hand belong to."""

Asked = Callable[[pl.DataFrame, pl.DataFrame, pl.DataFrame], pl.DataFrame]
"""(STUDIES, QUESTIONS, ANSWERS) -> JUDGEMENTS: the judge under test."""


@dataclass(frozen=True)
class Tables:
    """Tables of all shards, named as in ``schema``."""

    studies: pl.DataFrame
    sentences: pl.DataFrame
    observations: pl.DataFrame
    answers: pl.DataFrame
    judgements: pl.DataFrame


@dataclass(frozen=True)
class Settings:
    """How to evaluate: title of the dataset, bootstrap draws, seed."""

    dataset: str
    bootstrap: int = 1000
    seed: int = 0


def evaluate(
    tables: Tables,
    references: Sequence[ExtractionReference],
    reference: Reference,
    pairs: Path,
    ask: Asked,
    settings: Settings,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """JUDGE_SCORES and JUDGE_MISSES; ``pairs``: the CSV of pairs written by hand."""
    known = tables.studies.filter(pl.col("report").is_not_null())
    reports: dict[str, str] = dict(known.select("study_id", "report").iter_rows())
    golds = [read_gold(r, reports, reference) for r in references]
    claims = graph_claims(tables.observations, PlainWords(reference))
    rows: list[dict[str, Any]] = []
    listed = frame([], JUDGE_MISSES)
    for part in PARTS:
        found, judge = _planted(golds, part, reports, reference, pairs, ask)
        rows += [{"part": part, "judge": judge, **row} for row in planted_scores(found)]
        if part == LISTED:
            listed = misses(found)
        for gold in golds:
            rows += [
                {"part": part, "source": gold.name, **row}
                for row in _natural(gold, part, tables, claims, settings)
            ]
    scores = frame([{"dataset": settings.dataset, **row} for row in rows], JUDGE_SCORES)
    return scores, listed


def _planted(
    golds: Iterable[Gold],
    part: str,
    reports: dict[str, str],
    reference: Reference,
    pairs: Path,
    ask: Asked,
) -> tuple[list[Outcome], str | None]:
    """Outcomes of all planted errors of one part, and who judged them."""
    cases: dict[str, list[Case]] = {g.name: planted(g, part, reference) for g in golds}
    texts = dict.fromkeys(cases, reports)
    if part == LISTED:
        texts[HAND], cases[HAND] = written(pairs)
    cases = {name: found for name, found in cases.items() if found}
    judgements = ask(*case_tables(cases, texts))
    judge = judgements["judge"][0] if judgements.height else None
    return outcomes(cases, judgements), judge


def _natural(
    gold: Gold,
    part: str,
    tables: Tables,
    claims: dict[str, list[Claim]],
    settings: Settings,
) -> list[dict[str, Any]]:
    """Scores of the parts as they came, of one set and part; none where it has no studies."""
    studies = sorted(s for s, p in gold.part_of.items() if p == part)
    if not studies:
        return []
    places: dict[str, dict[str, tuple[int, int]]] = {s: {} for s in studies}
    own = tables.sentences.filter(pl.col("study_id").is_in(studies))
    columns = ("study_id", "sent_id", "start", "end")
    for study_id, sent_id, start, end in own.select(columns).iter_rows():
        places[study_id][sent_id] = (start, end)
    decided = {
        s: verdicts([r for r in gold.rows if r.study_id == s], claims.get(s, []), places[s])
        for s in studies
    }
    parts = part_verdicts(tables.answers, decided)
    judgements = tables.judgements.filter(pl.col("study_id").is_in(studies))
    judge = judgements["judge"][0] if judgements.height else None
    rows = natural_scores(parts, judgements, settings.bootstrap, settings.seed)
    return [{"judge": judge, **row} for row in rows]


def summary(scores: pl.DataFrame) -> str:
    """One line for the log: planted contradictions, all sources of a part."""
    rows = scores.filter(
        pl.col("source") == "all", pl.col("kind") == "contradictions", pl.col("test") == "planted"
    )
    return "; ".join(
        f"{r['part']}: contradictions {r['metric']} {r['value']:.3f} of {r['count']}"
        for r in rows.iter_rows(named=True)
    )
