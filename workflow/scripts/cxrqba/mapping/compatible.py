"""What likeness cannot tell: opposites, denials, numbers, sides and organs (paper Sec. E.1.3).

"Left" and "right", "acute" and "chronic", "no" and "yes" are near neighbours for n-grams and for
embeddings alike. A candidate that contradicts a mention in one of these is never its tag, however
alike they look; both backends obey the same rules.
"""

from __future__ import annotations

from collections.abc import Sequence

from cxrqba.mapping.candidates import Candidate
from cxrqba.mapping.normal import FILLERS, LINKS, Normaliser
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
_NONE: set[str] = set()
_OPPOSITE_STARTS = tuple(
    pair
    for more in ("hyper", "over")
    for less in ("hypo", "under")
    for pair in ((more, less), (less, more))
)

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
_NEGATING = frozenset(("no", "not", "non", "without", "absent", "never", "nor", "neither"))
_FREE_OF = frozenset(("free", "of"))
_NORMAL = frozenset(("normal", "unremarkable", "intact", "clear", "negative"))
_NEGATING_STARTS = ("non", "un")

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


def compatible(
    mentioned: frozenset[str],
    tag: frozenset[str],
    known: frozenset[str] = frozenset(),
    named: frozenset[str] = frozenset(),
) -> bool:
    """Whether words of a mention and of a tag may mean the same.

    No opposite, no other number, the same denials, no place or doubt that the mention lacks.
    ``tag`` are the words of a name or synonym, ``named`` those of the tag's name. ``known`` are all
    words of the reference, to tell "noncavitary" from a word of its own.
    """
    if any(_OPPOSITE.get(w, _NONE) & mentioned and w not in mentioned for w in tag | named):
        return False
    if any(_starts(tag, a) and _starts(mentioned, b) for a, b in _OPPOSITE_STARTS):
        return False
    if (tag & _ASKING) - mentioned or (mentioned & _NORMAL) != (tag & _NORMAL):
        return False
    if mentioned & _NORMAL and not tag - FILLERS <= mentioned:
        return False  # a heart "above normal" is no normal heart
    denied = _denied(mentioned, known)
    if denied != _denied(tag, known):
        return False
    if denied and not tag - LINKS - _NEGATING <= mentioned:
        return False  # "no longer seen" is not "no longer larger"
    return _numbers(tag) == _numbers(mentioned) or not _numbers(tag)


def _denied(words: frozenset[str], known: frozenset[str]) -> bool:
    return (
        not _NEGATING.isdisjoint(words)
        or words >= _FREE_OF
        or any(
            word not in known and word.removeprefix(start) in known
            for word in words
            for start in _NEGATING_STARTS
            if word.startswith(start)
        )
    )


def _starts(words: frozenset[str], start: str) -> bool:
    return any(w.startswith(start) for w in words)


def _numbers(words: frozenset[str]) -> frozenset[str]:
    return frozenset(w for w in words if w[:1].isdigit())
