"""The texts of which splits are compared: what reports report, and whole answers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import polars as pl

from cxrqba.config import LeaksConfig
from cxrqba.schema import REPORTED_SECTION_TYPES

TEXTS = pl.Schema({"split": pl.String, "item": pl.String, "text": pl.String})


def report_texts(sentences: Sequence[pl.LazyFrame], studies: pl.DataFrame) -> pl.DataFrame:
    """TEXTS: the FINDINGS and IMPRESSION sentences of each study of a split, by study id."""
    parts = [
        shard.filter(pl.col("section_type").is_in(REPORTED_SECTION_TYPES))
        .group_by("study_id", maintain_order=True)
        .agg(text=pl.col("sentence").str.join(" "))
        .collect()
        for shard in sentences
    ]
    return _of_splits(pl.concat(parts), studies) if parts else pl.DataFrame(schema=TEXTS)


def answer_texts(
    answers: Sequence[pl.LazyFrame], studies: pl.DataFrame, limits: LeaksConfig
) -> pl.DataFrame:
    """TEXTS: distinct whole answers of a sample of studies of each split.

    Items are study and question id, of the first question that is answered so.
    """
    drawn = _drawn(studies, limits.studies, limits.seed)
    words = pl.col("text").str.count_matches(r"\S+")
    parts = [
        shard.select("study_id", "question_id", "text")
        .filter(pl.col("study_id").is_in(drawn))
        .group_by("study_id", "question_id", maintain_order=True)
        .agg(pl.col("text").str.join(" "))
        .filter(words >= limits.answer_words)
        .unique(["study_id", "text"], keep="first", maintain_order=True)
        .with_columns(item=pl.col("study_id") + " " + pl.col("question_id"))
        .collect()
        for shard in answers
    ]
    return _of_splits(pl.concat(parts), studies) if parts else pl.DataFrame(schema=TEXTS)


def _drawn(studies: pl.DataFrame, size: int, seed: int) -> list[str]:
    """Up to ``size`` studies of each split; a hash settles which."""
    known = studies.drop_nulls("split")
    hashed = [hashlib.sha256(f"{seed}|{i}".encode()).hexdigest() for i in known["study_id"]]
    chosen = (
        known.with_columns(pl.Series("hash", hashed, dtype=pl.String))
        .sort("hash")
        .filter(pl.int_range(pl.len()).over("split") < size)
    )
    return chosen["study_id"].to_list()


def _of_splits(texts: pl.DataFrame, studies: pl.DataFrame) -> pl.DataFrame:
    splits = studies.drop_nulls("split").select("study_id", "split")
    table = texts.join(splits, on="study_id")
    item = pl.col("item") if "item" in table.columns else pl.col("study_id")
    return table.select("split", item.alias("item"), "text").sort("split", "item")
