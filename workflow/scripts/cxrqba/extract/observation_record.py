"""One observation as a model is asked for it; how a value of any shape becomes one (Sec. E.1.2).

The pydantic models are the contract; their validators repair instead of refusing and note each
repair in the :class:`~cxrqba.extract.repair.Repairs` that is given as validation context.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo

from cxrqba.extract.repair import Repairs, items_of, text_of, texts_of
from cxrqba.schema import MODIFIER_TYPES

ALIASES = {
    "entities": ("entity", "finding", "findings", "obs_entities", "finding_entities", "tags"),
    "name": ("title", "label", "observation"),
    "summary_sentence": ("summary", "description", "text"),
    "regions": ("region", "location", "locations", "anatomy"),
    "probability": ("likelihood", "polarity", "positiveness", "presence"),
    "modifiers": ("modifier", "attributes"),
    "laterality": ("side", "laterality_text"),
    "changes": ("change",),
    "change_sentence": ("change_summary", "comparison"),
    "sentence_ids": ("sent_ids", "sentence_id", "sent_id", "sentences", "sentence_nrs"),
    "child_type": ("relation", "relation_type", "child_relation"),
    "children": ("child", "sub_observations", "child_observations"),
    "id": ("obs_id", "raw_id", "observation_id"),
    "parent": ("parent_id", "parent_obs_id", "parent_raw_id"),
}
"""Field -> names that models give it."""

CLAIM_FIELDS = frozenset(("name", "summary_sentence", "entities", "probability"))
"""Fields whose loss leaves open what is claimed."""

_FIELD_OF = {name: field for field, names in ALIASES.items() for name in (field, *names)}
_NOT_LATIN = re.compile(r"[^\W\d_A-Za-z\u00aa-\u024f\u1e00-\u1eff]")
_SENTENCE_ID = re.compile(r"\W*(?:s|sent|sentence|id)?\W*(\d{1,6})\W*", re.IGNORECASE)


def repairs_of(info: ValidationInfo) -> Repairs:
    """The repairs that validation was given as its context."""
    return info.context if isinstance(info.context, Repairs) else Repairs()


def _text(value: Any, info: ValidationInfo) -> str | None:
    kind = "unreadable_claim" if info.field_name in CLAIM_FIELDS else "unreadable_field"
    return text_of(value, repairs_of(info), kind)


def _texts(value: Any, info: ValidationInfo) -> list[str]:
    kind = "unreadable_claim" if info.field_name in CLAIM_FIELDS else "unreadable_field"
    return texts_of(value, repairs_of(info), kind)


Text = Annotated[str | None, BeforeValidator(_text)]
Texts = Annotated[list[str], BeforeValidator(_texts)]


class RegionRecord(BaseModel):
    """A place and how far from it."""

    region: str
    distances: list[str] = []


class ModifierRecord(BaseModel):
    """A modifier; its type is only a hint, since mapping decides it (Sec. E.1.3)."""

    type: str | None
    value: str


class SpanRecord(BaseModel):
    """[start, end) in characters of the report."""

    sent_id: str
    start: int
    end: int


def _regions(value: Any, info: ValidationInfo) -> list[RegionRecord]:
    repairs = repairs_of(info)
    if isinstance(value, Mapping) and not {"region", "name", "regions"} & set(value):
        repairs.add("other_form")  # {"heart": ["1 cm above"]}
        value = [{"region": region, "distances": told} for region, told in value.items()]
    if isinstance(value, (list, tuple)):
        value = [
            {"region": v[0], "distances": v[1]} if _is_pair(v) else v for v in value
        ]  # the form of the paper: ("heart", ["1 cm above"])
    found: dict[str, list[str]] = {}
    for item in items_of(value, repairs):
        distances: list[str] = []
        if isinstance(item, Mapping):
            told = item.get("distances", item.get("distance"))
            distances = [] if told is None else texts_of(told, repairs)
            item = item.get("region", item.get("name"))
        text = text_of(item, repairs)
        if text is None:
            repairs.add("empty_value")
            continue
        known = found.setdefault(text, [])
        known += [d for d in distances if d not in known]
    return [RegionRecord(region=region, distances=told) for region, told in found.items()]


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, (list, tuple))
        and len(value) == 2
        and isinstance(value[0], str)
        and isinstance(value[1], (list, tuple))
    )


def _modifiers(value: Any, info: ValidationInfo) -> list[ModifierRecord]:
    repairs = repairs_of(info)
    found: dict[tuple[str | None, str], None] = {}
    if isinstance(value, Mapping) and "value" not in value:
        value = [{"type": kind, "value": told} for kind, told in value.items() if told]
    for item in items_of(value, repairs):
        kind: str | None = None
        if isinstance(item, Mapping):
            kind = text_of(item.get("type"), repairs)
            item = item.get("value")
        for text in texts_of(item, repairs) if isinstance(item, (list, tuple)) else [item]:
            plain = text_of(text, repairs)
            if plain is None:
                repairs.add("empty_value")
            else:
                found[kind, plain] = None
    return [ModifierRecord(type=kind, value=text) for kind, text in found]


def _spans(value: Any, info: ValidationInfo) -> list[SpanRecord]:
    repairs = repairs_of(info)
    found = []
    for item in items_of(value, repairs):
        numbers = [item.get("start"), item.get("end")] if isinstance(item, Mapping) else []
        if not numbers or not all(type(n) is int and 0 <= n < 2**31 for n in numbers):
            repairs.add("unreadable_field")
            continue
        sent_id = canonical(text_of(item.get("sent_id"), repairs) or "")
        found.append(SpanRecord(sent_id=sent_id, start=numbers[0], end=numbers[1]))
    return found


def _named_sentences(value: Any, info: ValidationInfo) -> list[str]:
    return [] if value is None else texts_of(value, repairs_of(info))


def _any_list(value: Any, info: ValidationInfo) -> list[Any]:
    if isinstance(value, Mapping):  # one child, or children by their ids
        if value and all(isinstance(v, Mapping) for v in value.values()):
            value = [{"id": key, **child} for key, child in value.items()]
        else:
            value = [value]
        repairs_of(info).add("other_form")
    return items_of(value, repairs_of(info))


class ObservationRecord(BaseModel):
    """An observation of one cluster of sentences; children are read on their own."""

    model_config = ConfigDict(extra="ignore")

    name: Text = None
    summary_sentence: Text = None
    entities: Texts = []
    regions: Annotated[list[RegionRecord], BeforeValidator(_regions)] = []
    probability: Text = None
    modifiers: Annotated[list[ModifierRecord], BeforeValidator(_modifiers)] = []
    laterality: Text = None
    changes: Texts = []
    change_sentence: Text = None
    sentence_ids: Annotated[list[str], BeforeValidator(_named_sentences)] = []
    spans: Annotated[list[SpanRecord], BeforeValidator(_spans)] = []
    child_type: Text = None
    children: Annotated[list[Any], BeforeValidator(_any_list)] = []
    id: Text = None
    parent: Text = None


def read_record(
    value: Any, repairs: Repairs
) -> tuple[ObservationRecord, list[Any], str | None, str | None]:
    """(record, its children of any type, its id, its parent's id) of a value of any type."""
    if isinstance(value, str):
        text = text_of(value, repairs)
        repairs.add("bare_text" if text else "no_text")
        value = {"summary_sentence": text}
    elif not isinstance(value, Mapping):
        repairs.add("not_an_observation")
        value = {}
    record = ObservationRecord.model_validate(_fields(value, repairs), context=repairs)
    children = record.children
    if not (record.name or record.summary_sentence or record.entities):
        if repairs.level != "DISCARDED":
            repairs.add("no_text")
    elif not (record.name and record.summary_sentence):
        repairs.add("name_or_summary_missing")
        told = record.name or record.summary_sentence or ", ".join(record.entities)
        record.name = record.name or told
        record.summary_sentence = record.summary_sentence or told
    told = f"{record.name or ''} {record.summary_sentence or ''}"
    letters = sum(map(str.isalpha, told))
    if letters and 2 * len(_NOT_LATIN.findall(told)) > letters:
        repairs.add("foreign_script")
    return record, children, record.id, record.parent


def _fields(value: Mapping[Any, Any], repairs: Repairs) -> dict[str, Any]:
    """Known fields of an object; severity and the like become modifiers."""
    found: dict[str, Any] = {}
    typed: dict[str, Any] = {}
    for key, told in value.items():
        plain = _plain(key)
        known = _FIELD_OF.get(plain, plain if plain in ("spans",) else None)
        if plain in MODIFIER_TYPES:
            if told:
                typed[plain] = told
        elif known is None:
            repairs.add("unknown_field")
        elif known == plain:
            found[known] = told
        elif known not in found:
            found[known] = told
            repairs.add("alias_key")
        elif found[known] != told:
            is_claim = known in ("probability", "entities")
            repairs.add("claim_twice" if is_claim else "key_twice")
    if typed:
        given = found.get("modifiers")
        extra = [{"type": kind, "value": told} for kind, told in typed.items()]
        if isinstance(given, Mapping):
            given = [{"type": kind, "value": told} for kind, told in given.items() if told]
        given = [] if given is None else given if isinstance(given, list) else [given]
        found["modifiers"] = [*given, *extra]
    return found


def normal_keys(value: Mapping[Any, Any]) -> dict[str, Any]:
    """Field names in their usual spelling -> the key as it stands, the first of each."""
    found: dict[str, Any] = {}
    for key in value:
        plain = _plain(key)
        found.setdefault(plain, key)
        found.setdefault(_FIELD_OF.get(plain, plain), key)
    return found


def _plain(key: Any) -> str:
    return re.sub(r"[\s-]+", "_", str(key).strip().lower())[:100]


def canonical(text: str) -> str:
    """``1``, ``S1`` or ``sentence 1`` as S01; other text unchanged."""
    match = _SENTENCE_ID.fullmatch(text)
    return f"S{int(match[1]):02d}" if match else text
