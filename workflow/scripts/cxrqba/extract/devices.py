"""Parts of devices: "catheter with tip in the SVC" has the tip as its child (paper Sec. D.1)."""

from __future__ import annotations

from cxrqba.extract.drafts import Clause, Draft
from cxrqba.extract.lexicon import Reading
from cxrqba.extract.matcher import Match
from cxrqba.extract.wording import change_words, item_text, sentence_case
from cxrqba.extract.zones import Zone, places, side_text, surface, told_changes, values


def device_part(reading: Reading, device: Match, zone: Zone) -> Match | None:
    """The first part behind the device that is not the device's own word ("tube tip")."""
    for part in reading.parts:
        if part.first > device.last and zone.holds(part):
            return part
    return None


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
