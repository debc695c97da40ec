"""The worklist: what the reference definitions did not understand, most frequent first.

Kinds, each with the number of studies it concerns, one example place and what to edit:

- *unknown header*: laid out as a header, known as none;
- *uncovered sentence*: a FINDINGS or IMPRESSION sentence that yielded nothing;
- *unknown words*: words of such sentences, or of the parts the extraction left unread of others
  (``partly_covered``), that stand in no reference table, and *unread words*, that do, but in no
  phrase that was found here;
- *unmapped* and *low margin*: values a model gave that have no reference tag, or one that barely
  beat its runner-up or the threshold. The rules backend only gives values it knows.

Sentences that differ in case, numbers or inflection count as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxrqba.extract.coverage import PARTLY_COVERED, UNCOVERED, Coverage
from cxrqba.extract.lexicon import FILLERS, Lexicon
from cxrqba.extract.sentences import UNKNOWN_HEADER
from cxrqba.extract.words import words
from cxrqba.mapping.compatible import OUTSIDE
from cxrqba.mapping.mentions import texts
from cxrqba.reference.tables import Reference
from cxrqba.reports.deid import Deidentified
from cxrqba.schema import REPORTED_SECTION_TYPES, WORKLIST
from cxrqba.tables import frame

HEADER, SENTENCE = "unknown header", "uncovered sentence"
UNKNOWN, UNREAD = "unknown words", "unread words"
UNMAPPED, LOW_MARGIN = "unmapped", "low margin"

EDIT = {
    HEADER: "config/datasets: site.header_aliases; for all sites sections.yaml, headers",
    SENTENCE: "findings.csv, synonyms; normality.yaml for a normal statement; sections.yaml, "
    "non_observational, if it describes nothing; site.normal_phrases for a stock phrase",
    UNKNOWN: "findings.csv or regions.csv, synonyms; a new finding is a new row",
    UNREAD: "findings.csv, synonyms, or compositions.yaml: the phrase these words stand in",
    UNMAPPED: "the table of its kind (findings.csv, regions.csv, modifiers.yaml, changes.yaml), "
    "synonyms",
    LOW_MARGIN: "synonyms of the right row, so that it is exact",
}
"""Kind -> what to edit, in resources/reference unless said otherwise; the kinds in their order."""

REMOVED = "nothing: words were removed by de-identification"
"""What to edit where a sentence holds removed words and no other that is unknown."""

_SPAN = re.compile(r"(\d+)-(\d+)")

LONGEST_RUN = 5
"""Longer runs of unknown words are another language or a letter, no term."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where something stands; ``context`` is the sentence."""

    study_id: str
    sent_id: str | None
    start: int | None
    end: int | None
    context: str | None = None


@dataclass(slots=True)
class _Entry:
    """Where something occurs: studies and the first example."""

    shown: str
    example: _Place
    edit: str
    decision: Mapping[str, Any]
    studies: int = 0
    last_study: str = ""


@dataclass(frozen=True)
class Shard:
    """Tables of one shard, named as in ``schema``."""

    studies: pl.DataFrame
    sentences: pl.DataFrame
    observations: pl.DataFrame
    ledgers: pl.DataFrame


