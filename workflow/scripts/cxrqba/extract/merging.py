"""One observation for what a cluster says twice, and what holds where statements contradict.

Said twice in a cluster with the same polarity, the impression's certainty counts. Over the whole
study an addendum overrules what it contradicts: the earlier claim leaves, with a row in the ledger.
Findings and impression that contradict one another both stay, as any positive claim counts (paper
Sec. E.1.3); the graph marks them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from cxrqba.extract.drafts import ASSERTING, DENYING, Draft, sides_of, with_children
from cxrqba.ledger import Ledger
from cxrqba.reference.tables import Reference

OVERRULED = "overruled_by_addendum"
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
    alike: dict[tuple[object, ...], list[Draft]] = {}
    for draft in drafts:
        group = (draft.key or len(kept), _GROUPS.get(draft.level, "pos"), draft.is_rest)
        same = alike.setdefault(group, [])
        sides = sides_of(draft.side_text)
        exact = [k for k in same if sides_of(k.side_text) == sides]
        if not exact and (not sides or all(not sides_of(k.side_text) for k in same)):
            exact = same if len(same) == 1 else []
        if exact:
            _absorb(exact[0], draft, section_types)
        else:
            kept.append(draft)
            same.append(draft)
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
    before, later = _degrees(into), _degrees(other)
    if before and later and before != later:  # the later degree counts
        into.name, into.summary = other.name, other.summary
        into.modifiers = [m for m in into.modifiers if m[0] != "severity"]
    told = {(kind, value.lower()) for kind, value in into.modifiers}
    into.modifiers += [m for m in other.modifiers if (m[0], m[1].lower()) not in told]
    into.changes = list(dict.fromkeys([*into.changes, *other.changes]))
    into.change_sentence = into.change_sentence or other.change_sentence
    into.entities = list(dict.fromkeys([*into.entities, *other.entities]))
    if sides_of(other.side_text) and not sides_of(into.side_text):
        into.side_text = f"{into.side_text} {other.side_text}".strip()
    into.children += other.children


def _degrees(draft: Draft) -> set[str]:
    return {value.lower() for kind, value in draft.modifiers if kind == "severity"}


def without_overruled(
    drafts: list[Draft], addendum: Collection[str], study_id: str, ledger: Ledger
) -> list[Draft]:
    """The drafts without those whose claim an addendum's sentences (``addendum``) contradict."""
    later = [d for d in drafts if addendum and set(d.sent_ids) <= set(addendum)]
    kept = []
    for draft in drafts:
        by = next((d for d in later if draft not in later and _contradict(d, draft)), None)
        if by is None:
            kept.append(draft)
        else:
            detail = f"{', '.join(draft.key)}: the addendum in {by.sent_ids[0]} says otherwise"
            ledger.item(study_id, draft.sent_ids[0], OVERRULED, detail)
    return kept


def _contradict(one: Draft, other: Draft) -> bool:
    """Whether one asserts what the other denies, of the same finding and not of another side."""
    if not set(one.key) & set(other.key):
        return False
    levels = (one.level, other.level)
    opposed = any(v in ASSERTING for v in levels) and any(v in DENYING for v in levels)
    sides = [sides_of(d.side_text) for d in (one, other)]
    return opposed and (not all(sides) or bool(sides[0] & sides[1]))


def with_side_of_first(drafts: Sequence[Draft], descendants: Mapping[str, frozenset[str]]) -> None:
    """ "The effusion" is on the side of the one effusion that was told before, if there is one."""
    told: dict[str, set[frozenset[str]]] = {}
    for draft in drafts:
        if draft.is_definite and not draft.regions and not sides_of(draft.side_text):
            sides = {s for name in descendants[draft.key[0]] for s in told.get(name, ())}
            side = sides.pop() if len(sides) == 1 else frozenset()
            if len(side) == 1:
                draft.side_text = f"{draft.side_text} {min(side)}".strip()
        if draft.level in ASSERTING and len(draft.key) == 1:
            told.setdefault(draft.key[0], set()).add(sides_of(draft.side_text))


def without_contradicted_rest(
    drafts: list[Draft], descendants: Mapping[str, frozenset[str]]
) -> list[Draft]:
    """ "Lungs are otherwise clear" denies only what the study does not assert elsewhere."""
    asserted = {n for d in with_children(drafts) if d.level in ASSERTING for n in d.key}
    for draft in drafts:
        if draft.is_rest:
            names = [n for n in draft.key if not descendants[n] & asserted]
            draft.key, draft.entities = tuple(names), names
    return drafts


def descendants_of(reference: Reference) -> dict[str, frozenset[str]]:
    """Finding name -> itself and all that is more special."""
    below: dict[str, set[str]] = {n: {n} for n in reference.findings}
    for name, ancestors in reference.finding_ancestors.items():
        for ancestor in ancestors:
            below[ancestor].add(name)
    return {n: frozenset(b) for n, b in below.items()}
