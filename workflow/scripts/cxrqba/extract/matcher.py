"""Longest-match search of many phrases at once, over normal forms.

A phrase may be interrupted by words that do not change what it names ("blunting of the *right*
costophrenic angle", "heart is *mildly* enlarged"); a match remembers those words, because a "not"
among them turns the statement around.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cxrqba.extract.words import Word, word_set, words

ARTICLES = frozenset(("the", "a", "an"))
MAX_SKIPS = 4
LEVELS = frozenset(("t", "l", "st", "nd", "rd", "th", *map(str, range(1, 13)))) | word_set(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
)
"""Words of "T7" and "sixth", as in "collapse of T7", "fracture of the sixth rib"."""
_LEVEL_JOINTS = frozenset(("and", "to", "through", ","))
"""Words between the levels of a list: "fractures of the *fifth to eighth* ribs"."""
MAX_ABBREVIATION = 3
"""Capitals up to this length are an abbreviation only if the report writes capitals too."""


@dataclass(frozen=True, slots=True)
class Match:
    """A phrase found at words [first, last) of a sentence."""

    first: int
    last: int
    phrase: str
    value: Any
    skipped: tuple[str, ...] = ()

    def overlaps(self, other: Match) -> bool:
        """Whether the two share a word."""
        return self.first < other.last and other.first < self.last


def _needs_capitals(phrase: str, norm: str) -> bool:
    """Whether lower case would be another word: "PE", or "TIPS" (tips of catheters)."""
    return phrase.isupper() and (len(phrase) <= MAX_ABBREVIATION or norm != phrase.lower())


class _Node:
    __slots__ = ("ends", "next")

    def __init__(self) -> None:
        self.next: dict[str, _Node] = {}
        self.ends: list[tuple[str, Any, tuple[str, ...] | None]] = []


class PhraseTable:
    """Phrases with values; ``fillers`` may interrupt a phrase after its first word."""

    def __init__(self, phrases: Iterable[tuple[str, Any]], fillers: frozenset[str] = frozenset()):
        self._root = _Node()
        self._fillers = fillers
        for phrase, value in phrases:
            self._add(phrase, value)

    def _add(self, phrase: str, value: Any) -> None:
        node = self._root
        tokens = [w for w in words(phrase) if w.norm not in ARTICLES]
        if not tokens:
            return
        for word in tokens:
            node = node.next.setdefault(word.norm, _Node())
        capitals = None
        if len(tokens) == 1 and _needs_capitals(phrase, tokens[0].norm):
            capitals = (phrase, phrase + "s")
        if not any(capitals == known for _, _, known in node.ends):
            node.ends.append((phrase, value, capitals))

    def find(self, sentence: Sequence[Word]) -> list[Match]:
        """Matches that do not overlap, left to right, each the longest at its place."""
        found: list[Match] = []
        at = 0
        while at < len(sentence):
            match = self._longest(sentence, at)
            if match is None:
                at += 1
            else:
                found.append(match)
                at = match.last
        return found

    def at_start(self, sentence: Sequence[Word]) -> Match | None:
        """The longest match at the first word."""
        return self._longest(sentence, 0) if sentence else None

    def find_all(self, sentence: Sequence[Word]) -> list[Match]:
        """The longest match at every place; matches may overlap."""
        found = (self._longest(sentence, at) for at in range(len(sentence)))
        return [match for match in found if match is not None]

    def _is_filler(self, norm: str) -> bool:
        """Numbers interrupt a phrase where other words may ("calcified 4 mm granuloma")."""
        return bool(self._fillers) and (norm in self._fillers or norm[:1].isdigit())

    def _is_level(self, sentence: Sequence[Word], at: int) -> bool:
        """Whether word ``at`` numbers a rib or vertebra, or joins two that do."""
        if not self._fillers:
            return False
        norm = sentence[at].norm
        if norm in _LEVEL_JOINTS and at + 1 < len(sentence):
            return sentence[at - 1].norm in LEVELS and sentence[at + 1].norm in LEVELS
        return norm in LEVELS

    def _longest(self, sentence: Sequence[Word], at: int) -> Match | None:
        start = self._root.next.get(sentence[at].norm)
        if start is None:
            return None
        best: tuple[int, int, Match] | None = None
        stack: list[tuple[_Node, int, int, tuple[str, ...]]] = [(start, at + 1, 1, ())]
        while stack:
            node, here, depth, skipped = stack.pop()
            for phrase, value, capitals in node.ends:
                if capitals is None or sentence[at].text in capitals:
                    rank = (depth, -len(skipped))
                    if best is None or rank > best[:2]:
                        best = (*rank, Match(at, here, phrase, value, skipped))
            if here >= len(sentence) or not node.next:
                continue
            norm = sentence[here].norm
            following = node.next.get(norm)
            if following is not None:
                stack.append((following, here + 1, depth + 1, skipped))
            if norm in ARTICLES or self._is_level(sentence, here):
                stack.append((node, here + 1, depth, skipped))
            elif self._is_filler(norm) and len(skipped) < MAX_SKIPS:
                stack.append((node, here + 1, depth, (*skipped, norm)))
        return None if best is None else best[2]
