"""The indication as a model returned it, as a row of INDICATIONS (paper Sec. D.1, E.1.2).

The model is given the sentences of the indication and all of FINDINGS and IMPRESSION. It returns a
summary phrased as a question, patient, reason and request, an answer, and the ids of the sentences
that answer. What the sentences do not hold is left out with a row of the ledger: nothing asked may
become a finding, and no answer may be invented.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo

from cxrqba.extract.observation_record import (
    ObservationRecord,
    canonical,
    normal_keys,
    read_record,
    repairs_of,
)
from cxrqba.extract.repair import Repairs, text_of, texts_of
from cxrqba.extract.support import Support
from cxrqba.ledger import Ledger
from cxrqba.llm.loose_json import loads
from cxrqba.reference.tables import Reference
from cxrqba.schema import REPORTED_SECTION_TYPES

ASKING_SECTION_TYPES = ("INDICATION", "HISTORY")
NOT_IN_REPORT = "not_in_report"
REPAIRED = "repaired_indication"
UNREADABLE = "unreadable_answer"

_ALIASES = {
    "indication_summary": ("summary", "question"),
    "patient_info": ("patient", "patient_information"),
    "indication": ("clinical_indication", "reason"),
    "evaluation": ("evaluate", "request"),
    "sentence_ids": ("associated_sentence_ids", "sent_ids", "sentences"),
    "answer_for_indication": ("answer",),
}


def _text(value: Any, info: ValidationInfo) -> str | None:
    return text_of(value, repairs_of(info))


def _ids(value: Any, info: ValidationInfo) -> list[str]:
    return [canonical(text) for text in texts_of(value, repairs_of(info))]


Text = Annotated[str | None, BeforeValidator(_text)]


class IndicationRecord(BaseModel):
    """The indication as a model is asked for it; the answer is an observation."""

    model_config = ConfigDict(extra="ignore")

    indication_summary: Text = None
    patient_info: Text = None
    indication: Text = None
    evaluation: Text = None
    sentence_ids: Annotated[list[str], BeforeValidator(_ids)] = []
    answer_for_indication: Any = None


class IndicationReader:
    """Reads the answers of the indication pass."""

    def __init__(self, reference: Reference):
        self._support = Support(reference)

    def read(
        self,
        study_id: str,
        content: Any,
        sentences: Iterable[Mapping[str, Any]],
        origin: str,
        ledger: Ledger,
    ) -> dict[str, Any] | None:
        """A row of INDICATIONS; None, with a row of the ledger, if there is nothing to ask."""
        rows = list(sentences)
        asking = [
            r
            for r in rows
            if r["section_type"] in ASKING_SECTION_TYPES and r["discarded"] != "header_only"
        ]
        repairs = Repairs()
        record = _record(content, repairs)
        if record is None:
            ledger.item(study_id, None, UNREADABLE, "no indication in the answer")
            return None
        asked = self._support.of(" ".join(r["sentence"] for r in asking))
        parts = {
            name: text
            for name in ("patient_info", "indication", "evaluation")
            if (text := getattr(record, name)) and asked.holds_text(text)
        }
        if not record.indication_summary or not parts:
            detail = "no summary" if parts else "no sentence of the indication holds its words"
            ledger.item(study_id, None, NOT_IN_REPORT, detail)
            return None
        self._note(study_id, record, parts, ledger)
        told = {r["sent_id"]: r for r in rows if r["section_type"] in REPORTED_SECTION_TYPES}
        related = [i for i in dict.fromkeys(record.sentence_ids) if i in told]
        if len(related) < len(record.sentence_ids):
            repairs.add("unknown_sentence")
        answer = self._answer(study_id, record, [told[i]["sentence"] for i in related], ledger)
        if repairs.kinds:
            ledger.item(study_id, None, REPAIRED, ", ".join(repairs.kinds))
        return {
            "study_id": study_id,
            "indication_summary": record.indication_summary,
            "patient_info": parts.get("patient_info"),
            "indication": parts.get("indication"),
            "evaluation": parts.get("evaluation"),
            "sent_ids": [r["sent_id"] for r in asking],
            "associated_sentence_ids": related,
            "answer_name": answer.name,
            "answer_sentence": answer.summary_sentence,
            "origin": origin,
        }

    def _note(
        self, study_id: str, record: IndicationRecord, parts: Mapping[str, str], ledger: Ledger
    ) -> None:
        for name in ("patient_info", "indication", "evaluation"):
            if getattr(record, name) and name not in parts:
                ledger.item(study_id, name, NOT_IN_REPORT, "left out")

    def _answer(
        self, study_id: str, record: IndicationRecord, sentences: list[str], ledger: Ledger
    ) -> ObservationRecord:
        """The answer as an observation, empty if the sentences it refers to do not hold it."""
        if record.answer_for_indication is None:
            return ObservationRecord()
        repairs = Repairs()
        answer, _, _, _ = read_record(record.answer_for_indication, repairs)
        if repairs.kinds:
            ledger.item(study_id, "OIND", REPAIRED, ", ".join(repairs.kinds))
        if repairs.level == "DISCARDED":
            return ObservationRecord()
        if not self._support.of(" ".join(sentences)).holds(answer):
            ledger.item(study_id, "OIND", NOT_IN_REPORT, "no sentence it refers to holds its words")
            return ObservationRecord()
        return answer


def _record(content: Any, repairs: Repairs) -> IndicationRecord | None:
    if isinstance(content, str):
        content = loads(content).value
    if isinstance(content, (list, tuple)) and len(content) == 1:
        repairs.add("other_form")
        content = content[0]
    if not isinstance(content, Mapping):
        return None
    keys = normal_keys(content)
    fields: dict[str, Any] = {}
    for name, others in _ALIASES.items():
        key = next((keys[k] for k in (name, *others) if k in keys), None)
        if key is not None:
            fields[name] = content[key]
    return IndicationRecord.model_validate(fields, context=repairs)
