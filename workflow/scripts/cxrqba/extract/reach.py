"""How far a cue of negation or uncertainty reaches along its clause.

Forwards over the items of a list ("no effusion, pneumothorax or fracture"), not past a preposition
that brings in what is there ("no effusion *despite* the consolidation", "... *with* a chest tube in
place"), nor into an item that has a statement of its own ("no edema, cardiomegaly *stable*").
Backwards over one predicate ("effusion and edema have resolved"), not over a finding that has
another ("the left effusion *improved* and the right resolved").
"""

from __future__ import annotations

from cxrqba.extract.lexicon import COPULAS, FILLERS, FINITE, PREPOSITIONS, SIDES, Reading
from cxrqba.extract.links import SEPARATORS, TOGETHER, starts_anew
from cxrqba.extract.matcher import ARTICLES, Match
from cxrqba.extract.words import word_set

NEGATIVE = ("negative", "unlikely")
UNSEEN = (*NEGATIVE, "indeterminate")
PARTICIPLES = word_set("seen identified noted present evident demonstrated visualized")
CAUSES = word_set("due secondary related because owing attributable resulting caused result")
"""Words of the cues that name a cause: it is there even if what it would cause is denied."""
GOING = word_set(
    "resolution resolved clearing cleared clearance removal removed resorbed withdrawn gone"
)
_ASSERTING = ("there is", "there are", "with associated", "shows", "demonstrates", "reveals")
_DEFINITE = word_set("the this these known existing her his their patient")
_REFUTING = word_set("confirmed substantiated corroborated borne reproduced verified")
_LATER = word_set("subsequently later then since now thus therefore is are was were")
_MEASURES = word_set(
    "size extent amount volume age cause etiology origin nature significance degree"
)
_IN_PLACE = (("in", "place"), ("in", "situ"), ("in", "position"), ("on", "suction"))
_LYING = word_set("terminate end project remain tip")
_PAUSES = (",", "-", "\u2013", "\u2014")
"""Marks in front of an item of a bare list."""
_OF_THINGS = PREPOSITIONS | word_set("with by from under above below behind beside adjacent")
"""Prepositions in front of a device or of "the" finding: a place of what is denied."""
_PREDICATIVE = ("ed", "prominent", "large", "tortuous", "ectatic", "hazy", "indistinct", "wide")
"""Ends of attributes that are told of a structure in front ("heart *enlarged*")."""
_SUBJECTLESS = FILLERS | ARTICLES | PARTICIPLES | word_set("which and but it this that then")
"""Words that make no subject of their own."""
_TIMES = word_set("since from compared in on at after following now today interval and but as")
"""What may follow a closing word without being closed off by it ("resolved *since* ...")."""


def reaches(reading: Reading, cue: Match, finding: Match, clause: tuple[int, int]) -> bool:
    """Whether nothing between a cue and the finding behind it ends the cue's scope."""
    single = cue.last - cue.first == 1
    denies = cue.value in NEGATIVE
    done = False
    if denies and (_ended(reading, cue, finding) or _has_own_predicate(reading, cue, finding)):
        return False
    for i in range(cue.last, finding.first):
        norm = reading.norm(i)
        if norm in FINITE or norm in PARTICIPLES:
            done = True
        if denies and norm in CAUSES and reading.norm(i + 1) in ("to", "of", "from", "by"):
            return False
        if norm not in SEPARATORS:
            continue
        listed = any(reading.norm(k) in ("or", "nor") for k in range(i, clause[1]))
        if norm in ("or", "nor") or (norm == "and" and reading.norm(i + 1) == "of"):
            continue
        if listed and denies:
            continue
        if done or starts_anew(reading, i + 1):
            return False
        if not denies and norm == "," and reading.norm(i + 1) == "and":
            return False  # "suspicious for A, and B": one reading, another finding
        if norm == "with" and cue.value != "negative":
            return False
        if single and cue.value in ("likely", "possible") and not listed:
            return False
    return is_clausal(reading, cue) or not any(
        c.phrase in _ASSERTING and cue.last <= c.first and c.last <= finding.first
        for c in reading.before
    )


def is_clausal(reading: Reading, cue: Match) -> bool:
    """Whether a denial speaks of a whole clause: "no evidence *that* ...", "neither ..."."""
    return reading.norm(cue.first) in ("neither", "none") or any(
        reading.norm(i) == "that" for i in range(cue.last - 1, cue.last + 2)
    )


