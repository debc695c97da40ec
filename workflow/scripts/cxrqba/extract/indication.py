"""Indication pass, rules backend: why the study was made, asked as a question, and its answer.

The INDICATION and HISTORY sentences give patient, indication and what should be evaluated; they
become one question. Its answer is made of FINDINGS and IMPRESSION sentences alone, in their own
words: those that speak of what was asked, else the impression (paper Sec. D.1, E.1.2). Nothing said
in the indication is ever an observation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from cxrqba.config import SiteConfig
from cxrqba.extract.indication_question import Questions
from cxrqba.extract.indication_request import parse_request
from cxrqba.extract.lexicon import Lexicon
from cxrqba.extract.observations import ObservationExtractor, by_study
from cxrqba.extract.wording import sentence_case
from cxrqba.ledger import Ledger
from cxrqba.reference.tables import Reference
from cxrqba.reports.deid import Deidentified
from cxrqba.schema import INDICATIONS, PASS_STATUS, REPORTED_SECTION_TYPES
from cxrqba.tables import frame

STEP = "extract_indication"
ASKING_SECTION_TYPES = ("INDICATION", "HISTORY")
_SEX = re.compile(r"\s?[mMfF]\b")
"""Behind a removed age: "___F"."""
MAX_ANSWER_SENTENCES = 4


class IndicationExtractor:
    """Extracts the indication of studies with one set of reference definitions."""

    def __init__(self, reference: Reference, site: SiteConfig | None = None):
        self.reference = reference
        self._site = site or SiteConfig()
        self._lexicon = Lexicon(reference)
        self._observations = ObservationExtractor(reference, self._site)
        self._questions = Questions(reference, self._lexicon)
        self._deidentified = Deidentified.of(self._site.deid_tokens)

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
        text = self._without_deid(text)
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
            "indication_summary": self._questions.of(request),
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
        text = self._deidentified.pattern.sub(
            lambda m: "___" if _SEX.match(text, m.end()) else " ", text
        )
        text = re.sub(r"(?<=\s)-(?=\w)", "", text)
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
        found = [s for s in told if wanted & self._named(s, report)] if wanted else []
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
