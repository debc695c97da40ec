"""Counts behind the scores of one study, and scores with intervals over patients.

Precision and recall have their own numerators (an observation may answer several rows), so an
aspect keeps four numbers: rows of the gold, rows found, observations, observations that are right.
Aspects of agreement within matched pairs (certainty, side) keep pairs, right, wrong and unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from cxrqba.evaluate.extraction_claims import Claim, PlainWords
from cxrqba.evaluate.extraction_gold import GoldRow, GoldSection
from cxrqba.evaluate.extraction_match import Matching, holding
from cxrqba.evaluate.metrics import Score, draw_weights, interval

SECTIONS = "sections"
VALUES = ("regions", "regions, kin", "severity", "change")
FOUND = ("observations", "positive", "negated", "uncertain", *VALUES)
"""Aspects with precision, recall and F1."""
AGREED = ("certainty", "side, stated", "side, annotated")
"""Aspects of matched pairs with the shares right, wrong and unknown."""
ASPECTS = (SECTIONS, *FOUND, *AGREED)
METRICS = ("precision", "recall", "f1")
SHARES = ("accuracy", "wrong", "unknown")

_SIDE_WORD = re.compile(
    r"\b(?:(?i:left|right|leftwards?|rightwards?|bilateral(?:ly)?|both|either)"
    r"|(?i:bi-?(?:basilar|basal|apical|hilar|pulmonary)\w*)|[LR]|[LR][ULM]L|[LR]t|[LR]IJ)\b"
)

Counts = dict[str, npt.NDArray[np.int64]]
"""aspect -> four numbers"""


def study_counts(
    rows: Sequence[GoldRow],
    claims: Sequence[Claim],
    matching: Matching,
    plain: PlainWords,
    sentences: Mapping[str, str],
) -> Counts:
    """Counts of all aspects but sections; ``sentences`` are the texts by id.

    A side counts as stated if a sentence of the claim has a word for any side: annotators write
    "bilateral" of an edema whose report names no side.
    """
    counts = {aspect: np.zeros(4, dtype=np.int64) for aspect in (*FOUND, *AGREED)}
    _count_found(counts, rows, claims, matching)
    for pair in matching.pairs:
        row, claim = rows[pair.row], claims[pair.claim]
        counts["certainty"] += _agreed(row.certainty, claim.certainty)
        if row.side in ("left", "right", "bilateral"):
            counts["side, annotated"] += _agreed(row.side, pair.side)
            if any(names_side(sentences.get(i, "")) for i in claim.sent_ids):
                counts["side, stated"] += _agreed(row.side, pair.side)
        _count_values(counts, row, claim, plain)
    return counts


def names_side(text: str) -> bool:
    """Whether ``text`` has a word for a side."""
    return _SIDE_WORD.search(text) is not None


def _count_found(
    counts: Counts, rows: Sequence[GoldRow], claims: Sequence[Claim], matching: Matching
) -> None:
    for number, row in enumerate(rows):
        found = np.array([1, number in matching.rows, 0, 0])
        counts["observations"] += found
        counts["positive" if row.polarity == "pos" else "negated"] += found
    for number, claim in enumerate(claims):
        if number in matching.repeated:
            continue
        given = np.array([0, 0, 1, number in matching.claims])
        counts["observations"] += given
        counts["positive" if claim.polarity == "pos" else "negated"] += given
    unsure_rows = {n for n, row in enumerate(rows) if row.certainty != "certain"}
    unsure = {n for n, c in enumerate(claims) if c.is_uncertain and n not in matching.repeated}
    both = [p for p in matching.pairs if p.row in unsure_rows and p.claim in unsure]
    counts["uncertain"] += np.array(
        [len(unsure_rows), len({p.row for p in both}), len(unsure), len({p.claim for p in both})]
    )


def _agreed(gold: str, ours: str) -> npt.NDArray[np.int64]:
    unknown = ours != gold and ours == "unknown"
    return np.array([1, ours == gold, ours != gold and not unknown, unknown], dtype=np.int64)


def _count_values(counts: Counts, row: GoldRow, claim: Claim, plain: PlainWords) -> None:
    """Regions, severity and change of one pair; plain words without a reference name are left out.

    Default regions, which the text does not name, can be right but never wrong.
    """
    if regions := plain.regions(row.region, row.side):
        given = claim.regions | (claim.default_regions & regions)
        counts["regions"] += _overlap(regions, given)
        counts["regions, kin"] += _kin(regions, given, claim.default_regions, plain)
    for aspect, text, read, given in (
        ("severity", row.severity, plain.severities, claim.severities),
        ("change", row.change, plain.changes, claim.changes),
    ):
        named = read(text)
        if named or not text:
            counts[aspect] += _overlap(named, given)


def _overlap(gold: frozenset[str], ours: frozenset[str]) -> npt.NDArray[np.int64]:
    both = len(gold & ours)
    return np.array([len(gold), both, len(ours), both], dtype=np.int64)


def _kin(
    gold: frozenset[str], ours: frozenset[str], defaults: frozenset[str], plain: PlainWords
) -> npt.NDArray[np.int64]:
    """As :func:`_overlap`, a region being right as well if one lies within the other."""

    def is_kin(one: str, others: frozenset[str]) -> bool:
        return one in others or any(one in plain.above(o) or o in plain.above(one) for o in others)

    found = sum(is_kin(g, ours | defaults) for g in gold)
    right = sum(is_kin(o, gold) for o in ours)
    return np.array([len(gold), found, len(ours), right], dtype=np.int64)


def section_counts(
    gold: Sequence[GoldSection], sentences: Mapping[str, tuple[int, int]], types: Mapping[str, str]
) -> npt.NDArray[np.int64]:
    """Starts of sections whose sentence has the type; ``types`` is sent_id -> section type."""
    counts = np.zeros(4, dtype=np.int64)
    for section in gold:
        there = holding(((section.start, section.end),), sentences)
        found = {types[i] for i in there}
        right = section.section_type in found
        counts += np.array([1, right, bool(found), right])
    return counts


def scores(counts: npt.NDArray[np.int64], aspect: str, draws: int, seed: int) -> dict[str, Score]:
    """Metric -> score of one aspect; ``counts`` is (patients, 4)."""
    measure = _shares if aspect in AGREED else _found
    values = measure(counts.sum(axis=0))
    weights = draw_weights(counts.shape[0], draws, seed)
    drawn = measure(weights @ counts) if weights.size else {}
    return {
        name: Score(float(value), *interval(drawn.get(name)), 1) for name, value in values.items()
    }


def _found(counts: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[np.float64]]:
    gold, found, given, right = (counts[..., i].astype(np.float64) for i in range(4))
    precision, recall = _ratio(right, given), _ratio(found, gold)
    f1 = _ratio(2 * precision * recall, precision + recall)
    nothing_right = ((found == 0) | (right == 0)) & (gold + given > 0)
    return {"precision": precision, "recall": recall, "f1": np.where(nothing_right, 0.0, f1)}


def _shares(counts: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[np.float64]]:
    pairs = counts[..., 0].astype(np.float64)
    return {
        name: _ratio(counts[..., i].astype(np.float64), pairs)
        for i, name in enumerate(SHARES, start=1)
    }


def _ratio(
    above: npt.NDArray[np.float64], below: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    result = np.full(np.shape(below), np.nan)
    np.divide(above, below, out=result, where=np.asarray(below > 0))
    return result
