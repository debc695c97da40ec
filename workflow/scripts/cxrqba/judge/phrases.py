"""Which of the judge's words stand in a sentence: findings, regions, groups of findings.

Phrases are looked up by their stems, longest first; then findings of two words with others between
them ("the heart is mildly enlarged"). It knows nothing of how the extraction looks words up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cxrqba.judge.vocabulary import Finding, Vocabulary
from cxrqba.judge.words import FUNCTION_WORDS, normalise, plain, stem, tokenise, words

_PAIR_STOPS = words(". , ; : ? ( ) and or but")
_PAIR_REACH = 6
"""Words between the two of a pair, at most one fewer."""
_OF_VESSELS = words("vessel vasculature vascular vascularity artery vein")


@dataclass(frozen=True, slots=True)
class Hit:
    """A phrase at the tokens [start, end)."""

    start: int
    end: int
    kind: str  # finding, region, group
    name: str


class Phrases:
    """Finds the phrases of a vocabulary among stems."""

    def __init__(self, vocabulary: Vocabulary):
        findings = vocabulary.findings.values()
        self._named = _Index(
            [(p, "finding", f.name) for f in findings for p in (f.name, *f.phrases)]
            + [(p, "group", g) for g, phrases in vocabulary.groups.items() for p in phrases]
        )
        self._regions = _Index(
            (p, "region", r.name) for r in vocabulary.regions.values() for p in (r.name, *r.phrases)
        )
        self._pairs = _pair_index(findings)

    def hits(self, stems: Sequence[str]) -> list[Hit]:
        """All phrases of a sentence, settled among each other."""
        named = list(self._named.longest(stems))
        taken = [False] * len(stems)
        for hit in named:
            if hit.kind == "finding":
                taken[hit.start : hit.end] = [True] * (hit.end - hit.start)
        pairs = list(self._paired(stems, taken))
        return [*named, *pairs, *_settled(list(self._regions.longest(stems)), named, stems)]

    def _paired(self, stems: Sequence[str], taken: list[bool]) -> Iterator[Hit]:
        for position, word in enumerate(stems):
            if taken[position]:
                continue
            for other, name in self._pairs.get(word, ()):
                near = _nearest(stems, taken, position, other)
                if near is not None:
                    taken[position] = taken[near] = True
                    yield Hit(min(position, near), max(position, near) + 1, "finding", name)
                    break


class _Index:
    """Phrases by their stems."""

    def __init__(self, phrases: Iterable[tuple[str, str, str]]):
        self._names: dict[tuple[str, ...], dict[str, str]] = {}
        for phrase, kind, name in phrases:
            key = tuple(stem(t) for t in tokenise(plain(normalise(phrase))))
            if key:
                self._names.setdefault(key, {}).setdefault(kind, name)
        lengths: dict[str, set[int]] = {}
        for key in self._names:
            lengths.setdefault(key[0], set()).add(len(key))
        self._lengths = {first: sorted(found, reverse=True) for first, found in lengths.items()}

    def longest(self, stems: Sequence[str]) -> Iterator[Hit]:
        """Longest phrases from left to right, without overlap."""
        position = 0
        while position < len(stems):
            step = 1
            for length in self._lengths.get(stems[position], ()):
                if position + length > len(stems):
                    continue
                found = self._names.get(tuple(stems[position : position + length]))
                if found is not None:
                    step = length
                    for kind, name in found.items():
                        yield Hit(position, position + length, kind, name)
                    break
            position += step


def _pair_index(findings: Iterable[Finding]) -> dict[str, list[tuple[str, str]]]:
    """First word of a two-word phrase -> (second word, finding), as in "heart is enlarged"."""
    index: dict[str, dict[str, str]] = {}
    for finding in findings:
        for phrase in (finding.name, *finding.phrases):
            own = [stem(t) for t in tokenise(plain(normalise(phrase))) if t not in FUNCTION_WORDS]
            if len(own) == 2 and all(len(w) > 2 for w in own):
                index.setdefault(own[0], {}).setdefault(own[1], finding.name)
    return {first: sorted(seconds.items()) for first, seconds in index.items()}


def _nearest(stems: Sequence[str], taken: Sequence[bool], position: int, other: str) -> int | None:
    """Where ``other`` stands within reach of ``position`` and of the same clause, if anywhere."""
    for near in range(max(0, position - _PAIR_REACH), min(len(stems), position + _PAIR_REACH + 1)):
        if stems[near] == other and not taken[near] and near != position:
            between = stems[min(position, near) + 1 : max(position, near)]
            if _PAIR_STOPS.isdisjoint(between):
                return near
    return None


def _settled(regions: list[Hit], named: Sequence[Hit], stems: Sequence[str]) -> list[Hit]:
    """Regions that are meant as places.

    Not those that are part of another name ("pleural effusion", "cardiac device"), nor the lungs of
    "pulmonary vessels".
    """
    return [
        hit
        for hit in regions
        if not any(n.start <= hit.start and hit.end <= n.end for n in named)
        and not (
            stems[hit.start : hit.end] == ["pulmonary"]
            and not _OF_VESSELS.isdisjoint(stems[hit.end : hit.end + 3])
        )
    ]
