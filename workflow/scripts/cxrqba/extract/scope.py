"""What is claimed of a finding in its clause.

Negation and uncertainty reach along a clause: over the items of a list ("no effusion, pneumothorax
or fracture"), not past a conjunction that starts a statement of its own ("... but the heart is
enlarged"). Levels are those of ``probability.yaml``. Two readings differ from plain cue tables:
a finding called unchanged is still there (its level stays positive, the change is kept), and two
negations that cancel ("without resolution of the effusion") assert.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cxrqba.extract.lexicon import COPULAS, FINITE, HEDGES, Reading
from cxrqba.extract.links import (
    LINKS,
    accompanied,
    apposed,
    equated,
    is_alternative,
    link_of,
)
from cxrqba.extract.matcher import ARTICLES, Match
from cxrqba.extract.reach import (
    GOING,
    NEGATIVE,
    PARTICIPLES,
    is_accompanied,
    is_between,
    is_undone,
    reaches,
    reaches_back,
)
from cxrqba.extract.turned import denies_change, is_aside, is_mimicked, is_of_prior
from cxrqba.extract.words import word_set, words
from cxrqba.reference.tables import Reference

UNCERTAIN = ("likely", "possible", "cannot_exclude", "unlikely", "indeterminate")
PREDICATING = FINITE | frozenset(HEDGES) | LINKS | {"most", "also"}
"""Words behind "this" or "it" where that stands for the finding before, not in front of one."""
PARTLY = word_set(
    "near nearly partial partially partly incomplete incompletely almost some slight mostly largely"
)
EARLIER = word_set("previously before earlier prior previous preceding")
MOVING = word_set("by to into slightly approximately about several now somewhat further")
ENDING = word_set("terminate end project lie lies sit reside tip")
_SOON = 4
RECALLING = word_set("history hx h")
CONSIDERED = word_set("consideration differential ddx possibility")
PREFERRING = word_set("favor favored favoring favors prefer preferred likely probable suggestive")
_THIS = ("this", "the", "a")
_THERE = word_set("is are was were there any a an the evidence of")
_IS = ("is", "are", "was", "were")
_GROWN = ("larger", "bigger", "greater", "worse")
_NOES = word_set("no none nil negative absent")
_DASHES = ("-", "\u2013", "\u2014")
_JOINTS = (",", "and", "or", "but")
_HEADING = 5
"""Words of a sentence among which its heading is sought."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Level of a finding and the cues that set it."""

    level: str
    cues: tuple[Match, ...] = ()
    link: Match | None = None  # the cue that ties the finding to the one before it


def claim(
    reading: Reading,
    clause: tuple[int, int],
    finding: Match,
    reference: Reference,
) -> Claim | None:
    """What the clause claims of ``finding``; None if it is only asked for or recalled."""
    before = [
        c
        for c in _openers(reading, clause, finding)
        if c.first < finding.first
        and c.value not in ("", "positive", "comparison_only")
        and not _in_part(reading, c)
        and reaches(reading, c, finding, clause)
        and not is_aside(reading, c, finding, clause)
        and not _only_circumstance(reading, c, finding)
    ]
    after = [
        c
        for c in _closers(reading, clause, finding)
        if c.value not in ("positive", "comparison_only")
        and not _in_part(reading, c)
        and not _of_the_next(reading, c, finding)
        and not _of_the_change(reading, c)
        and not _of_the_past(reading, c)
        and not _moved(reading, c)
    ]
    recommended = [c for c in (*before, *after) if c.value == "recommendation"]
    if recommended:
        return Claim("recommendation", tuple(recommended))
    if _is_asked(reading, clause, finding) or _is_requested(reading, clause, finding):
        return None
    if _is_compared(reading, before, finding):
        return Claim("comparison_only", tuple(before[-1:]))
    if _is_outweighed(reading, clause, finding):
        return Claim("unlikely")
    if is_of_prior(reading, clause, finding):
        return Claim("comparison_only")
    if is_mimicked(reading, clause, finding, reference.mimics):
        return Claim("unlikely", tuple(before[-1:]))
    if finding.phrase in reference.gone_names:
        return Claim("negative", tuple(before[-1:]))
    inner = [HEDGES[s] for s in finding.skipped if s in HEDGES]
    link = (
        link_of(reading, clause, finding)
        or accompanied(reading, clause, finding)
        or equated(reading, clause, finding)
    )
    if after:
        cue = min(after, key=lambda c: (c.first, -c.last))
        if before and is_undone(reading, before[-1], cue):
            return Claim("positive", (before[-1], cue), link)
        return Claim(cue.value, (*before[-1:], cue), link)
    if not before:
        if inner:
            return Claim(inner[-1], (), link)
        if _is_considered(reading, finding):
            return Claim("possible", (), link)
        if is_alternative(reading, clause, finding):
            return Claim("possible", (), link or apposed(reading, clause, finding))
        return Claim("positive", (), link)
    if denies_change(reading, before[-1], finding, clause):
        return Claim("positive", tuple(before[-1:]), link)
    level = _combined(reading, finding, before, inner, reference.absences)
    if level == "negative" and (
        is_accompanied(reading, before[-1], finding)
        or is_between(reading, before[-1], finding, clause)
    ):
        level = "indeterminate"
    return Claim(level, tuple(before[-2:]), link)


