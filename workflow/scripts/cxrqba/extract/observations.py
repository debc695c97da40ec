"""Observation pass, rules backend: what each cluster of sentences says, as free-valued records.

The pass reads the FINDINGS and IMPRESSION sentences cluster by cluster (paper Sec. D.1, E.1.2).
Every finding named in a clause becomes an observation with its claim, place, modifiers and change;
statements of normality become the negatives they amount to; "unchanged" alone only compares; the
same finding on the same side with the same claim, said twice in a cluster, is one observation.
Device parts and the causes of a finding are children. Values are words of the report: mapping to
the reference comes later. Sentences that yield nothing go to the ledger, so that silence never
looks like health.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any

import polars as pl

from cxrqba.config import SiteConfig
from cxrqba.extract.asserting import attach, finding_drafts
from cxrqba.extract.clauses import MAX_WORDS, clauses, pieces
from cxrqba.extract.comparing import (
    change_of_relative,
    compare,
    comparison_drafts,
    place_of_relative,
)
from cxrqba.extract.coverage import NON_OBSERVATIONAL, PARTLY_COVERED, UNCOVERED, Coverage
from cxrqba.extract.denials import normal_drafts, unassessed_drafts
from cxrqba.extract.drafts import (
    ASSERTING,
    DENYING,
    Clause,
    Draft,
    rows_of,
    with_children,
)
from cxrqba.extract.lexicon import EXCEPTION, Lexicon, Reading
from cxrqba.extract.matcher import Match
from cxrqba.extract.merging import (
    OVERRULED,
    descendants_of,
    merged,
    with_side_of_first,
    without_contradicted_rest,
    without_overruled,
)
from cxrqba.extract.pointing import point_back
from cxrqba.extract.retracting import taken_back
from cxrqba.extract.scope import PREDICATING
from cxrqba.extract.site_phrases import SitePhrases, without
from cxrqba.extract.words import words
from cxrqba.ledger import Ledger
from cxrqba.reference.tables import Reference
from cxrqba.reports.deid import Deidentified
from cxrqba.schema import PASS_STATUS, RAW_OBSERVATIONS, REPORTED_SECTION_TYPES
from cxrqba.tables import frame

STEP = "extract_observations"


class ObservationExtractor:
    """Extracts the observations of studies with one set of reference definitions."""

    def __init__(self, reference: Reference, site: SiteConfig | None = None):
        site = site or SiteConfig()
        self.reference = reference
        self._lexicon = Lexicon(reference)
        self._coverage = Coverage(reference)
        self._descendants = descendants_of(reference)
        self._deidentified = Deidentified.of(site.deid_tokens)
        self._site_phrases = SitePhrases(site.normal_phrases)

    def extract(
        self,
        study_id: str,
        report: str,
        sentences: Iterable[Mapping[str, Any]],
        ledger: Ledger | None = None,
    ) -> list[dict[str, Any]]:
        """Rows of RAW_OBSERVATIONS of one study; what yields no observation goes to ``ledger``.

        ``sentences`` are rows of SENTENCES of this study; ``report`` is the text their spans
        refer to.
        """
        ledger = Ledger(STEP) if ledger is None else ledger
        masked = self._deidentified.masked(report)
        drafts: list[Draft] = []
        unread: dict[str, list[tuple[int, int]]] = {}
        kept = _reported(sentences)
        before = {b["sent_id"]: a["sent_id"] for a, b in pairwise(kept)}
        named: dict[str, str] = {}
        spoken: dict[str, list[Draft]] = {}
        for rows in _clusters(kept):
            found: list[Draft] = []
            for row in rows:
                text, sent_id = masked[row["start"] : row["end"]], row["sent_id"]
                last = named.get(before.get(sent_id, ""), "")
                told, unread[sent_id] = self._read_with_phrases(row, text, found, last)
                point_back(text, told, spoken.get(before.get(sent_id, ""), ()), self.reference)
                found += told
                named[sent_id], spoken[sent_id] = _last_named(told), told
            drafts += merged(found, {r["sent_id"]: r["section_type"] for r in rows})
        added = {s["sent_id"] for s in kept if s["section"].upper().startswith(_ADDENDUM)}
        with_side_of_first(drafts, self._descendants)
        read = _sent_ids(drafts)
        drafts = without_overruled(drafts, added, study_id, ledger)
        drafts = without_contradicted_rest(drafts, self._descendants)
        overruled = read - _sent_ids(drafts)
        self._account(study_id, kept, read, overruled, unread, ledger)
        return rows_of(study_id, drafts)

    def _read_with_phrases(
        self, row: Mapping[str, Any], text: str, earlier: Sequence[Draft], before: str
    ) -> tuple[list[Draft], list[tuple[int, int]]]:
        """As :meth:`_read`; a site's phrase gives what its plain sentences say."""
        sent_id, start = row["sent_id"], row["start"]
        phrases = self._site_phrases.find(text)
        drafts, unread = self._read(sent_id, without(text, phrases), start, earlier, before)
        for phrase in phrases:
            span = (sent_id, start + phrase.start, start + phrase.end)
            for sentence in phrase.meant:
                told = self.read_sentence(sent_id, sentence, 0)
                for draft in with_children(told):
                    draft.spans, draft.origin = [span], "rules:site_phrase"
                drafts += told
        return drafts, unread

    def read_sentence(
        self, sent_id: str, text: str, offset: int, earlier: Sequence[Draft] = ()
    ) -> list[Draft]:
        """Observations of one sentence, in text order; ``earlier`` are those of its cluster."""
        return self._read(sent_id, text, offset, earlier)[0]

    def _read(
        self, sent_id: str, text: str, offset: int, earlier: Sequence[Draft], before: str = ""
    ) -> tuple[list[Draft], list[tuple[int, int]]]:
        """Observations of a sentence, and [start, end) in the report of what was not read.

        ``before`` is the finding that the sentence before spoke of last.
        """
        found: list[Draft] = []
        unread: list[tuple[int, int]] = []
        for start, end in pieces(text):
            if len(words(text[start:end])) > MAX_WORDS:
                unread.append((offset + start, offset + end))
                continue
            reading = self._lexicon.read(text[start:end], offset + start, before)
            unread += self._read_clauses(reading, sent_id, found, earlier)
        return found, unread

    def _read_clauses(
        self, reading: Reading, sent_id: str, found: list[Draft], earlier: Sequence[Draft]
    ) -> list[tuple[int, int]]:
        """Add the observations of a reading to ``found``; returns what was not read."""
        unread: list[tuple[int, int]] = []
        carried: list[Match] = []
        subject: list[tuple[int, int]] = []
        previous: Clause | None = None
        for first, last in clauses(reading):
            clause = Clause(reading, sent_id, first, last)
            context = _spoken_of(clause, found, earlier)
            findings = clause.within(reading.findings)
            drafts = finding_drafts(clause, findings, context, self.reference)
            normal = normal_drafts(clause, carried, bool(drafts))
            if normal and not clause.within(reading.subjects):
                # "the lungs are" of "the lungs are otherwise clear"
                unread = [u for u in unread if u not in subject]
            drafts += normal
            if not normal and all(_is_technical(f) for f in findings):
                drafts += unassessed_drafts(clause)
            told = bool(drafts or findings)
            if not drafts:
                told |= self._beside(clause, previous, context, found, earlier)
            carried = clause.within(reading.subjects) or carried
            found += drafts
            left = self._coverage.unread(reading, first, last, told)
            subject = [] if told or not clause.within(reading.subjects) else left
            if not told and _is_exception(reading, first):
                left = [(reading.words[first].start, reading.words[last - 1].end)]
            unread += left
            previous = clause
        return unread

    def _beside(
        self,
        clause: Clause,
        previous: Clause | None,
        context: Draft | None,
        found: list[Draft],
        earlier: Sequence[Draft],
    ) -> bool:
        """Read a clause without finding: a comparison, or a part of what was told before.

        Comparisons join ``found``; returns whether the clause was understood.
        """
        reading = clause.reading
        spoken = context or (found[-1] if found and not clause.within(reading.structures) else None)
        if spoken is not None and taken_back(clause, spoken):
            return True
        relative = clause.first > 0 and reading.norm(clause.first - 1) in _RELATIVE
        compared = [] if relative else comparison_drafts(clause, bool(found))
        if compared and context is not None:
            compare(context, compared)
        found += compared if context is None else []
        if compared or clause.within(reading.non_assertions):
            return True
        attached = attach(clause, found or earlier, context)
        if previous is not None and found:
            attached |= change_of_relative(clause, previous, found[-1])
        if relative and context is not None:
            attached |= place_of_relative(clause, context)
        return attached

    def _account(
        self,
        study_id: str,
        kept: Sequence[Mapping[str, Any]],
        read: Set[str],
        overruled: Set[str],
        unread: Mapping[str, list[tuple[int, int]]],
        ledger: Ledger,
    ) -> None:
        for row in kept:
            sent_id = row["sent_id"]
            if sent_id in read:
                if unread[sent_id]:
                    spans = ", ".join(f"{a}-{b}" for a, b in unread[sent_id])
                    ledger.item(study_id, sent_id, PARTLY_COVERED, f"characters {spans}")
                elif sent_id in overruled:  # all it says was taken back
                    ledger.item(study_id, sent_id, NON_OBSERVATIONAL, OVERRULED)
                continue
            kind = self._coverage.kind(row["sentence"])
            if kind is None:
                ledger.item(
                    study_id,
                    sent_id,
                    UNCOVERED,
                    "no finding, normal statement or comparison known to the reference tables",
                )
            else:
                ledger.item(study_id, sent_id, NON_OBSERVATIONAL, kind)


