"""The tree of observations: parents, lifting, merging, identifiers (paper Sec. D.1, E.1.3).

Free-valued extraction may name parents that do not exist, itself, or run in circles; such links
are cut and noted, never followed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from cxrqba.graph.model import Observation
from cxrqba.schema import CHILD_TYPES, EXTRACTION_QUALITY

UNKNOWN_CHILD_TYPE = "associated with"
"""Weakest relation: taken where the given one is not known."""

_ISSUES = {level: i for i, level in enumerate(EXTRACTION_QUALITY["issue_level"])}
MAX_DEPTH = 20
"""Levels below the top; identifiers grow with each. Deeper observations are kept at the deepest."""

Note = Callable[[str, str, str], None]
"""(raw id, reason, detail) -> ledger row."""


@dataclass(slots=True)
class Node:
    """An observation with its children, before it gets its identifier."""

    raw_id: str
    observation: Observation
    children: list[Node] = field(default_factory=list)


@lru_cache(maxsize=8192)
def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key in which R9 comes before R10."""
    return tuple(
        (0, int(part), "") if part.isdecimal() and part.isascii() else (1, 0, part)
        for part in re.split(r"(\d+)", text)[:64]
        if part
    )


def worse_issue(observation: Observation, level: str) -> None:
    """Lower the observation's issue level to ``level`` if it is better."""
    known = observation.obs_quality.get("issue_level", "NO_ISSUES")
    observation.obs_quality["issue_level"] = min(known, level, key=_ISSUES.__getitem__)


def parents_of(rows: Mapping[str, Mapping[str, Any]], note: Note) -> dict[str, str | None]:
    """Raw id -> parent's raw id; links to nothing, to itself or in a circle are cut."""
    parents: dict[str, str | None] = {}
    for raw_id, row in rows.items():
        parent = row["parent_raw_id"] or None
        if parent is not None and parent not in rows:
            note(raw_id, "unknown_parent", "parent observation does not exist; kept at top level")
            parent = None
        if parent == raw_id:
            note(raw_id, "self_parent", "observation is its own parent; kept at top level")
            parent = None
        parents[raw_id] = parent
    rooted: set[str] = set()
    for raw_id in parents:
        path: dict[str, None] = {}
        at: str | None = raw_id
        while at is not None and at not in rooted and at not in path:
            path[at] = None
            at = parents[at]
        if at is not None and at in path:
            start = min(list(path)[list(path).index(at) :], key=natural)
            note(start, "parent_cycle", "observations are each other's parents; kept at top level")
            parents[start] = None
        rooted.update(path)
    return parents


def kept_parents(
    parents: Mapping[str, str | None], dropped: Collection[str], note: Note
) -> dict[str, str | None]:
    """Kept raw id -> nearest kept ancestor at most ``MAX_DEPTH`` - 1 deep; parents come first.

    ``parents`` is that of :func:`parents_of`, without circles.
    """
    nearest: dict[str, str | None] = {}  # itself, or the nearest kept one above
    depth: dict[str, int] = {}
    above: dict[str, str | None] = {}
    for raw_id in parents:
        path: list[str] = []
        at: str | None = raw_id
        while at is not None and at not in nearest:
            path.append(at)
            at = parents[at]
        for one in reversed(path):
            direct = parents[one]
            parent = None if direct is None else nearest[direct]
            if one in dropped:
                nearest[one] = parent
                continue
            depth[one] = 0 if parent is None else depth[parent] + 1
            if parent is not None and depth[one] > MAX_DEPTH:
                note(one, "too_deep", f"kept at level {MAX_DEPTH}")
                parent, depth[one] = above[parent], MAX_DEPTH
            nearest[one] = one
            above[one] = parent
    return above


def tree(
    nodes: Mapping[str, Node],
    parents: Mapping[str, str | None],
    above: Mapping[str, str | None],
    note: Note,
) -> list[Node]:
    """Top-level nodes in order, children attached; unknown child types are repaired.

    ``parents`` is that of :func:`parents_of`, ``above`` that of :func:`kept_parents`.
    """
    roots = []
    for raw_id, node in nodes.items():
        parent = above[raw_id]
        observation = node.observation
        if parent is None:
            if observation.child_type is not None or parents[raw_id] is not None:
                observation.child_type = None
                observation.origin.append("repaired:top_level")
                worse_issue(observation, "FIXABLE")
            roots.append(node)
            continue
        if observation.child_type not in CHILD_TYPES:
            note(raw_id, "unknown_child_type", f"kept as '{UNKNOWN_CHILD_TYPE}'")
            observation.child_type = UNKNOWN_CHILD_TYPE
            observation.origin.append("repaired:child_type")
            worse_issue(observation, "FIXABLE")
        nodes[parent].children.append(node)
    return roots


