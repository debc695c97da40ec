"""What graph construction derives once from the reference: sides, change words, relatives.

Keyword lists come from ``laterality.yaml``, ``changes.yaml`` and ``probability.yaml``; relatives
say which findings speak against the absence of another (paper Sec. E.1.3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import combinations

from cxrqba.extract.words import words
from cxrqba.reference.tables import Reference

_TOKEN = re.compile(r"[^\W_]+")


def spaced(text: str) -> str:
    """Lower-case words of ``text`` between single spaces, for look-up of whole phrases."""
    return f" {' '.join(_TOKEN.findall(text.lower()))} "


@lru_cache(maxsize=8192)
def normal(text: str) -> str:
    """Normal forms of the words of ``text``, in which "remains" and "remain" are one."""
    return f" {' '.join(w.norm for w in words(text) if w.norm[:1].isalnum())} "


class Phrases:
    """Whole-word look-up of many phrases in short texts."""

    def __init__(self, phrases: Iterable[str], form: Callable[[str], str] = spaced):
        self._phrases = frozenset(p for p in (form(t).strip() for t in phrases) if p)
        self._longest = max((p.count(" ") + 1 for p in self._phrases), default=0)
        self._first = frozenset(p.partition(" ")[0] for p in self._phrases)

    def found(self, text: str) -> bool:
        """Whether any phrase occurs in ``text`` (in the form of :func:`spaced`)."""
        return next(self._starts(text.split()), None) is not None

    def matches(self, text: str) -> list[str]:
        """The phrases in ``text`` (in the form of :func:`spaced`), longest first at each word."""
        tokens = text.split()
        return [" ".join(tokens[i : i + n]) for i, n in self._starts(tokens)]

    def removed(self, text: str) -> str:
        """``text`` (in the form of :func:`spaced`) without the phrases, longest first."""
        tokens = text.split()
        cut: set[int] = set()
        for start, length in self._starts(tokens):
            cut.update(range(start, start + length))
        return f" {' '.join(w for i, w in enumerate(tokens) if i not in cut)} "

    def _starts(self, tokens: list[str]) -> Iterator[tuple[int, int]]:
        for i, word in enumerate(tokens):
            if word not in self._first:
                continue
            for n in range(min(self._longest, len(tokens) - i), 0, -1):
                if " ".join(tokens[i : i + n]) in self._phrases:
                    yield i, n
                    break


class Vocabulary:
    """Look-ups that every study shares."""

    def __init__(self, reference: Reference):
        self.reference = reference
        keywords = reference.laterality["keywords"]
        plurals = {"lungs", "hila", "hemidiaphragms", "costophrenic angles", "clavicles"}
        self.comparisons = Phrases(t for t in keywords["likely_bilateral"] if " than " in t)
        self.fixed_names = Phrases([*reference.laterality["fixed_names"], *_ADVERBS])
        self.left = Phrases(_plain(keywords["left"], _LEFT_IMPLIED))
        self.right = Phrases(_plain(keywords["right"], _RIGHT_IMPLIED))
        self.left_implied = Phrases(_LEFT_IMPLIED)
        self.right_implied = Phrases(_RIGHT_IMPLIED)
        self.bilateral = Phrases(t for t in _plain(keywords["bilateral"]) if t not in plurals)
        self.plural_pairs = Phrases(plurals)
        self.likely_bilateral = Phrases(
            [t for t in _plain(keywords["likely_bilateral"]) if " than " not in t]
            + _plural_words(keywords["likely_bilateral"])
        )
        self.changes = Phrases(
            (t for v in reference.changes for t in (v.name, *v.synonyms)), normal
        )
        self.tells_change = lru_cache(maxsize=8192)(self._tells_change)

    @cached_property
    def region_sides(self) -> Mapping[str, str]:
        """Region -> left or right, for regions that surely lie on one side.

        A side word that is part of a fixed name ("right atrium", "left heart border") is none, nor
        is a side that a place has only usually (retrocardiac), nor that of a chamber or vessel: a
        line from the left may well end in the right atrium.
        """
        usual = Phrases(
            word.partition("(")[0]
            for words_ in self.reference.laterality["side_implying_regions"].values()
            for word in words_
            if "(" in word
        )
        return {
            name: region.laterality
            for name, region in self.reference.regions.items()
            if region.laterality in ("left", "right")
            and name not in self.vessels
            and not self.fixed_names.found(spaced(name))
            and not usual.found(spaced(name))
        }

    @cached_property
    def vessels(self) -> frozenset[str]:
        """Chambers and vessels: their side is part of their name, never that of a finding."""
        return self._of_groups("heart", "vessel")

    @cached_property
    def tip_places(self) -> frozenset[str]:
        """Where tubes and lines end, which says nothing of the side they come from."""
        return self._of_groups("heart", "vessel", "airway", "abdomen", "esophagus")

    def _of_groups(self, *groups: str) -> frozenset[str]:
        regions = self.reference.regions.values()
        return frozenset(r.name for r in regions if r.group in groups)

    @cached_property
    def change_like_names(self) -> Phrases:
        """Names of findings in which a change word is part of the name (normal forms)."""
        findings = self.reference.findings.values()
        names = (normal(t) for f in findings for t in (f.name, *f.synonyms))
        return Phrases((n for n in names if self.changes.found(n)), str)

    def _tells_change(self, text: str) -> bool:
        """Whether a change word stands in ``text`` outside of a finding's name."""
        return self.changes.found(self.change_like_names.removed(normal(text)))

    @cached_property
    def cue_levels(self) -> Mapping[str, str]:
        """Cue text -> level, for cues that have one level wherever they stand."""
        levels: dict[str, set[str]] = {}
        for cue in self.reference.cues:
            levels.setdefault(spaced(cue.text).strip(), set()).add(cue.level)
        return {t: next(iter(s)) for t, s in levels.items() if len(s) == 1}

    @cached_property
    def cue_phrases(self) -> Phrases:
        """All cues with one level."""
        return Phrases(self.cue_levels)

    @cached_property
    def relatives(self) -> Mapping[str, frozenset[str]]:
        """Finding -> findings whose presence or doubt forbids to say that it is absent.

        Itself, ancestors, descendants, findings linked by ``indicative_of`` in either direction,
        and near equivalents: one class of a label set names both exactly, or both are of one kind
        and point to the same disease (infiltrate and consolidation).
        """
        findings = self.reference.findings
        found = {n: {n, *self.reference.finding_ancestors[n]} for n in findings}
        for name, ancestors in self.reference.finding_ancestors.items():
            for ancestor in ancestors:
                found[ancestor].add(name)
        for name, finding in findings.items():
            for other in finding.indicative_of:
                found[name].add(other)
                found[other].add(name)
        above = self.reference.finding_ancestors
        for name, other in combinations(findings, 2):
            one, two = findings[name], findings[other]
            if set(one.indicative_of) & set(two.indicative_of) and (
                {name, *above[name]} & {other, *above[other]}
            ):
                found[name].add(other)
                found[other].add(name)
        for labels in self.reference.labels.values():
            for entry in labels.values():
                for name in entry["exact"]:
                    found[name].update(entry["exact"])
        return {n: frozenset(s) for n, s in found.items()}

    @cached_property
    def region_relatives(self) -> Mapping[str, frozenset[str]]:
        """Region -> itself, ancestors, descendants and the other versions of its pair."""
        regions = self.reference.regions
        found = {n: {n, *self.reference.region_ancestors[n]} for n in regions}
        for name, ancestors in self.reference.region_ancestors.items():
            for ancestor in ancestors:
                found[ancestor].add(name)
        for name, region in regions.items():
            found[name].update(r for r in (region.left, region.right, region.bilateral) if r)
        return {n: frozenset(s) for n, s in found.items()}


_ADVERBS = (
    "leftward",
    "rightward",
    "leftwards",
    "rightwards",
    "has left",
    "nothing left",
    "left over",
    "left untreated",
    "left in situ",
    "was left",
    "were left",
    "is left",
    "are left",
    "been left",
    "left alone",
    "right after",
    "right at",
    "all right",
    "right now",
    "right away",
    "left upper quadrant",
    "right upper quadrant",
)
"""Traps of ``laterality.yaml`` in which the word is no side of the finding."""

_LEFT_IMPLIED = ("lul", "lll", "lingula", "lingular")
_RIGHT_IMPLIED = ("rul", "rml", "rll", "middle lobe", "minor fissure", "azygos")


def _plain(keywords: Iterable[str], without: Iterable[str] = ()) -> list[str]:
    """Keywords that are words, not notes; without those of ``without``."""
    left_out = set(without)
    return [k for k in keywords if "(" not in k and ":" not in k and k.lower() not in left_out]


def _plural_words(keywords: Iterable[str]) -> list[str]:
    """The plural words listed after the colon of the note among the keywords."""
    notes = [k.partition(":")[2] for k in keywords if ":" in k]
    return [w.strip() for note in notes for w in note.split(",") if w.strip()]
