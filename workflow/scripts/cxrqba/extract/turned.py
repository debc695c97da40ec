"""Statements that mean another thing than their words: of the past, of mimics, of denied change.

"On the prior study there was an effusion" tells nothing of today; "what was thought to be a nodule
is a nipple shadow" has no nodule; "no evidence that the effusion has increased" has an effusion.
"""

from __future__ import annotations

from collections.abc import Collection

from cxrqba.extract.lexicon import COPULAS, FINITE, Reading
from cxrqba.extract.matcher import Match
from cxrqba.extract.reach import NEGATIVE, PARTICIPLES, is_clausal
from cxrqba.extract.words import word_set

_PAST = word_set("was were had showed demonstrated revealed used")
_PRIOR = word_set("prior previous previously earlier preceding formerly last comparison old")
_PRESENT = word_set(
    "is are has have remain persist now today again still currently unchanged stable"
)
_CHANGED = word_set("changed increased decreased progressed grown enlarged worsened moved")
_FOUND_TO_BE = word_set("was were prove proved proven turned actually")
"""What a finding was that is none: "the nodule *was* a nipple shadow"."""
_MODALS = ("may", "might", "could", "possibly")
_UNDONE = ("resolved", "removed", "new", "recurrent")
_LACKING = ("without", "absence")
_IN_THE = ("in", "the")
"""What may stand in front of them where they open a sentence."""
_EQUALS = COPULAS | word_set("represent represents correspond prove turn")
_SOON = 3
"""Words behind a verb in which its change is told."""
_SOON_PRIOR = 4
"""Words behind "was seen" in which "on the prior study" names the past."""
_MAX_OPENING = 8
"""Words in which "on the prior study there was" names the past."""


def is_of_prior(reading: Reading, clause: tuple[int, int], finding: Match) -> bool:
    """Whether the clause tells only what an earlier study showed."""
    if _was_seen(reading, clause, finding) or _is_named_only(reading, clause, finding):
        return True
    verb = next((i for i in range(clause[0], finding.first) if reading.norm(i) in _PAST), None)
    if verb is None:
        return False
    opening = range(clause[0], min(finding.first, clause[0] + _MAX_OPENING))
    used_to_be = [reading.norm(verb + k) for k in range(3)] == ["used", "to", "be"]
    if not used_to_be and not any(reading.norm(i) in _PRIOR for i in opening):
        return False
    if any(f.last <= verb for f in reading.findings if clause[0] <= f.first):
        return False
    return not any(reading.norm(i) in _PRESENT for i in range(clause[0], clause[1]))


def _is_named_only(reading: Reading, clause: tuple[int, int], finding: Match) -> bool:
    """Whether it is called seen before and nothing is told of it: "Previously seen effusion."."""
    opening = clause[0] + (reading.norm(clause[0]) == "the")
    if reading.norm(opening) not in _PRIOR or reading.norm(opening + 1) not in PARTICIPLES:
        return False
    named = [f for f in reading.findings if clause[0] <= f.first and f.last <= clause[1]]
    alone = named == [finding] and finding.last >= clause[1] - 1
    return alone and not any(opening < m.first and m.last <= clause[1] for m in reading.changes)


def _was_seen(reading: Reading, clause: tuple[int, int], finding: Match) -> bool:
    """Whether it was there earlier and no more is told: "was seen on the prior study"."""
    seen = finding.last + 1
    if reading.norm(finding.last) not in ("was", "were") or reading.norm(seen) not in PARTICIPLES:
        return False
    behind = [reading.norm(i) for i in range(seen + 1, clause[1])]
    opening = behind[:_SOON_PRIOR]
    return any(n in _PRIOR for n in opening) and not set(behind) & (_PRESENT | {",", "and"})


def is_mimicked(
    reading: Reading, clause: tuple[int, int], finding: Match, mimics: Collection[str]
) -> bool:
    """Whether the finding is what something else was taken for, and the clause says so."""
    if finding.value.finding.name in mimics:
        return False
    doubted = [m for m in reading.doubted if clause[0] <= m.first and m.last <= finding.first]
    if doubted and any(reading.norm(i) in FINITE for i in range(doubted[-1].last, finding.first)):
        return False
    for other in reading.findings:
        known = other.value.finding.name in mimics or reading.norm(clause[0]) == "what"
        if not known or other.first < finding.last:
            continue
        gap = {reading.norm(i) for i in range(finding.last, other.first)}
        equals = _EQUALS if doubted else _FOUND_TO_BE
        if gap & equals and not gap & {",", "and", "not", *_MODALS}:
            return other.last <= clause[1]
    return False


def denies_change(reading: Reading, cue: Match, finding: Match, clause: tuple[int, int]) -> bool:
    """Whether a denial is of what changed and not of the finding: "no evidence that it grew"."""
    if cue.value not in NEGATIVE or not is_clausal(reading, cue):
        return False
    verb = next((i for i in range(finding.last, clause[1]) if reading.norm(i) in FINITE), None)
    if verb is None:
        return False
    told = (m.value.name for m in reading.changes if verb <= m.first <= verb + _SOON)
    grown = any(
        reading.norm(i) in _CHANGED and not any(f.first <= i < f.last for f in reading.findings)
        for i in range(verb, verb + _SOON + 1)
    )  # "neither the heart nor the aorta is enlarged" denies what both would be
    return grown or any(name not in _UNDONE for name in told)


def is_aside(reading: Reading, cue: Match, finding: Match, clause: tuple[int, int]) -> bool:
    """Whether what opens the clause ends at its comma: "Without a lateral view, ...".

    So does "In the absence of priors, ..."; what is said lies behind.
    """
    if cue.first > clause[0] + len(_IN_THE) or not any(
        reading.norm(i) in _LACKING for i in range(cue.first, cue.last)
    ):
        return False
    comma = next((i for i in range(cue.last, finding.first) if reading.norm(i) == ","), None)
    return comma is not None and not any(
        cue.last <= f.first and f.last <= comma and f.value.finding.polarity == "abnormal"
        for f in reading.findings
    )
