"""One observation for what a cluster says twice, and what the rest of a study leaves open."""

from __future__ import annotations

from collections.abc import Mapping

from cxrqba.extract.drafts import ASSERTING, DENYING, Draft, sides_of, with_children
from cxrqba.reference.tables import Reference

_GROUPS = {
    "unlikely": "neg",
    "negative": "neg",
    "indeterminate": "indeterminate",
    "comparison_only": "comparison_only",
    "recommendation": "recommendation",
}


def merged(drafts: list[Draft], section_types: Mapping[str, str]) -> list[Draft]:
    """One draft for each finding, side and polarity; the impression's claim counts.

    ``section_types`` gives the type of the section of each sentence id.
    """
    kept: list[Draft] = []
    for draft in drafts:
        same = [
            k
            for k in kept
            if draft.key
            and k.key == draft.key
            and _GROUPS.get(k.level, "pos") == _GROUPS.get(draft.level, "pos")
            and k.is_rest == draft.is_rest
        ]
        sides = sides_of(draft.side_text)
        exact = [k for k in same if sides_of(k.side_text) == sides]
        if not exact and (not sides or all(not sides_of(k.side_text) for k in same)):
            exact = same if len(same) == 1 else []
        if exact:
            _absorb(exact[0], draft, section_types)
        else:
            kept.append(draft)
    return kept


def _absorb(into: Draft, other: Draft, section_types: Mapping[str, str]) -> None:
    if section_types.get(other.sent_ids[0]) == "IMPRESSION" and other.level in ASSERTING + DENYING:
        into.level = other.level
    for sent_id in other.sent_ids:
        if sent_id not in into.sent_ids:
            into.sent_ids.append(sent_id)
    into.spans = list(dict.fromkeys([*into.spans, *other.spans]))
    texts = {p.text.lower() for p in into.regions}
    into.regions += [p for p in other.regions if p.text.lower() not in texts]
    told = {(kind, value.lower()) for kind, value in into.modifiers}
    into.modifiers += [m for m in other.modifiers if (m[0], m[1].lower()) not in told]
    into.changes = list(dict.fromkeys([*into.changes, *other.changes]))
    into.change_sentence = into.change_sentence or other.change_sentence
    into.entities = list(dict.fromkeys([*into.entities, *other.entities]))
    if not sides_of(into.side_text):
        into.side_text = f"{into.side_text} {other.side_text}".strip()
    into.children += other.children


def without_contradicted_rest(
    drafts: list[Draft], descendants: Mapping[str, frozenset[str]]
) -> list[Draft]:
    """ "Lungs are otherwise clear" denies only what the study does not assert elsewhere."""
    asserted = {n for d in with_children(drafts) if d.level in ASSERTING for n in d.key}
    for draft in drafts:
        if draft.is_rest:
            names = [n for n in draft.key if not descendants[n] & asserted]
            names = names or list(draft.key[-1:])
            draft.key, draft.entities = tuple(names), names
    return drafts


def descendants_of(reference: Reference) -> dict[str, frozenset[str]]:
    """Finding name -> itself and all that is more special."""
    below: dict[str, set[str]] = {n: {n} for n in reference.findings}
    for name, ancestors in reference.finding_ancestors.items():
        for ancestor in ancestors:
            below[ancestor].add(name)
    return {n: frozenset(b) for n, b in below.items()}