class Worklist:
    """Collects entries shard by shard."""

    def __init__(
        self,
        reference: Reference,
        mappings: pl.DataFrame,
        deid_tokens: Sequence[str],
        margin: float,
        threshold: float,
    ):
        self._lexicon = Lexicon(reference)
        self._coverage = Coverage(reference)
        self._vocabulary = _vocabulary(reference) | FILLERS
        self._deid = Deidentified.of(list(deid_tokens))
        self._weak = _weak_decisions(mappings, margin, threshold)
        self._entries: dict[tuple[str, str], _Entry] = {}

    def add(self, shard: Shard) -> None:
        """Count what one shard did not understand; its studies are in no other shard."""
        items = shard.ledgers.filter(pl.col("scope") == "item")
        uncovered, unread = _sentence_ids(items, UNCOVERED), _unread(items)
        self._add_headers(items, shard.studies)
        sentences = shard.sentences.filter(
            pl.col("section_type").is_in(REPORTED_SECTION_TYPES), pl.col("discarded").is_null()
        )
        for row in sentences.sort("study_id", "start").iter_rows(named=True):
            key = (row["study_id"], row["sent_id"])
            if key in uncovered:
                self._add_uncovered(row)
            elif key in unread:
                self._add_unread(row, unread[key])
        if self._weak:
            self._add_values(shard.observations, shard.sentences)

    def table(self, top: int) -> pl.DataFrame:
        """WORKLIST: the ``top`` entries of each kind by number of studies."""
        order = {kind: i for i, kind in enumerate(EDIT)}
        entries = sorted(
            self._entries.items(),
            key=lambda e: (order[e[0][0]], e[1].edit == REMOVED, -e[1].studies, e[0][1]),
        )
        rows: list[dict[str, Any]] = []
        taken = dict.fromkeys(EDIT, 0)
        for (kind, _), entry in entries:
            taken[kind] += 1
            if taken[kind] <= top:
                rows.append(_row(kind, entry))
        return frame(rows, WORKLIST)

    def _count(
        self,
        kind: str,
        key: str,
        shown: str,
        place: _Place,
        edit: str = "",
        decision: Mapping[str, Any] | None = None,
    ) -> None:
        if not key:
            return
        entry = self._entries.get((kind, key))
        if entry is None:
            entry = _Entry(" ".join(shown.split()), place, edit or EDIT[kind], decision or {})
            self._entries[kind, key] = entry
        entry.studies += place.study_id != entry.last_study  # those of a study come together
        entry.last_study = place.study_id

    def _add_headers(self, items: pl.DataFrame, studies: pl.DataFrame) -> None:
        found = items.filter(pl.col("reason") == UNKNOWN_HEADER).select("study_id", "detail")
        reports = dict(studies.select("study_id", "report").iter_rows())
        for study_id, name in found.sort("study_id", "detail").iter_rows():
            start = (reports.get(study_id) or "").upper().find(name)
            span = (start, start + len(name)) if start >= 0 else (None, None)
            self._count(HEADER, name, name, _Place(study_id, None, *span))

    def _add_uncovered(self, row: Mapping[str, Any]) -> None:
        """A sentence that yielded nothing, and its words that no table explains."""
        text, span = row["sentence"], (row["start"], row["end"])
        has_gap = self._add_unread(row, [span]) or not self._deid.pattern.search(text)
        place = _Place(row["study_id"], row["sent_id"], *span, text)
        edit = EDIT[SENTENCE] if has_gap else REMOVED
        self._count(SENTENCE, _plain(self._masked(text)), text, place, edit)

    def _add_unread(self, row: Mapping[str, Any], spans: Iterable[tuple[int, int]]) -> bool:
        """What is unread of [start, end) of the report; whether a word is in no table."""
        text, offset = row["sentence"], row["start"]
        reading = self._lexicon.read(self._masked(text), offset)
        has_gap = False
        for start, end in spans:
            inside = [i for i, w in enumerate(reading.words) if start <= w.start and w.end <= end]
            if not inside:
                continue
            for first, last in self._coverage.unread(reading, inside[0], inside[-1] + 1, told=True):
                shown = text[first - offset : last - offset]
                plain = _plain(shown)
                kind = UNREAD if self._vocabulary.issuperset(plain.split()) else UNKNOWN
                has_gap |= kind == UNKNOWN
                if len(plain.split()) <= LONGEST_RUN:
                    place = _Place(row["study_id"], row["sent_id"], first, last, text)
                    self._count(kind, plain, shown, place)
        return has_gap

    def _masked(self, text: str) -> str:
        """The text without the words of de-identification tokens, places kept."""
        return self._deid.pattern.sub(lambda token: "_" * len(token[0]), text)

    def _add_values(self, observations: pl.DataFrame, sentences: pl.DataFrame) -> None:
        told = {
            (study_id, sent_id): sentence
            for study_id, sent_id, sentence in sentences.select(
                "study_id", "sent_id", "sentence"
            ).iter_rows()
        }
        for row in observations.sort("study_id", "raw_id").iter_rows(named=True):
            for kind, text in _values(row):
                decision = self._weak.get((kind, text))
                if decision is not None:
                    span: Mapping[str, Any] = next(iter(row["spans"] or ()), {})
                    sent_id = span.get("sent_id") or next(iter(row["sent_ids"] or ()), None)
                    context = told.get((row["study_id"], sent_id))
                    place = _Place(
                        row["study_id"], sent_id, span.get("start"), span.get("end"), context
                    )
                    which = LOW_MARGIN if decision["reference"] else UNMAPPED
                    self._count(which, f"{kind} {text}", text, place, decision=decision)


