"""Drafts of the findings that a clause names, with what it reads into them as their children."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cxrqba.extract.devices import device_part, device_side, ending, is_position, part_draft
from cxrqba.extract.distribution import by_side, told_apart
from cxrqba.extract.drafts import DENYING, Clause, Draft
from cxrqba.extract.lexicon import Named, Reading
from cxrqba.extract.matcher import Match
from cxrqba.extract.scope import Claim, claim
from cxrqba.extract.sharing import BEFORE_CLAUSE, heads_of, zones
from cxrqba.extract.wording import change_words, name_of, sentence_case, summary_of
from cxrqba.extract.zones import (
    Zone,
    is_placed,
    places,
    predicate_changes,
    side_text,
    surface,
    told_changes,
    values,
)
from cxrqba.reference.tables import Reference

_GONE = ("resolved", "removed", "no new")
_REMOVED = "removed"
_DEFINITE = ("the", "this", "these", "that", "residual", "former")
_CONVEX = {
    "dextroconvex": "right",
    "dextrocurvature": "right",
    "levoconvex": "left",
    "levocurvature": "left",
}
_RAISING = ("positive", "likely", "possible")
"""Levels of a finding that another finding can explain."""


def finding_drafts(
    clause: Clause, findings: Sequence[Match], context: Draft | None, reference: Reference
) -> list[Draft]:
    """Observations of the findings a clause names.

    ``context`` is the observation that a clause with "which" speaks of.
    """
    reading = clause.reading
    findings = [f for f in findings if not _is_heading(reading, f)]
    made = [(f, claim(reading, clause.range, f, reference)) for f in findings]
    claims = [(finding, told) for finding, told in made if told is not None]
    kept = [f for f, _ in claims]
    links = [c.link for _, c in claims]
    areas = zones(reading, clause.range, kept, links)
    shared = predicate_changes(reading, clause.range, kept) if kept else []
    heads = heads_of(reading, kept, links)
    drafts: list[Draft] = []
    all_drafts: list[Draft] = []
    parents: dict[int, Draft] = {}
    for (finding, told), zone, head in zip(claims, areas, heads, strict=True):
        draft = _draft(clause, finding, told, zone, shared, alone=len(kept) == 1)
        draft = told_apart(clause, finding, zone, draft)
        all_drafts.append(draft)
        previous = None
        if head == BEFORE_CLAUSE:
            previous = context
            if previous is not None and not is_placed(reading, zone):
                draft.regions = list(previous.regions)
                draft.side_text = f"{draft.side_text} {previous.side_text}".strip()
        elif head is not None:
            previous = all_drafts[head]
        while previous is not None and previous.child_type:  # a reading of a reading
            previous = parents.get(id(previous))
        kind = "associated with"
        if previous is None and is_position(finding):
            previous, kind = _device_before(all_drafts[:-1], context), "device part"
        if previous is not None and _explains(draft, previous):
            draft.child_type = kind
            parents[id(draft)] = previous
            previous.children.append(draft)
        else:
            drafts += by_side(clause, finding, told, zone, draft)
    return drafts


def _is_heading(reading: Reading, finding: Match) -> bool:
    """Whether it only heads what is named behind it: "*Tubes and lines*: ETT in place"."""
    if not finding.value.finding.is_device or reading.norm(finding.last) != ":":
        return False
    return any(f.first > finding.last and f.value.finding.is_device for f in reading.findings)


def _device_before(told: Sequence[Draft], context: Draft | None) -> Draft | None:
    """The device whose position is told."""
    before = told[-1] if told else context
    return before if before is not None and before.is_device else None


def attach(clause: Clause, earlier: Sequence[Draft], context: Draft | None) -> bool:
    """ "Its tip is in the SVC", "CT is recommended": what belongs to an observation before.

    ``context`` is the observation that a clause with "it" speaks of. Returns whether there was any.
    """
    reading = clause.reading
    advice = [
        c for c in clause.within((*reading.before, *reading.after)) if c.value == "recommendation"
    ]
    if advice and earlier and earlier[-1].sent_ids == [clause.sent_id]:
        earlier[-1].children.append(_advice_draft(clause, advice))
        return True
    devices = [d for d in earlier if d.is_device and d.level == "positive"]
    parts = clause.within(reading.parts)
    if devices and parts:
        devices[-1].children.append(part_draft(clause, devices[-1], parts[0], clause.last))
        return True
    if context is not None and context.is_device and context.level == "positive":
        end = ending(clause)
        if end is not None:
            context.children.append(part_draft(clause, context, end, clause.last))
            return True
    return False


def _explains(draft: Draft, previous: Draft) -> bool:
    return (
        previous.level in _RAISING
        and draft.level not in (*DENYING, "recommendation")
        and draft.key != previous.key
    )


def _draft(
    clause: Clause, finding: Match, made: Claim, zone: Zone, shared: list[Match], alone: bool
) -> Draft:
    reading = clause.reading
    named: Named = finding.value
    device = named.finding.is_device
    part = device_part(reading, finding, zone) if device and made.level == "positive" else None
    own = zone if part is None else Zone((zone.own[0], part.first), zone.shared)
    changes = _changes(reading, own, shared, made)
    if not device and named.finding.polarity != "postsurgical":
        changes = [(v, m) for v, m in changes if v.name != _REMOVED]  # of a drain, not of this
    told = _as_now(reading, [m for _, m in values(reading.modifiers, Zone(own.own), finding)])
    past = _of_what_is_gone(told, changes, made)
    name = name_of(reading, finding, own, made, [*(m for _, m in changes), *past])
    summary = summary_of(name, clause.text(), alone and not changes and part is None)
    comparing = change_words(reading, [m for _, m in changes])
    comparing -= set(range(finding.first, finding.last))
    located = places(reading, finding, own)
    evidence = [(finding.first, finding.last), *((c.first, c.last) for c in made.cues)]
    evidence += [(p.first, p.last) for p in located]
    draft = Draft(
        key=(named.finding.name,),
        entities=[_entity(reading, finding)],
        level=made.level,
        name=name,
        summary=summary,
        regions=located,
        modifiers=[
            (m.value.kind, surface(reading, m.first, m.last))
            for m in told
            if m not in past and not comparing & set(range(m.first, m.last))
        ],
        side_text=_direction(reading, named, own) or _side(reading, finding, own),
        changes=[surface(reading, m.first, m.last) for _, m in changes],
        change_sentence=clause.change_sentence(changes),
        sent_ids=[clause.sent_id],
        spans=clause.spans(evidence),
        origin="rules:composition" if named.composed else "rules:finding",
        is_device=device,
        is_definite=_is_definite(reading, finding, own),
    )
    if part is not None:
        draft.children.append(part_draft(clause, draft, part, zone.own[1]))
    return draft


def _side(reading: Reading, finding: Match, zone: Zone) -> str:
    is_device = finding.value.finding.is_device
    return device_side(reading, finding, zone) if is_device else side_text(reading, zone)


def _is_definite(reading: Reading, finding: Match, zone: Zone) -> bool:
    """Whether "the" or "this" stands before the finding's own words."""
    return any(reading.norm(i) in _DEFINITE for i in range(zone.own[0], finding.first))


