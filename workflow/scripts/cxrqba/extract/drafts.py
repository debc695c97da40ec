"""Observations on their way to rows of RAW_OBSERVATIONS, and what all kinds of them share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from cxrqba.extract.lexicon import Reading
from cxrqba.extract.matcher import Match
from cxrqba.extract.wording import clause_text, sentence_case
from cxrqba.extract.zones import Place

_WORD = re.compile(r"[a-z]+")
_BOTH = frozenset(
    [
        "bilateral",
        "bilaterally",
        "both",
        "bibasilar",
        "bibasal",
        "biapical",
        "bihilar",
        "either",
        "neither",
    ]
)
ASSERTING = ("positive", "likely", "possible", "cannot_exclude")
"""Levels that raise a finding, however faintly."""

DENYING = ("negative", "unlikely")


@dataclass(frozen=True, slots=True)
class Clause:
    """Words [first, last) of a sentence that make a statement of their own."""

    reading: Reading
    sent_id: str
    first: int
    last: int

    @property
    def range(self) -> tuple[int, int]:
        """(first, last)."""
        return self.first, self.last

    def within(self, matches: Iterable[Match]) -> list[Match]:
        """The matches that lie in the clause."""
        return [m for m in matches if self.first <= m.first and m.last <= self.last]

    def text(self) -> str:
        """The clause as written, without a number or conjunction in front."""
        return clause_text(self.reading, self.range)

    def spans(self, ranges: Iterable[tuple[int, int]]) -> list[tuple[str, int, int]]:
        """(sentence id, start, end) in the report of word ranges, in text order."""
        at = self.reading.words
        spans = {(self.sent_id, at[a].start, at[b - 1].end) for a, b in ranges if a < b}
        return sorted(spans, key=lambda s: (s[1], s[2]))

    def change_sentence(self, changes: list[tuple[Any, Match]]) -> str | None:
        """The clause as the sentence that tells its changes; None if it tells none."""
        return sentence_case(self.text()) + "." if changes else None


@dataclass(slots=True)
class Draft:
    """An observation on its way to a row of RAW_OBSERVATIONS."""

    key: tuple[str, ...]  # findings meant; empty for comparisons without one
    entities: list[str]
    level: str
    name: str
    summary: str
    regions: list[Place]
    modifiers: list[tuple[str, str]]
    side_text: str
    changes: list[str]
    change_sentence: str | None
    sent_ids: list[str]
    spans: list[tuple[str, int, int]]
    origin: str
    is_device: bool = False
    is_rest: bool = False
    is_definite: bool = False  # "the effusion": one that was spoken of before
    child_type: str | None = None
    children: list[Draft] = field(default_factory=list)


def with_children(drafts: Iterable[Draft]) -> list[Draft]:
    """The drafts and all that hangs below them."""
    found: list[Draft] = []
    for draft in drafts:
        found.append(draft)
        found += with_children(draft.children)
    return found


def sides_of(text: str) -> frozenset[str]:
    """left and right, as far as a side text names them."""
    told = set(_WORD.findall(text.lower()))
    if told & _BOTH:
        return frozenset(("left", "right"))
    return frozenset(told & {"left", "right"})


def rows_of(study_id: str, drafts: list[Draft]) -> list[dict[str, Any]]:
    """Rows of RAW_OBSERVATIONS: R01, its children R01.01, ..."""
    rows: list[dict[str, Any]] = []

    def add(draft: Draft, raw_id: str, parent: str | None) -> None:
        rows.append(
            {
                "study_id": study_id,
                "raw_id": raw_id,
                "parent_raw_id": parent,
                "child_type": draft.child_type if parent else None,
                "name": draft.name,
                "summary_sentence": draft.summary,
                "entities": draft.entities,
                "regions": [
                    {"region": p.text, "distances": list(p.distances)} for p in draft.regions
                ],
                "probability": draft.level,
                "modifiers": [{"type": t, "value": v} for t, v in draft.modifiers],
                "laterality_text": draft.side_text or None,
                "changes": draft.changes,
                "change_sentence": draft.change_sentence,
                "sent_ids": draft.sent_ids,
                "spans": [{"sent_id": s, "start": a, "end": b} for s, a, b in draft.spans],
                "issue_level": "NO_ISSUES",
                "origin": draft.origin,
            }
        )
        for number, child in enumerate(draft.children, start=1):
            add(child, f"{raw_id}.{number:02d}", raw_id)

    for number, draft in enumerate(drafts, start=1):
        add(draft, f"R{number:02d}", None)
    return rows
