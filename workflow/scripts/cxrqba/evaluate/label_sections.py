"""Labels by precedence of sections, beside the paper's rule that any positive counts.

Addendum before impression before findings before wet read before the rest: the first of them that
asserts or altogether denies a class decides. What is a denial of a class, and what is limited to a
size, an age, a side or a place and so denies nothing, is as in
:mod:`cxrqba.evaluate.study_labels`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from cxrqba.evaluate.label_cases import VOCABULARIES, Case
from cxrqba.evaluate.label_classes import scored_classes
from cxrqba.evaluate.label_predictions import Labels
from cxrqba.evaluate.study_labels import (
    NEGATIVE,
    POSITIVE,
    READ,
    UNCERTAIN,
    Classes,
    Labeller,
)
from cxrqba.graph.store import ANSWER_ID
from cxrqba.graph.vocabulary import Vocabulary
from cxrqba.reference.tables import Reference

PRECEDENCE = ("ADDENDUM", "IMPRESSION", "FINDINGS", "WET_READ")


def precedent_labels(
    case: Case, observations: pl.DataFrame, sentences: pl.DataFrame, reference: Reference
) -> Labels:
    """Labels of a case; ``sentences`` needs study_id, sent_id, section_type."""
    exact = scored_classes(reference, "exact", VOCABULARIES[case.expert.form])
    classes = Classes(tuple(case.classes), case.members, exact, frozenset(), frozenset())
    labeller = Labeller(classes, Vocabulary(reference))
    ranks = {
        (study, sentence): PRECEDENCE.index(kind) if kind in PRECEDENCE else len(PRECEDENCE)
        for study, sentence, kind in sentences.select(
            "study_id", "sent_id", "section_type"
        ).iter_rows()
    }
    said: dict[str, list[dict[str, Any]]] = {}
    stated = observations.filter(
        pl.col("from_report"),
        pl.col("obs_id") != ANSWER_ID,
        (pl.col("positiveness") != "neg") | (pl.col("certainty") != "uncertain"),  # decides nothing
    )
    for row in stated.select(READ).iter_rows(named=True):
        said.setdefault(row["study_id"], []).append(row)
    labels = np.zeros(case.gold.shape, dtype=np.bool_)
    for number, study in enumerate(case.study_ids):
        positive = _positive(labeller, said.get(study, []), ranks)
        labels[number] = [name in positive for name in case.classes]
    return labels


def _positive(
    labeller: Labeller, said: Sequence[Mapping[str, Any]], ranks: Mapping[tuple[str, str], int]
) -> set[str]:
    """Classes that the first section to decide on them asserts, with any certainty."""
    decided: dict[str, str] = {}
    for rank in range(len(PRECEDENCE) + 1):
        rows = [row for row in said if rank in _ranks(row, ranks)]
        for name, (value, _, _) in labeller.label(rows, is_complete=False).items() if rows else ():
            if value in (POSITIVE, UNCERTAIN, NEGATIVE):
                decided.setdefault(name, value)
    return {name for name, value in decided.items() if value != NEGATIVE}


def _ranks(row: Mapping[str, Any], ranks: Mapping[tuple[str, str], int]) -> set[int]:
    """Sections that an observation stands in; last of all if no sentence of it is known."""
    found = {ranks.get((row["study_id"], s), len(PRECEDENCE)) for s in row["sent_ids"] or ()}
    return found or {len(PRECEDENCE)}