def is_undone(reading: Reading, denial: Match, cue: Match) -> bool:
    """Whether it is denied that something went: "*neither* effusion *has resolved*"."""
    return reading.norm(denial.first) in ("neither", "none") and any(
        reading.norm(i) in GOING for i in range(cue.first, cue.last)
    )


def _ended(reading: Reading, cue: Match, finding: Match) -> bool:
    """Whether a preposition between a denial and the finding brings in what is there."""
    if any(cue.last <= m.first and m.last <= finding.first for m in reading.enders):
        return True
    denied = [f for f in reading.findings if cue.last <= f.first and f.last <= finding.first]
    if not denied:
        return False
    gap = range(denied[-1].last, finding.first)
    joints = [i for i in gap if reading.norm(i) in (",", "or", "nor", "and")]
    placing = [
        i
        for i in gap
        if reading.norm(i) in _OF_THINGS
        and i > max(joints, default=-1)
        and not (reading.norm(i) == reading.norm(cue.last - 1) and i - 1 in joints)
    ]  # "removal *of* the drain and *of* the tube" goes on
    if not placing:
        return False
    is_thing = finding.value.finding.polarity in ("device", "postsurgical")
    return is_thing or any(reading.norm(i) in _DEFINITE for i in range(placing[-1], finding.first))


def is_accompanied(reading: Reading, cue: Match, finding: Match) -> bool:
    """Whether a denial speaks of the finding only as what would come with what it denies.

    "No consolidation with cardiomegaly" leaves open whether there is cardiomegaly.
    """
    denied = [f for f in reading.findings if cue.last <= f.first and f.last <= finding.first]
    if not denied:
        return False
    gap = [reading.norm(i) for i in range(denied[-1].last, finding.first)]
    return "with" in gap and not set(gap) & (TOGETHER | {",", "or", "nor", "and"})


def is_between(reading: Reading, cue: Match, finding: Match, clause: tuple[int, int]) -> bool:
    """Whether a bare list has left the denial before its end, perhaps before this finding.

    "No pneumothorax, basal atelectasis, small effusions": the last is there, the middle one open.
    """
    if any(reading.norm(i) in ("or", "nor") for i in range(cue.last, clause[1])):
        return False
    if not any(reading.norm(i) == "," for i in range(cue.last, finding.first)):
        return False
    return any(
        reading.norm(i) == "," and starts_anew(reading, i + 1)
        for i in range(finding.last, clause[1])
    )


def _has_own_predicate(reading: Reading, cue: Match, finding: Match) -> bool:
    """Whether the finding is an item of a bare list that tells something of its own.

    "No edema, cardiomegaly stable, right effusion small": what stands behind a comma and is
    followed by its degree or change, or puts an attribute behind its structure, is told of.
    """
    joints = [i for i in range(cue.last, finding.first) if reading.norm(i) in _PAUSES]
    if not joints or not any(
        cue.last <= f.first and f.last <= joints[-1] for f in reading.findings
    ):
        return False
    end = finding.last
    while reading.norm(end) in COPULAS:
        end += 1
    told = (m.first == end for m in (*reading.modifiers, *reading.changes) if _tells(m))
    return any(told) or _is_predicative(reading, finding) or _is_in_place(reading, finding)


def _is_in_place(reading: Reading, finding: Match) -> bool:
    """Whether a device is told of as lying somewhere: "chest tube *in place*"."""
    if not finding.value.finding.is_device:
        return False
    at = finding.last
    pairs = ((reading.norm(i), reading.norm(i + 1)) for i in (at - 2, at))
    return any(pair in _IN_PLACE for pair in pairs) or reading.norm(at) in _LYING


def _tells(match: Match) -> bool:
    return match.value.kind in ("severity", "change", "temporal")


def _is_predicative(reading: Reading, finding: Match) -> bool:
    """Whether a finding is told as "heart enlarged"."""
    opened = any(s.first == finding.first and s.last < finding.last for s in reading.subjects)
    return opened and reading.norm(finding.last - 1).endswith(_PREDICATIVE)


