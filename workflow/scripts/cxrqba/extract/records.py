"""Free-valued observation records of a model as rows of RAW_OBSERVATIONS (paper Sec. D.1, E.1.2).

The model is asked for JSON that is easy to fill: observations with name, summary sentence,
findings, regions with distances, probability, modifiers, changes, and children of six types. It may
assign any value. Reading never fails and loses nothing in silence: each oddity is repaired under a
kind that sets the observation's issue level (:mod:`cxrqba.extract.repair`) or is a row of the
ledger, and what does not stand in the sentences asked about is no observation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cxrqba.extract.observation_record import (
    CLAIM_FIELDS,
    ObservationRecord,
    canonical,
    normal_keys,
    read_record,
)
from cxrqba.extract.polarity import Polarity
from cxrqba.extract.repair import LEVEL_OF, Repairs
from cxrqba.extract.support import Support, SupportedBy
from cxrqba.ledger import Ledger
from cxrqba.llm.loose_json import Twice, loads
from cxrqba.reference.tables import Reference
from cxrqba.schema import CHILD_TYPES

MAX_OBSERVATIONS = 500
"""Observations of one answer, children included; the rest is counted in the ledger."""

MAX_DEPTH = 20
"""Levels below the top; children further down are kept at the deepest."""

WEAKEST_CHILD_TYPE = "associated with"
NOT_IN_REPORT = "not_in_report"
REPAIRED = "repaired_observation"
REPAIRED_ANSWER = "repaired_answer"

_OBSERVATION_ID = re.compile(r"[A-Z]{1,3}\d{1,4}(?:\.\d{1,4})*")

_LISTS = ("observations", "findings", "results", "items", "data", "output", "answer")
"""Keys under which an answer may hold its list."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model returned for one cluster: text, or a value already decoded."""

    sent_ids: tuple[str, ...]  # the sentences that were asked about
    content: Any
    origin: str  # the call that made it


@dataclass(slots=True)
class _Item:
    """An observation on its way to a row."""

    record: ObservationRecord
    repairs: Repairs
    parent: _Item | None = None
    own_id: str | None = None
    parent_id: str | None = None
    child_ids: tuple[str, ...] = ()
    children: list[_Item] = field(default_factory=list)


class ObservationReader:
    """Reads the answers of the observation pass with one set of reference definitions."""

    def __init__(self, reference: Reference):
        self._support = Support(reference)
        self._polarity = Polarity(reference, self._support)

    def read(
        self,
        study_id: str,
        answers: Iterable[Answer],
        sentences: Iterable[Mapping[str, Any]],
        ledger: Ledger,
    ) -> list[dict[str, Any]]:
        """Rows of RAW_OBSERVATIONS of one study.

        ``sentences`` are its rows of SENTENCES. Repairs and what is left out go to ``ledger``. An
        answer that cannot be read, or not to its end, leaves a DISCARDED row, so that the study
        counts as incomplete.
        """
        known = {row["sent_id"]: row for row in sentences}
        reading = _Reading(study_id, known, self._support, self._polarity, ledger)
        for answer in answers:
            reading.add(answer)
        return reading.rows


