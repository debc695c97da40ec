"""Indication pass, rules backend: why the study was made, asked as a question, and its answer.

The INDICATION and HISTORY sentences give patient, indication and what should be evaluated; they
become one question. Its answer is made of FINDINGS and IMPRESSION sentences alone, in their own
words: those that speak of what was asked, else the impression (paper Sec. D.1, E.1.2). Nothing said
in the indication is ever an observation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxrqba.config import SiteConfig
from cxrqba.extract.lexicon import Lexicon
from cxrqba.extract.observations import ObservationExtractor, by_study
from cxrqba.extract.wording import decapitalised, sentence_case
from cxrqba.ledger import Ledger
from cxrqba.reference.tables import Reference
from cxrqba.schema import INDICATIONS, PASS_STATUS, REPORTED_SECTION_TYPES
from cxrqba.tables import frame

STEP = "extract_indication"
ASKING_SECTION_TYPES = ("INDICATION", "HISTORY")
MAX_ANSWER_SENTENCES = 4

_AGE = r"(?:\d{1,3}|_+|X{2,}|\[\*\*[^\]]*\*\*\])"
_PATIENT = re.compile(
    rf"(?:(?:this is an?|an?|the patient is an?|patient is an?)\s+)?"
    rf"(?:{_AGE}[\s-]*(?:years?|yrs?|y|months?|days?|weeks?)?[\s/.-]*(?:old|o\b)?[\s,-]*"
    rf"(?:(?:gentleman|man|woman|lady|male|female|boy|girl|patient|infant|[mf])\b)"
    rf"|{_AGE}[\s-]*(?:years?|yrs?|y|months?|days?|weeks?)[\s/.-]*(?:old|o)\b"
    rf"|(?:elderly|adult|young)?\s*(?:gentleman|woman|lady|man|female|male|infant)\b)",
    re.I,
)
_ASKED = re.compile(
    r"(?://|\?(?=\s*\w)|\b(?:(?:please\s+)?(?:evaluate|evaluation|evaluated|eval|assess|assessment|"
    r"check|look|looking|survey|screen)(?:\s+(?:for|of))?|rule[\s-]*out|r/o|question\s+of|"
    r"query|concern(?:ing)?\s+for|to\s+exclude|exclude|any\s+evidence\s+of|interval\s+change|"
    r"confirm|verify)(?!\w))",
    re.I,
)
_OBJECT = re.compile(
    r"^(?:(?:please|evaluate|evaluation|evaluated|eval|assess|assessment|check|look|looking|screen|"
    r"survey|rule[\s-]*out|r/o|question\s+of|query|concern(?:ing)?\s+for|to|exclude|for|of|any|"
    r"evidence|confirm|verify|is\s+there|are\s+there|\?|//|:|,|-|/)\s*)+",
    re.I,
)
_MANNER = re.compile(
    r"\b(?:change|placement|position|positioning|status|progression|resolution|location|interval|"
    r"improvement|worsening)\b",
    re.I,
)
_JOINER = re.compile(
    r"^(?:[\s,.;:/-]+|patient\b|pt\b|(?:who\s+)?(?:presents?|presenting)\s+with\b|with\b|w/|has\b|and\b|who\b|is\b)+",
    re.I,
)
_HEADER = re.compile(
    r"^\s*(?:clinical\s+)?(?:indications?|history|information|reason\s+for\s+(?:this\s+)?exam\w*)\s*:\s*",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Request:
    """Parts of an indication, as written; None where the text has none."""

    patient_info: str | None
    indication: str | None
    evaluation: str | None

    def question(self) -> str:
        """The indication as one natural question or request."""
        patient = _article(self.patient_info) if self.patient_info else ""
        reason = decapitalised(self.indication) if self.indication else ""
        reason = re.sub(r"\.\s+", "; ", reason)  # one question is one sentence
        if patient and reason:
            about = f" in {patient} {_linked(reason)}"
        elif patient:
            about = f" in {patient}"
        elif reason:
            about = f" given {reason}"
        else:
            about = ""
        if not self.evaluation:
            return f"What are the findings of this chest X-ray{about}?"
        asked = decapitalised(self.evaluation)
        if _MANNER.search(asked):
            return f"Please evaluate {asked}{about}."
        return f"Is there any evidence of {asked}{about}?"


class IndicationExtractor:
    """Extracts the indication of studies with one set of reference definitions."""

    def __init__(self, reference: Reference, site: SiteConfig | None = None):
        self.reference = reference
        self._site = site or SiteConfig()
        self._lexicon = Lexicon(reference)
        self._observations = ObservationExtractor(reference)

    def extract(
        self, study_id: str, report: str, sentences: Iterable[Mapping[str, Any]]
    ) -> dict[str, Any] | None:
        """A row of INDICATIONS; None if the report gives no indication."""
        rows = sorted(sentences, key=lambda s: (s["start"], s["sent_id"]))
        asking = [
            s
            for s in rows
            if s["section_type"] in ASKING_SECTION_TYPES and s["discarded"] != "header_only"
        ]
        text = " ".join(_plain(s["sentence"]) for s in asking)
        text = _HEADER.sub("", self._without_deid(text)).strip()
        if not re.search(r"[^\W\d_]{2,}", text):
            return None
        request = parse_request(text)
        told = [
            s for s in rows if s["section_type"] in REPORTED_SECTION_TYPES and not s["discarded"]
        ]
        related = self._related(text, told, report)
        answer = _answer(related)
        return {
            "study_id": study_id,
            "indication_summary": request.question(),
            "patient_info": request.patient_info,
            "indication": request.indication,
            "evaluation": request.evaluation,
            "sent_ids": [s["sent_id"] for s in asking],
            "associated_sentence_ids": [s["sent_id"] for s in related],
            "answer_name": answer[0],
            "answer_sentence": answer[1],
            "origin": "rules:indication",
        }

    def _without_deid(self, text: str) -> str:
        """The text without tokens that stand for removed words."""
        for token in self._site.deid_tokens:
            text = re.sub(rf"(?<!\w){re.escape(token)}(?!\w)(?:-(?=\w))?", " ", text)
        text = re.sub(r"(?<![\d_])(?<![\d_][\s-])-?\b(?:year|yr)s?[- ]old\b", " ", text)
        text = re.sub(r"\s+(?=[,.;])|(?:[,;]\s*)+(?=[,;.])", "", " ".join(text.split()))
        text = re.sub(r"(?:\s+(?:with|and|of|on|an?|the|for))+(?=\s*(?:[.,;]|$))", "", text)
        return text.strip(" ,;-")

    def _related(
        self, asked: str, told: Sequence[Mapping[str, Any]], report: str
    ) -> list[Mapping[str, Any]]:
        wanted = self._relatives(
            {m.value.finding.name for m in self._lexicon.read(asked, 0).findings}
        )
        found = [s for s in told if wanted & self._named(s, report)]
        if not found:
            found = [s for s in told if s["section_type"] == "IMPRESSION"] or list(told)
        return found

    def _named(self, sentence: Mapping[str, Any], report: str) -> set[str]:
        text = report[sentence["start"] : sentence["end"]]
        drafts = self._observations.read_sentence(sentence["sent_id"], text, sentence["start"])
        children = [c for d in drafts for c in d.children]
        return {name for d in (*drafts, *children) for name in d.key}

    def _relatives(self, names: set[str]) -> set[str]:
        """The findings asked for, what is more general, more special, or what they indicate."""
        wanted = set(names)
        for name in names:
            wanted.update(self.reference.finding_ancestors[name])
            wanted.update(
                n for n, above in self.reference.finding_ancestors.items() if name in above
            )
            wanted.update(n for n, f in self.reference.findings.items() if name in f.indicative_of)
        return wanted


def parse_request(text: str) -> Request:
    """Split an indication into patient, indication and what should be evaluated."""
    text = " ".join(text.split()).strip(" .,;:")
    patient = None
    match = _PATIENT.search(text)
    rest = text
    if match is not None and match.group().strip() and match.start() <= 25:
        patient = re.sub(
            r"^(?:this is|the patient is|patient is)?\s*(?:an?\s+)?",
            "",
            match.group().strip(),
            flags=re.I,
        ).strip(" ,.-")
        rest = text[: match.start()] + " " + text[match.end() :]
    asked = _ASKED.search(rest)
    evaluation = None
    if asked is not None:
        tail = rest[asked.start() :]
        evaluation = _OBJECT.sub("", tail).strip(" .,;:?/-") or None
        rest = rest[: asked.start()] if evaluation else rest
    reason = _JOINER.sub("", rest.strip()).strip(" .,;:/-")
    reason = re.sub(r"\s*(?:,|and|to|for|please)$", "", reason, flags=re.I).strip(" .,;:/-")
    return Request(patient or None, reason or None, evaluation)


def extract_indication(
    study_id: str,
    report: str,
    sentences: Iterable[Mapping[str, Any]],
    reference: Reference,
    site: SiteConfig | None = None,
) -> dict[str, Any] | None:
    """A row of INDICATIONS of one study, or None (see :class:`IndicationExtractor`)."""
    return IndicationExtractor(reference, site).extract(study_id, report, sentences)


def extract_shard(
    studies: pl.DataFrame, sentences: pl.DataFrame, reference: Reference, site: SiteConfig
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Indications, status and ledger of all studies that have a report.

    Returns tables INDICATIONS, PASS_STATUS and LEDGER; a study without indication has status
    "empty" and no row.
    """
    extractor = IndicationExtractor(reference, site)
    ledger = Ledger(STEP)
    rows: list[dict[str, Any]] = []
    status: list[dict[str, Any]] = []
    for study_id, report, of_study in by_study(studies, sentences):
        row: dict[str, Any] | None = None
        state, detail = "ok", None
        try:
            row = extractor.extract(study_id, report, of_study)
        except Exception as error:  # one bad study never stops a shard
            state, detail = "failed", type(error).__name__
            ledger.study(study_id, "extraction_failed", detail)
        if row is not None:
            rows.append(row)
        elif state == "ok":
            state = "empty"
        status.append(
            {
                "study_id": study_id,
                "step": STEP,
                "status": state,
                "num_items": int(row is not None),
                "detail": detail,
            }
        )
    return (
        frame(rows, INDICATIONS).sort("study_id"),
        frame(status, PASS_STATUS).sort("study_id"),
        ledger.table(),
    )


