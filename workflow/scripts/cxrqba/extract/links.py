"""What ties a finding to the one before it: a reading or cause of it, or found together with it.

"Left basal opacity, likely atelectasis or pneumonia" reads two findings into one; "effusion with
underlying atelectasis" tells two that belong together. Such findings become children of the first
(paper Sec. D.1) and share its place.
"""

from __future__ import annotations

from itertools import pairwise

from cxrqba.extract.lexicon import ALTERNATIVES, COPULAS, HEDGES, SIDES, Reading
from cxrqba.extract.matcher import ARTICLES, Match
from cxrqba.extract.words import word_set

SEPARATORS = (",", "and", "with", "or", "nor", "/")
LINKS = word_set(
    "represent representing reflect reflecting due secondary related suggestive suggesting suggest "
    "consistent compatible keeping suspicious concerning worrisome indicative indicating favor "
    "favored favoring because owing attributable resulting caused raise raising raised concern"
)
"""Words of the cues that tie a cause or reading to the finding before them."""
TOGETHER = word_set(
    "associated underlying adjacent overlying surrounding accompanying resultant compressive "
    "superimposed subjacent residual"
)

_EQUATING = COPULAS.union(
    frozenset(HEDGES) - {"not", "neither"}, word_set("would to most also presumably")
)
_PARTING = word_set(", and or nor with without but no not which that : / (")


def link_of(reading: Reading, clause: tuple[int, int], finding: Match) -> Match | None:
    """The cue that makes the finding a reading or cause of the one before it, if any."""
    for cue in reversed(reading.before):
        if not (clause[0] <= cue.first and cue.last <= finding.first):
            continue
        norms = {reading.norm(i) for i in range(cue.first, cue.last)}
        aside = cue.value in ("likely", "possible") and reading.norm(cue.first - 1) == ","
        if norms & LINKS or aside:
            return cue if not _parted(reading, cue.last, finding.first, clause[1]) else None
    return None


def accompanied(reading: Reading, clause: tuple[int, int], finding: Match) -> Match | None:
    """ "with associated", "with underlying": what is found together with the finding before."""
    for i in range(finding.first - 1, clause[0], -1):
        if reading.norm(i) in (*SEPARATORS, "without", "no") and reading.norm(i) != "with":
            return None
        if any(f.first <= i < f.last for f in reading.findings):
            return None
        if reading.norm(i) == "with":
            return Match(i, i + 1, "with", "positive") if _is_near(reading, i + 1) else None
    return None


def _is_near(reading: Reading, at: int) -> bool:
    while reading.norm(at) in (*ARTICLES, "some"):
        at += 1
    return reading.norm(at) in TOGETHER


def equated(reading: Reading, clause: tuple[int, int], finding: Match) -> Match | None:
    """The verb of "opacity at the right base *is likely* atelectasis": what the opacity may be.

    Only its own place stands between the finding before and the verb, and nothing but doubt,
    degree and articles behind it.
    """
    within = [f for f in reading.findings if clause[0] <= f.first and f.last <= clause[1]]
    at = within.index(finding)
    while at > 1 and _alternate(reading, within[at - 1], within[at]):
        at -= 1  # "is atelectasis or pneumonia" takes it for either
    if not at or not (_is_disease(within[at - 1]) and _is_disease(within[at])):
        return None
    gap = range(within[at - 1].last, within[at].first)
    verb = next((i for i in gap if reading.norm(i) in _EQUATING), None)
    if verb is None or any(reading.norm(i) in _PARTING for i in range(gap.start, verb)):
        return None
    doubts = [c for c in (*reading.before, *reading.after) if c.value in ("likely", "possible")]
    known = (*doubts, *reading.modifiers)
    if all(
        reading.norm(i) in _EQUATING | ARTICLES or any(m.first <= i < m.last for m in known)
        for i in range(verb, gap.stop)
    ):
        return Match(verb, verb + 1, reading.norm(verb), "positive")
    return None


def _is_disease(finding: Match) -> bool:
    """Whether something of the patient is named, or an artifact that looks like it."""
    named = finding.value.finding
    return named.polarity == "abnormal" or "ARTIFACTS" in named.subcategories


def apposed(reading: Reading, clause: tuple[int, int], finding: Match) -> Match | None:
    """The comma of "right basal opacity, A versus B": A and B are what the opacity may be."""
    within = [f for f in reading.findings if clause[0] <= f.first and f.last <= clause[1]]
    at = within.index(finding)
    while at and _alternate(reading, within[at - 1], within[at]):
        at -= 1
    if not at:
        return None
    head, first = within[at - 1], within[at]
    comma = next((i for i in range(head.last, first.first) if reading.norm(i) in (",", ":")), None)
    start = within[at - 2].last if at > 1 else clause[0]
    located = any(start <= r.first and r.last <= first.first for r in reading.regions) or any(
        reading.norm(i) in SIDES for i in range(start, first.first)
    )
    if comma is None or not located:
        return None
    return Match(comma, comma + 1, ",", "possible")


def _alternate(reading: Reading, one: Match, other: Match) -> bool:
    gap = [reading.norm(i) for i in range(one.last, other.first)]
    return len(gap) <= 4 and any(g in ALTERNATIVES for g in gap) and "without" not in gap


def _parted(reading: Reading, first: int, last: int, end: int) -> bool:
    """Whether the finding at ``last`` is no item of the list of readings that begins at ``first``.

    "Likely A, B or C" lists three; "likely A with B", "likely A and a small B" read only A.
    """
    if any(reading.norm(i) in ("with", "without") for i in range(first, last)):
        return True
    joints = [i for i in range(first, last) if reading.norm(i) in (",", "and")]
    if not joints:
        return False
    if any(starts_anew(reading, i + 1) or reading.norm(i + 1) in ARTICLES for i in joints):
        return True
    listed = any(reading.norm(i) in ALTERNATIVES for i in range(first, end))
    return not listed and any(reading.norm(i) == "," for i in joints)


def starts_anew(reading: Reading, at: int) -> bool:
    """Whether the item at ``at`` brings its own degree or change, and so its own claim."""
    while reading.norm(at) in (*ARTICLES, "and", ","):
        at += 1
    return any(
        m.first == at and m.value.kind in ("severity", "change", "temporal")
        for m in (*reading.modifiers, *reading.changes)
    )


def is_alternative(reading: Reading, clause: tuple[int, int], finding: Match) -> bool:
    """Whether the finding is one side of "X versus Y" or "X or Y"."""
    within = [f for f in reading.findings if clause[0] <= f.first and f.last <= clause[1]]
    at = within.index(finding)
    if any(_alternate(reading, a, b) for a, b in pairwise(within[max(0, at - 1) : at + 2])):
        return True
    return _stands_against(reading, clause, finding)


def _stands_against(reading: Reading, clause: tuple[int, int], finding: Match) -> bool:
    """Whether "or" or "versus" stands beside the finding and a word no table knows behind it."""
    before = finding.first - 1
    while before > clause[0] and any(
        m.first <= before < m.last for m in (*reading.modifiers, *reading.regions)
    ):
        before -= 1
    after = finding.last
    sides = (reading.norm(before) if before > clause[0] else "", reading.norm(after))
    if sides[1] in ALTERNATIVES:
        other = after + 1
    elif sides[0] in ALTERNATIVES:
        other = before - 1
    else:
        return False
    known = (*reading.regions, *reading.modifiers, *reading.changes)
    is_word = reading.norm(other)[:1].isalpha()
    return is_word and not any(m.first <= other < m.last for m in known)
