"""The reference tables as phrase tables, and one sentence read with all of them.

Nothing here is particular to a report: names and synonyms of findings and regions, findings put
together from structure and attribute, statements of normality, cues of probability, changes and
modifiers all come from ``resources/reference`` (paper Sec. E.1.2, E.1.3).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cxrqba.extract.ellipsis import Ellipsis
from cxrqba.extract.matcher import ARTICLES, LEVELS, Match, PhraseTable
from cxrqba.extract.words import Word, with_sides, word_set, words
from cxrqba.reference.tables import Finding, Reference, Structure, Value

SIDES = frozenset(("left", "right", "bilateral", "bilaterally", "both", "leftward", "rightward"))
COPULAS = frozenset(("is", "are", "was", "were", "be", "been", "has", "have", "appear", "remain"))
PREPOSITIONS = frozenset(
    ("of", "in", "within", "at", "on", "along", "involving", "over", "throughout", "to", "near")
)
HEDGES = {
    "not": "negative",
    "neither": "negative",
    "no": "negative",
    "likely": "likely",
    "probably": "likely",
    "possibly": "possible",
} | dict.fromkeys(("may", "might", "could", "perhaps", "questionably"), "possible")
"""Words inside "the heart is *not* enlarged", and what they make of the finding."""
ADVERBS = word_set(
    "again also still stable unchanged now grossly borderline somewhat slightly significantly "
    "mildly minimally moderately markedly severely mild moderate marked severe minimal slight "
    "small large trace overall relatively diffuse diffusely focal some multilevel patchy size "
    "present seen noted identified visualized early longer"
)
CUE_FILLERS = word_set("now since again also currently completely entirely fully totally both all")
"""Words that may stand in a cue behind a finding ("has *now completely* resolved")."""
PLACES = word_set(
    "apical basilar basal hilar perihilar paratracheal subcarinal suprahilar infrahilar "
    "either each upper lower middle mid lobe lung zone anterior posterior lateral mm cm"
)
REMOVED = frozenset(("xxxx", "_", "__", "___", "____"))
"""De-identified words: "costophrenic ___ blunting"."""
HEADING = frozenset((":",))
"""The colon of "Heart: enlarged"."""
FILLERS = SIDES.union(COPULAS, PREPOSITIONS, HEDGES, ADVERBS, LEVELS, PLACES, REMOVED)

FINITE = COPULAS - {"be", "been"} | word_set(
    "show demonstrate reveal persist project terminate seem overlie extend cannot may might could "
    "should would can will do doe"
)
"""Normal forms of the verbs that make a clause."""

ALTERNATIVES = frozenset(("or", "nor", "versus", "vs", "and/or"))
"""Cues that stand between two findings; :mod:`cxrqba.extract.scope` reads them from both sides."""

EXCEPTION = "exception"
"""Value of a terminator that brings in an exception ("clear *except for* ...")."""

JOINED = ("and",)
"""Skipped words of a match whose structure stands before or behind an "and"."""

DIRECTION_ENDS = (
    PREPOSITIONS
    | COPULAS
    | word_set("and or but with since by due secondary which than compared from as because that")
)
"""What can follow "to the left" where that is a direction and not the side of what comes."""

_UNDEGREED = ("", "unlikely", "comparison_only")
"""Levels of the cues whose own degree is not the finding's."""

_LISTED = ("and", "or", "nor", ",")

ENTITY_POLARITIES = ("abnormal", "device", "technical", "postsurgical")


@dataclass(frozen=True, slots=True)
class Named:
    """What a matched phrase names: a finding, directly or put together."""

    finding: Finding
    composed: bool
    directed: bool = False  # a displacement, whose direction is its side


@dataclass(frozen=True, slots=True)
class Reading:
    """One sentence with everything found in it; indices are word indices."""

    text: str
    offset: int  # of the sentence in the report
    words: list[Word]
    findings: list[Match]  # value: Named
    regions: list[Match]  # value: Region
    subjects: list[Match]  # value: tuple[Structure, ...]
    structures: list[Match]  # the subjects outside of findings
    predicates: list[Match]  # value: predicate phrase
    before: list[Match]  # value: probability level, or "" for a pseudo-negation
    after: list[Match]  # value: probability level
    non_assertions: list[Match]
    changes: list[Match]  # value: Value
    modifiers: list[Match]  # value: Value
    terminators: list[Match]  # value: EXCEPTION, or ""
    enders: list[Match]  # prepositions behind which a denial does not reach
    doubted: list[Match]  # phrases in front of what a mimic was taken for
    outside: list[Match]  # words for parts of the body outside of the chest
    parts: list[Match]  # value: name of a device part
    fixed: list[Match]  # names whose side word is not the side of a finding
    distinctions: list[Match]  # value: child type that a place told apart makes

    def norm(self, at: int) -> str:
        """Normal form of word ``at``; empty outside the sentence."""
        return self.words[at].norm if 0 <= at < len(self.words) else ""


