"""The three passes from a model's stored answers: the tables that the rules backend makes.

A study whose sentences or observations cannot be read leaves the pipeline with the status of the
call as reason; the paper counts these as parse errors (Sec. E.1.2). Nothing here asks a model: a
better parser needs the stored answers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.extract import indication, observations, sentences
from cxrqba.extract.indication_records import IndicationReader
from cxrqba.extract.observations import by_study
from cxrqba.extract.records import Answer, ObservationReader
from cxrqba.extract.sentence_records import SentenceReader
from cxrqba.extract.sentences import UNKNOWN_HEADER, SentenceExtractor
from cxrqba.ledger import Ledger
from cxrqba.llm.messages import USABLE
from cxrqba.llm.run import answers_of
from cxrqba.llm.store import Response
from cxrqba.reference.tables import Reference
from cxrqba.schema import (
    INDICATIONS,
    MODEL_REQUESTS,
    PASS_STATUS,
    RAW_OBSERVATIONS,
    RECEIPTS,
    SENTENCES,
)
from cxrqba.tables import frame, read_tables

Rows = list[dict[str, Any]]
Made = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]
"""The pass's table, PASS_STATUS, LEDGER."""


@dataclass(frozen=True, slots=True)
class Told:
    """The answer to one request, and the sentences it was about."""

    sent_ids: tuple[str, ...]
    response: Response

    @property
    def origin(self) -> str:
        """Model, request and attempt, as tables name the call."""
        r = self.response
        return f"{r.backend}:{r.model}:{r.key[:16]}:{r.attempt}"


Answers = Mapping[str, Sequence[Told]]
"""study id -> its answers in the order in which they were asked."""


def load_answers(requests: Sequence[Path], receipts: Sequence[Path], name: str) -> Answers:
    """The answers of a pass, from tables of requests and of the receipts of their answers."""
    of_pass = read_tables(requests, MODEL_REQUESTS).filter(pl.col("pass") == name)
    responses = answers_of(of_pass, read_tables(receipts, RECEIPTS), receipts[0])
    found: dict[str, list[Told]] = {}
    for study_id, sent_ids, key in of_pass.select("study_id", "sent_ids", "key").iter_rows():
        found.setdefault(study_id, []).append(Told(tuple(sent_ids), responses[key]))
    return found


def parse_sentences(
    studies: pl.DataFrame, answers: Answers, reference: Reference, extractor: SentenceExtractor
) -> Made:
    """SENTENCES of all studies, as :func:`cxrqba.extract.sentences.extract_shard`."""
    reader = SentenceReader(reference, extractor)

    def read(study_id: str, report: str, told: Sequence[Told], _: Rows, ledger: Ledger) -> Rows:
        if not told:
            return []
        found = reader.read(study_id, report, told[0].response.reply.text, ledger)
        if found is None:
            raise _LostError("unreadable_answer")
        for name in extractor.unknown_headers(report):
            ledger.item(study_id, None, UNKNOWN_HEADER, name)
        return found

    made = _parse(sentences.STEP, _with_empty(studies), answers, read)
    return _tables(made, SENTENCES, ["study_id", "start", "sent_id"])


def parse_observations(
    studies: pl.DataFrame, told: pl.DataFrame, answers: Answers, reference: Reference
) -> Made:
    """RAW_OBSERVATIONS of all studies, as :func:`cxrqba.extract.observations.extract_shard`."""
    reader = ObservationReader(reference)

    def read(study_id: str, _: str, found: Sequence[Told], rows: Rows, ledger: Ledger) -> Rows:
        given = [Answer(t.sent_ids, t.response.reply.text, t.origin) for t in found]
        return reader.read(study_id, given, rows, ledger)

    made = _parse(observations.STEP, by_study(studies, told), answers, read)
    return _tables(made, RAW_OBSERVATIONS, ["study_id", "raw_id"])


def parse_indication(
    studies: pl.DataFrame, told: pl.DataFrame, answers: Answers, reference: Reference
) -> Made:
    """INDICATIONS of all studies, as :func:`cxrqba.extract.indication.extract_shard`."""
    reader = IndicationReader(reference)

    def read(study_id: str, _: str, found: Sequence[Told], rows: Rows, ledger: Ledger) -> Rows:
        if not found:
            return []
        text = found[0].response.reply.text
        row = reader.read(study_id, text, rows, found[0].origin, ledger)
        return [] if row is None else [row]

    made = _parse(indication.STEP, by_study(studies, told), answers, read)
    return _tables(made, INDICATIONS, ["study_id"])


class _LostError(Exception):
    """The study is lost in this pass; its text is the reason."""


Study = tuple[str, str, Rows]
Read = Callable[[str, str, Sequence[Told], Rows, Ledger], Rows]


def _with_empty(studies: pl.DataFrame) -> list[Study]:
    pairs = studies.sort("study_id").select("study_id", "report").iter_rows()
    return [(study_id, report, []) for study_id, report in pairs]


def _parse(
    step: str, studies: Sequence[Study], answers: Answers, read: Read
) -> tuple[Rows, Rows, Ledger]:
    """(rows, status, ledger): one bad study never stops a shard."""
    rows: Rows = []
    status: Rows = []
    ledger = Ledger(step)
    for study_id, report, of_study in studies:
        told = answers.get(study_id, ())
        lines = Ledger(step)
        found: Rows = []
        try:
            if report is None:
                raise _LostError("no_report")
            _check_usable(told)
            found = read(study_id, report, told, of_study, lines)
            state, detail = ("ok" if found else "empty"), None
        except _LostError as lost:
            state, detail = "failed", str(lost)
            ledger.study(study_id, detail, _advice(told))
        except Exception as error:
            state, detail = "failed", type(error).__name__
            ledger.study(study_id, "extraction_failed", f"{step} raised {detail}; please report it")
        ledger.rows += lines.rows
        rows += found
        status.append(
            {
                "study_id": study_id,
                "step": step,
                "status": state,
                "num_items": len(found),
                "detail": detail,
            }
        )
    return rows, status, ledger


def _check_usable(told: Sequence[Told]) -> None:
    for one in told:
        if one.response.status not in USABLE:
            raise _LostError(one.response.status)


def _advice(told: Sequence[Told]) -> str:
    bad = [t for t in told if t.response.status not in USABLE] or list(told)
    if not bad:
        return "the source has no report for this study"
    return f"{len(bad)} of {len(told)} answers; the first is request {bad[0].response.key[:16]}"


def _tables(made: tuple[Rows, Rows, Ledger], schema: pl.Schema, order: list[str]) -> Made:
    rows, status, ledger = made
    found = frame(rows, schema).sort(order)
    return found, frame(status, PASS_STATUS).sort("study_id"), ledger.table()
