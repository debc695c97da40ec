"""Which observation answers which row of the gold: finding, polarity and evidence sentence.

An observation matches a gold row if one of its sentences holds part of the row's evidence, its
polarity is the row's, and one of its findings is acceptable for the row. Rows and (observation,
sentence, finding) are paired one to one so that most rows are matched and, among equals, the words,
side and certainty agree best. Recall counts gold rows, precision observations: one that is merged
from several sentences, or names several findings, may answer several rows, and is one observation.

Not counted against a system, since they repeat what was counted or are outside of the gold:

- a negative that is acceptable for a matched negative row of the same sentence ("lungs clear" is
  one row of the gold and may deny several findings);
- a child with a finding and the polarity of an ancestor ("tip of the tube");
- a remark on how the image was taken ("supine", "rotated"), which the annotators leave out;
- left and right where the gold has one bilateral row; and one bilateral observation answers a left
  and a right row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from cxrqba.evaluate.extraction_claims import Claim
from cxrqba.evaluate.extraction_gold import GoldRow, Spans

OPPOSITE = {"left": "right", "right": "left"}
MATCH, WORDS, SIDE, UNSURE, CERTAINTY, LATER = 1e6, 100.0, 20.0, 10.0, 5.0, 0.001
"""Weights of a pair: one more match outweighs all agreement of any study; of equal
pairs, the finding an observation names first."""

Sentences = Mapping[str, tuple[int, int]]
"""sent_id -> [start, end) in the report"""


@dataclass(frozen=True, slots=True)
class Pair:
    """A gold row and the claim that answers it; ``side`` is the claim's, seen with its twin."""

    row: int
    claim: int
    side: str


@dataclass(frozen=True, slots=True)
class Matching:
    """Pairs by number of row and claim, and the claims that are not counted."""

    pairs: tuple[Pair, ...]
    repeated: frozenset[int]

    @property
    def rows(self) -> frozenset[int]:
        """Numbers of the matched rows."""
        return frozenset(p.row for p in self.pairs)

    @property
    def claims(self) -> frozenset[int]:
        """Numbers of the matched claims."""
        return frozenset(p.claim for p in self.pairs)


def overlaps(spans: Spans, start: int, end: int) -> bool:
    """Whether any of ``spans`` shares a character with [start, end)."""
    return any(s < end and start < e for s, e in spans)


def holding(spans: Spans, sentences: Sentences) -> frozenset[str]:
    """Ids of the sentences that hold a part of ``spans``."""
    return frozenset(i for i, (start, end) in sentences.items() if overlaps(spans, start, end))


def match(rows: Sequence[GoldRow], claims: Sequence[Claim], sentences: Sentences) -> Matching:
    """Pair the gold rows and the claims of one study."""
    return _Matcher(rows, claims, sentences).matching()


class _Matcher:
    """One study."""

    def __init__(self, rows: Sequence[GoldRow], claims: Sequence[Claim], sentences: Sentences):
        self.rows, self.claims = rows, claims
        self.evidence = [holding(row.spans, sentences) for row in rows]

    def matching(self) -> Matching:
        answered = self._assigned()
        self._answer_twin_rows(answered)
        sides = {r: self.claims[c].side for r, c in answered.items()}
        for row, claim in answered.items():
            shared = [r for r, c in answered.items() if c == claim and self._are_twins(r, row)]
            if shared and self.claims[claim].side == "bilateral":
                sides[row] = self.rows[row].side
        repeated = set()
        for number in range(len(self.claims)):
            if number in answered.values():
                continue
            twin = self._twin_row(number, answered)
            if twin is not None:
                sides[twin] = "bilateral"
            if (
                twin is not None
                or self.claims[number].is_technical
                or self._denies_again(number, answered)
                or self._is_part(number)
            ):
                repeated.add(number)
        pairs = tuple(Pair(r, c, sides[r]) for r, c in sorted(answered.items()))
        return Matching(pairs, frozenset(repeated))

    def accepts(self, row: int, claim: int, finding: str | None = None) -> bool:
        """Whether the claim (by ``finding`` alone, if given) answers the row."""
        findings = self.claims[claim].findings if finding is None else (finding,)
        return (
            self.rows[row].polarity == self.claims[claim].polarity
            and not self.rows[row].accepted.isdisjoint(findings)
            and not self.evidence[row].isdisjoint(self.claims[claim].sent_ids)
        )

    def _assigned(self) -> dict[int, int]:
        """Row -> claim of the best one-to-one assignment of (claim, sentence, finding)."""
        units = [
            (number, sent_id, finding)
            for number, claim in enumerate(self.claims)
            for sent_id in claim.sent_ids
            for finding in claim.findings
        ]
        weights: npt.NDArray[np.float64] = np.zeros((len(self.rows), len(units)))
        for row in range(len(self.rows)):
            for column, (number, sent_id, finding) in enumerate(units):
                if sent_id in self.evidence[row] and self.accepts(row, number, finding):
                    at = self.claims[number].findings.index(finding)
                    weights[row, column] = self._weight(row, number) - LATER * at
        chosen = zip(*linear_sum_assignment(weights, maximize=True), strict=True)
        return {int(r): units[c][0] for r, c in chosen if weights[r, c] > 0}

    def _weight(self, row: int, claim: int) -> float:
        gold, ours = self.rows[row], self.claims[claim]
        words = any(overlaps(gold.spans, start, end) for start, end in ours.spans)
        unsure = (gold.certainty != "certain") == ours.is_uncertain
        return (
            MATCH
            + WORDS * words
            + SIDE * (gold.side == ours.side)
            + UNSURE * unsure
            + CERTAINTY * (gold.certainty == ours.certainty)
        )

    def _answer_twin_rows(self, answered: dict[int, int]) -> None:
        """A bilateral claim that answers a left row answers the right one as well."""
        for row, claim in list(answered.items()):
            if self.claims[claim].side != "bilateral":
                continue
            for other in range(len(self.rows)):
                if other in answered or not self._are_twins(other, row):
                    continue
                if self.accepts(other, claim):
                    answered[other] = claim

    def _are_twins(self, one: int, other: int) -> bool:
        sides = {self.rows[one].side, self.rows[other].side}
        return sides == {"left", "right"}

    def _twin_row(self, claim: int, answered: Mapping[int, int]) -> int | None:
        """The bilateral row answered by a claim of the other side."""
        side = OPPOSITE.get(self.claims[claim].side)
        for row, other in answered.items():
            if (
                side is not None
                and self.rows[row].side == "bilateral"
                and self.claims[other].side == side
                and self.accepts(row, claim)
            ):
                return row
        return None

    def _denies_again(self, claim: int, answered: Mapping[int, int]) -> bool:
        return self.claims[claim].polarity == "neg" and any(
            self.accepts(row, claim) for row in answered
        )

    def _is_part(self, number: int) -> bool:
        """Whether an ancestor states a finding of the claim with its polarity."""
        claim = self.claims[number]
        known = {c.claim_id: c for c in self.claims}
        above = claim.parent_id
        while above is not None:
            parent = known.get(above)
            if (
                parent is not None
                and parent.polarity == claim.polarity
                and not set(parent.findings).isdisjoint(claim.findings)
            ):
                return True
            above = above.rpartition(".")[0] or None
        return False