class Lexicon:
    """Phrase tables of one set of reference definitions."""

    def __init__(self, reference: Reference):
        self.reference = reference
        self._findings = PhraseTable(_finding_phrases(reference), FILLERS)
        composed = ((p, named) for p, named in _finding_phrases(reference) if named.composed)
        self._headed = PhraseTable(composed, FILLERS | HEADING)
        self._regions = PhraseTable(
            (phrase, region)
            for region in reference.regions.values()
            for phrase in (region.name, *region.synonyms)
        )
        self._structures = PhraseTable(_structure_phrases(reference.structures))
        self._predicates = PhraseTable(
            (phrase, phrase) for s in reference.structures for phrase in s.predicates
        )
        cues = reference.cues
        self._before = PhraseTable(
            itertools.chain(
                (
                    (c.text, c.level)
                    for c in cues
                    if c.position == "before" and c.text not in ALTERNATIVES
                ),
                ((phrase, "") for phrase in reference.pseudo_negations),
            ),
        )
        self._after = PhraseTable(
            ((c.text, c.level) for c in cues if c.position == "after"), CUE_FILLERS
        )
        self._non_assertions = PhraseTable((p, p) for p in reference.non_assertions)
        self._changes = PhraseTable(_value_phrases(reference.changes))
        self._modifiers = PhraseTable(_value_phrases(reference.modifiers))
        self._terminators = PhraseTable(
            itertools.chain(
                ((phrase, "") for phrase in reference.scope_terminators),
                ((phrase, EXCEPTION) for phrase in reference.exceptives),
            )
        )
        self._outside = PhraseTable((p, p) for p in reference.outside)
        self._enders = PhraseTable((p, p) for p in reference.scope_enders)
        self._doubted = PhraseTable((p, p) for p in reference.doubted)
        phrases = reference.devices["children"]["phrases"]
        self._parts = PhraseTable((p, p) for p in phrases["device part"])
        self._distinctions = PhraseTable(
            (p, kind) for kind in ("regional distinction", "related region") for p in phrases[kind]
        )
        self._fixed = PhraseTable((p, p) for p in reference.laterality["fixed_names"])
        self._ellipsis = Ellipsis(self._findings, _degrees(reference).__contains__)

    def read(self, text: str, offset: int, named: str = "") -> Reading:
        """Find every phrase in a sentence that starts at ``offset`` of the report.

        ``named`` is the finding that the sentence before spoke of last.
        """
        sentence = self._ellipsis.completed(with_sides(words(text, offset)), words(named))
        findings = self._with_headed(sentence, self._findings.find(sentence))
        findings = self._composed_lists(sentence, findings)
        regions = self._regions.find(sentence)
        subjects = self._structures.find(sentence)
        before = [m for m in self._before.find(sentence) if not _inside(m, findings)]
        findings = [f for f in findings if not _inside(f, [m for m in before if not m.value])]
        after = [m for m in self._after.find_all(sentence) if not _inside(m, findings)]
        return Reading(
            text=text,
            offset=offset,
            words=sentence,
            findings=findings,
            regions=_outside_names(regions, findings),
            subjects=subjects,
            structures=[m for m in subjects if not _inside(m, findings)],
            predicates=[m for m in self._predicates.find(sentence) if not _touches(m, findings)],
            before=before,
            after=after,
            non_assertions=[
                m for m in self._non_assertions.find(sentence) if not _inside(m, [*before, *after])
            ],
            changes=[m for m in self._changes.find(sentence) if not _inside(m, findings)],
            modifiers=[
                m
                for m in self._modifiers.find(sentence)
                if not _named(m, findings)
                and not _of_cue(m, before)
                and not _is_part_of_place(m, regions)
            ],
            terminators=[
                m for m in self._terminators.find(sentence) if not _inside(m, [*before, *after])
            ],
            enders=[m for m in self._enders.find(sentence) if not _inside(m, findings)],
            doubted=self._doubted.find(sentence),
            outside=[
                m for m in self._outside.find(sentence) if not _inside(m, [*findings, *regions])
            ],
            parts=self._parts.find(sentence),
            distinctions=self._distinctions.find(sentence),
            fixed=[m for m in self._fixed.find(sentence) if _is_whole(sentence, m)],
        )

    def _with_headed(self, sentence: list[Word], found: list[Match]) -> list[Match]:
        """Add what a heading makes with its text: "Heart: enlarged"."""
        if not any(w.norm in HEADING for w in sentence):
            return found
        headed = [m for m in self._headed.find(sentence) if HEADING.intersection(m.skipped)]
        added = [m for m in headed if not any(m.overlaps(f) for f in found)]
        return sorted((*found, *added), key=lambda m: m.first)

    def _composed_lists(self, sentence: list[Word], found: list[Match]) -> list[Match]:
        """Add what shares a structure: "calcified and *tortuous* aorta", "aorta is ... and ..."."""
        added: list[Match] = []
        for match in found:
            for combined, first, last in _shared_structure(sentence, match):
                other = self._findings.at_start(combined)
                if (
                    other is not None
                    and other.value.finding.name != match.value.finding.name
                    and not any(first < m.last and m.first < last for m in (*found, *added))
                    and other.last == len(combined)
                ):
                    # "the heart and aorta are not enlarged": the "not" is of both
                    skipped = (*JOINED, *(other.skipped if first < match.first else ()))
                    added.append(Match(first, last, other.phrase, other.value, skipped))
                    break
        return sorted((*found, *added), key=lambda m: m.first)


