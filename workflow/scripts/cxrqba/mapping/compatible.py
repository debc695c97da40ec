"""What likeness cannot tell: opposites, denials, numbers, sides and organs (paper Sec. E.1.3).

"Left" and "right", "acute" and "chronic", "no" and "yes" are near neighbours for n-grams and for
embeddings alike. A candidate that contradicts a mention in one of these is never its tag, however
alike they look; both backends obey the same rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from cxrqba.mapping.candidates import Candidate
from cxrqba.mapping.normal import FILLERS, LINKS, NEGATING, Normaliser
from cxrqba.reference.tables import Reference

_OPPOSITES = (
    ("left", "right"),
    ("upper", "lower"),
    ("superior", "inferior"),
    ("anterior", "posterior"),
    ("medial", "lateral"),
    ("ascending", "descending"),
    ("proximal", "distal"),
    ("central", "peripheral"),
    ("acute", "chronic"),
    ("increased", "decreased"),
    ("increase", "decrease"),
    ("increasing", "decreasing"),
    ("elevated", "depressed"),
    ("elevation", "depression"),
    ("improved", "worsened"),
    ("improving", "worsening"),
    ("improvement", "worsening"),
    ("high", "low"),
    ("hyper", "hypo"),
    ("large", "small"),
    ("larger", "smaller"),
    ("more", "less"),
    ("unilateral", "bilateral"),
    ("normal", "abnormal"),
    ("ill", "well"),
    ("poorly", "well"),
    ("above", "below"),
)
_OPPOSITE: dict[str, set[str]] = {}
for _one, _other in _OPPOSITES:
    _OPPOSITE.setdefault(_one, set()).add(_other)
    _OPPOSITE.setdefault(_other, set()).add(_one)
_MORE = ("hyper", "over")
_LESS = ("hypo", "under")

SIDES = frozenset(("left", "right", "bilateral", "both", "side", "sided"))
PLACING = SIDES | frozenset(
    (
        *("upper", "lower", "middle", "mid", "medial", "lateral", "superior", "inferior"),
        *("anterior", "posterior", "apical", "basal", "ascending", "descending"),
        *("proximal", "distal", "main"),
    )
)
"""Words of place: by themselves neither a finding nor a region."""
_ASKING = frozenset(
    (
        *("left", "right", "upper", "lower", "anterior", "posterior", "bilateral", "mid"),
        *("middle", "medial", "lateral", "may", "possibly", "near", "nearly", "partially"),
    )
)
"""Words a candidate may have only if the mention has them."""
_FREE_OF = frozenset(("free", "of"))
_NORMAL = frozenset(("normal", "unremarkable", "intact", "clear", "negative"))
_OF_A_WORD = frozenset(("non",))
_UNDOING = ("non", "un")

OUTSIDE = "outside"
"""Method of a decision on what lies where the reference has no region."""

_BONY = frozenset(("bone", "bony", "osseous", "skeletal", "vertebra", "vertebral"))
_SYSTEMS = {
    "bone": ("bone", "spine", "vertebra", "rib", "rib (single)"),
    "abdomen": ("abdomen",),
    "soft tissue": ("soft tissue",),
    "anywhere": ("thorax",),
}
_SYSTEM_OF_GROUP = {g: system for system, groups in _SYSTEMS.items() for g in groups}
_LONGEST_PHRASE = 4
_UNTOLD = frozenset(("soft tissue", "subcutaneous", "subcutaneous tissue"))
"""Names of regions that describe a density rather than a place."""


class Anatomy:
    """Which regions and systems (chest, bone, abdomen, ..., elsewhere) a text or tag belongs to."""

    def __init__(self, reference: Reference, normalise: Normaliser, regions: Sequence[Candidate]):
        self._reference = reference
        self._systems = {n: _system(r.group) for n, r in reference.regions.items()}
        self._regions: dict[str, str] = {}
        for tag in regions:
            if tag.normal not in _UNTOLD:
                self._regions.setdefault(tag.normal, tag.reference)
        other = dict.fromkeys(map(normalise.plain, reference.outside), "elsewhere")
        self._others = other | dict.fromkeys(_BONY, "bone")
        self._words = frozenset(w for tag in regions for w in tag.normal.split()) - PLACING
        self._of_finding = {
            f.name: frozenset[str]()
            if f.is_device
            else frozenset(self._systems[r] for r in f.default_regions)
            for f in reference.findings.values()
        }
        self._regions_of = lru_cache(maxsize=20_000)(self._named_regions)

    def of_text(self, normal: str) -> Place:
        """Regions and systems that ``normal`` names; none if "level" makes them a height."""
        if "level" in normal.split():
            return Place(frozenset(), frozenset())
        regions = self._named_regions(normal)
        systems = {self._systems[r] for r in regions}
        systems |= {self._others[w] for w in normal.split() if w in self._others}
        return Place(regions, frozenset(systems))

    def is_outside(self, normal: str) -> bool:
        """Whether a text places something in the body, but in no region of the reference.

        A word of any region leaves it open: the costophrenic sinus is in the chest.
        """
        place = self.of_text(normal)
        if place.systems != {"elsewhere"}:
            return False
        return all(w in self._others or w not in self._words for w in normal.split())

    def allows(self, mentioned: Place, tag: Candidate, kind: str) -> bool:
        """Whether a finding or region may lie where a mention says."""
        if kind == "region":
            return "elsewhere" not in mentioned.systems
        if kind != "finding" or not mentioned.systems:
            return True
        named = self._regions_of(tag.normal)
        if mentioned.regions and named and not self._touch(mentioned.regions, named):
            return False
        if not mentioned.systems.isdisjoint(("chest", "anywhere")):
            return True
        own = self._of_finding[tag.reference]
        return not own or "anywhere" in own or not own.isdisjoint(mentioned.systems)

    def _named_regions(self, normal: str) -> frozenset[str]:
        words = normal.split()
        return frozenset(
            self._regions[phrase]
            for start in range(len(words))
            for end in range(start + 1, min(start + _LONGEST_PHRASE, len(words)) + 1)
            if (phrase := " ".join(words[start:end])) in self._regions
        )

    def _touch(self, some: frozenset[str], others: frozenset[str]) -> bool:
        """Whether one of ``some`` is, holds or is part of one of ``others``."""
        above = self._reference.region_ancestors
        return any(a == b or a in above[b] or b in above[a] for a in some for b in others)


@dataclass(frozen=True, slots=True)
class Place:
    """Regions that a text names, and their systems."""

    regions: frozenset[str]
    systems: frozenset[str]


def _system(group: str) -> str:
    return _SYSTEM_OF_GROUP.get(group, "chest")


@dataclass(frozen=True, slots=True)
class Traits:
    """What a set of words says in the points that decide compatibility."""

    words: frozenset[str]
    opposites: frozenset[str]
    asking: frozenset[str]
    normal: frozenset[str]
    numbers: frozenset[str]
    told: frozenset[str]  # without links and the denial itself
    content: frozenset[str]  # without words that say nothing
    denials: tuple[int, bool]  # how often of the whole ("no"), whether of a word ("non")
    more: bool
    less: bool


def traits(
    words: frozenset[str], known: frozenset[str], named: frozenset[str] = frozenset()
) -> Traits:
    """Traits of the words of a mention, or of a name or synonym.

    ``named`` are the words of a synonym's tag: what the synonym means if it does not say it.
    ``known`` are all words of the reference, to tell "noncavitary" from a word of its own.
    """
    return Traits(
        words=words,
        opposites=frozenset(o for w in words | named for o in _OPPOSITE.get(w, ())),
        asking=words & _ASKING,
        normal=words & _NORMAL,
        numbers=frozenset(w for w in words if w[:1].isdigit()),
        told=words - LINKS - NEGATING,
        content=words - FILLERS,
        denials=_denials(words, known),
        more=any(w.startswith(_MORE) for w in words),
        less=any(w.startswith(_LESS) for w in words),
    )


def compatible(mention: Traits, tag: Traits) -> bool:
    """Whether a mention and a tag may mean the same.

    No opposite, no other number, the same denials, no place or doubt that the mention lacks.
    """
    if not tag.opposites.isdisjoint(mention.words) and _contradicts(mention.words, tag):
        return False
    if (tag.more and mention.less) or (tag.less and mention.more):
        return False
    if not tag.asking <= mention.words or mention.normal != tag.normal:
        return False
    if mention.normal and not tag.content <= mention.words:
        return False  # a heart "above normal" is no normal heart
    if mention.denials != tag.denials or (any(tag.denials) and not tag.told <= mention.words):
        return False  # "no longer seen" is not "no longer larger"
    return not tag.numbers or tag.numbers == mention.numbers


def _contradicts(mentioned: frozenset[str], tag: Traits) -> bool:
    """Whether a word of the mention is opposed to the tag and not said in both senses."""
    hit = tag.opposites & mentioned
    return any(_OPPOSITE[w].isdisjoint(mentioned) for w in hit)


def _denials(words: frozenset[str], known: frozenset[str]) -> tuple[int, bool]:
    whole = len(words & NEGATING - _OF_A_WORD) + (words >= _FREE_OF)
    part = not _OF_A_WORD.isdisjoint(words) or any(
        w not in known and w.removeprefix(start) in known
        for w in words
        for start in _UNDOING
        if w.startswith(start)
    )
    return whole, part