class _Reading:
    """The rows of one study in the making."""

    def __init__(
        self,
        study_id: str,
        known: Mapping[str, Mapping[str, Any]],
        support: Support,
        polarity: Polarity,
        ledger: Ledger,
    ):
        self.study_id = study_id
        self.known = known
        self.support = support
        self.polarity = polarity
        self._told: dict[str, dict[str, set[str]]] = {}
        self.ledger = ledger
        self.rows: list[dict[str, Any]] = []
        self._top = 0

    def add(self, answer: Answer) -> None:
        """Append the rows of one answer."""
        repairs = Repairs()
        values = _observations_in(answer.content, repairs)
        items, left_out = _items(values)
        if left_out:
            repairs.add("too_many_observations")
        if repairs.kinds:
            lost = [kind for kind in repairs.kinds if LEVEL_OF[kind] == "DISCARDED"]
            detail = ", ".join(repairs.kinds) + (f"; {left_out} left out" if left_out else "")
            asked_first = next(iter(answer.sent_ids), None)
            self.ledger.item(self.study_id, asked_first, (*lost, REPAIRED_ANSWER)[0], detail)
        asked = (self.known[s]["sentence"] for s in answer.sent_ids if s in self.known)
        support = self.support.of(" ".join(asked))
        for item in _rooted(items):
            self._top += 1
            self._write(item, f"R{self._top:02d}", answer, support)
        if repairs.level == "DISCARDED":
            self._top += 1
            self._row(_Item(ObservationRecord(), repairs), f"R{self._top:02d}", None, answer, [])

    def _write(self, root: _Item, raw_id: str, answer: Answer, support: SupportedBy) -> None:
        """Rows of an observation and those below it, parents first."""
        sent_ids: dict[str | None, list[str]] = {None: []}
        stack: list[tuple[_Item, str, str | None, int]] = [(root, raw_id, None, 0)]
        while stack:
            item, own, parent, depth = stack.pop()
            is_kept = item.repairs.level == "DISCARDED" or support.holds(item.record)
            if is_kept:
                self._row(item, own, parent, answer, sent_ids[parent])
                sent_ids[own] = self.rows[-1]["sent_ids"]
                if item.repairs.kinds:
                    self.ledger.item(self.study_id, own, REPAIRED, ", ".join(item.repairs.kinds))
            else:
                self.ledger.item(
                    self.study_id, own, NOT_IN_REPORT, "its words stand in no sentence asked about"
                )
            is_above = is_kept and depth < MAX_DEPTH
            for number, child in reversed(list(enumerate(item.children, start=1))):
                if depth >= MAX_DEPTH:
                    child.repairs.add("too_deep")
                above, level = (own, depth + 1) if is_above else (parent, depth)
                stack.append((child, f"{own}.{number:02d}", above, level))

    def _row(
        self, item: _Item, raw_id: str, parent: str | None, answer: Answer, inherited: list[str]
    ) -> None:
        record, repairs = item.record, item.repairs
        sent_ids = self._sentence_ids(record, inherited or list(answer.sent_ids), repairs)
        if self.polarity.is_turned(record, (self._read(s) for s in sent_ids)):
            repairs.add("turned_around")
            record.probability = None
        if parent is not None:
            child_type = _child_type(record.child_type, repairs)
        self.rows.append(
            {
                "study_id": self.study_id,
                "raw_id": raw_id,
                "parent_raw_id": parent,
                "child_type": child_type if parent is not None else None,
                "name": record.name,
                "summary_sentence": record.summary_sentence,
                "entities": record.entities,
                "regions": [r.model_dump() for r in record.regions],
                "probability": record.probability,
                "modifiers": [m.model_dump() for m in record.modifiers],
                "laterality_text": record.laterality,
                "changes": record.changes,
                "change_sentence": record.change_sentence,
                "sent_ids": sent_ids,
                "spans": self._spans(record, sent_ids, repairs),
                "issue_level": repairs.level,
                "origin": answer.origin,
            }
        )

    def _read(self, sent_id: str) -> dict[str, set[str]]:
        """What the rules backend reads in a sentence, each read once."""
        if sent_id not in self._told:
            row = self.known.get(sent_id)
            self._told[sent_id] = self.polarity.told(row["sentence"]) if row else {}
        return self._told[sent_id]

    def _sentence_ids(
        self, record: ObservationRecord, otherwise: list[str], repairs: Repairs
    ) -> list[str]:
        """Existing ids the record names, else its parent's or those that were asked about."""
        if not record.sentence_ids:
            if len(otherwise) > 1:
                repairs.add("no_sentence_id")
            return otherwise
        found: dict[str, None] = {}
        for text in record.sentence_ids:
            spelled = canonical(text)
            if spelled in self.known:
                found[spelled] = None
                if spelled != text:
                    repairs.add("sentence_id_spelling")
            else:
                repairs.add("unknown_sentence")
        if not found:
            repairs.add("only_unknown_sentences")
            return otherwise
        return list(found)

    def _spans(
        self, record: ObservationRecord, sent_ids: Sequence[str], repairs: Repairs
    ) -> list[dict[str, Any]]:
        """Evidence the record gives inside its sentences, else the sentences whole."""
        spans = []
        for span in record.spans:
            row = self.known.get(span.sent_id)
            if row is None or not row["start"] <= span.start < span.end <= row["end"]:
                repairs.add("unreadable_field")
            else:
                spans.append(span.model_dump())
        whole = [self.known[s] for s in sent_ids if s in self.known]
        return spans or [{k: row[k] for k in ("sent_id", "start", "end")} for row in whole]