def _direction(reading: Reading, named: Named, zone: Zone) -> str:
    """The side something is displaced to: "leftward", "to the left"."""
    if not named.directed:
        return ""
    told = [reading.norm(m.last - 1) for m in reading.fixed if zone.holds(m)]
    told += [_CONVEX[n] for n in map(reading.norm, range(*zone.own)) if n in _CONVEX]
    sides = [side for side in ("left", "right") if any(t in (side, f"{side}ward") for t in told)]
    return f" {sides[0]}" if len(sides) == 1 else ""


def _entity(reading: Reading, finding: Match) -> str:
    """The finding as written; where words interrupt it, as the reference writes it."""
    named: Named = finding.value
    if named.composed:
        return named.finding.name
    if finding.skipped:
        return finding.phrase
    return surface(reading, finding.first, finding.last)


def _changes(
    reading: Reading, zone: Zone, shared: list[Match], made: Claim
) -> list[tuple[Any, Match]]:
    """Changes of a finding; "new" under a negation is the value "no new"."""
    found = values(told_changes(reading), Zone(zone.own), None)
    known = {v.name for v, _ in found}
    found += [(m.value, m) for m in shared if m.value.name not in known]
    if made.level in DENYING:
        found = [(v, m) for v, m in found if v.name in _GONE]
    return found


def _as_now(reading: Reading, modifiers: Sequence[Match]) -> list[Match]:
    """Without the degrees of before: "a large effusion is *now* small" is small."""
    now = next(
        (
            m
            for m in modifiers
            if m.value.kind == "severity" and reading.norm(m.first - 1) in ("now", "currently")
        ),
        None,
    )
    if now is None:
        return list(modifiers)
    return [m for m in modifiers if m.value.kind != "severity" or m.first >= now.first]


def _of_what_is_gone(
    modifiers: Sequence[Match], changes: Sequence[tuple[Any, Match]], made: Claim
) -> list[Match]:
    """Degrees of a finding that has resolved: "the tiny effusion has resolved" denies any."""
    gone = made.level in DENYING and any(v.name in ("resolved", "removed") for v, _ in changes)
    return [m for m in modifiers if m.value.kind == "severity"] if gone else []


def _advice_draft(clause: Clause, advice: list[Match]) -> Draft:
    """ "..., for which CT is recommended": advice that belongs to the observation before."""
    text = sentence_case(clause.text())
    return Draft(
        key=(),
        entities=[],
        level="recommendation",
        name=text,
        summary=text + ".",
        regions=[],
        modifiers=[],
        side_text="",
        changes=[],
        change_sentence=None,
        sent_ids=[clause.sent_id],
        spans=clause.spans([(m.first, m.last) for m in advice]),
        origin="rules:recommendation",
        child_type="recommendation",
    )
