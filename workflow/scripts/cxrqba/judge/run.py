"""Judging a shard: from the questions and answers tables to one row per text and criterion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from cxrqba.judge.plan import question_texts
from cxrqba.judge.prompts import SEES, view
from cxrqba.judge.verdict import Judge, Verdict
from cxrqba.ledger import Ledger
from cxrqba.schema import JUDGEMENTS, PART_CRITERIA, TEXT_QUALITY

STAGE = "judge_qa"


def judge_questions(
    studies: pl.DataFrame, questions: pl.DataFrame, answers: pl.DataFrame, judge: Judge
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judge all questions of a shard; returns (JUDGEMENTS, LEDGER).

    A question that cannot be judged by a criterion stays, unrated; the ledger says so.
    """
    reports = dict(studies.select("study_id", "report").iter_rows())
    ledger = Ledger(STAGE)
    rows = _Rows()
    for question in _texts(questions, answers):
        for criterion in TEXT_QUALITY:
            rows.add(question, criterion, _verdict(judge, criterion, reports, question, ledger))
    return rows.table(), ledger.table()


def _verdict(
    judge: Judge,
    criterion: str,
    reports: Mapping[str, str | None],
    question: _Question,
    ledger: Ledger,
) -> Verdict:
    report = reports.get(question.study_id)
    if report is None and "report" in SEES[criterion]:
        return Verdict(None, "no_report", "")
    shown = view(criterion, report or "", question.question, question.parts)
    try:
        verdict = judge.judge(shown)
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        detail = f"{criterion}: {type(error).__name__} while judging; it stays unrated"
        ledger.item(question.study_id, question.question_id, "judge_failed", detail)
        return Verdict(None, "error", "")
    if verdict.levels is None:
        detail = f"{criterion}: {verdict.status}; it stays unrated"
        ledger.item(question.study_id, question.question_id, "not_judged", detail)
    return verdict


class _Question:
    __slots__ = ("answer_ids", "parts", "question", "question_id", "study_id")

    def __init__(self, study_id: str, question_id: str, question: str):
        self.study_id = study_id
        self.question_id = question_id
        self.question = question
        self.answer_ids: list[str] = []
        self.parts: list[str] = []


def _texts(questions: pl.DataFrame, answers: pl.DataFrame) -> Iterator[_Question]:
    """Questions with the ids and texts of their parts, by study and question id."""
    flat = question_texts(questions, answers).sort("study_id", "question_id", maintain_order=True)
    for study_id, question_id, text, ids, texts in flat.collect().iter_rows():
        question = _Question(study_id, question_id, text)
        question.answer_ids = ids
        question.parts = texts
        yield question


class _Rows:
    """Columns of JUDGEMENTS, filled criterion by criterion."""

    def __init__(self) -> None:
        self.columns: dict[str, list[str | None]] = {name: [] for name in JUDGEMENTS}

    def add(self, question: _Question, criterion: str, verdict: Verdict) -> None:
        ids: Sequence[str | None] = question.answer_ids if criterion in PART_CRITERIA else [None]
        levels: Sequence[str | None] = verdict.levels or [None] * len(ids)
        columns = self.columns
        columns["study_id"] += [question.study_id] * len(ids)
        columns["question_id"] += [question.question_id] * len(ids)
        columns["answer_id"] += ids
        columns["criterion"] += [criterion] * len(ids)
        columns["level"] += levels
        columns["status"] += [verdict.status] * len(ids)
        columns["judge"] += [verdict.judge or None] * len(ids)

    def table(self) -> pl.DataFrame:
        return pl.DataFrame(self.columns, schema=JUDGEMENTS)
