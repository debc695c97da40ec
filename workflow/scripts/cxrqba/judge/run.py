"""Judging a shard: from the questions table to one row per text and criterion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Protocol

import polars as pl

from cxrqba.judge.rules import VERSION
from cxrqba.ledger import Ledger
from cxrqba.schema import JUDGEMENTS, PART_CRITERIA, TEXT_QUALITY

STAGE = "judge_qa"


class Judge(Protocol):
    """The five criteria; each method's arguments are all the judge may see for it."""

    def entailment(self, report: str, question: str, parts: Sequence[str]) -> list[str]:
        """One level per part."""

    def relevance(self, question: str, parts: Sequence[str]) -> list[str]:
        """One level per part."""

    def completeness(self, report: str, question: str, parts: Sequence[str]) -> str:
        """One level for the whole answer."""

    def question_clarity(self, question: str) -> str:
        """One level for the question."""

    def answer_clarity(self, parts: Sequence[str]) -> list[str]:
        """One level per part."""


def judge_questions(
    studies: pl.DataFrame, questions: pl.DataFrame, judge: Judge
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judge all questions of a shard; returns (JUDGEMENTS, LEDGER).

    A study that cannot be judged keeps its questions, which stay unrated; the ledger says so.
    """
    reports = dict(studies.select("study_id", "report").iter_rows())
    ledger = Ledger(STAGE)
    rows = _Rows()
    for study_id, group in groupby(_texts(questions), key=lambda q: q.study_id):
        report = reports.get(study_id)
        for question in group:
            try:
                levels = _judge(judge, report, question)
            except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
                detail = f"{type(error).__name__} while judging; the question stays unrated"
                ledger.item(study_id, question.question_id, "judge_failed", detail)
                levels = {}
            rows.add(question, levels, report is not None)
    return rows.table(), ledger.table()


class _Question:
    __slots__ = ("answer_ids", "parts", "question", "question_id", "study_id")

    def __init__(self, study_id: str, question_id: str, question: str):
        self.study_id = study_id
        self.question_id = question_id
        self.question = question
        self.answer_ids: list[str] = []
        self.parts: list[str] = []


def _texts(questions: pl.DataFrame) -> Iterator[_Question]:
    """Questions with the ids and texts of their parts, by study and question id."""
    flat = questions.select(
        "study_id",
        "question_id",
        "question",
        pl.col("answers").list.eval(pl.element().struct.field("answer_id")).alias("ids"),
        pl.col("answers").list.eval(pl.element().struct.field("text")).alias("texts"),
    ).sort("study_id", "question_id", maintain_order=True)
    for study_id, question_id, text, ids, texts in flat.iter_rows():
        question = _Question(study_id, question_id, text or "")
        question.answer_ids = ids or []
        question.parts = [t or "" for t in texts or []]
        yield question


def _judge(judge: Judge, report: str | None, question: _Question) -> dict[str, list[str] | str]:
    levels: dict[str, list[str] | str] = {
        "relevance": judge.relevance(question.question, question.parts),
        "question_clarity": judge.question_clarity(question.question),
        "answer_clarity": judge.answer_clarity(question.parts),
    }
    if report is not None:
        levels["entailment"] = judge.entailment(report, question.question, question.parts)
        levels["completeness"] = judge.completeness(report, question.question, question.parts)
    return levels


class _Rows:
    """Columns of JUDGEMENTS, filled question by question."""

    def __init__(self) -> None:
        self.columns: dict[str, list[str | None]] = {
            name: []
            for name in ("study_id", "question_id", "answer_id", "criterion", "level", "status")
        }

    def add(
        self, question: _Question, levels: dict[str, list[str] | str], has_report: bool
    ) -> None:
        for criterion in TEXT_QUALITY:
            found = levels.get(criterion)
            status = "ok" if found is not None else "error" if has_report else "no_report"
            ids: Sequence[str | None] = [None]
            given: Sequence[str | None] = [found if isinstance(found, str) else None]
            if criterion in PART_CRITERIA:
                ids = question.answer_ids
                given = found if isinstance(found, list) else [None] * len(ids)
            self.columns["study_id"] += [question.study_id] * len(ids)
            self.columns["question_id"] += [question.question_id] * len(ids)
            self.columns["answer_id"] += ids
            self.columns["criterion"] += [criterion] * len(ids)
            self.columns["level"] += given
            self.columns["status"] += [status] * len(ids)

    def table(self) -> pl.DataFrame:
        return pl.DataFrame(
            {**self.columns, "judge": [VERSION] * len(self.columns["level"])}, schema=JUDGEMENTS
        )
