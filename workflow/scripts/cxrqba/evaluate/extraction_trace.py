"""Where an error of the extraction arose: the first step that shows it.

A missed row of the gold is the fault of

- ``reference``: no finding of the reference says the same;
- ``section``: its sentence was discarded, or its section is not read;
- ``scope``: an observation of its sentence means its finding, with the other polarity, or claiming
  neither presence nor absence;
- ``graph``: extraction and mapping have it right, the graph has lost or changed it;
- ``mapping``: an observation stands on its evidence but is mapped elsewhere or nowhere;
- ``mention``: no observation names it there, or one that answers another row already.

A spurious observation is the fault of

- ``scope``: the gold has its finding in that sentence with the other polarity;
- ``section``: by the gold its sentence, without any row, is in a section that is not read;
- ``graph``: no extracted observation of that sentence means its finding with its polarity;
- ``mapping``: it stands on the evidence of a row that has another finding;
- ``mention``: the gold has nothing like it in that sentence (or has it already, once).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxrqba.evaluate.extraction_claims import Claim
from cxrqba.evaluate.extraction_gold import GoldRow, GoldSection, section_at
from cxrqba.evaluate.extraction_match import Matching, Sentences, holding, overlaps
from cxrqba.graph.tags import Mappings, level_of, mappings_by_text, resolve
from cxrqba.graph.vocabulary import Vocabulary
from cxrqba.reference.tables import Reference
from cxrqba.schema import REPORTED_SECTION_TYPES


@dataclass(frozen=True, slots=True)
class Raw:
    """One extracted observation with what its words are mapped to."""

    sent_ids: frozenset[str]
    spans: tuple[tuple[int, int], ...]
    findings: frozenset[str]
    polarity: str


@dataclass(frozen=True)
class Study:
    """What the steps made of one study."""

    study_id: str
    rows: Sequence[GoldRow]
    sections: Sequence[GoldSection]
    sentences: Sentences
    read: frozenset[str]  # sentences that observations are made of
    raw: Sequence[Raw]
    claims: Sequence[Claim]
    matching: Matching


def raw_observations(
    observations: pl.DataFrame, mappings: pl.DataFrame, reference: Reference
) -> dict[str, list[Raw]]:
    """Study -> extracted observations (RAW_OBSERVATIONS), mapped (MAPPINGS) as the graph does."""
    by_text, vocabulary = mappings_by_text(mappings), Vocabulary(reference)
    found: dict[str, list[Raw]] = {}
    for row in observations.iter_rows(named=True):
        found.setdefault(row["study_id"], []).append(_raw(row, by_text, vocabulary))
    return found


def _raw(row: Mapping[str, Any], mappings: Mappings, vocabulary: Vocabulary) -> Raw:
    return Raw(
        frozenset(row["sent_ids"] or ()),
        tuple((s["start"], s["end"]) for s in row["spans"] or ()),
        frozenset(resolve(row, mappings).entities),
        vocabulary.reference.levels[level_of(row, vocabulary)].positiveness,
    )


def read_sentences(sentences: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Ids of the SENTENCES rows that are kept and describe the study."""
    return frozenset(
        s["sent_id"]
        for s in sentences
        if s["discarded"] is None and s["section_type"] in REPORTED_SECTION_TYPES
    )


def missed_stage(row: GoldRow, study: Study) -> str:
    """Where a row that no observation answers was lost."""
    if not row.accepted:
        return "reference"
    there = holding(row.spans, study.sentences) & study.read
    if not there:
        return "section"
    near = [raw for raw in study.raw if raw.sent_ids & there]
    meant = [raw for raw in near if raw.findings & row.accepted]
    used = (c for c in study.claims if there.intersection(c.sent_ids))
    if any(c.polarity == row.polarity and not row.accepted.isdisjoint(c.findings) for c in used):
        return "mention"
    if meant:
        return "graph" if any(raw.polarity == row.polarity for raw in meant) else "scope"
    return "mapping" if _stands_on(row, (s for raw in near for s in raw.spans)) else "mention"


def spurious_stage(claim: Claim, study: Study) -> str:
    """Where an observation that answers no row came from."""
    sent_ids = set(claim.sent_ids)
    near = [row for row in study.rows if holding(row.spans, study.sentences) & sent_ids]
    same = [row for row in near if not row.accepted.isdisjoint(claim.findings)]
    if any(row.polarity != claim.polarity for row in same):
        return "scope"
    places = [study.sentences[i][1] - 1 for i in claim.sent_ids if i in study.sentences]
    types = {section_at(place, study.study_id, study.sections) for place in places}
    if not near and not types & {None, *REPORTED_SECTION_TYPES}:
        return "section"
    if not any(
        raw.sent_ids & sent_ids
        and raw.polarity == claim.polarity
        and not raw.findings.isdisjoint(claim.findings)
        for raw in study.raw
        if claim.findings
    ):
        return "graph" if claim.findings else "mapping"
    elsewhere = [row for row in near if row not in same]
    return "mapping" if any(_stands_on(row, claim.spans) for row in elsewhere) else "mention"


def _stands_on(row: GoldRow, spans: Iterable[tuple[int, int]]) -> bool:
    return any(overlaps(row.spans, start, end) for start, end in spans)
