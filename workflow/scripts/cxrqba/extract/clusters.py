"""Clusters of related sentences over FINDINGS and IMPRESSION (paper Sec. E.1.2).

Sentences of the two sections are related if one repeats the findings of the other; a sentence that
opens with "it" or "the tip" belongs to the one before. Sentences with the same terms are compared
once, so that the work does not grow with the square of a report's length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

MIN_OVERLAP = 0.5
"""Share of the terms of the sentence with fewer terms that both must have in common."""

ANAPHOR = re.compile(
    r"(?:it|its|this|these|they|their|the tip|the tips|tip|the side ?(?:hole|port)|side ?port)\b",
    re.IGNORECASE,
)
"""A sentence that opens so speaks of what the sentence before named."""

_SIDE = re.compile(r"\b(?:left|right)\b", re.IGNORECASE)

Told = tuple[str, str, frozenset[str]]
"""(section type, sentence, terms: names of its findings, or of its regions if it has none)."""
_Key = tuple[str, frozenset[str], frozenset[str]]


def cluster_numbers(sentences: Sequence[Told]) -> list[int]:
    """Cluster of each sentence, numbered from 1 in text order."""
    groups = _Groups(len(sentences))
    first: dict[_Key, int] = {}
    same_text: dict[_Key, list[int]] = {}
    for i, (section_type, text, terms) in enumerate(sentences):
        if i and ANAPHOR.match(text) and sentences[i - 1][0] == section_type:
            groups.join(i - 1, i)
        key = (section_type, terms, frozenset(side.lower() for side in _SIDE.findall(text)))
        first.setdefault(key, i)
        same_text.setdefault(key, []).append(i)
    by_term: dict[str, list[_Key]] = {}
    linked: set[_Key] = set()
    for key in first:
        for other in _candidates(key, by_term):
            if _related(key, other):
                groups.join(first[other], first[key])
                linked |= {key, other}
        for term in key[1]:
            by_term.setdefault(term, []).append(key)
    for key in linked:  # sentences of one section that say the same are related through the other
        for i in same_text[key]:
            groups.join(first[key], i)
    numbers: dict[int, int] = {}
    return [numbers.setdefault(groups.root(i), len(numbers) + 1) for i in range(len(sentences))]


def _candidates(key: _Key, by_term: dict[str, list[_Key]]) -> Iterable[_Key]:
    return dict.fromkeys(other for term in sorted(key[1]) for other in by_term.get(term, ()))


def _related(one: _Key, other: _Key) -> bool:
    """Of different sections, enough terms in common, and not plainly of opposite sides."""
    if one[0] == other[0] or (one[2] and other[2] and not one[2] & other[2]):
        return False
    common = one[1] & other[1]
    return len(common) / min(len(one[1]), len(other[1])) >= MIN_OVERLAP


class _Groups:
    """Disjoint sets of numbers; the smallest of a set stands for it."""

    def __init__(self, size: int):
        self._parent = list(range(size))

    def root(self, i: int) -> int:
        while self._parent[i] != i:
            self._parent[i] = self._parent[self._parent[i]]
            i = self._parent[i]
        return i

    def join(self, one: int, other: int) -> None:
        a, b = sorted((self.root(one), self.root(other)))
        self._parent[b] = a
