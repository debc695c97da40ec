"""Question rows that hold their answer parts, as the two tables of the project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from cxrqba.schema import ANSWERS, QUESTIONS
from cxrqba.tables import frame

KEYS = ("study_id", "question_id", "question_strategy")


def qa_frames(rows: Iterable[Mapping[str, Any]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """(QUESTIONS, ANSWERS) of rows whose key ``answers`` lists the parts."""
    rows = list(rows)
    questions = [{k: v for k, v in row.items() if k != "answers"} for row in rows]
    answers = [{**part, **keys(row)} for row in rows for part in row["answers"]]
    return frame(questions, QUESTIONS), frame(answers, ANSWERS)


def keys(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a part has in common with its question."""
    return {k: row[k] for k in KEYS if k in row}
