"""Parts of devices: "catheter with tip in the SVC" has the tip as its child (paper Sec. D.1)."""

from __future__ import annotations

from cxrqba.extract.drafts import Clause, Draft, sides_of
from cxrqba.extract.lexicon import PREPOSITIONS, Reading
from cxrqba.extract.matcher import Match
from cxrqba.extract.wording import change_words, item_text, sentence_case
from cxrqba.extract.words import word_set
from cxrqba.extract.zones import Zone, places, side_text, surface, told_changes, values

ENDING = word_set("terminate end project extend course overlie overly lie ly reach stop pass cross")
_JOINTS = word_set(", and with or")
_POSITION = "POSITION FINDINGS"


def device_part(reading: Reading, device: Match, zone: Zone) -> Match | None:
    """The first part behind the device that is not the device's own word ("tube tip")."""
    for part in reading.parts:
        if part.first > device.last and zone.holds(part):
            return part
    return None


def device_side(reading: Reading, device: Match, zone: Zone) -> str:
    """Side of a device: where it enters, if that is told, not where it ends.

    Its own words come first ("the *left* subclavian line"), then what stands in front of its part
    or ending ("the line on the *left* ends in ..."), then all of the zone.
    """
    start = _start_of_name(reading, device, zone)
    parts = [p.first for p in reading.parts if p.first >= device.last and zone.holds(p)]
    verbs = (i for i in range(device.last, zone.own[1]) if reading.norm(i) in ENDING)
    end = min([*parts, *verbs], default=zone.own[1])
    for own in (Zone((start, device.last)), Zone((start, end)), Zone((zone.own[0], end))):
        entry = side_text(reading, own)
        if sides_of(entry):
            return entry
    return side_text(reading, zone)


def _start_of_name(reading: Reading, device: Match, zone: Zone) -> int:
    """Where the words of a device begin: behind "tip of", "in the right atrium, ..."."""
    at = device.first
    while at > zone.own[0] and reading.norm(at - 1) not in PREPOSITIONS | _JOINTS:
        at -= 1
    return at


def is_position(finding: Match) -> bool:
    """Whether a finding tells how a device lies ("malpositioned")."""
    return _POSITION in finding.value.finding.subcategories


def ending(clause: Clause) -> Match | None:
    """The verb of "it ends in the SVC", which speaks of the tip without naming it."""
    verbs = (i for i in range(clause.first, clause.last) if clause.reading.norm(i) in ENDING)
    at = next(verbs, None)
    if at is None or not any(at < r.first < clause.last for r in clause.reading.regions):
        return None
    return Match(at, at + 1, clause.reading.norm(at), "end")


def part_draft(clause: Clause, device: Draft, part: Match, last: int) -> Draft:
    """The part of ``device`` told in words [part.first, last)."""
    reading = clause.reading
    area = Zone((part.first, last))
    changes = values(told_changes(reading), area, None)
    located = places(reading, None, area)
    told = item_text(reading, *area.own, change_words(reading, [m for _, m in changes]))
    name = sentence_case(f"{device.entities[0]} {told}")
    part_clause = Clause(reading, clause.sent_id, *area.own)
    return Draft(
        key=device.key,
        entities=list(device.entities),
        level="positive",
        name=name,
        summary=name + ".",
        regions=located,
        modifiers=[],
        side_text=side_text(reading, area),
        changes=[surface(reading, m.first, m.last) for _, m in changes],
        change_sentence=part_clause.change_sentence(changes),
        sent_ids=[clause.sent_id],
        spans=clause.spans([(part.first, part.last), *((p.first, p.last) for p in located)]),
        origin="rules:device_part",
        is_device=True,
        child_type="device part",
    )
