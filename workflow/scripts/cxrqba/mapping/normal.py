"""Normal forms of free values: what has to be equal before anything is compared by likeness.

Lower case, singular, American spelling (``extract.words``), ordinals as numbers, abbreviations
expanded. A word one typing error away from exactly one word of the reference is read as that word
for comparison, never for equality. Words that say nothing of their own ("area", "seen") are
dropped for comparison (paper Sec. E.1.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from cxrqba.extract.words import words

_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth"),
    *("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
)
_REWRITTEN = {
    **{word: f"{n} {_ENDINGS.get(n, 'th')}" for n, word in enumerate(_ORDINALS, start=1)},
    "middle": "mid",
    "midlung": "mid lung",
    "midzone": "mid zone",
    "midthoracic": "mid thoracic",
}
"""Words written as the words they are made of."""

_SIDE_MARKS = {"lt": "left", "Lt": "left", "rt": "right", "Rt": "right"}
"""As written: in capitals RT is a therapy too."""

NEGATING = frozenset(
    ("no", "not", "non", "without", "absent", "absence", "missing", "never", "nor", "neither")
)
LINKS = frozenset(
    (
        *("a", "an", "the", "of", "in", "to", "with", "at", "within", "on", "for", "by"),
        *("there", "is", "are", "be", "was", "were", "been", "has", "have", "had"),
    )
)
FILLERS = LINKS | frozenset(
    (
        *("seen", "noted", "present", "identified", "visible", "visualized", "demonstrated"),
        *("area", "region", "appearance", "appearing", "distribution", "size", "location"),
    )
)
"""Words that tell nothing of what or where."""

CHANGE_FILLERS = FILLERS | frozenset(
    (
        *("from", "since", "compared", "comparison", "than", "as", "prior", "previous"),
        *("study", "exam", "examination", "radiograph", "film"),
    )
)
"""Of a change, what it is compared with says nothing either."""

_SHORTEST_TYPO = 5
_REAL_WORDS = frozenset(("hepatoma", "injection", "tracheotomy", "coastal", "lobotomy", "dilution"))
"""Words of medicine one letter away from a word of the reference that mean something else."""


class Normaliser:
    """Normal forms under one table of abbreviations."""

    def __init__(self, abbreviations: Mapping[str, str]):
        self._expansions = {
            short: re.sub(r"\s*\(.*?\)", "", long) for short, long in abbreviations.items()
        }
        alternatives = "|".join(
            re.escape(a) for a in sorted(self._expansions, key=lambda a: (-len(a), a))
        )
        self._pattern = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)") if alternatives else None

    def plain(self, text: str) -> str:
        """Normal form with abbreviations as written."""
        read = (w for w in words(text) if w.norm[:1].isalnum())
        norms = (_SIDE_MARKS.get(w.text, w.norm) for w in read)
        return " ".join(_REWRITTEN.get(n, n) for n in norms)

    def expanded(self, text: str) -> str:
        """Normal form with abbreviations (written as in the reference) expanded."""
        if self._pattern is None:
            return self.plain(text)
        return self.plain(self._pattern.sub(lambda m: self._expansions[m.group()], text))


class Spelling:
    """Words of the reference, and which of them an unknown word most likely is."""

    def __init__(self, normals: Iterable[str]):
        self.known = frozenset(w for n in normals for w in n.split())
        self._by_start: dict[str, list[str]] = {}
        for word in sorted(self.known):
            if len(word) >= _SHORTEST_TYPO and word.isalpha():
                self._by_start.setdefault(word[0], []).append(word)
        self.corrected = lru_cache(maxsize=100_000)(self._corrected)

    def corrected_text(self, normal: str) -> str:
        """``normal`` with each word that is one typing error from a known word replaced."""
        return " ".join(self.corrected(w) for w in normal.split())

    def _corrected(self, word: str) -> str:
        if word in self.known or word in _REAL_WORDS:
            return word
        if not _SHORTEST_TYPO <= len(word) <= 30 or not word.isalpha():
            return word
        near = extract(
            word, self._by_start.get(word[0], ()), scorer=OSA.distance, score_cutoff=1, limit=2
        )
        return str(near[0][0]) if len(near) == 1 else word


def content(normal: str, fillers: frozenset[str] = FILLERS) -> str:
    """The words of a normal form that say something; all of them if none or but a denial does."""
    kept = [w for w in normal.split() if w not in fillers]
    return " ".join(kept) if not NEGATING.issuperset(kept) else normal
