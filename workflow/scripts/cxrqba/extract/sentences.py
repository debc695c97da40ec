"""The sentence pass (paper Sec. 3.1, E.1.2): sentences, their sections, related sentences.

The rules backend finds sections by their headers and sentences by punctuation and layout. Sentences
of FINDINGS and IMPRESSION that speak of the same finding share a cluster, the unit from which
observations are extracted. Sentences that carry nothing to extract are kept with the reason.
Headers that nobody knows are noted in the ledger for a worklist.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import polars as pl

from cxrqba.config import SentencesConfig, SiteConfig
from cxrqba.extract.clusters import cluster_numbers
from cxrqba.extract.matcher import PhraseTable
from cxrqba.extract.splitters import further_splitter, split_further
from cxrqba.extract.words import words
from cxrqba.ledger import Ledger
from cxrqba.reference.tables import Reference
from cxrqba.reports.deid import Deidentified
from cxrqba.reports.headers import Headers
from cxrqba.reports.sections import Section, find_sections
from cxrqba.reports.sentences import plain_layout, split_sentences
from cxrqba.schema import PASS_STATUS, REPORTED_SECTION_TYPES, SENTENCES
from cxrqba.step import progress
from cxrqba.tables import frame

STEP = "extract_sentences"

UNKNOWN_HEADER = "unknown_header"
IRRELEVANT = "irrelevant"

DISCARDED_TYPES = {
    "TECHNIQUE": "technique",
    "COMPARISON": "comparison",
    "EXAMINATION": "examination",
    "NOTIFICATION": "notification",
    "RECOMMENDATION": "recommendation",
    "WET_READ": "superseded_wet_read",
    "ADDENDUM": "addendum_without_findings",
    "IGNORE": "no_section",
}
"""Section type -> why its sentences are not used."""

DISCARD_REASONS = {
    "technique": "how the films were taken",
    "comparison": "which study this one is compared with",
    "examination": "title of the study",
    "notification": "who was told what, and when",
    "recommendation": "what should be done next",
    "superseded_wet_read": "preliminary read; the final report has the last word",
    "addendum_without_findings": "addendum that describes nothing",
    "no_section": "text under no header, or under one such as DATE, that describes nothing",
    "empty": "nothing but removed words, numbers or marks",
    "header_only": "a label without text",
    "signature": "who dictated, signed or reviewed the report",
    IRRELEVANT: "a model says so, and nothing in it describes the study",
}
"""All reasons why a sentence is kept but not read; sentences of the indication have none."""

SIGNATURE = re.compile(
    r"\b(electronically signed|dictated (and signed )?by|signed by|transcribed"
    r"|reported by|approved by|verified by|attending (physician|radiologist)"
    r"|i have (personally )?reviewed"
    r"|reviewed and (agree|approved)|end of (impression|report))\b",
    re.IGNORECASE,
)
LABEL_ONLY = re.compile(r"[A-Za-z][A-Za-z0-9 ,/&()#-]*:")
SENTENCE_WORDS = re.compile(
    r"\b(is|are|was|were|has|have|there|no|not|without|seen|noted|clear|normal|unchanged|stable)\b",
    re.IGNORECASE,
)


@dataclass
class SentencePass:
    """Tables of one shard."""

    sentences: pl.DataFrame  # SENTENCES
    status: pl.DataFrame  # PASS_STATUS
    ledger: pl.DataFrame  # LEDGER


class SentenceExtractor:
    """The rules backend for one set of reference definitions and one site."""

    def __init__(
        self, reference: Reference, site: SiteConfig, sentences: SentencesConfig | None = None
    ):
        self.headers = Headers(reference.sections, site.header_aliases)
        self.deid = Deidentified.of(site.deid_tokens)
        self.splitter = further_splitter(sentences or SentencesConfig())
        self.normal = PhraseTable((phrase, phrase) for phrase in site.normal_phrases)
        self.findings = PhraseTable(
            (phrase, finding.name)
            for finding in reference.findings.values()
            for phrase in (finding.name, *finding.synonyms)
        )
        self.regions = PhraseTable(
            (phrase, region.name)
            for region in reference.regions.values()
            for phrase in (region.name, *region.synonyms)
        )

    def extract(self, study_id: str, report: str) -> list[dict[str, Any]]:
        """SENTENCES rows of one report, in text order."""
        masked = self.deid.masked(report)
        rows: list[dict[str, Any]] = []
        for section in find_sections(masked, self.headers, self.describes):
            for start, end in split_sentences(masked[section.start : section.end], section.start):
                rows.append(self._row(study_id, report, section, start, end, len(rows) + 1))
        self._cluster(rows)
        if self.splitter is None:
            return rows
        return split_further(rows, report, self.splitter, self.deid)

    def unknown_headers(self, report: str) -> list[str]:
        """What is laid out as a header but known as none, in text order, each once."""
        text = plain_layout(self.deid.masked(report))
        return list(dict.fromkeys(m.name for m in self.headers.unknown(text, 0, len(text))))

    @lru_cache(maxsize=64)  # noqa: B019 - one instance lives as long as the process
    def describes(self, text: str) -> bool:
        """Whether text reads like a description of a study rather than a title or a list."""
        for start, end in split_sentences(text):
            sentence = text[start:end]
            if self.normal.find(words(sentence)):
                return True
            is_told = SENTENCE_WORDS.search(sentence) is not None
            if not is_told and not sentence.endswith("."):
                continue
            parsed = words(sentence)
            if self.findings.find(parsed):
                return True
            if (is_told or len(sentence.split()) >= 3) and self.regions.find(parsed):
                return True  # "Chest." alone is a title
        return False

    def _row(
        self, study_id: str, report: str, section: Section, start: int, end: int, number: int
    ) -> dict[str, Any]:
        sentence = report[start:end]
        return {
            "study_id": study_id,
            "sent_id": f"S{number:02d}",
            "section": section.name,
            "section_type": section.type,
            "sentence": sentence,
            "start": start,
            "end": end,
            "cluster": None,
            "discarded": self.discard_reason(section.type, sentence),
        }

    def discard_reason(self, section_type: str, sentence: str) -> str | None:
        """Why a sentence is not read (a key of ``DISCARD_REASONS``), None if it is."""
        if section_type in DISCARDED_TYPES:
            return DISCARDED_TYPES[section_type]
        if not re.search(r"[^\W\d_]", self.deid.removed(sentence)):
            return "empty"
        if LABEL_ONLY.fullmatch(sentence):
            return "header_only"
        if SIGNATURE.search(sentence):
            return "signature"
        return None

    def _cluster(self, rows: list[dict[str, Any]]) -> None:
        """Number clusters of related sentences over FINDINGS and IMPRESSION."""
        used = [
            r for r in rows if r["section_type"] in REPORTED_SECTION_TYPES and not r["discarded"]
        ]
        told = [(r["section_type"], r["sentence"], self._terms(r["sentence"])) for r in used]
        for row, number in zip(used, cluster_numbers(told), strict=True):
            row["cluster"] = number

    def _terms(self, sentence: str) -> frozenset[str]:
        """Findings a sentence names; where it names none, its regions."""
        parsed = words(sentence)
        matches = self.findings.find(parsed) or self.regions.find(parsed)
        return frozenset(str(m.value) for m in matches)


def extract_shard(studies: pl.DataFrame, extractor: SentenceExtractor) -> SentencePass:
    """Run the pass over STUDIES rows; a report that fails goes to the ledger, the rest go on."""
    ledger = Ledger(STEP)
    sentences: list[dict[str, Any]] = []
    status: list[dict[str, Any]] = []
    pairs = studies.sort("study_id").select("study_id", "report").iter_rows()
    for study_id, report in progress(pairs, studies.height, STEP):
        rows, state, detail = _one(study_id, report, extractor, ledger)
        sentences += rows
        kept = sum(r["discarded"] is None for r in rows)
        status.append(
            {
                "study_id": study_id,
                "step": STEP,
                "status": state,
                "num_items": kept,
                "detail": detail,
            }
        )
    return SentencePass(
        frame(sentences, SENTENCES).sort("study_id", "start", "sent_id"),
        frame(status, PASS_STATUS),
        ledger.table(),
    )


def _one(
    study_id: str, report: str | None, extractor: SentenceExtractor, ledger: Ledger
) -> tuple[list[dict[str, Any]], str, str | None]:
    if report is None:
        ledger.study(study_id, "no_report", "the source has no report for this study")
        return [], "failed", "no_report"
    try:
        rows = extractor.extract(study_id, report)
    except Exception as error:
        # one hostile report must not stop a shard; its text stays out of the message
        kind = type(error).__name__
        ledger.study(study_id, "extraction_failed", f"{STEP} raised {kind}; please report it")
        return [], "failed", kind
    for name in extractor.unknown_headers(report):
        ledger.item(study_id, None, UNKNOWN_HEADER, name)
    reported = _reported(rows)
    return rows, "ok" if reported else "empty", None if reported else "no reported sentence"


def _reported(rows: Iterable[dict[str, Any]]) -> bool:
    return any(r["section_type"] in REPORTED_SECTION_TYPES and not r["discarded"] for r in rows)
