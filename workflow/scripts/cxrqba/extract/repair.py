"""Repairs of free values a model returned, and how far each lets a record be trusted (Tab. 11).

Every repair has a kind; a kind has an issue level. The level of a record is the worst of its kinds:
FIXABLE loses nothing, IGNORABLE loses what says nothing of the patient, MOSTLY_INTERPRETABLE loses
a detail, NON_INTERPRETABLE leaves the claim open, DISCARDED leaves no observation at all.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from cxrqba.llm.loose_json import loads
from cxrqba.schema import EXTRACTION_QUALITY

MAX_TEXT = 2_000
"""Characters of one text; a model that repeats itself is cut here."""

MAX_LIST = 100
"""Values of one list; the rest is cut and the record no longer trusted."""

KINDS: dict[str, dict[str, str]] = {
    "FIXABLE": {
        "alias_key": "a field under another name is taken",
        "text_from_number": "a number is read as text",
        "text_from_list": "several texts for one are joined by ';'",
        "list_from_value": "one value is a list of one",
        "null_list": "null is an empty list",
        "nested_list": "lists in a list are one list",
        "json_in_string": "JSON inside a string is decoded",
        "markup": "tags are taken out, entities decoded",
        "control_characters": "control characters are blanks",
        "repeated_value": "a value given twice is kept once",
        "placeholder": "'null' or 'n/a' is no value",
        "other_form": "regions, modifiers or spans in another shape are reshaped",
        "child_type_spelling": "a child type in other letters is spelled as in Sec. D.1",
        "sentence_id_spelling": "'1' or 'sentence 1' is S01",
        "name_or_summary_missing": "the one stands for the other",
    },
    "IGNORABLE": {
        "unknown_field": "a field nobody knows is left out",
        "empty_value": "an empty or null value in a list is left out",
        "not_a_number": "NaN or infinity is no value",
        "key_twice": "of a key given twice the first value is kept",
        "unknown_sentence": "sentence ids that do not exist are left out, others remain",
        "no_sentence_id": "the sentences that were asked about are taken",
        "unknown_child_type": "the weakest relation, 'associated with', is taken",
    },
    "MOSTLY_INTERPRETABLE": {
        "unreadable_field": "a field of another type than can be read is left out",
        "long_text": f"a text is cut after {MAX_TEXT} characters",
        "only_unknown_sentences": "no sentence id exists; those that were asked about are taken",
        "too_deep": "deeper children are kept at the deepest level",
        "unknown_parent": "the parent does not exist; kept at top level",
        "self_parent": "an observation is its own parent; kept at top level",
        "parent_cycle": "observations are each other's parents; kept at top level",
        "bare_text": "a text in place of an observation is its summary",
    },
    "NON_INTERPRETABLE": {
        "unreadable_claim": "probability or findings cannot be read",
        "claim_twice": "probability, name or findings are given twice and differ",
        "too_many_values": f"a list is cut after {MAX_LIST} values",
        "turned_around": "the sentences say the opposite of its findings; the claim is left open",
        "foreign_script": "the text is not in Latin letters",
    },
    "DISCARDED": {
        "no_text": "neither name, summary nor findings",
        "not_an_observation": "a number, a list or null in place of an observation",
        "unreadable_answer": "no observations can be found in the answer",
        "answer_cut_off": "the answer ends early; complete observations are kept",
        "too_many_observations": "the answer holds more observations than are read",
    },
}
"""Issue level -> kind of repair -> what is done."""

LEVEL_OF = {kind: level for level, kinds in KINDS.items() for kind in kinds}
_WORST_FIRST = list(EXTRACTION_QUALITY["issue_level"])

_TAG = re.compile(
    r"</?(?:a|b|body|br|code|div|em|font|h[1-6]|hr|html|i|img|li|ol|p|pre|script|span|strong|style"
    r"|sub|sup|table|td|th|tr|u|ul)\b[^<>]{0,200}>",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[a-zA-Z]{2,10});")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
"""Control characters and halves of pairs, which no file can hold."""

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]")
"""Marks inside words: of direction, of hyphenation, of no width."""

_PLACEHOLDER = frozenset(("null", "n/a", "nan", "none", "undefined", "nil"))
_TEXT_KEYS = ("text", "value", "name", "sentence")


class Repairs:
    """Kinds of repair done to one record, in the order they were done."""

    def __init__(self) -> None:
        self._kinds: dict[str, None] = {}

    def add(self, kind: str) -> None:
        """Note a kind of :data:`KINDS`."""
        if kind not in LEVEL_OF:
            raise KeyError(kind)
        self._kinds[kind] = None

    @property
    def kinds(self) -> list[str]:
        """Kinds noted, each once."""
        return list(self._kinds)

    @property
    def level(self) -> str:
        """The worst issue level of the kinds; NO_ISSUES without any."""
        levels = [LEVEL_OF[kind] for kind in self._kinds]
        return min(levels, key=_WORST_FIRST.index, default="NO_ISSUES")


def text_of(value: Any, repairs: Repairs, unreadable: str = "unreadable_field") -> str | None:
    """One text with single blanks, None if there is none; ``unreadable`` is noted for odd types."""
    if isinstance(value, str):
        return _clean(_decoded(value, repairs), repairs, unreadable)
    return _clean(value, repairs, unreadable)


def _decoded(value: str, repairs: Repairs) -> Any:
    """The JSON inside a string, if it is some; else the string."""
    stripped = value.strip()
    if stripped[:1] not in tuple('[{"') or len(stripped) < 2:
        return value
    loaded = loads(stripped)
    if loaded.status != "ok" or not isinstance(loaded.value, (str, list, dict)):
        return value
    repairs.add("json_in_string")
    return loaded.value


def _clean(value: Any, repairs: Repairs, unreadable: str) -> str | None:
    if value is None:
        return None
    if isinstance(value, float) and not math.isfinite(value):
        repairs.add("not_a_number")
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        repairs.add("text_from_number")
        return f"{value:.12g}" if isinstance(value, float) else _digits(value)
    if isinstance(value, Mapping):
        inner = next((value[k] for k in _TEXT_KEYS if isinstance(value.get(k), str)), None)
        repairs.add(unreadable if inner is None else "other_form")
        value = inner
    if isinstance(value, (list, tuple)):
        parts = [v for v in value if isinstance(v, str) and v.strip()]
        repairs.add("text_from_list" if parts else unreadable)
        if 0 < len(parts) < len(value):
            repairs.add("empty_value")
        value = "; ".join(parts[:MAX_LIST]) or None
    if value is None:
        return None
    if not isinstance(value, str):
        repairs.add(unreadable)
        return None
    return _printable(value, repairs)


def _digits(value: int) -> str:
    return str(value) if value.bit_length() < 400 else "many digits"


def _printable(value: str, repairs: Repairs) -> str | None:
    if len(value) > MAX_TEXT:
        value = value[:MAX_TEXT]
        repairs.add("long_text")
    plain = _TAG.sub(" ", value)
    if _ENTITY.search(plain):
        plain = html.unescape(plain)
    if plain != value:
        repairs.add("markup")
    value = _INVISIBLE.sub("", _CONTROL.sub(" ", plain))
    if value != plain:
        repairs.add("control_characters")
    value = " ".join(value.split())
    if value.lower() in _PLACEHOLDER:
        repairs.add("placeholder")
        return None
    return value or None


def items_of(value: Any, repairs: Repairs, unreadable: str = "unreadable_field") -> list[Any]:
    """A list of values of any type, flat; one value is a list of one."""
    if isinstance(value, str):
        value = _decoded(value, repairs)
    if value is None:
        repairs.add("null_list")
        return []
    if isinstance(value, (bool, set, frozenset)):
        repairs.add(unreadable)
        return []
    if not isinstance(value, (list, tuple)):
        if isinstance(value, str) and not value.strip():
            return []
        repairs.add("list_from_value")
        return [value]
    if len(value) > MAX_LIST:
        repairs.add("too_many_values")
        value = value[:MAX_LIST]
    return _flat(value, repairs)


def _flat(values: Iterable[Any], repairs: Repairs) -> list[Any]:
    found: list[Any] = []
    stack = [iter(values)]
    while stack and len(found) < MAX_LIST:
        value = next(stack[-1], stack)
        if value is stack:
            stack.pop()
        elif isinstance(value, (list, tuple)):
            repairs.add("nested_list")
            stack.append(iter(value))
        else:
            found.append(value)
    return found


def texts_of(value: Any, repairs: Repairs, unreadable: str = "unreadable_field") -> list[str]:
    """Distinct texts of a list in their order."""
    found: dict[str, None] = {}
    for item in items_of(value, repairs, unreadable):
        text = text_of(item, repairs, unreadable)
        if text is None:
            repairs.add("empty_value")
        elif text in found:
            repairs.add("repeated_value")
        else:
            found[text] = None
    return list(found)
