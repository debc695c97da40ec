"""JSON as language models write it: fenced, wrapped in words, cut off, with NaN or a key twice.

Reading never fails: what can be recovered is returned with a note of what was repaired. Statuses
are those of the passes: ok, repaired, truncated, invalid_json (paper Sec. E.1.2 counts such
answers as parse errors).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

MAX_CHARACTERS = 2_000_000
"""Longer answers are cut: a model that repeats itself must not fill the memory."""

_FENCE = re.compile(r"```[a-zA-Z]*\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_OPENING = re.compile(r"\{(?=\s*[\"}])|\[(?=\s*[\[{\"])")
"""Not ``[]``: among other words it is no answer, but a field of something that is no JSON."""
_NEXT_OBJECT = re.compile(r"[\s,]*\{")
_TRAILING_COMMA = re.compile(r",(?=\s*[\]}])")


@dataclass(slots=True)
class Loaded:
    """A value, how it was read, and the kinds of repair done."""

    value: Any = None
    status: str = "ok"  # ok, repaired, truncated, invalid_json
    repairs: list[str] = field(default_factory=list)


class Twice(dict[str, Any]):
    """An object in which a key stood twice with different values; the first is kept."""

    keys_twice: frozenset[str] = frozenset()


def loads(text: str) -> Loaded:
    """The JSON value in ``text``; of an answer that was cut off, its complete items."""
    repairs: list[str] = []
    if len(text) > MAX_CHARACTERS:
        text = text[:MAX_CHARACTERS]
        repairs.append("cut")
    stripped = text.strip().lstrip("\ufeff")
    found, value = _decoded(stripped)
    if found:
        return Loaded(value, "repaired" if repairs else "ok", repairs)
    fence = _FENCE.search(stripped)
    if fence:
        stripped = fence[1].strip()
        repairs.append("code_fence")
        found, value = _decoded(stripped)
    if found:
        return Loaded(value, "repaired", repairs)
    without_commas = _TRAILING_COMMA.sub("", stripped)
    for kind, text in (("text_around", stripped), ("trailing_comma", without_commas)):
        values = _values(text)
        if values is not None:
            return Loaded(values, "repaired", [*repairs, kind])
    items = _complete_items(stripped)
    status = "truncated" if items else "invalid_json"
    return Loaded(items or None, status, [*repairs, "cut_off"])


def _values(text: str) -> Any:
    """The first list or object among other words; objects one after another as a list."""
    opening = _OPENING.search(text)
    values: list[Any] = []
    at = opening.start() if opening else -1
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        values.append(value)
        more = _NEXT_OBJECT.match(text, end) if isinstance(value, dict) else None
        at = more.end() - 1 if more else -1
    return values[0] if len(values) == 1 else values or None


def _decoded(text: str) -> tuple[bool, Any]:
    """(whether it is JSON, the value)."""
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return False, None
    return not text[end:].strip(), value


def _integer(text: str) -> int | str:
    """Python refuses integers of thousands of digits."""
    return int(text) if len(text) < 100 else text


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    twice = set()
    for key, value in pairs:
        if key in found and found[key] != value:
            twice.add(key)
        found.setdefault(key, value)
    if not twice:
        return found
    marked = Twice(found)
    marked.keys_twice = frozenset(twice)
    return marked


_DECODER = json.JSONDecoder(
    strict=False, object_pairs_hook=_object, parse_constant=lambda _: None, parse_int=_integer
)


def _complete_items(text: str) -> list[Any]:
    """Complete objects of the outermost list of a text that was cut off."""
    start = text.find("[")
    first = text.find("{")
    if start < 0 or 0 <= first < start:
        start = text.find("[", first + 1) if text[first + 1 :].lstrip().startswith('"') else -1
    if start < 0:
        return []
    items: list[Any] = []
    at = start + 1
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at >= len(text) or text[at] != "{":
            return items
        end = _end_of_object(text, at)
        found, value = _decoded(text[at:end]) if end else (False, None)
        if not found:
            return items
        items.append(value)
        at = end


def _end_of_object(text: str, start: int) -> int:
    """Position behind the object that begins at ``start``; 0 if it is cut off."""
    depth = 0
    in_string = escaped = False
    for at in range(start, len(text)):
        character = text[at]
        if in_string:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return at + 1
    return 0
