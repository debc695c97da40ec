"""The extraction against hand-annotated reports, end to end and stage by stage (Sec. 3.1, D.1).

A match is finding, polarity and evidence sentence, for observations from the report alone, children
included. Recall is over rows of the gold, precision over observations; what is counted how is said
in ``extraction_match`` (pairs), ``extraction_counts`` (aspects), ``extraction_trace`` (stages) and
``extraction_gold`` (the translation of the annotator's words); docs/evaluation.md says it in short.
"Uncertain" is everything short of certain. Sides, certainty, regions, severity and change are
compared on matched pairs alone.

Parts of the gold are scored apart and never pooled. Of the sealed part only sums leave this module:
single errors are listed of the part "dev" alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cxrqba.config import ExtractionReference
from cxrqba.evaluate.extraction_claims import Claim, PlainWords, graph_claims, table_claims
from cxrqba.evaluate.extraction_counts import (
    AGREED,
    ASPECTS,
    SECTIONS,
    VALUES,
    Counts,
    scores,
    section_counts,
    study_counts,
)
from cxrqba.evaluate.extraction_gold import Gold, GoldRow, read_gold
from cxrqba.evaluate.extraction_match import Sentences, holding, match
from cxrqba.evaluate.extraction_trace import (
    Raw,
    Study,
    missed_stage,
    raw_observations,
    read_sentences,
    spurious_stage,
)
from cxrqba.evaluate.negex import SYSTEM as NEGEX
from cxrqba.evaluate.negex import negex_claims
from cxrqba.reference.tables import Reference
from cxrqba.schema import EXTRACTION_ERRORS, EXTRACTION_SCORES, EXTRACTION_STAGES
from cxrqba.step import log
from cxrqba.tables import frame

OURS = "ours"
PEER = "medspaCy (ConText)"
LISTED = "dev"
"""The only part whose single errors are listed."""


@dataclass(frozen=True)
class Tables:
    """Tables of all shards, named as in ``schema``; ``peer`` is None where it was not run."""

    studies: pl.DataFrame
    sentences: pl.DataFrame
    raw_observations: pl.DataFrame
    mappings: pl.DataFrame
    observations: pl.DataFrame
    peer: pl.DataFrame | None = None


@dataclass(frozen=True)
class Settings:
    """How to evaluate: title of the dataset, bootstrap draws, seed."""

    dataset: str
    bootstrap: int = 1000
    seed: int = 0


@dataclass(frozen=True)
class Evaluation:
    """EXTRACTION_SCORES, EXTRACTION_STAGES and EXTRACTION_ERRORS."""

    scores: pl.DataFrame
    stages: pl.DataFrame
    errors: pl.DataFrame


def evaluate(
    tables: Tables,
    references: Iterable[ExtractionReference],
    reference: Reference,
    settings: Settings,
) -> Evaluation:
    """Score all systems on all parts of all annotated sets."""
    run = _Run(tables, reference)
    scored: list[dict[str, Any]] = []
    stages: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    for wanted in references:
        gold = read_gold(wanted, run.reports, reference)
        for part in wanted.parts:
            studies = sorted(s for s, p in gold.part_of.items() if p == part)
            for system in run.claims:
                scored += _score_rows(run, gold, part, studies, system, settings)
            found = [e for s in studies for e in _errors(run.study(gold, s), s)]
            stages += _stage_rows(gold.name, part, found)
            if part == LISTED:
                errors += [{"reference": gold.name, **e} for e in found]
    return Evaluation(
        frame(scored, EXTRACTION_SCORES),
        frame(stages, EXTRACTION_STAGES),
        frame(errors, EXTRACTION_ERRORS),
    )


class _Run:
    """The tables by study, and what each system states."""

    def __init__(self, tables: Tables, reference: Reference):
        self.plain = PlainWords(reference)
        known = tables.studies.filter(pl.col("report").is_not_null())
        self.reports: dict[str, str] = dict(known.select("study_id", "report").iter_rows())
        self.patients: dict[str, str] = {
            study: patient or study
            for study, patient in known.select("study_id", "patient_id").iter_rows()
        }
        self.claims: dict[str, dict[str, list[Claim]]] = {
            OURS: graph_claims(tables.observations, self.plain),
            NEGEX: table_claims(negex_claims(tables.sentences, reference), self.plain),
        }
        if tables.peer is not None and _is_current(tables.peer, tables.sentences):
            self.claims[PEER] = table_claims(tables.peer, self.plain)
        self.raw: dict[str, list[Raw]] = raw_observations(
            tables.raw_observations, tables.mappings, reference
        )
        self.sentences: dict[str, list[dict[str, Any]]] = {}
        for row in tables.sentences.iter_rows(named=True):
            self.sentences.setdefault(row["study_id"], []).append(row)

    def places(self, study_id: str) -> Sentences:
        """Sentence id -> [start, end)."""
        return {s["sent_id"]: (s["start"], s["end"]) for s in self.sentences.get(study_id, ())}

    def counts(self, gold: Gold, study_id: str, system: str) -> Counts:
        """Counts of one study and system."""
        rows = _of(gold, study_id)
        claims, places = self.claims[system].get(study_id, []), self.places(study_id)
        texts = {s["sent_id"]: s["sentence"] for s in self.sentences.get(study_id, ())}
        counts = study_counts(rows, claims, match(rows, claims, places), self.plain, texts)
        if system == OURS:
            sections = [s for s in gold.sections if s.study_id == study_id]
            types = {s["sent_id"]: s["section_type"] for s in self.sentences.get(study_id, ())}
            counts[SECTIONS] = section_counts(sections, places, types)
        return counts

    def study(self, gold: Gold, study_id: str) -> Study:
        """All steps of one study, for tracing errors."""
        rows, claims = _of(gold, study_id), self.claims[OURS].get(study_id, [])
        places = self.places(study_id)
        return Study(
            study_id,
            rows,
            [s for s in gold.sections if s.study_id == study_id],
            places,
            read_sentences(self.sentences.get(study_id, ())),
            self.raw.get(study_id, []),
            claims,
            match(rows, claims, places),
        )


def _is_current(peer: pl.DataFrame, sentences: pl.DataFrame) -> bool:
    """Whether the peer's claims stand in the sentences of this run; it is run on its own."""
    places = sentences.select("study_id", "sent_id", first="start", last="end")
    found = peer.join(places, on=["study_id", "sent_id"], how="left")
    inside = (pl.col("first") <= pl.col("start")) & (pl.col("end") <= pl.col("last"))
    current = bool(found.select(inside.fill_null(False).all()).item())
    if not current:
        log.warning("peer.parquet is of other sentences and left out; run `make peer` again")
    return current


