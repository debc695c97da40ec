"""One finding told of several places: a degree for each side, and where it is more or less.

"Moderate right and small left effusions" are two observations, each with its own degree and side.
"Bilateral opacities, worst at the left base" is one with a child for the place told apart
("regional distinction"), "tracking into the fissure" one with a "related region" (paper Sec. D.1).
"""

from __future__ import annotations

from dataclasses import replace

from cxrqba.extract.drafts import DENYING, Clause, Draft
from cxrqba.extract.lexicon import PREPOSITIONS, SIDES, Reading
from cxrqba.extract.matcher import Match
from cxrqba.extract.scope import Claim
from cxrqba.extract.wording import claimed, item_text, sentence_case, singular
from cxrqba.extract.zones import (
    Place,
    Zone,
    side_text,
    surface,
    told_changes,
    values,
)

_SEPARATORS = (",", "and", "(", ")", "/", ";", "while", "with")
_BOTH = ("bi", "both")


def by_side(clause: Clause, finding: Match, claim: Claim, zone: Zone, whole: Draft) -> list[Draft]:
    """``whole`` split into one draft a side, if each side has a degree or change of its own."""
    reading = clause.reading
    shares = _shares(reading, zone)
    if whole.level in DENYING or len(shares) != 2:
        return [whole]
    if len({side for _, side in shares}) < 2:
        return [whole]
    return [_share(clause, finding, claim, whole, part, shares) for part, _ in shares]


def _shares(reading: Reading, zone: Zone) -> list[tuple[tuple[int, int], str]]:
    """(word range, side) of the parts of a zone that tell degree or change of a single side."""
    first, last = zone.own
    cuts = [i for i in range(first, last) if reading.norm(i) in _SEPARATORS]
    found = []
    for a, b in zip([first, *(c + 1 for c in cuts)], [*cuts, last], strict=True):
        sides = {reading.norm(i) for i in range(a, b) if not _fixed(reading, i)} & {"left", "right"}
        area = Zone((a, b))
        told = [m for m in reading.modifiers if m.value.kind == "severity" and area.holds(m)]
        told += [m for m in told_changes(reading) if area.holds(m)]
        if len(sides) == 1 and told:
            found.append(((a, b), sides.pop()))
    return found


def _fixed(reading: Reading, at: int) -> bool:
    return any(m.first <= at < m.last for m in reading.fixed)


def _share(
    clause: Clause,
    finding: Match,
    claim: Claim,
    whole: Draft,
    part: tuple[int, int],
    shares: list[tuple[tuple[int, int], str]],
) -> Draft:
    reading, area = clause.reading, Zone(part)
    changes = values(told_changes(reading), area, None)
    changed = {i for _, m in changes for i in range(m.first, m.last)}
    told = {i for cue in claim.cues for i in range(cue.first, cue.last)}
    text = _share_name(reading, finding, part, changed | told)
    name = sentence_case(claimed(claim, text, "", finding))
    elsewhere = [m for m in reading.modifiers if not any(Zone(p).holds(m) for p, _ in shares)]
    texts = {surface(reading, m.first, m.last) for m in elsewhere if m.value.name != "bilateral"}
    own = [
        (m.value.kind, surface(reading, m.first, m.last))
        for _, m in values(reading.modifiers, area, finding)
        if not changed & set(range(m.first, m.last))
    ]
    shared = [m for m in whole.modifiers if m[0] != "severity" and m[1] in texts]
    return replace(
        whole,
        name=name,
        summary=name + ".",
        regions=[p for p in whole.regions if _fits(reading, p, part)],
        modifiers=list(dict.fromkeys([*own, *shared])),
        side_text=side_text(reading, area),
        changes=[surface(reading, m.first, m.last) for _, m in changes] or list(whole.changes),
        change_sentence=clause.change_sentence(changes) or whole.change_sentence,
        sent_ids=list(whole.sent_ids),
        spans=clause.spans([(finding.first, finding.last), part]),
        children=[],
    )


def _share_name(reading: Reading, finding: Match, part: tuple[int, int], dropped: set[int]) -> str:
    text = item_text(reading, *part, dropped)
    if part[0] <= finding.first and finding.last <= part[1]:
        return singular(text)
    term = singular(surface(reading, finding.first, finding.last))
    if part[1] <= finding.first:
        return f"{text} {term}"
    joint = " " if text.split(" ", 1)[0] in PREPOSITIONS else ", "
    return f"{term}{joint}{text}"


def _fits(reading: Reading, place: Place, part: tuple[int, int]) -> bool:
    """Whether a place belongs to one side's part: its own, or one that is of no side."""
    if part[0] <= place.first and place.last <= part[1]:
        return True
    sides = SIDES & {reading.norm(i) for i in range(place.first, place.last)}
    return not sides and not place.text.lower().startswith(_BOTH)


def told_apart(clause: Clause, finding: Match, zone: Zone, whole: Draft) -> Draft:
    """``whole`` with children for the places that "more on the left", "extending to" tell apart."""
    reading = clause.reading
    for mark in reading.distinctions:
        if not zone.holds(mark) or mark.first < finding.first or whole.level in DENYING:
            continue
        last = _end(reading, mark, zone.own[1])
        area = Zone((mark.first, last))
        located = [p for p in whole.regions if area.own[0] <= p.first and p.last <= last]
        side = _greater_side(reading, mark) or side_text(reading, area)
        rest = Zone((zone.own[0], mark.first))
        base_side = side_text(reading, rest)
        is_elsewhere = len(located) < len(whole.regions) or _has_side(base_side)
        is_elsewhere |= any(m.value.kind == "spread" and rest.holds(m) for m in reading.modifiers)
        if mark.value == "regional distinction" and not is_elsewhere:
            continue
        if not located and not _has_side(side):
            continue
        term = surface(reading, finding.first, finding.last)
        name = sentence_case(f"{term} {item_text(reading, *area.own, set())}")
        child = replace(
            whole,
            name=name,
            summary=name + ".",
            regions=located,
            modifiers=[],
            side_text=side,
            changes=[],
            change_sentence=None,
            sent_ids=list(whole.sent_ids),
            spans=clause.spans([(mark.first, last)]),
            child_type=mark.value,
            children=[],
        )
        regions = [p for p in whole.regions if p not in located]
        whole = replace(
            whole, regions=regions, side_text=base_side, children=[*whole.children, child]
        )
    return whole


def _end(reading: Reading, mark: Match, last: int) -> int:
    return next((i for i in range(mark.last, last) if reading.norm(i) in (",", ";", ")")), last)


def _has_side(text: str) -> bool:
    return bool(SIDES & set(text.lower().replace("-", " ").split()))


def _greater_side(reading: Reading, mark: Match) -> str:
    """The side that has more of it in "right greater than left"."""
    told = [reading.norm(i) for i in range(mark.first, mark.last)]
    return told[0] if "than" in told and told[0] in SIDES else ""
