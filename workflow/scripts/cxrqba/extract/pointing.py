"""Sentences that speak of what the sentence before them told: "This may be infection".

A finding such a sentence names has no side of its own: it is on the side of what "this" or "it"
stands for, if the sentence before asserts findings of one side only.
"""

from __future__ import annotations

from collections.abc import Sequence

from cxrqba.extract.drafts import ASSERTING, Draft, sides_of, with_children
from cxrqba.extract.scope import PREDICATING
from cxrqba.extract.words import word_set, words
from cxrqba.reference.tables import Reference

_PRONOUNS = ("it", "this", "these", "they")
_OBJECTS = ("it", "them", "this", "these")
_PLACING = word_set(
    "within in inside through beneath above below behind around beside under near over adjacent to"
)


def point_back(
    text: str, told: Sequence[Draft], before: Sequence[Draft], reference: Reference
) -> None:
    """Give the findings that ``text`` told the one side of ``before``, if it points back there.

    ``before`` is what the previous sentence told.
    """
    if not told or not before or not _points_back(text):
        return
    asserted = [d for d in before if d.level in ASSERTING and not d.is_device]
    sides = {sides_of(d.side_text) for d in asserted}
    side = sides.pop() if len(sides) == 1 else frozenset()
    if len(side) != 1:
        return
    for draft in with_children(told):
        sided = all(reference.findings[name].laterality == "sided" for name in draft.key)
        bare = not draft.regions and not sides_of(draft.side_text)
        if draft.level in ASSERTING and draft.key and sided and bare and not draft.is_device:
            draft.side_text = f"{draft.side_text} {min(side)}".strip()


def _points_back(text: str) -> bool:
    norms = [w.norm for w in words(text)]
    if norms[:1] and norms[0] in _PRONOUNS and norms[1:2] and norms[1] in PREDICATING:
        return True
    return any(
        norm in _OBJECTS and at and norms[at - 1] in _PLACING and _follows(norms[at + 1 : at + 2])
        for at, norm in enumerate(norms)
    )


def _follows(norms: list[str]) -> bool:
    """Whether "above it" ends there: "in *this* region" goes on."""
    return not norms or norms[0] in (".", ",", ";", "is", "persist")