def _openers(reading: Reading, clause: tuple[int, int], finding: Match) -> list[Match]:
    """The clause's cues that speak of what follows; "nor is there ..." denies as "no" does."""
    found = [
        c
        for c in reading.before
        if clause[0] <= c.first and c.last <= clause[1] and not _is_predicate(reading, c)
    ]  # "has resolved" speaks of what is before it, "resolved pneumonia" of what follows
    if reading.norm(clause[0]) == "nor":
        found.insert(0, Match(clause[0], clause[0] + 1, "nor", "negative"))
    nor = finding.first - 1
    while reading.norm(nor) in _THERE:
        nor -= 1
    if clause[0] < nor and reading.norm(nor) == "nor":
        found.append(Match(nor, nor + 1, "nor", "negative"))
    return found


def _is_predicate(reading: Reading, cue: Match) -> bool:
    """Whether "resolved" is told of what is before it and opens nothing."""
    if cue.last != cue.first + 1 or reading.norm(cue.first) not in GOING:
        return False
    return reading.norm(cue.first - 1) in COPULAS or reading.norm(cue.last) in (",", "and")


def _is_considered(reading: Reading, finding: Match) -> bool:
    """Whether it is an item of "Considerations: A; B; C", which runs over semicolons."""
    return any(reading.norm(i) in CONSIDERED for i in range(min(_HEADING, finding.first))) and any(
        reading.norm(i) == ":" for i in range(finding.first)
    )


def _closers(reading: Reading, clause: tuple[int, int], finding: Match) -> list[Match]:
    """The clause's cues that speak of the finding before them."""
    found = [
        c
        for c in reading.after
        if c.last <= clause[1] and reaches_back(reading, finding, c, clause)
    ]
    if _is_answered(reading, finding):
        found.append(Match(finding.last, finding.last + 2, "no", "negative"))
    if _is_not_seen(reading, finding):
        found.append(Match(finding.last, finding.last + 2, "is not", "negative"))
    if finding.value.finding.is_device and reading.norm(finding.last) == "removal":
        found.append(Match(finding.last, finding.last + 1, "removal", "negative"))
    return found


def _is_answered(reading: Reading, finding: Match) -> bool:
    """ "No" as in a form: "Pneumothorax: No.", "effusion - none", "edema (-)"."""
    mark, answer, end = (reading.norm(finding.last + k) for k in range(3))
    if mark == "(":
        return answer in _DASHES and end == ")"
    return mark in (":", "=", *_DASHES) and answer in _NOES and end in ("", ".", ",", ";")


def _is_not_seen(reading: Reading, finding: Match) -> bool:
    """ "An effusion is seen, whereas consolidation *is not*": what is seen is said before."""
    at = finding.last
    if reading.norm(at) not in _IS or reading.norm(at + 1) != "not":
        return False
    ends = reading.norm(at + 2) in ("", ".", ",", ";")
    return ends and any(reading.norm(i) in PARTICIPLES for i in range(finding.first))


def _in_part(reading: Reading, cue: Match) -> bool:
    """Whether a denial is not complete: "near-complete resolution", "has nearly resolved"."""
    if cue.value not in NEGATIVE:
        return False
    told = {reading.norm(i) for i in range(cue.first, cue.last)}
    if not told & GOING:
        return False
    behind = (reading.norm(cue.last), reading.norm(cue.last + 1))
    around = {reading.norm(i) for i in range(cue.first - 3, cue.last)} | {behind[0]}
    return behind == ("in", "part") or bool(around & PARTLY)


def _moved(reading: Reading, cue: Match) -> bool:
    """Whether a device was pulled back rather than out: "has been withdrawn by 3 cm"."""
    if reading.norm(cue.last - 1) != "withdrawn":
        return False
    following = reading.norm(cue.last)
    if following == "and" and any(
        reading.norm(i) in ENDING for i in range(cue.last, cue.last + _SOON)
    ):
        return True
    if following == "with":
        return any(reading.norm(i) == "tip" for i in range(cue.last, cue.last + 5))
    return following[:1].isdigit() or following in MOVING


