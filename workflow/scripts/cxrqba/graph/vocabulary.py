"""What graph construction derives once from the reference: sides, change words, relatives.

Keyword lists come from ``laterality.yaml``, ``changes.yaml`` and ``probability.yaml``; relatives
say which findings speak against the absence of another (paper Sec. E.1.3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import combinations

from cxrqba.extract.matcher import PhraseTable
from cxrqba.extract.words import words
from cxrqba.reference.equivalents import Equivalents, load_equivalents
from cxrqba.reference.tables import Reference

_TOKEN = re.compile(r"[^\W_]+")


def spaced(text: str) -> str:
    """Lower-case words of ``text`` between single spaces, for look-up of whole phrases."""
    return f" {' '.join(_TOKEN.findall(text.lower()))} "


def normal(text: str) -> str:
    """Normal forms of the words of ``text``, in which "remains" and "remain" are one."""
    return _normal(text.lower().strip(" ."))  # a name and its sentence are one text


@lru_cache(maxsize=8192)
def _normal(text: str) -> str:
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
    def doubts(self) -> Mapping[str, str]:
        """Modifier value (lower case) -> level, for words of doubt or denial only."""
        kept = {"likely", "possible", "cannot_exclude", "unlikely", "negative", "indeterminate"}
        values = self.reference.modifiers
        modifiers = {t.lower() for v in values for t in (v.name, *v.synonyms)}
        told = {n.replace("_", " "): n for n in self.reference.levels} | dict(self.cue_levels)
        return {t: n for t, n in told.items() if n in kept and t not in modifiers}

    @cached_property
    def relatives(self) -> Mapping[str, frozenset[str]]:
        """Finding -> findings whose presence or doubt forbids to say that it is absent.

        Itself, ancestors, descendants, findings linked by ``indicative_of`` in either direction,
        and near equivalents: a group of ``equivalents.yaml`` or one class of a label set names
        both, or both are of one kind and point to the same disease (infiltrate, consolidation).
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
        signs: dict[str, list[str]] = {}
        for name, finding in findings.items():
            for disease in finding.indicative_of:
                signs.setdefault(disease, []).append(name)
        for alike in signs.values():
            for name, other in combinations(alike, 2):
                if {name, *above[name]} & {other, *above[other]}:
                    found[name].add(other)
                    found[other].add(name)
        groups = [
            frozenset(entry["exact"])
            for labels in self.reference.labels.values()
            for entry in labels.values()
        ]
        for group in (*groups, *self.equivalents.findings):
            for name in group:
                found[name] |= group
        devices = {n for n, f in findings.items() if f.is_device}
        for open_ones, left_open in (
            (self.equivalents.open_all, set(findings)),
            (self.equivalents.open_devices, devices),
        ):
            for name in left_open:
                found[name] |= open_ones
            for name in open_ones:
                found[name] |= left_open
        return {n: frozenset(s) for n, s in found.items()}

    @cached_property
    def equivalents(self) -> Equivalents:
        """Near equivalents of findings and regions."""
        return load_equivalents(self.reference)

    @cached_property
    def region_relatives(self) -> Mapping[str, frozenset[str]]:
        """Region -> where something not understood in it may lie as well.

        Itself, ancestors, descendants, the other versions of its pair, and the regions of a group
        of ``equivalents.yaml`` that it is part of.
        """
        regions, above = self.reference.regions, self.reference.region_ancestors
        found = {n: {n, *above[n]} for n in regions}
        for name, ancestors in above.items():
            for ancestor in ancestors:
                found[ancestor].add(name)
        for name, region in regions.items():
            found[name].update(r for r in (region.left, region.right, region.bilateral) if r)
        for group in self.equivalents.regions:
            parts = {p for p in regions if not group.isdisjoint((p, *above[p]))}
            for part in parts:
                found[part] |= parts
        return {n: frozenset(s) for n, s in found.items()}

    @lru_cache(maxsize=8192)  # noqa: B019 - one vocabulary lives as long as the process
    def implied(
        self, names: tuple[str, ...]
    ) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """(parents, categories, subcategories) that findings imply; a parent is none of them."""
        findings = [self.reference.findings[n] for n in names]
        parents = (p for n in names for p in self.reference.finding_ancestors[n])
        return (
            tuple(p for p in dict.fromkeys(parents) if p not in names),
            tuple(dict.fromkeys(c for f in findings for c in f.categories)),
            tuple(dict.fromkeys(c for f in findings for c in f.subcategories)),
        )

    @lru_cache(maxsize=2048)  # noqa: B019
    def wider(self, name: str) -> tuple[tuple[str, str], ...]:
        """(region, how) in which something in ``name`` lies too: its pair, the regions above."""
        region = self.reference.regions[name]
        pair = [(region.bilateral, "bilateral")] if region.bilateral else []
        above = [(a, "sub_region") for a in self.reference.region_ancestors[name]]
        return (*pair, *above)

    @lru_cache(maxsize=2048)  # noqa: B019
    def links(self, name: str) -> tuple[tuple[str, str, str], ...]:
        """(region, related region, type) by which ``name`` hangs together with other regions."""
        region = self.reference.regions[name]
        found = [(parent, name, "sub_region") for parent in region.parents]
        for version, kind in (
            (region.left, "left"),
            (region.right, "right"),
            (region.bilateral, "bilateral"),
        ):
            found += [(name, version, kind)] if version else []
        return tuple(found)

    @lru_cache(maxsize=8192)  # noqa: B019
    def findings_in(self, text: str) -> frozenset[str]:
        """Findings whose name or synonym stands in ``text``."""
        return frozenset(str(m.value) for m in self._named_findings.find(words(text)))

    @cached_property
    def _named_findings(self) -> PhraseTable:
        return PhraseTable(
            (text, finding.name)
            for finding in self.reference.findings.values()
            for text in (finding.name, *finding.synonyms)
        )


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
