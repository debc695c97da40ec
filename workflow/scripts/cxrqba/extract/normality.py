"""Statements that something is normal, as claims about the findings they deny.

"Heart size and mediastinal contours are normal" denies cardiomegaly of the heart and widening of
the mediastinum; which structure's normality denies which findings stands in ``normality.yaml``.
"""

from __future__ import annotations

from dataclasses import dataclass

from cxrqba.extract.lexicon import FILLERS, PREPOSITIONS, SIDES, Reading
from cxrqba.extract.matcher import ARTICLES, Match
from cxrqba.extract.words import word_set
from cxrqba.reference.tables import Structure

_JOINERS = frozenset((",", "and", "or", "/", "(", ")", ":", "both", "all", "as", "well"))
_LOOSE = word_set(
    "visualized imaged visible limited included remaining remainder otherwise clearly normal limit "
    "upper lower contour shape configuration caliber appearance size silhouette position in for "
    "with within bilaterally symmetrically free at thorax chest appearing well central other "
    "demonstrate show xxxx grossly symmetric stable unremarkable overall essentially"
)
_OF_SOMETHING = ("negative", "clear", "free")
_NEGATORS = word_set(
    "not no over abnormal re incompletely poorly partially partly partial incomplete nearly less "
    "hyper under never hardly nor"
)


@dataclass(frozen=True, slots=True)
class NormalStatement:
    """A structure called normal: words of both, and what is meant by the structure."""

    structure: Match
    predicate: Match
    meant: tuple[Structure, ...]
    is_rest: bool  # "otherwise clear": said of what has not been described
    is_hedged: bool  # "probably normal"


def normal_statements(
    reading: Reading, clause: tuple[int, int], carried: list[Match]
) -> list[NormalStatement]:
    """The clause's statements of normality.

    ``carried`` are the structures of the clause before, for "... but clear".
    """
    predicates = [
        p
        for p in reading.predicates
        if clause[0] <= p.first and p.last <= clause[1] and not _negated(reading, p)
    ]
    found: list[NormalStatement] = []
    named = [
        s
        for s in reading.structures
        if clause[0] <= s.first
        and s.last <= clause[1]
        and not any(p.first <= s.first and s.last <= p.last for p in predicates)
    ]
    for structure in named:
        for predicate in predicates:
            meant = _meant(structure, predicate)
            if meant and _belongs(reading, structure, predicate, named):
                found.append(_statement(reading, structure, predicate, meant))
    if predicates and not named and _opens(reading, clause, predicates[0]):
        for structure in carried:
            meant = _meant(structure, predicates[0])
            if meant:
                found.append(_statement(reading, structure, predicates[0], meant))
    return found


def _statement(
    reading: Reading, structure: Match, predicate: Match, meant: tuple[Structure, ...]
) -> NormalStatement:
    around = range(max(0, min(structure.first, predicate.first) - 3), predicate.first)
    rest = any(reading.norm(i) in ("otherwise", "remaining", "elsewhere") for i in around)
    hedged = any(reading.norm(i) in ("likely", "probably", "possibly") for i in around)
    return NormalStatement(structure, predicate, meant, rest, hedged)


def _meant(structure: Match, predicate: Match) -> tuple[Structure, ...]:
    return tuple(s for s in structure.value if predicate.value in s.predicates)


def _negated(reading: Reading, predicate: Match) -> bool:
    if predicate.value in _OF_SOMETHING and reading.norm(predicate.last) in ("for", "of"):
        return True  # "clear of edema" says nothing of the rest
    return any(reading.norm(predicate.first - k) in _NEGATORS for k in (1, 2)) and not any(
        reading.norm(i) in ("not", "no") for i in range(predicate.first, predicate.last)
    )


def _opens(reading: Reading, clause: tuple[int, int], predicate: Match) -> bool:
    return all(
        reading.norm(i) in FILLERS or reading.norm(i) in _JOINERS or reading.norm(i) in _LOOSE
        for i in range(clause[0], predicate.first)
    )


def _is_place(reading: Reading, structure: Match) -> bool:
    """Whether it is where a finding is: "opacity *at the left base*"."""
    at = structure.first - 1
    while reading.norm(at) in ARTICLES or reading.norm(at) in SIDES:
        at -= 1
    return reading.norm(at) in PREPOSITIONS and any(f.last == at for f in reading.findings)


def _belongs(reading: Reading, structure: Match, predicate: Match, named: list[Match]) -> bool:
    """Whether only joining words, other structures and places stand between the two."""
    if structure.last <= predicate.first:
        first, last = structure.last, predicate.first
        if any(s.first == predicate.last for s in named):
            return False  # "mediastinum: normal cardiac size" speaks of the size
        if _is_place(reading, structure):
            return False  # "opacity at the left base, right base clear"
    elif predicate.last <= structure.first:
        first, last = predicate.last, structure.first
        if reading.norm(last - 1) in ARTICLES and any(s.last < predicate.first for s in named):
            return False  # "the heart is normal, *the lungs* less so"
    else:
        return False
    covered = {
        i
        for m in (*named, *reading.regions, *reading.changes, *reading.predicates)
        for i in range(m.first, m.last)
    }
    if any(first < f.last and f.first < last for f in reading.findings):
        return False
    return all(
        i in covered
        or reading.norm(i) in FILLERS
        or reading.norm(i) in ARTICLES
        or reading.norm(i) in _JOINERS
        or reading.norm(i) in _LOOSE
        for i in range(first, last)
    )