def _shared_structure(sentence: list[Word], match: Match) -> Iterator[tuple[list[Word], int, int]]:
    """Word lists that a structure of ``match`` makes with an attribute joined to it."""
    inner = range(match.first + 1, match.last)
    joined = match.last
    if joined + 1 < len(sentence) and sentence[joined].norm in _LISTED:
        for end in range(joined + 4, joined + 1, -1):
            for cut in reversed(inner):
                if end <= len(sentence):
                    yield sentence[match.first : cut] + sentence[joined + 1 : end], joined + 1, end
    before = match.first - 1
    while before >= 1 and sentence[before].norm in ARTICLES:
        before -= 1
    if before >= 1 and sentence[before].norm in _LISTED:
        for first, cut in itertools.product(range(max(0, before - 3), before), inner):
            yield [*sentence[first:before], *sentence[cut : match.last]], first, before


def _finding_phrases(reference: Reference) -> Iterator[tuple[str, Named]]:
    directed = frozenset(reference.laterality["directed_findings"])
    for finding in reference.findings.values():
        if finding.polarity in ENTITY_POLARITIES:
            for phrase in (finding.name, *finding.synonyms):
                yield phrase, Named(finding, False, finding.name in directed)
    for composition in reference.compositions:
        finding = reference.findings[composition.finding]
        named = Named(finding, True, finding.name in directed)
        for structure, attribute in itertools.product(
            composition.structures, composition.attributes
        ):
            yield f"{structure} {attribute}", named
            yield f"{attribute} {structure}", named


def _structure_phrases(
    structures: Iterable[Structure],
) -> Iterator[tuple[str, tuple[Structure, ...]]]:
    named: dict[str, list[Structure]] = {}
    for structure in structures:
        for name in structure.names:
            key = " ".join(w.norm for w in words(name))
            named.setdefault(key, []).append(structure)
    for phrase, meant in named.items():
        yield phrase, tuple(meant)


def _value_phrases(values: Iterable[Value]) -> Iterator[tuple[str, Value]]:
    for value in values:
        for phrase in (value.name, *value.synonyms):
            yield phrase, value


def _degrees(reference: Reference) -> frozenset[str]:
    """Normal forms of the single words of degree and change."""
    values = [
        *reference.changes,
        *(v for v in reference.modifiers if v.kind in ("severity", "temporal")),
    ]
    phrases = (words(phrase) for v in values for phrase in (v.name, *v.synonyms))
    return frozenset(found[0].norm for found in phrases if len(found) == 1)


def _is_whole(sentence: list[Word], match: Match) -> bool:
    """Whether a direction ends there: "due to left lung collapse" has no "to left"."""
    if match.phrase.split()[-1] not in ("left", "right") or match.last >= len(sentence):
        return True
    following = sentence[match.last].norm
    return not following[:1].isalpha() or following in DIRECTION_ENDS


def _inside(match: Match, others: list[Match]) -> bool:
    return any(o.first <= match.first and match.last <= o.last for o in others)


def _of_cue(modifier: Match, cues: list[Match]) -> bool:
    """Whether a degree is the cue's: "no *significant* change", "*minimal* to no effusion"."""
    return any(
        c.first <= modifier.first and modifier.last <= c.last and c.value in _UNDEGREED
        for c in cues
    )


def _touches(match: Match, others: list[Match]) -> bool:
    return any(match.overlaps(other) for other in others)


def _named(match: Match, findings: list[Match]) -> bool:
    """Whether the words are part of a finding's own name (not of a composition around them)."""
    return any(f.first <= match.first and match.last <= f.last and not f.skipped for f in findings)


def _is_part_of_place(modifier: Match, regions: list[Match]) -> bool:
    """Whether a degree is a word of a place: the *minor* fissure."""
    return modifier.value.kind == "severity" and _inside(modifier, regions)


def _outside_names(regions: list[Match], findings: list[Match]) -> list[Match]:
    """Regions that are more than a part of a finding's name, and those that give a side."""
    return [
        r
        for r in regions
        if r.value.laterality in ("left", "right")
        or not any(f.first <= r.first and r.last <= f.last and not f.skipped for f in findings)
    ]
