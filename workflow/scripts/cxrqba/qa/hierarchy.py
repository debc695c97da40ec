"""The order and nesting of answer parts (paper Sec. D.2: sub-answers follow the scene graph)."""

from __future__ import annotations

from collections.abc import Sequence

from cxrqba.qa.contents import Contents
from cxrqba.qa.model import Content, Part

Entries = Sequence[tuple[Content, str]]
"""(content, role) in the order of the template."""


def hierarchy(entries: Entries, question_id: str, contents: Contents) -> list[Part]:
    """Parts depth-first: an observation stands below its nearest ancestor in the same answer.

    Each observation and each text occurs once, with the role it is given first. Recommendations
    and comparisons that belong to an observation follow its other sub-answers as related
    information.
    """
    if len(entries) == 1 and entries[0][0].template is not None:
        content, role = entries[0]
        return [Part(content, f"{question_id}.a01", None, role, 0)]
    if contents.has_relations:
        return _nested(_with_notes(_distinct(entries), contents), question_id, contents)
    return [
        Part(content, f"{question_id}.a{number:02d}", None, role, 0)
        for number, (content, role) in enumerate(_distinct(entries), start=1)
    ]


def _distinct(entries: Entries) -> Entries:
    """Each text once."""
    if len(entries) == 1:
        return entries
    first: dict[str, tuple[Content, str]] = {}
    for entry in entries:
        first.setdefault(entry[0].text, entry)
    return list(first.values())


def _with_notes(entries: Entries, contents: Contents) -> Entries:
    notes = [
        (note, "related_information")
        for content, role in entries
        if role != "related_information" and content.template is None
        for note in contents.notes_of(content)
    ]
    return _distinct([*entries, *notes]) if notes else entries


def _nested(entries: Entries, question_id: str, contents: Contents) -> list[Part]:
    among = {c.obs_ids[0]: c for c, _ in entries if c.template is None}
    roots: list[tuple[Content, str]] = []
    children: dict[int, list[tuple[Content, str]]] = {}
    for entry in entries:
        content = entry[0]
        parent = contents.parent_of(content, among) if content.template is None else None
        if parent is None:
            roots.append(entry)
        else:
            children.setdefault(id(parent), []).append(entry)
    parts: list[Part] = []
    # (entry, answer id of its parent, level), the next one last
    waiting: list[tuple[tuple[Content, str], str | None, int]] = [
        (entry, None, 0) for entry in reversed(roots)
    ]
    while waiting:
        (content, role), parent_id, level = waiting.pop()
        answer_id = f"{question_id}.a{len(parts) + 1:02d}"
        parts.append(Part(content, answer_id, parent_id, role, level))
        below = children.get(id(content), ())
        waiting.extend((child, answer_id, level + 1) for child in reversed(below))
    return parts
