"""What the words of a finding tell: regions, distances, modifiers, changes, side.

A side or region is sought in a finding's own zone (:mod:`cxrqba.extract.sharing`), never in the
whole sentence, because a side that strays to a neighbour harms. Fixed names ("right heart border")
give no side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from cxrqba.extract.lexicon import ADVERBS, FINITE, SIDES, Reading
from cxrqba.extract.matcher import ARTICLES, Match
from cxrqba.extract.reach import is_clausal
from cxrqba.extract.words import word_set
from cxrqba.reference.tables import Value

_DISTANCE_UNITS = frozenset(("cm", "mm", "centimeter", "millimeter", "inch"))
_DISTANCE_RELATIONS = frozenset(("above", "below", "beyond", "from", "past", "distal", "proximal"))
_LEVELS = frozenset(("above", "below", "beyond"))
PASSIVE = FINITE | ADVERBS | word_set("present seen noted identified visualized demonstrated again")
_STABLE = ("stable", "no new")
_PLURAL = ("s", "hila", "pleurae", "costae")
_NEAR = 4
"""Words between a preposition and the part of the body: "of the distal left femur"."""
_COMPARATIVES = word_set("more less larger smaller greater worse better")
_TIMES = word_set("prior previous previously before earlier yesterday last seen ___")
_NUMBER = re.compile(r"\d+(?:\.\d+)?|_+|XXXX|one|two|three|four|five|six")


@dataclass(slots=True)
class Zone:
    """Words that belong to one finding: its own range, then ranges shared with others."""

    own: tuple[int, int]
    shared: list[tuple[int, int]] = field(default_factory=list)

    def ranges(self) -> list[tuple[int, int]]:
        """All word ranges, own first."""
        return [self.own, *self.shared]

    def holds(self, match: Match) -> bool:
        """Whether the match lies in one of the ranges."""
        return any(a <= match.first and match.last <= b for a, b in self.ranges())


def sided(reading: Reading, first: int, last: int) -> bool:
    return any(reading.norm(i) in SIDES for i in range(first, last)) or any(
        first <= r.first and r.last <= last for r in reading.regions
    )


def is_placed(reading: Reading, zone: Zone) -> bool:
    """Whether a zone names a side or a region of its own."""
    return sided(reading, *zone.own)


@dataclass(frozen=True, slots=True)
class Place:
    """A region as written, with distances as written, and the words it stands at."""

    text: str
    distances: tuple[str, ...]
    first: int
    last: int


def places(reading: Reading, finding: Match | None, zone: Zone) -> list[Place]:
    """Regions of a finding, in text order, each named once."""
    if finding is not None and (outside := _outside(reading, finding)):
        return [Place(m.phrase, (), m.first, m.last) for m in outside]
    found: dict[str, Place] = {}
    for region in reading.regions:
        if not zone.holds(region):
            continue
        if finding is not None and region.overlaps(finding) and _within(region, finding):
            continue
        first = region.first
        if reading.norm(first - 1) == "than" and reading.norm(first) in ("left", "right"):
            first += 1  # "right greater than left lower lobe": of both
        text = surface(reading, first, region.last)
        distance = _distance(reading, region.first)
        if text.lower() not in found:
            found[text.lower()] = Place(text, distance, first, region.last)
    return list(found.values())


def _outside(reading: Reading, finding: Match) -> list[Match]:
    """Parts of the body outside of the chest that the finding is of.

    "Fracture of the distal *femur*", "*hip* fracture"; not "on the other hand, fracture".
    """
    before = [m for m in reading.outside if finding.first - 2 <= m.last - 1 < finding.first]
    behind = finding.last
    if reading.norm(behind) in ("of", "in", "at", "involving"):
        near = [m for m in reading.outside if behind < m.first <= behind + _NEAR]
        before += [m for m in near if not _parts(reading, behind, m.first)]
    return [m for m in before if not _parts(reading, m.last, finding.first)]


def _parts(reading: Reading, first: int, last: int) -> bool:
    return any(reading.norm(i) in (",", "and", "or", "with", ".") for i in range(first, last))


def _within(region: Match, finding: Match) -> bool:
    return (
        finding.first <= region.first
        and region.last <= finding.last
        and not finding.skipped
        and region.value.laterality not in ("left", "right")
    )


def _distance(reading: Reading, at: int) -> tuple[str, ...]:
    """ "4.5 cm above" or "below" in front of the region at word ``at``."""
    i = at - 1
    while i >= 0 and (reading.norm(i) in ARTICLES or reading.norm(i) in ("level", "of")):
        i -= 1
    if i >= 0 and reading.norm(i) in ("to", "than"):
        i -= 1
    if i < 0 or reading.norm(i) not in _DISTANCE_RELATIONS:
        return ()
    end = i + 1
    relation = i
    if reading.norm(i - 1) not in _DISTANCE_UNITS:
        return (reading.words[i].text,) if reading.norm(i) in _LEVELS else ()
    i -= 1
    if not _NUMBER.fullmatch(reading.words[i - 1].text if i else ""):
        return (reading.words[relation].text,)
    i -= 1
    if i >= 2 and reading.norm(i - 1) in ("to", "-") and reading.norm(i - 2)[:1].isdigit():
        i -= 2
    elif i >= 1 and reading.norm(i - 1)[:1].isdigit():  # "4-5 cm": the hyphen is no word
        i -= 1
    return (surface(reading, i, end),)


def values(matches: list[Match], zone: Zone, finding: Match | None) -> list[tuple[Value, Match]]:
    """Modifiers or changes in a zone, each value once, in text order."""
    found: dict[tuple[str, str], tuple[Value, Match]] = {}
    for match in matches:
        inside = (
            finding is not None
            and finding.first <= match.first
            and match.last <= finding.last
            and not finding.skipped
        )
        if zone.holds(match) and not inside:
            found.setdefault((match.value.kind, match.value.name), (match.value, match))
    return list(found.values())


def told_changes(reading: Reading) -> list[Match]:
    """Changes of a sentence that are told and not denied ("no increase" is none)."""
    return [
        m
        for m in reading.changes
        if (
            m.value.name in _STABLE
            or not any(reading.norm(m.first - k) in ("no", "not", "without") for k in (1, 2))
        )
        and not _is_denied_clause(reading, m)
        and not _compares_sides(reading, m)
    ]


def _is_denied_clause(reading: Reading, change: Match) -> bool:
    """Whether the change is what "no evidence that ..." or "neither ... has" denies."""
    return any(
        c.value == "negative" and c.last <= change.first and is_clausal(reading, c)
        for c in reading.before
    )


def _compares_sides(reading: Reading, change: Match) -> bool:
    """ "More prominent on the left" compares sides, not times."""
    if reading.norm(change.first) not in _COMPARATIVES:
        return False
    following = [reading.norm(i) for i in range(change.last, change.last + 5)]
    if "than" in following[:2]:
        return not any(n in _TIMES for n in following)
    return following[0] in ("on", "in", "at")


def predicate_changes(
    reading: Reading, clause: tuple[int, int], findings: list[Match]
) -> list[Match]:
    """Changes behind the verb that follows the last finding: said of the whole subject."""
    last = findings[-1].last
    verb = next((i for i in range(last, clause[1]) if reading.norm(i) in FINITE), None)
    if verb is None:
        return []
    return [m for m in told_changes(reading) if m.first >= verb and m.last <= clause[1]]


def side_text(reading: Reading, zone: Zone) -> str:
    """The words in which a side may be sought: the zone without fixed names."""
    parts = []
    for first, last in zone.ranges():
        kept = [
            i
            for i in range(first, last)
            if not any(m.first <= i < m.last for m in reading.fixed) and not _joins(reading, i)
        ]
        parts += [surface(reading, a, b) for a, b in _runs(kept)]
        parts += [reading.norm(i) for i in kept if _is_short_side(reading, i)]
    return " ".join(p for p in parts if p)


def _is_short_side(reading: Reading, at: int) -> bool:
    """Whether the word is a side in short: "Lt", "R"."""
    norm = reading.norm(at)
    return norm in ("left", "right", "bilateral") and norm not in reading.words[at].text.lower()


def _joins(reading: Reading, at: int) -> bool:
    """Whether "both" is of two findings and not of two sides: "A or *both*", "*both* A and B"."""
    if reading.norm(at) in ("either", "neither"):
        return any(reading.norm(i) in ("or", "nor") for i in range(at + 1, at + 6))
    if reading.norm(at) != "both":
        return False
    following = reading.words[at + 1].text.lower() if at + 1 < len(reading.words) else ""
    of_sides = (following.endswith(_PLURAL) and not following.endswith("sis")) or reading.norm(
        at + 1
    ) in SIDES
    pair = any(reading.norm(i) == "and" for i in range(at + 2, at + 6))
    return reading.norm(at - 1) == "or" or (pair and not of_sides)


def _runs(indices: list[int]) -> Iterator[tuple[int, int]]:
    start: int | None = None
    for i, at in enumerate(indices):
        if start is None:
            start = at
        if i + 1 == len(indices) or indices[i + 1] != at + 1:
            yield start, at + 1
            start = None


def surface(reading: Reading, first: int, last: int) -> str:
    """The report's characters of words [first, last), white space made single spaces."""
    if first >= last:
        return ""
    if any(w.supplied for w in reading.words[first:last]):
        return " ".join(w.text for w in reading.words[first:last]).replace(" ,", ",")
    start, end = reading.words[first].start, reading.words[last - 1].end
    return " ".join(reading.text[start - reading.offset : end - reading.offset].split())