def _of(gold: Gold, study_id: str) -> list[GoldRow]:
    return [row for row in gold.rows if row.study_id == study_id]


def _score_rows(
    run: _Run, gold: Gold, part: str, studies: Sequence[str], system: str, settings: Settings
) -> list[dict[str, Any]]:
    by_patient: dict[str, Counts] = {}
    for study_id in studies:
        kept = by_patient.setdefault(run.patients[study_id], {})
        for aspect, counts in run.counts(gold, study_id, system).items():
            kept[aspect] = kept[aspect] + counts if aspect in kept else counts
    rows = []
    for aspect in ASPECTS:
        if system != OURS and aspect in VALUES:
            continue  # they state none
        matrix = _matrix(by_patient, aspect)
        if not matrix.any():
            continue
        total = matrix.sum(axis=0)
        for metric, score in scores(matrix, aspect, settings.bootstrap, settings.seed).items():
            rows.append(
                {
                    "dataset": settings.dataset,
                    "reference": gold.name,
                    "part": part,
                    "system": system,
                    "aspect": aspect,
                    "metric": metric,
                    "value": score.value,
                    "low": score.low,
                    "high": score.high,
                    "gold": int(total[0]),
                    "predicted": int(total[0 if aspect in AGREED else 2]),
                    "studies": len(studies),
                    "patients": len(by_patient),
                    "protocol": _protocol(gold),
                }
            )
    return rows


def _matrix(by_patient: Mapping[str, Counts], aspect: str) -> npt.NDArray[np.int64]:
    """(patients, 4) counts of one aspect, patients by id."""
    nothing = np.zeros(4, dtype=np.int64)
    rows = [by_patient[p].get(aspect, nothing) for p in sorted(by_patient)]
    return np.array(rows, dtype=np.int64).reshape(len(rows), 4)


def _protocol(gold: Gold) -> str:
    untold = sum(not row.accepted for row in gold.rows)
    return (
        f"{gold.name}: {gold.absent} annotated studies not in this run; {gold.left_out} rows in "
        "superseded wet reads and in indications, histories, techniques, comparisons or "
        f"examinations are left out; {untold} rows have no "
        f"finding of the reference ({gold.untranslated} of them not yet translated) and count as "
        "missed"
    )


def _errors(study: Study, study_id: str) -> list[dict[str, Any]]:
    """EXTRACTION_ERRORS of one study, without the reference."""
    found = []
    for number, row in enumerate(study.rows):
        if number not in study.matching.rows:
            place = min(holding(row.spans, study.sentences), default=None)
            found.append(_error(study_id, place, "missed", missed_stage(row, study), row, None))
    for number, claim in enumerate(study.claims):
        if number not in study.matching.claims | study.matching.repeated:
            place = min(claim.sent_ids, default=None)
            stage = spurious_stage(claim, study)
            found.append(_error(study_id, place, "spurious", stage, None, claim))
    for pair in study.matching.pairs:
        row, claim = study.rows[pair.row], study.claims[pair.claim]
        place = min(claim.sent_ids, default=None)
        if row.certainty != claim.certainty:
            found.append(_error(study_id, place, "certainty", "scope", row, claim))
        if row.side in ("left", "right", "bilateral") and row.side != pair.side:
            error = "side unknown" if pair.side == "unknown" else "side wrong"
            found.append(_error(study_id, place, error, "side", row, claim))
    return found


def _error(
    study_id: str,
    sent_id: str | None,
    error: str,
    stage: str,
    row: GoldRow | None,
    claim: Claim | None,
) -> dict[str, Any]:
    gold = [row.finding, row.polarity, row.certainty, row.side] if row else []
    ours = []
    if claim:
        names = ", ".join(claim.findings) or "(unresolved)"
        ours = [names, claim.polarity, claim.certainty, claim.side]
    return {
        "study_id": study_id,
        "sent_id": sent_id,
        "error": error,
        "stage": stage,
        "gold": " / ".join(gold) or None,
        "ours": " / ".join(ours) or None,
    }


def _stage_rows(name: str, part: str, errors: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Sums of the errors by kind and stage."""
    counts: dict[tuple[str, str], int] = {}
    for error in errors:
        key = (error["error"], error["stage"])
        counts[key] = counts.get(key, 0) + 1
    return [
        {"reference": name, "part": part, "error": error, "stage": stage, "count": number}
        for (error, stage), number in sorted(counts.items())
    ]


def summary(found: pl.DataFrame) -> str:
    """F1 of observations of each set, part and system, as one line for the log."""
    rows = found.filter(pl.col("metric") == "f1", pl.col("aspect") == "observations")
    return (
        "; ".join(
            f"{r['reference']}, {r['part']}, {r['system']}: F1 {r['value']:.3f}"
            for r in rows.iter_rows(named=True)
        )
        or "no annotated reports"
    )
