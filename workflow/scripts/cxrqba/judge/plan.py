"""Which requests a judge needs: every distinct view once (paper Sec. 3.3, E.4.2).

Entailment and completeness see the report, so their views repeat within a study alone: they are
asked within the shard. Relevance and the clarities see questions and answers, which repeat across
studies: over all shards they are put into K buckets by a hash of the view, so that each distinct
view is in one bucket whatever the shards are, and is asked once. Levels are joined back by the
view's key, which anyone can compute from the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from cxrqba.judge.prompts import SEES, View, view
from cxrqba.schema import JUDGE_VIEWS
from cxrqba.tables import frame

IN_SHARD = tuple(c for c in SEES if "report" in SEES[c])
IN_BUCKETS = tuple(c for c in SEES if "report" not in SEES[c])
_UNIQUE_OF = {"relevance": ["question", "texts"], "question_clarity": ["question"],
              "answer_clarity": ["texts"]}  # fmt: skip


Frame = pl.DataFrame | pl.LazyFrame


def question_texts(questions: Frame, answers: Frame) -> pl.LazyFrame:
    """(study_id, question_id, question, ids, texts): all a judge may know of the questions."""
    key = ["study_id", "question_id"]
    parts = (
        answers.lazy()
        .group_by(key, maintain_order=True)
        .agg(ids="answer_id", texts=pl.col("text").fill_null(""))
    )
    return (
        questions.lazy()
        .select(*key, pl.col("question").fill_null(""))
        .join(parts, on=key, how="left", maintain_order="left")
        .with_columns(pl.col("ids", "texts").fill_null([]))
    )


def shard_views(
    reports: Mapping[str, str], questions: pl.DataFrame, answers: pl.DataFrame
) -> Iterator[View]:
    """Distinct views with a report of one shard, study by study; studies without report have none.

    The order keeps what shares a prefix together: study, question, then criterion.
    """
    seen: set[str] = set()
    texts = question_texts(questions, answers).sort("study_id", "question_id", maintain_order=True)
    for study_id, _, question, _, parts in texts.collect().iter_rows():
        report = reports.get(study_id)
        if not report:
            continue
        for criterion in IN_SHARD:
            shown = view(criterion, report, question, parts)
            if shown.key not in seen:
                seen.add(shown.key)
                yield shown


def bucket_views(tables: Iterable[tuple[Path, Path]], criterion: str) -> Iterator[View]:
    """Distinct views without a report over all (QUESTIONS, ANSWERS), ordered by their texts."""
    columns = _UNIQUE_OF[criterion]
    distinct = pl.concat(
        [
            question_texts(pl.scan_parquet(questions), pl.scan_parquet(answers))
            .select(columns)
            .unique()
            for questions, answers in tables
        ]
    ).unique()
    for row in distinct.sort(columns).collect().iter_rows(named=True):
        yield view(criterion, "", row.get("question", ""), row.get("texts", ()))


def bucket_of(key: str, buckets: int) -> int:
    """The bucket of a view, from its key alone."""
    return int(key[:8], 16) % buckets


def plan(
    questions: Sequence[Path], answers: Sequence[Path], buckets: int
) -> dict[int, pl.DataFrame]:
    """Bucket -> JUDGE_VIEWS; every bucket is there, if empty. Files in the order of the shards."""
    tables = list(zip(questions, answers, strict=True))
    rows: dict[int, list[dict[str, object]]] = {b: [] for b in range(buckets)}
    for criterion in IN_BUCKETS:
        for shown in bucket_views(tables, criterion):
            rows[bucket_of(shown.key, buckets)].append(_row(shown))
    return {bucket: frame(found, JUDGE_VIEWS) for bucket, found in rows.items()}


def views_of(table: pl.DataFrame) -> Iterator[View]:
    """The views of a JUDGE_VIEWS table."""
    columns = ("criterion", "question", "parts")
    for criterion, question, parts in table.select(columns).iter_rows():
        yield View(criterion, "", question or "", tuple(parts or ()))


def _row(shown: View) -> dict[str, object]:
    return {
        "key": shown.key,
        "criterion": shown.criterion,
        "question": shown.question,
        "parts": list(shown.parts),
    }