def _of_the_past(reading: Reading, cue: Match) -> bool:
    """Whether a denial is of an earlier study: "not seen previously" tells something new."""
    if cue.value not in NEGATIVE:
        return False
    following = [reading.norm(i) for i in range(cue.last, cue.last + 4)]
    if following[0] in EARLIER:
        return True
    return following[0] in ("on", "in", "at") and any(n in EARLIER for n in following[1:])


def _of_the_next(reading: Reading, cue: Match, finding: Match) -> bool:
    """Whether a cue opens what follows: "atelectasis, *less likely* pneumonia"."""
    if not any(c.first == cue.first and c.last == cue.last for c in reading.before):
        return False
    if not any(reading.norm(i) in _JOINTS for i in range(finding.last, cue.first)):
        return False
    at = cue.last
    while reading.norm(at) in ARTICLES or any(m.first <= at < m.last for m in reading.modifiers):
        at += 1
    return any(f.first == at for f in reading.findings)


def _of_the_change(reading: Reading, cue: Match) -> bool:
    """Whether a doubt is of the change: "the effusion is *likely* unchanged"."""
    return cue.value in ("likely", "possible") and any(m.first == cue.last for m in reading.changes)


def _is_outweighed(reading: Reading, clause: tuple[int, int], finding: Match) -> bool:
    """Whether another finding is preferred: "favor atelectasis *over* pneumonia"."""
    at = finding.first - 1
    while reading.norm(at) in ARTICLES:
        at -= 1
    if reading.norm(at) not in ("over", "than"):
        return False
    told = {reading.norm(i) for i in range(clause[0], at)}
    named = any(clause[0] <= f.first and f.last <= at for f in reading.findings)
    return named and bool(told & PREFERRING)


def _only_circumstance(reading: Reading, cue: Match, finding: Match) -> bool:
    """Whether the finding is how the film was taken: "no pneumothorax on this *supine* view"."""
    if finding.value.finding.polarity != "technical":
        return False
    if reading.norm(finding.first - 1) in _THIS and reading.norm(finding.first - 2) in ("on", "in"):
        return True
    return any(
        cue.last <= other.first and other.last <= finding.first for other in reading.findings
    )


def _combined(
    reading: Reading, finding: Match, before: list[Match], inner: list[str], absences: Sequence[str]
) -> str:
    nearest = before[-1]
    level = str(nearest.value)
    earlier = [
        c
        for c in before[:-1]
        if not any(
            reading.norm(i) in (",", "and", "with", "but") for i in range(c.last, nearest.first)
        )
    ]
    denied = [c for c in earlier if c.value == "negative"]
    if level in UNCERTAIN and level != "cannot_exclude":
        level = "negative" if denied else level
    elif level == "negative" and denied:
        apart = any(
            denied[-1].last <= f.first and f.last <= nearest.first for f in reading.findings
        )
        absent = _text(nearest) in {_normal(a) for a in absences}
        level = "positive" if absent and not apart else level
    elif level == "negative" and any(c.value in ("likely", "possible") for c in earlier):
        level = "unlikely"
    if inner and level == "negative" and "negative" in inner:
        return "positive"
    return level


def _text(cue: Match) -> str:
    return _normal(cue.phrase)


def _normal(phrase: str) -> str:
    return " ".join(w.norm for w in words(phrase))


def _is_requested(reading: Reading, clause: tuple[int, int], finding: Match) -> bool:
    """Whether the clause is a request: "*Exclude* pneumothorax." """
    return reading.words[clause[0]].text.lower() == "exclude" and clause[0] < finding.first


def _is_compared(reading: Reading, before: Sequence[Match], finding: Match) -> bool:
    """Whether only a growth is denied: "no *larger* effusion" says nothing of the old one."""
    return any(
        _text(c) == "no" and reading.norm(c.last) in _GROWN and c.last < finding.first
        for c in before[-1:]
    )


def _is_asked(reading: Reading, clause: tuple[int, int], finding: Match) -> bool:
    """Whether the finding is asked for, conditional or past; an operation of the past is there."""
    done = finding.value.finding.polarity == "postsurgical"
    return any(
        clause[0] <= m.first
        and not (done and RECALLING & {reading.norm(i) for i in range(m.first, m.last)})
        and not is_aside(reading, m, finding, clause)
        and m.last <= finding.first
        # a list of asked items goes on over commas; a verb ends it, unless in a condition
        and (
            m.value == "if"
            or not any(reading.norm(i) in FINITE for i in range(m.last, finding.first))
        )
        for m in reading.non_assertions
    )
