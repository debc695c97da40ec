"""The review sheet: a sample for people to rate, as CSV and as one page, and its re-import (C.1).

Raters see what the judge sees for a criterion and nothing of what it said. The sample of each
criterion is stratified: levels share it as evenly as they can, then question strategies within a
level, so that rare levels are there; which cases is settled by a hash, so a rerun draws the same.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from cxrqba.errors import UserError, nearest
from cxrqba.judge.plan import question_texts
from cxrqba.judge.prompts import SEES
from cxrqba.schema import HUMAN_RATINGS, PART_CRITERIA, TEXT_QUALITY
from cxrqba.tables import frame

COLUMNS = (
    "criterion",
    "study_id",
    "question_id",
    "answer_id",
    "report",
    "question",
    "parts",
    "part",
    "levels",
    "level",
    "rater",
    "comment",
)
"""Columns of the sheet; ``level``, ``rater`` and ``comment`` are to be filled in."""


def sample(questions: pl.DataFrame, judgements: pl.DataFrame, size: int, seed: int) -> pl.DataFrame:
    """Up to ``size`` JUDGEMENTS of each criterion, stratified by level and question strategy."""
    strategies = questions.select("study_id", "question_id", "question_strategy")
    known = judgements.filter(pl.col("level").is_not_null()).join(
        strategies, on=["study_id", "question_id"], how="inner"
    )
    chosen = []
    for criterion in TEXT_QUALITY:
        rows = known.filter(pl.col("criterion") == criterion)
        chosen.append(_stratified(rows, size, seed))
    return pl.concat(chosen).drop("question_strategy")


def _stratified(rows: pl.DataFrame, size: int, seed: int) -> pl.DataFrame:
    """Even shares of levels, of strategies within a level, then by hash."""
    hashed = [
        hashlib.sha256(f"{seed}|{s}|{q}|{a}|{c}".encode()).hexdigest()
        for s, q, a, c in rows.select(
            "study_id", "question_id", "answer_id", "criterion"
        ).iter_rows()
    ]
    turn = pl.int_range(pl.len(), dtype=pl.Int64)
    return (
        rows.with_columns(pl.Series("hash", hashed, dtype=pl.String))
        .sort("hash")
        .with_columns(turn.over("level", "question_strategy").alias("in_strategy"))
        .sort("in_strategy", "hash")
        .with_columns(turn.over("level").alias("in_level"))
        .sort("in_level", "hash")
        .head(size)
        .sort("hash")
        .drop("hash", "in_strategy", "in_level")
    )


def sheet_rows(
    chosen: pl.DataFrame,
    questions: pl.DataFrame,
    answers: pl.DataFrame,
    reports: Mapping[str, str | None],
) -> list[dict[str, str]]:
    """Rows of the sheet, in the order of criteria; texts a criterion does not see are empty."""
    texts = {
        (s, q): (question, dict(zip(ids, parts, strict=True)))
        for s, q, question, ids, parts in question_texts(questions, answers).collect().iter_rows()
    }
    rows = []
    columns = ("criterion", "study_id", "question_id", "answer_id")
    for criterion, study_id, question_id, answer_id in chosen.select(columns).iter_rows():
        question, parts = texts[study_id, question_id]
        sees = SEES[criterion]
        row = dict.fromkeys(COLUMNS, "")
        row |= {
            "criterion": criterion,
            "study_id": study_id,
            "question_id": question_id,
            "answer_id": answer_id or "",
            "report": (reports.get(study_id) or "") if "report" in sees else "",
            "question": question if "question" in sees else "",
            "parts": "\n".join(parts.values()) if "parts" in sees else "",
            "part": parts.get(answer_id, "") if criterion in PART_CRITERIA else "",
            "levels": " ".join(TEXT_QUALITY[criterion]),
        }
        rows.append(row)
    return rows


def sheet_csv(rows: Iterable[Mapping[str, str]]) -> str:
    """The sheet as CSV text."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def read_sheet(path: Path) -> pl.DataFrame:
    """HUMAN_RATINGS of a sheet that was filled in; rows without a level are left out.

    :class:`UserError` names the line of an unknown level or criterion, of a level without a rater
    and of a case rated twice by the same rater.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            needed = ("criterion", "study_id", "question_id", "answer_id", "level", "rater")
            missing = [c for c in needed if c not in (reader.fieldnames or ())]
            if missing:
                raise UserError(f"{path}: no column '{missing[0]}'; it is no review sheet")
            lines = [(reader.line_num, row) for row in reader if (row["level"] or "").strip()]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a readable CSV file ({type(error).__name__})") from None
    rows = [_rating(row, f"{path}, line {number}") for number, row in lines]
    seen: dict[tuple[str | None, ...], int] = {}
    for (number, _), row in zip(lines, rows, strict=True):
        key = tuple(row[c] for c in ("criterion", "study_id", "question_id", "answer_id", "rater"))
        if key in seen:
            raise UserError(f"{path}, line {number}: the case of line {seen[key]} again")
        seen[key] = number
    return frame(rows, HUMAN_RATINGS)


def _rating(row: Mapping[str, str], where: str) -> dict[str, str | None]:
    criterion = row["criterion"].strip()
    if criterion not in TEXT_QUALITY:
        raise UserError(f"{where}: no criterion '{criterion}'{nearest(criterion, TEXT_QUALITY)}")
    level = row["level"].strip().upper()
    if level not in TEXT_QUALITY[criterion]:
        raise UserError(
            f"{where}: no level '{level}' of {criterion}{nearest(level, TEXT_QUALITY[criterion])}"
        )
    rater = row["rater"].strip()
    if not rater:
        raise UserError(f"{where}: a level without the name of a rater")
    return {
        "criterion": criterion,
        "study_id": row["study_id"].strip(),
        "question_id": row["question_id"].strip(),
        "answer_id": row["answer_id"].strip() or None,
        "level": level,
        "rater": rater,
        "comment": (row.get("comment") or "").strip() or None,
    }


def read_sheets(paths: Sequence[Path]) -> pl.DataFrame:
    """HUMAN_RATINGS of all sheets."""
    return pl.concat([frame([], HUMAN_RATINGS), *(read_sheet(p) for p in paths)])
