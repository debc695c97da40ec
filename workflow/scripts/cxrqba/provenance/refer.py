"""Whether what tables refer to is there: words in reports, spans in sentences, ids in tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from cxrqba.provenance.checksums import Fault
from cxrqba.schema import (
    ANSWERS,
    JUDGEMENTS,
    OBSERVATIONS,
    QUESTIONS,
    RATED,
    RATED_ANSWERS,
    RAW_OBSERVATIONS,
    SENTENCES,
    STUDIES,
)
from cxrqba.tables import read_table

QUESTION = ("study_id", "question_id")
ANSWER = (*QUESTION, "answer_id")


def check_references(results: Path, shard: str) -> Iterator[Fault]:
    """Faults of one shard, at most one a kind and table."""

    def table(step: str, name: str, schema: pl.Schema) -> pl.DataFrame:
        return read_table(results / step / f"{shard}.{name}.parquet", schema)

    def file(step: str, name: str) -> str:
        return f"{step}/{shard}.{name}.parquet"

    studies = table("prepare_studies", "studies", STUDIES)
    sentences = table("extract_sentences", "sentences", SENTENCES)
    reports = dict(studies.select("study_id", "report").iter_rows())
    yield from _sentences(sentences, reports, file("extract_sentences", "sentences"))
    nodes = table("build_graphs", "observations", OBSERVATIONS)
    raw = table("extract_observations", "observations", RAW_OBSERVATIONS)
    for rows, of in (
        (raw, file("extract_observations", "observations")),
        (nodes, file("build_graphs", "observations")),
    ):
        yield from _spans(rows, sentences, of)
    questions = table("generate_qa", "questions", QUESTIONS)
    answers = table("generate_qa", "answers", ANSWERS)
    of = file("generate_qa", "answers")
    for column in ("obs_ids", "box_obs_ids"):
        known = nodes.select("study_id", pl.col("obs_id").alias(column))
        yield from _listed(answers, column, known, of)
    yield from _orphans(answers, questions, QUESTION, of, "belong to no question")
    yield from _orphans(
        questions, answers, QUESTION, file("generate_qa", "questions"), "have no answer part"
    )
    judged = table("judge_qa", "judgements", JUDGEMENTS)
    of = file("judge_qa", "judgements")
    yield from _orphans(judged, questions, QUESTION, of, "judge no question")
    parts = judged.filter(pl.col("answer_id").is_not_null())
    yield from _orphans(parts, answers, ANSWER, of, "judge no answer part")
    yield from _pairs(
        table("rate_qa", "rated", RATED), questions, QUESTION, file("rate_qa", "rated")
    )
    yield from _pairs(
        table("rate_qa", "rated_answers", RATED_ANSWERS),
        answers,
        ANSWER,
        file("rate_qa", "rated_answers"),
    )


def _sentences(
    sentences: pl.DataFrame, reports: Mapping[str, str | None], file: str
) -> Iterator[Fault]:
    wrong = [
        f"{study_id} {sent_id}"
        for study_id, sent_id, start, end, text in sentences.select(
            "study_id", "sent_id", "start", "end", "sentence"
        ).iter_rows()
        if (reports.get(study_id) or "")[start:end] != text
    ]
    yield from _fault(file, wrong, "sentences are not the words at their place in the report")


def _spans(rows: pl.DataFrame, sentences: pl.DataFrame, file: str) -> Iterator[Fault]:
    """Evidence lies inside its sentence, and every sentence named exists."""
    places = {
        (study_id, sent_id): (start, end)
        for study_id, sent_id, start, end in sentences.select(
            "study_id", "sent_id", "start", "end"
        ).iter_rows()
    }
    key = "obs_id" if "obs_id" in rows.columns else "raw_id"
    outside, unknown = [], []
    for study_id, own, sent_ids, spans in rows.select(
        "study_id", key, "sent_ids", "spans"
    ).iter_rows():
        if any((study_id, s) not in places for s in sent_ids or ()):
            unknown.append(f"{study_id} {own}")
        for span in spans or ():
            place = places.get((study_id, span["sent_id"]))
            if place is None or not place[0] <= span["start"] < span["end"] <= place[1]:
                outside.append(f"{study_id} {own}")
                break
    yield from _fault(file, unknown, "observations name a sentence that is not there")
    yield from _fault(file, outside, "observations have evidence outside its sentence")


def _listed(answers: pl.DataFrame, column: str, known: pl.DataFrame, file: str) -> Iterator[Fault]:
    """Observations in a list column that the graph lacks.

    Regions (``box_regions``) may be asked for that no observation lies in: they are no nodes.
    """
    named = answers.select(*ANSWER, pl.col(column)).explode(column, empty_as_null=True)
    named = named.filter(pl.col(column).is_not_null())
    lost = named.join(known, on=["study_id", column], how="anti")
    yield from _fault(file, _keys(lost, ANSWER), f"answer parts name {column} that are not there")


def _orphans(
    rows: pl.DataFrame, known: pl.DataFrame, key: Sequence[str], file: str, what: str
) -> Iterator[Fault]:
    lost = rows.join(known.select(key), on=list(key), how="anti")
    yield from _fault(file, _keys(lost, key), what)


def _pairs(rows: pl.DataFrame, of: pl.DataFrame, key: Sequence[str], file: str) -> Iterator[Fault]:
    """One row for each row of ``of``."""
    yield from _orphans(rows, of, key, file, "rate nothing that is there")
    yield from _orphans(of, rows, key, file, "are rated nowhere")
    double = rows.filter(rows.select(key).is_duplicated())
    yield from _fault(file, _keys(double, key), "are rated twice")


def _keys(rows: pl.DataFrame, key: Sequence[str]) -> list[str]:
    return [" ".join(map(str, row)) for row in rows.select(key).iter_rows()]


def _fault(file: str, wrong: Sequence[str], what: str) -> Iterator[Fault]:
    if wrong:
        yield Fault(file, f"{len(wrong)} {what}, first {wrong[0]}")