def _answer(related: Sequence[Mapping[str, Any]]) -> tuple[str | None, str | None]:
    """Name and sentence of the answer: the related sentences, the impression's first."""
    ordered = sorted(related, key=lambda s: s["section_type"] != "IMPRESSION")
    texts: list[str] = []
    for sentence in ordered:
        text = re.sub(r"^\s*(?:\d+[.)]\s*|[-*]\s+)", "", _plain(sentence["sentence"]))
        text = text.strip(" .,;")
        if text and text.lower() not in {t.lower() for t in texts}:
            texts.append(text)
    texts = texts[:MAX_ANSWER_SENTENCES]
    if not texts:
        return None, None
    return sentence_case(texts[0]), " ".join(f"{sentence_case(t)}." for t in texts)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _article(patient: str) -> str:
    text = re.sub(r"\by/?o\b\.?", "year old", patient, flags=re.I)
    text = re.sub(r"\s+[mM]$", " man", text)
    text = re.sub(r"\s+[fF]$", " woman", text)
    text = re.sub(r"(?<=\d)\s*[mM]$", "-year-old man", text)
    text = re.sub(r"(?<=\d)\s*[fF]$", "-year-old woman", text)
    text = re.sub(r"\b(male|female)$", r"\1 patient", text, flags=re.I)
    vowel = re.match(r"(?:[aeiou]|8|11|18)", text, flags=re.I)
    return f"{'an' if vowel else 'a'} {decapitalised(text)}"


def _linked(reason: str) -> str:
    if re.match(r"(?:status post|s/p|post|after|following|on)\b", reason, flags=re.I):
        return reason
    return f"with {reason}"