def _sent_ids(drafts: Sequence[Draft]) -> set[str]:
    return {sent_id for d in with_children(drafts) for sent_id in d.sent_ids}


def _reported(sentences: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The sentences that describe the study, in text order."""
    kept = [
        s for s in sentences if s["section_type"] in REPORTED_SECTION_TYPES and not s["discarded"]
    ]
    return sorted(kept, key=lambda s: (s["start"], s["sent_id"]))


def _clusters(rows: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """The rows by cluster, in order of the first; a row without cluster is its own."""
    clusters: dict[tuple[int, Any], list[Mapping[str, Any]]] = {}
    for row in rows:
        key = (0, row["cluster"]) if row["cluster"] is not None else (1, row["sent_id"])
        clusters.setdefault(key, []).append(row)
    return list(clusters.values())


def _is_technical(finding: Match) -> bool:
    return bool(finding.value.finding.polarity == "technical")


def _is_exception(reading: Reading, first: int) -> bool:
    """Whether the clause is what "except for" brings in."""
    return any(m.value == EXCEPTION and m.last == first for m in reading.terminators)


def _last_named(drafts: Sequence[Draft]) -> str:
    """The finding that a sentence's last statement of one finding speaks of."""
    single = [d.entities[0] for d in drafts if len(d.key) == 1 and d.level in ASSERTING + DENYING]
    return single[-1] if single else ""


_ADDENDUM = "ADDEND"
_RELATIVE = ("which", "that")
_PRONOUNS = ("it", "this", "these", "they")


def _spoken_of(clause: Clause, found: Sequence[Draft], earlier: Sequence[Draft]) -> Draft | None:
    """The observation that a clause with "which", or one that opens with "this", speaks of."""
    reading = clause.reading
    if clause.first and reading.norm(clause.first - 1) in _RELATIVE:
        return found[-1] if found else None
    opening = reading.norm(clause.first) in _PRONOUNS
    if opening and reading.norm(clause.first + 1) in PREDICATING:
        told = found or earlier
        return told[-1] if told else None
    return None


def extract_shard(
    studies: pl.DataFrame,
    sentences: pl.DataFrame,
    reference: Reference,
    site: SiteConfig | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Observations, status and ledger of all studies that have a report.

    Returns tables RAW_OBSERVATIONS, PASS_STATUS and LEDGER. A study whose extraction raises is
    lost here, with the exception's class as detail; the others go on.
    """
    extractor = ObservationExtractor(reference, site)
    ledger = Ledger(STEP)
    rows: list[dict[str, Any]] = []
    status: list[dict[str, Any]] = []
    for study_id, report, of_study in by_study(studies, sentences):
        lines = Ledger(STEP)
        try:
            found = extractor.extract(study_id, report, of_study, lines)
        except Exception as error:  # one bad study never stops a shard
            ledger.study(study_id, "extraction_failed", type(error).__name__)
            status.append(_status(study_id, "failed", 0, type(error).__name__))
            continue
        ledger.rows += lines.rows
        rows += found
        status.append(_status(study_id, "ok" if found else "empty", len(found), None))
    return (
        frame(rows, RAW_OBSERVATIONS).sort("study_id", "raw_id"),
        frame(status, PASS_STATUS).sort("study_id"),
        ledger.table(),
    )


def by_study(
    studies: pl.DataFrame, sentences: pl.DataFrame
) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """(study id, report, its SENTENCES rows) of all studies with a report, in order of ids."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in sentences.sort("study_id", "start", "sent_id").iter_rows(named=True):
        groups.setdefault(row["study_id"], []).append(row)
    reports = studies.select("study_id", "report").drop_nulls().sort("study_id").iter_rows()
    return [(study_id, report, groups.get(study_id, [])) for study_id, report in reports]


def _status(study_id: str, status: str, items: int, detail: str | None) -> dict[str, Any]:
    return {
        "study_id": study_id,
        "step": STEP,
        "status": status,
        "num_items": items,
        "detail": detail,
    }