def reaches_back(reading: Reading, finding: Match, cue: Match, clause: tuple[int, int]) -> bool:
    """Whether a cue behind the finding speaks of it."""
    if cue.first < finding.last:
        return False
    copula = reading.norm(cue.first - 1) in COPULAS  # "is" belongs to "not seen"
    between = range(finding.last, max(finding.last, cue.first - copula))
    if any(
        reading.norm(i) in FINITE or reading.norm(i) in ("with", "without", "no") for i in between
    ):
        return _goes_on(reading, finding, cue)
    if cue.value == "recommendation" and any(reading.norm(i) in (",", "and") for i in between):
        return False  # "..., and CT is advised" advises the CT
    if cue.value in ("likely", "possible") and _opens_reading(reading, cue):
        return False
    if cue.value in UNSEEN and _is_of_part(reading, finding, cue):
        return False
    if cue.value == "indeterminate" and reading.norm(cue.first - 1) in _MEASURES:
        return False  # "effusion, whose *size* cannot be told"
    single = cue.last - cue.first == 1
    if single and not _closes(reading, cue, clause):
        return False
    if _has_other_subject(reading, cue, between) and not _goes_on(reading, finding, cue):
        return False
    others = [f for f in reading.findings if finding.last <= f.first and f.last <= cue.first]
    if others:
        joined = any(reading.norm(i) in ("and", "or", "nor") for i in between)
        return joined and not _is_told_of(reading, finding, between)
    return not single or len(between) <= 4


def _goes_on(reading: Reading, finding: Match, cue: Match) -> bool:
    """Whether what was told of the finding before goes on to its end.

    "The effusion was seen on the prior study *and has resolved*"; "a mass had been suggested, later
    *not confirmed*"; "the tube with its tip above the carina *has been removed*".
    """
    told = {reading.norm(i) for i in range(cue.first, cue.last)}
    refuted = "not" in told and bool(told & _REFUTING)
    if not refuted and not (reading.norm(cue.first) in COPULAS and told & GOING):
        return False
    if any(finding.last <= f.first and f.last <= cue.first for f in reading.findings):
        return False
    before = cue.first - 1
    while reading.norm(before) in _LATER:
        before -= 1
    if reading.norm(before) in ("and", "but"):
        return True
    if refuted and (reading.norm(before) == "," or before < finding.last):
        return True
    between = {reading.norm(i) for i in range(finding.last, cue.first)}
    return finding.value.finding.is_device and not between & (
        FINITE | {"without", "no", ",", "and"}
    )


def _is_of_part(reading: Reading, device: Match, cue: Match) -> bool:
    """Whether a part of the device is what is not seen: "... in the stomach, tip *not seen*"."""
    told = {reading.norm(i) for i in range(cue.first, cue.last)}
    if not device.value.finding.is_device or told & GOING:
        return False
    if any(p.last <= device.first and _is_of(reading, p, device) for p in reading.parts):
        return True
    named = any(device.last <= p.first and p.last <= cue.first for p in reading.parts)
    return named or reading.norm(device.last - 1) == "tip"


def _is_of(reading: Reading, part: Match, device: Match) -> bool:
    """Whether "of" and the device's own words follow the part: "tip *of the left* line"."""
    named = (*reading.fixed, *reading.modifiers, *reading.regions)
    return reading.norm(part.last) == "of" and all(
        reading.norm(i) in ARTICLES | SIDES or any(m.first <= i < m.last for m in named)
        for i in range(part.last + 1, device.first)
    )


def _opens_reading(reading: Reading, cue: Match) -> bool:
    """Whether a doubt is of the finding behind it: "the opacity *is likely* a granuloma"."""
    at = cue.last
    while reading.norm(at) in ARTICLES or any(m.first <= at < m.last for m in reading.modifiers):
        at += 1
    return any(f.first == at for f in reading.findings)


def _has_other_subject(reading: Reading, cue: Match, between: range) -> bool:
    """Whether a name no table knows stands before the cue: "opacity, *xyz* is not excluded"."""
    comma = max((i for i in between if reading.norm(i) == ","), default=None)
    if comma is None or any(comma < f.first and f.last <= cue.first for f in reading.findings):
        return False
    known = (*reading.modifiers, *reading.changes, *reading.regions, *reading.before)
    return any(
        reading.norm(i)[:1].isalpha()
        and reading.norm(i) not in _SUBJECTLESS
        and not any(m.first <= i < m.last for m in known)
        for i in range(comma + 1, cue.first)
    )


def _is_told_of(reading: Reading, finding: Match, between: range) -> bool:
    """Whether a degree or change is told of the finding before the next one comes."""
    joint = next((i for i in between if reading.norm(i) in SEPARATORS), finding.last)
    return any(
        _tells(m) and finding.last <= m.first and m.last <= joint
        for m in (*reading.modifiers, *reading.changes)
    )


def _closes(reading: Reading, cue: Match, clause: tuple[int, int]) -> bool:
    """Whether a one-word cue ends its clause ("atelectasis, likely"; "effusion: none")."""
    if cue.last >= clause[1] or reading.norm(cue.last) in (",", ")", ".", ";"):
        return True
    return reading.norm(cue.first) in GOING and reading.norm(cue.last) in _TIMES
