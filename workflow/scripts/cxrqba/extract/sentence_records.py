"""Sentences as a model returned them, as rows of SENTENCES (paper Sec. E.1.2).

The model is asked for a list of sentences with id, section, section type and the ids of related
sentences. Each is given the span at which it stands in the report; what stands nowhere is noted and
never read. A header as written has the last word on what an indication is, and a sentence of the
findings that the model passed over is read all the same: neither may turn a suspicion into a
finding, nor silence into health.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo

from cxrqba.extract.alignment import Aligner
from cxrqba.extract.observation_record import canonical, normal_keys, repairs_of
from cxrqba.extract.repair import Repairs, text_of, texts_of
from cxrqba.extract.sentences import IRRELEVANT, SentenceExtractor
from cxrqba.extract.splitters import RulesSplitter, split_further
from cxrqba.extract.words import words
from cxrqba.ledger import Ledger
from cxrqba.llm.loose_json import loads
from cxrqba.reference.tables import Reference
from cxrqba.schema import REPORTED_SECTION_TYPES, SECTION_TYPES

MAX_SENTENCES = 2_000
"""Sentences of one answer; a report has fewer."""

NOT_IN_REPORT = "not_in_report"
REPAIRED = "repaired_sentence"
UNREADABLE = "unreadable_answer"

_ALIASES = {
    "sentence": ("text", "content"),
    "section": ("section_name", "header"),
    "section_type": ("type",),
    "related": ("related_ids", "related_sentences", "related_sentence_ids"),
    "irrelevant": ("ignore", "discard", "discarded"),
    "id": ("sent_id", "sentence_id", "nr", "number"),
}
_OF_PATIENT = ("INDICATION", "HISTORY")


def _text(value: Any, info: ValidationInfo) -> str | None:
    return text_of(value, repairs_of(info))


def _ids(value: Any, info: ValidationInfo) -> list[str]:
    return [] if value is None else [canonical(t) for t in texts_of(value, repairs_of(info))]


def _flag(value: Any) -> bool:
    return value is True or (isinstance(value, str) and value.strip().lower() in ("true", "yes"))


class SentenceRecord(BaseModel):
    """A sentence as a model is asked for it."""

    model_config = ConfigDict(extra="ignore")

    id: Annotated[str | None, BeforeValidator(_text)] = None
    section: Annotated[str | None, BeforeValidator(_text)] = None
    section_type: Annotated[str | None, BeforeValidator(_text)] = None
    sentence: Annotated[str | None, BeforeValidator(_text)] = None
    related: Annotated[list[str], BeforeValidator(_ids)] = []
    irrelevant: Annotated[bool, BeforeValidator(_flag)] = False


@dataclass(slots=True)
class _Place:
    """A span of the report and what was said of it; ``own`` is the report's own row there."""

    start: int
    end: int
    own: Mapping[str, Any]
    record: SentenceRecord
    names: set[str] = field(default_factory=set)
    related: set[str] = field(default_factory=set)