# --- answers ------------------------------------------------------------------------------------


def _observations_in(content: Any, repairs: Repairs) -> list[Any]:
    """The observations an answer holds, each of any type."""
    if isinstance(content, str):
        loaded = loads(content)
        if loaded.status == "invalid_json":
            repairs.add("unreadable_answer")
            return []
        if loaded.status == "truncated":
            repairs.add("answer_cut_off")
        content = loaded.value
        if isinstance(content, str):  # JSON inside a JSON string
            repairs.add("json_in_string")
            content = loads(content).value
    if content is None:
        return []
    if isinstance(content, (list, tuple)):
        return list(content)
    if not isinstance(content, Mapping):
        repairs.add("unreadable_answer")
        return []
    keys = normal_keys(content)
    for name in _LISTS:
        held = content[keys[name]] if name in keys else None
        if isinstance(held, (list, tuple)) and (name == "observations" or _of_objects(held)):
            return list(held)
        if name == "observations" and isinstance(held, (str, Mapping)):
            repairs.add("other_form")
            return _observations_in(held, repairs)
        if name == "observations" and name in keys and held is None:
            repairs.add("null_list")
            return []
    if not content or keys.keys() & {"name", "summary_sentence", "summary", "entities", "entity"}:
        return [content] if content else []
    if all(isinstance(value, Mapping) for value in content.values()):
        repairs.add("other_form")
        return [{"id": key, **value} for key, value in content.items()]
    repairs.add("unreadable_answer")
    return []


def _of_objects(values: Sequence[Any]) -> bool:
    return any(isinstance(value, Mapping) for value in values)


def _items(values: Sequence[Any]) -> tuple[list[_Item], int]:
    """Observations with their children, top level first, and the number of those left out."""
    found: list[_Item] = []
    waiting: list[tuple[Any, _Item | None]] = [(value, None) for value in reversed(values)]
    while waiting and len(found) < MAX_OBSERVATIONS:
        value, parent = waiting.pop()
        repairs = Repairs()
        record, children, own_id, parent_id = read_record(value, repairs)
        if isinstance(value, Twice) and value.keys_twice:
            claims = set(normal_keys(dict.fromkeys(value.keys_twice))) & CLAIM_FIELDS
            repairs.add("claim_twice" if claims else "key_twice")
        named = [c for c in children if isinstance(c, str) and _OBSERVATION_ID.fullmatch(c)]
        children = [c for c in children if c not in named]
        item = _Item(record, repairs, parent, own_id, parent_id, tuple(named))
        if parent is not None:
            parent.children.append(item)
        found.append(item)
        waiting += [(child, item) for child in reversed(children)]
    return found, len(waiting)


def _rooted(items: Sequence[_Item]) -> list[_Item]:
    """Top-level observations once those of flat answers hang below the parents they name."""
    by_id: dict[str, _Item] = {}
    for item in items:
        if item.own_id is not None:
            by_id.setdefault(item.own_id, item)
    for item in items:
        for child in (by_id[i] for i in item.child_ids if i in by_id):
            if child.parent_id is None:
                child.parent_id = item.own_id
    for item in items:
        if item.parent is not None or item.parent_id is None:
            continue
        parent = by_id.get(item.parent_id)
        if parent is None:
            item.repairs.add("unknown_parent")
        elif parent is item:
            item.repairs.add("self_parent")
        elif _is_below(parent, item):
            item.repairs.add("parent_cycle")
        else:
            item.parent = parent
            parent.children.append(item)
    return [item for item in items if item.parent is None]


def _is_below(item: _Item, other: _Item) -> bool:
    at: _Item | None = item
    while at is not None:
        if at is other:
            return True
        at = at.parent
    return False


def _child_type(text: str | None, repairs: Repairs) -> str:
    plain = " ".join((text or "").lower().replace("_", " ").replace("-", " ").split())
    if plain not in CHILD_TYPES:
        repairs.add("unknown_child_type")
        return WEAKEST_CHILD_TYPE
    if plain != text:
        repairs.add("child_type_spelling")
    return plain
