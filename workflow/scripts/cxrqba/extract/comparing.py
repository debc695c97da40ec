"""Clauses that only compare with an earlier study, and changes told of the finding before them."""

from __future__ import annotations

from cxrqba.extract.drafts import DENYING, Clause, Draft
from cxrqba.extract.wording import sentence_case
from cxrqba.extract.zones import Zone, places, side_text, surface, told_changes


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
    if not changes or target.changes or target.level in DENYING:
        return bool(changes)
    target.changes = list(dict.fromkeys(surface(reading, m.first, m.last) for m in changes))
    told = surface(reading, before.first, clause.last).strip(" ,;:.")
    target.change_sentence = sentence_case(told) + "."
    return True
