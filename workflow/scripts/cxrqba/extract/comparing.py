"""Clauses that compare with an earlier study, and what is told of the finding before them."""

from __future__ import annotations

from cxrqba.extract.drafts import DENYING, Clause, Draft, sides_of
from cxrqba.extract.wording import sentence_case
from cxrqba.extract.zones import Zone, places, side_text, surface, told_changes

_STABLE = "stable"


def comparison_drafts(clause: Clause, has_findings: bool) -> list[Draft]:
    """ "Heart size is stable", "no interval change": compared, nothing asserted.

    ``has_findings`` tells whether the sentence named findings before the clause.
    """
    reading = clause.reading
    changes = clause.within(told_changes(reading))
    pseudo = [
        m
        for m in clause.within(reading.before)
        if not m.value and reading.norm(m.last - 1) in ("change", "increase", "decrease")
    ]
    if not changes and not pseudo:
        return []
    if clause.within(reading.non_assertions):
        return []
    structures = clause.within(reading.structures)
    if has_findings and not structures:
        return []  # the change of a finding named before
    told = [*changes, *pseudo]
    text = sentence_case(clause.text())
    return [
        Draft(
            key=(),
            entities=[],
            level="comparison_only",
            name=text,
            summary=text + ".",
            regions=places(reading, None, Zone(clause.range)),
            modifiers=[],
            side_text=side_text(reading, Zone(clause.range)),
            changes=list(dict.fromkeys(surface(reading, m.first, m.last) for m in told)),
            change_sentence=text + ".",
            sent_ids=[clause.sent_id],
            spans=clause.spans([(m.first, m.last) for m in (*told, *structures)]),
            origin="rules:comparison",
        )
    ]


def compare(target: Draft, drafts: list[Draft]) -> None:
    """ "It is unchanged": comparisons of ``target``, the observation before, are its children."""
    for draft in drafts:
        draft.child_type = "comparison only"
        target.children.append(draft)
        if not target.changes and target.level not in DENYING:
            target.changes = list(draft.changes)
            target.change_sentence = draft.change_sentence


def change_of_relative(clause: Clause, before: Clause, target: Draft) -> bool:
    """ "..., which has decreased": the change belongs to the finding before.

    Returns whether the clause tells a change.
    """
    reading = clause.reading
    changes = clause.within(reading.changes)
    if target.level in DENYING:  # "no nodule over 5 mm; several smaller ones" tells of others
        return bool(changes) and all(m.value.name == _STABLE for m in changes)
    if not changes or target.changes:
        return bool(changes)
    target.changes = list(dict.fromkeys(surface(reading, m.first, m.last) for m in changes))
    told = surface(reading, before.first, clause.last).strip(" ,;:.")
    target.change_sentence = sentence_case(told) + "."
    return True


def place_of_relative(clause: Clause, target: Draft) -> bool:
    """ "..., which lies within the left lower lobe": the place belongs to the finding before.

    Returns whether the clause gives a place that does not contradict the finding's own side.
    """
    area = Zone(clause.range)
    located, side = places(clause.reading, None, area), side_text(clause.reading, area)
    own, told = sides_of(target.side_text), sides_of(side)
    if not located or target.level in DENYING or (own and told and own != told):
        return False
    target.regions = list(target.regions) + located
    target.side_text = f"{target.side_text} {side}".strip()
    target.spans = sorted({*target.spans, *clause.spans([(p.first, p.last) for p in located])})
    return True