def lifted(nodes: Iterable[Node]) -> list[Node]:
    """Replace a parent of several findings by its children if there is one for each finding.

    The children take the parent's place and kind of relation, also below the top level.
    """
    result: list[Node] = []
    for node in nodes:
        node.children = lifted(node.children)  # at most MAX_DEPTH levels
        if not _is_mere_list(node):
            result.append(node)
            continue
        for child in node.children:
            child.observation.child_type = node.observation.child_type
            child.observation.origin += [f"lifted:{node.raw_id}"]
            _join(child.observation, node.observation)
            result.append(child)
    return result


def _is_mere_list(node: Node) -> bool:
    entities = node.observation.obs_entities
    if len(entities) < 2 or len(node.children) != len(entities):
        return False
    of_children = [c.observation.obs_entities for c in node.children]
    if any(len(e) != 1 for e in of_children) or {e[0] for e in of_children} != set(entities):
        return False
    if node.observation.non_resolved_obs_entities:
        return False
    return all(c.observation.positiveness == node.observation.positiveness for c in node.children)


def merged(nodes: Iterable[Node]) -> list[Node]:
    """Merge observations that say the same; children are merged likewise."""
    top = _without_repeats(nodes)
    waiting = list(top)
    while waiting:
        node = waiting.pop()
        node.children = _without_repeats(node.children)
        waiting += node.children
    return top


def _without_repeats(nodes: Iterable[Node]) -> list[Node]:
    kept: dict[tuple[Any, ...], Node] = {}
    for node in nodes:
        known = kept.setdefault(_key(node.observation), node)
        if known is not node:
            known.observation.origin.append(f"merged:{node.raw_id}")
            _join(known.observation, node.observation)
            known.observation.default_regions = [  # what one of the two names is no default
                r
                for r in known.observation.default_regions
                if r in node.observation.default_regions
            ]
            known.children += node.children
            worse_issue(known.observation, node.observation.obs_quality["issue_level"])
    return list(kept.values())


def _key(o: Observation) -> tuple[Any, ...]:
    named = o.obs_entities or o.non_resolved_obs_entities
    return (
        tuple(sorted(o.obs_entities)),
        tuple(sorted(o.non_resolved_obs_entities)),
        None if named else (o.name.lower(), o.summary_sentence.lower()),
        o.child_type,
        o.probability,
        o.laterality,
        tuple(sorted((r["region"], tuple(r["distances"])) for r in o.regions)),
        tuple(sorted((r["region"], tuple(r["distances"])) for r in o.non_resolved_regions)),
        tuple((k, tuple(sorted(v))) for k, v in sorted(o.modifiers.items())),
        tuple(sorted(o.changes)),
    )


def _join(into: Observation, other: Observation) -> None:
    """Add the evidence of ``other``."""
    into.sent_ids = sorted({*into.sent_ids, *other.sent_ids}, key=natural)
    spans = {(s["sent_id"], s["start"], s["end"]) for s in (*into.spans, *other.spans)}
    into.spans = [
        {"sent_id": s, "start": a, "end": b}
        for s, a, b in sorted(spans, key=lambda t: (natural(t[0]), t[1], t[2]))
    ]
    into.change_sentence = into.change_sentence or other.change_sentence
    known = {(d["kind"], d["text"]) for d in into.decisions}
    into.decisions += [d for d in other.decisions if (d["kind"], d["text"]) not in known]


def numbered(roots: Iterable[Node]) -> dict[str, Observation]:
    """Observations by id, O01, O01.01, ... with their levels, parents before children."""
    result: dict[str, Observation] = {}
    waiting = [(f"O{i:02d}", 0, node) for i, node in enumerate(roots, start=1)]
    waiting.reverse()
    while waiting:
        obs_id, level, node = waiting.pop()
        node.observation.obs_id = obs_id
        node.observation.child_level = level
        result[obs_id] = node.observation
        below = [
            (f"{obs_id}.{i:02d}", level + 1, child)
            for i, child in enumerate(node.children, start=1)
        ]
        waiting += reversed(below)
    return result
