"""The worklist: what the reference definitions did not understand, most frequent first.

Kinds, each with the number of studies it concerns, one example place and what to edit:

- *unknown header*: laid out as a header, known as none;
- *uncovered sentence*: a FINDINGS or IMPRESSION sentence that yielded nothing;
- *unknown words*: words of such sentences, or of sentences that did yield something, that stand in
  no reference table, and *unread words*, that do, but in no phrase that was found here;
- *unmapped* and *low margin*: values a model gave that have no reference tag, or one that barely
  beat its runner-up or the threshold. The rules backend only gives values it knows.

Sentences that differ in case, numbers or inflection count as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxrqba.extract.coverage import NON_OBSERVATIONAL, UNCOVERED
from cxrqba.extract.lexicon import FILLERS, FINITE, Lexicon
from cxrqba.extract.matcher import PhraseTable
from cxrqba.extract.sentences import UNKNOWN_HEADER
from cxrqba.extract.words import Word, word_set, words
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

COMMON = (
    frozenset(
        w.norm
        for w in words(
            "a an the and or but nor versus with without for from by as than then also there it "
            "its this that these those which who what when where while if so not no any all both "
            "either neither other otherwise another each such same only just very more most less "
            "least much many few several some one two three he she his her patient i you they "
            "their our do does did can could may might will would should must have had having be "
            "being been am see seen note noted notable identify identified visualize visualized "
            "appear appears appearing appearance apparent evidence given again prior previous "
            "previously current currently study exam examination film image view frontal lateral "
            "chest radiograph radiographic compared comparison since interval however although "
            "though because due about above below under between through during before after into "
            "onto upon out up down off over here well within along toward towards per via status "
            "post possible possibly probable probably likely suggest suggests suggesting "
            "suggestive suspicious consistent compatible represent represents representing "
            "related relate reflect reflecting associated underlying overlying projecting "
            "superimposed finding findings impression demonstrate demonstrates demonstrated show "
            "shows reveal reveals area areas level region side sided aspect portion part space "
            "size shaped amount degree measure measures measuring approximately diameter age year "
            "month week day hour history technique available dedicated change changes "
            "characteristic typical specifically document correlate redemonstration normal "
            "abnormal differences notably placement resolution scan further additional better "
            "including particularly largely mostly example number incidentally interpretation "
            "helpful concern described"
        )
    )
    | FILLERS
    | FINITE
)
"""Words that carry no finding or place of their own: they are no gap in a table."""

REMOVED = "nothing: words were removed by de-identification"
"""What to edit where a sentence holds removed words and no other that is unknown."""

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

    def count(self, study_id: str) -> None:
        """Count the study once; all of its occurrences come together."""
        self.studies += study_id != self.last_study
        self.last_study = study_id


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
        self._told = PhraseTable(
            (phrase, phrase)
            for phrases in reference.sections["non_observational"].values()
            for phrase in phrases
        )
        self._vocabulary = _vocabulary(reference)
        self._silent = COMMON | word_set(" ".join(map(str, reference.sections["empty_words"])))
        self._deid = Deidentified.of(list(deid_tokens))
        self._weak = _weak_decisions(mappings, margin, threshold)
        self._entries: dict[tuple[str, str], _Entry] = {}

    def add(self, shard: Shard) -> None:
        """Count what one shard did not understand; its studies are in no other shard."""
        items = shard.ledgers.filter(pl.col("scope") == "item")
        silent, uncovered = _sentence_ids(items, NON_OBSERVATIONAL), _sentence_ids(items, UNCOVERED)
        spans = _spans(shard.observations)
        self._add_headers(items, shard.studies)
        sentences = shard.sentences.filter(
            pl.col("section_type").is_in(REPORTED_SECTION_TYPES), pl.col("discarded").is_null()
        )
        for row in sentences.sort("study_id", "start").iter_rows(named=True):
            key = (row["study_id"], row["sent_id"])
            if key not in silent:
                self._add_sentence(row, key in uncovered, spans.get(key, ()))
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

    def _add_sentence(
        self, row: Mapping[str, Any], is_uncovered: bool, spans: Iterable[tuple[int, int]]
    ) -> None:
        text, start = row["sentence"], row["start"]
        key = (row["study_id"], row["sent_id"])
        masked = self._deid.pattern.sub(lambda token: "_" * len(token[0]), text)
        has_gap = masked == text
        for first, last in self._unknown(masked, start, tuple(spans)):
            shown = text[first.start - start : last.end - start]
            kind = UNREAD if self._vocabulary.issuperset(_plain(shown).split()) else UNKNOWN
            has_gap |= kind == UNKNOWN
            self._count(kind, _plain(shown), shown, _Place(*key, first.start, last.end, text))
        if is_uncovered:
            place = _Place(*key, start, row["end"], text)
            edit = EDIT[SENTENCE] if has_gap else REMOVED
            self._count(SENTENCE, _plain(masked), text, place, edit)

    def _unknown(
        self, text: str, start: int, spans: Sequence[tuple[int, int]]
    ) -> Iterator[tuple[Word, Word]]:
        """First and last word of each run of words that nothing explains."""
        reading = self._lexicon.read(text, start)
        explained = (
            *(reading.findings, reading.regions, reading.subjects, reading.predicates),
            *(reading.before, reading.after, reading.non_assertions, reading.changes),
            *(reading.modifiers, reading.terminators, reading.parts),
            self._told.find(reading.words),
        )
        known = {at for found in explained for m in found for at in range(m.first, m.last)}
        run: list[Word] = []
        for at, word in enumerate([*reading.words, None]):
            if word is not None and at not in known and self._is_term(word, spans):
                run.append(word)
                continue
            if 0 < len(run) <= LONGEST_RUN:
                yield run[0], run[-1]
            run = []

    def _is_term(self, word: Word, spans: Sequence[tuple[int, int]]) -> bool:
        return (
            word.norm[:1].isalpha()
            and len(word.norm) > 2
            and word.norm not in self._silent
            and not any(start <= word.start and word.end <= end for start, end in spans)
        )

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


def _spans(observations: pl.DataFrame) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """(study, sentence) -> the places that some observation rests on."""
    rows = (
        observations.select("study_id", "spans")
        .filter(pl.col("spans").list.len() > 0)
        .explode("spans", empty_as_null=True)
        .unnest("spans")
    )
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for study_id, sent_id, start, end in rows.iter_rows():
        found.setdefault((study_id, sent_id), []).append((start, end))
    return found


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