def _values(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(kind, text) of the free values of a raw observation, as mapping decides on them."""
    yield from (("entity", t) for t in texts(row["entities"]))
    yield from (("region", t) for t in texts(r["region"] for r in row["regions"] or () if r))
    yield from (("modifier", t) for t in texts(m["value"] for m in row["modifiers"] or () if m))
    yield from (("change", t) for t in texts(row["changes"]))


def _weak_decisions(
    mappings: pl.DataFrame, margin: float, threshold: float
) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Decisions on single values that found no tag, or one that was barely ahead."""
    least = pl.max_horizontal("runner_up_score", pl.lit(threshold))
    weak = mappings.filter(
        pl.col("kind").is_in(["entity", "region", "modifier", "change"]),
        ~pl.col("method").is_in(["exact", "cue_table", OUTSIDE]),
        pl.col("reference").is_null() | (pl.col("score") - least < margin),
    )
    return {(row["kind"], row["text"]): row for row in weak.iter_rows(named=True)}


def _sentence_ids(items: pl.DataFrame, reason: str) -> set[tuple[str, str]]:
    rows = items.filter(pl.col("reason") == reason, pl.col("item_id").is_not_null())
    return set(rows.select("study_id", "item_id").iter_rows())


def _unread(items: pl.DataFrame) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """(study, sentence) -> [start, end) in the report of what the extraction left unread there."""
    rows = items.filter(pl.col("reason") == PARTLY_COVERED, pl.col("item_id").is_not_null())
    return {
        (study_id, sent_id): [(int(a), int(b)) for a, b in _SPAN.findall(detail or "")]
        for study_id, sent_id, detail in rows.select("study_id", "item_id", "detail").iter_rows()
    }


def _plain(text: str) -> str:
    """What makes two texts one entry: the normal forms of their words, numbers left out."""
    return " ".join(w.norm for w in words(text) if w.norm[:1].isalpha())


def _row(kind: str, entry: _Entry) -> dict[str, Any]:
    place, decision = entry.example, entry.decision
    return {
        "kind": kind,
        "text": entry.shown,
        "studies": entry.studies,
        "value_kind": decision.get("kind"),
        "reference": decision.get("reference"),
        "score": decision.get("score"),
        "runner_up": decision.get("runner_up"),
        "runner_up_score": decision.get("runner_up_score"),
        "example_study": place.study_id,
        "sent_id": place.sent_id,
        "start": place.start,
        "end": place.end,
        "context": place.context,
        "edit": entry.edit,
    }


def _vocabulary(reference: Reference) -> frozenset[str]:
    """All words of the names and synonyms of findings, regions and structures of normality."""
    phrases = [
        *(p for f in reference.findings.values() for p in (f.name, *f.synonyms)),
        *(p for r in reference.regions.values() for p in (r.name, *r.synonyms)),
        *(p for c in reference.compositions for p in (*c.structures, *c.attributes)),
        *(p for s in reference.structures for p in (*s.names, *s.predicates)),
    ]
    return frozenset(w.norm for p in phrases for w in words(p))