class SentenceReader:
    """Reads the answers of the sentence pass; sections and splitting are those of ``extractor``."""

    def __init__(self, reference: Reference, extractor: SentenceExtractor):
        self._extractor = extractor
        self._aligner = Aligner(reference, extractor.deid)

    def read(
        self, study_id: str, report: str, content: Any, ledger: Ledger
    ) -> list[dict[str, Any]] | None:
        """Rows of SENTENCES in text order; None if the answer holds no sentences at all."""
        records = self._records(study_id, content, ledger)
        own = self._extractor.extract(study_id, report)
        if records is None or (own and not any(record.sentence for record in records)):
            ledger.item(study_id, None, UNREADABLE, "no sentences in the answer")
            return None
        if not own:
            return []
        spans = [(row["start"], row["end"]) for row in own]
        texts = [record.sentence or "" for record in records]
        found = self._aligner.align(report, spans, texts)
        for index in sorted(set(range(len(records))) - {a.index for a in found}):
            detail = "does not stand in the report"
            ledger.item(study_id, records[index].id, NOT_IN_REPORT, detail)
        places: dict[tuple[int, int], _Place] = {}
        for a in found:
            row = max(own, key=lambda r: min(a.end, r["end"]) - max(a.start, r["start"]))
            record = records[a.index]
            place = places.setdefault((a.start, a.end), _Place(a.start, a.end, row, record))
            place.names |= {record.id} if record.id else set()
            place.related |= set(record.related)
        _widen(report, own, list(places.values()))
        rows = [self._row(study_id, report, place, ledger) for place in places.values()]
        rows += self._passed_over(study_id, own, places.values(), ledger)
        _cluster(rows)
        for row in rows:
            del row["names"], row["related"]
        splitter = self._extractor.splitter or RulesSplitter()
        return split_further(rows, report, splitter, self._extractor.deid)

    def _records(self, study_id: str, content: Any, ledger: Ledger) -> list[SentenceRecord] | None:
        kinds: list[str] = []
        if isinstance(content, str):
            loaded = loads(content)
            kinds, content = loaded.repairs, loaded.value
        if isinstance(content, Mapping):
            held = next((v for v in content.values() if isinstance(v, (list, tuple))), None)
            content = held if held is not None and "sentence" not in content else [content]
        if kinds:
            ledger.item(study_id, None, "repaired_answer", ", ".join(kinds))
        if not isinstance(content, (list, tuple)):
            return None
        if len(content) > MAX_SENTENCES:
            detail = f"{len(content) - MAX_SENTENCES} left out"
            ledger.item(study_id, None, "too_many_sentences", detail)
        found = []
        for number, value in enumerate(content[:MAX_SENTENCES], start=1):
            repairs = Repairs()
            record = _record(value, repairs)
            record.id = canonical(record.id or str(number))
            if repairs.kinds:
                ledger.item(study_id, record.id, REPAIRED, ", ".join(repairs.kinds))
            found.append(record)
        return found

    def _row(self, study_id: str, report: str, place: _Place, ledger: Ledger) -> dict[str, Any]:
        own, record = place.own, place.record
        sentence = report[place.start : place.end]
        kind = self._type(record)
        told = self._extractor.describes(sentence)
        refused = kind is not None and (
            (kind in REPORTED_SECTION_TYPES and own["section_type"] in _OF_PATIENT)
            or (kind not in REPORTED_SECTION_TYPES and _is_reported(own) and told)
        )
        if refused:
            ledger.item(study_id, record.id, "section_refused", f"stands under {own['section']}")
        if kind is None or refused:
            kind = own["section_type"]
        discarded = self._extractor.discard_reason(kind, sentence)
        if discarded is None and record.irrelevant and not told:
            discarded = IRRELEVANT
        return {
            **own,
            "section_type": kind,
            "sentence": sentence,
            "start": place.start,
            "end": place.end,
            "cluster": None,
            "discarded": discarded,
            "names": place.names,
            "related": place.related,
        }

    def _type(self, record: SentenceRecord) -> str | None:
        for text in (record.section_type, record.section):
            plain = (text or "").strip().upper().replace(" ", "_")
            if plain in SECTION_TYPES:
                return plain
            known = self._extractor.headers.type_of(text.upper()) if text else None
            if known is not None:
                return known
        return None

    def _passed_over(
        self,
        study_id: str,
        own: Iterable[Mapping[str, Any]],
        places: Iterable[_Place],
        ledger: Ledger,
    ) -> list[dict[str, Any]]:
        """The report's own sentences of its findings of which the model returned nothing."""
        places = list(places)
        found = []
        for row in own:
            if not _is_reported(row) or row["discarded"]:
                continue
            if not any(p.start < row["end"] and row["start"] < p.end for p in places):
                ledger.item(study_id, None, "passed_over", "a sentence of the findings, read as is")
                found.append({**row, "names": set(), "related": set()})
        return found


def _widen(report: str, own: Iterable[Mapping[str, Any]], places: Sequence[_Place]) -> None:
    """Give what was left out of a sentence of which something was returned to what is before it.

    "left effusion" out of "Small left effusion." is read with its size.
    """
    ordered = sorted(places, key=lambda place: (place.start, place.end))
    for row in own:
        inside = [p for p in ordered if p.start < row["end"] and row["start"] < p.end]
        if inside and _is_content(report[row["start"] : inside[0].start]):
            inside[0].start = row["start"]
        for place, following in zip_longest(inside, inside[1:]):
            rest = report[place.end : following.start if following else row["end"]]
            if _is_content(rest):
                place.end += len(rest.rstrip())


def _is_content(text: str) -> bool:
    return bool({w.norm for w in words(text) if w.norm[:1].isalnum()} - {"and", "or"})


def _is_reported(row: Mapping[str, Any]) -> bool:
    return row["section_type"] in REPORTED_SECTION_TYPES


def _record(value: Any, repairs: Repairs) -> SentenceRecord:
    if isinstance(value, str):
        repairs.add("bare_text")
        value = {"sentence": value}
    if not isinstance(value, Mapping):
        repairs.add("not_an_observation")
        return SentenceRecord()
    keys = normal_keys(value)
    fields: dict[str, Any] = {}
    for name, others in _ALIASES.items():
        key = next((keys[k] for k in (name, *others) if k in keys), None)
        if key is not None:
            fields[name] = value[key]
    return SentenceRecord.model_validate(fields, context=repairs)


def _cluster(rows: Sequence[dict[str, Any]]) -> None:
    """Number clusters by the ids that the model related, over FINDINGS and IMPRESSION."""
    used = [row for row in rows if _is_reported(row) and not row["discarded"]]
    used.sort(key=lambda row: (row["start"], row["end"]))
    of_name = {name: i for i, row in enumerate(used) for name in row["names"]}
    group = list(range(len(used)))
    for i, row in enumerate(used):
        for name in sorted(row["related"]):
            one, other = group[i], group[of_name.get(name, i)]
            if one != other:
                low, high = sorted((one, other))
                group = [low if g == high else g for g in group]
    numbers: dict[int, int] = {}
    for i, row in enumerate(used):
        row["cluster"] = numbers.setdefault(group[i], len(numbers) + 1)
