"""What likeness cannot tell: opposites, denials, numbers, sides and organs (paper Sec. E.1.3).

"Left" and "right", "acute" and "chronic", "no" and "yes" are near neighbours for n-grams and for
embeddings alike. A candidate that contradicts a mention in one of these is never its tag, however
alike they look; both backends obey the same rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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

_ELSEWHERE = frozenset(
    (
        *("brain", "cerebral", "cranial", "intracranial", "subdural", "skull", "scalp", "sinus"),
        *("macular", "eye", "orbital", "retinal", "ear", "nasal", "dental", "pelvis", "pelvic"),
        *("hip", "femur", "femoral", "thigh", "knee", "leg", "calf", "ankle", "foot", "toe"),
        *("tibia", "tibial", "hand", "wrist", "finger", "elbow", "arm", "forearm", "prostate"),
        *("prostatic", "bladder", "uterus", "uterine", "ovary", "ovarian", "testicular", "skin"),
        *("adrenal", "pylorus", "pyloric", "colon", "colonic", "appendix", "rectal", "rectum"),
    )
)
"""Parts of the body without a region in the reference."""

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
    """Which systems (chest, bone, abdomen, soft tissue, elsewhere) a text or a tag belongs to."""

    def __init__(self, reference: Reference, normalise: Normaliser, regions: Sequence[Candidate]):
        self._groups = {n: _system(r.group) for n, r in reference.regions.items()}
        self._phrases: dict[str, str] = {}
        for tag in regions:
            if tag.normal not in _UNTOLD:
                self._phrases.setdefault(tag.normal, self._groups[tag.reference])
        for word in _ELSEWHERE:
            self._phrases.setdefault(normalise.plain(word), "elsewhere")
        for word in _BONY:
            self._phrases.setdefault(word, "bone")
        self._of_finding = {
            f.name: frozenset[str]()
            if f.is_device
            else frozenset(self._groups[r] for r in f.default_regions)
            for f in reference.findings.values()
        }

    def of_text(self, normal: str) -> frozenset[str]:
        """Systems of the regions that ``normal`` names; empty if "level" makes them a height."""
        words = normal.split()
        if "level" in words:
            return frozenset()
        return frozenset(
            self._phrases[phrase]
            for start in range(len(words))
            for end in range(start + 1, min(start + _LONGEST_PHRASE, len(words)) + 1)
            if (phrase := " ".join(words[start:end])) in self._phrases
        )

    def allows(self, mentioned: frozenset[str], tag: Candidate, kind: str) -> bool:
        """Whether a finding or region may lie in the systems that a mention names."""
        if kind == "region":
            return "elsewhere" not in mentioned
        if kind != "finding" or not mentioned or not mentioned.isdisjoint(("chest", "anywhere")):
            return True
        own = self._of_finding[tag.reference]
        return not own or "anywhere" in own or not own.isdisjoint(mentioned)


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
