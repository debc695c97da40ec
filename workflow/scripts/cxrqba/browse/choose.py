"""Which studies a page shows: a seeded sample, stratified by completeness and images."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from cxrqba.schema import GRAPHS, STUDIES
from cxrqba.tables import scan_table


def strata(studies: Sequence[Path], graphs: Sequence[Path]) -> pl.DataFrame:
    """(study_id, is_complete, has_images) of all studies; ``is_complete`` null without a graph."""
    known = [scan_table(p, STUDIES).select("study_id", "num_images") for p in studies]
    complete = [scan_table(p, GRAPHS).select("study_id", "is_complete") for p in graphs]
    table = pl.concat(known) if known else pl.LazyFrame(schema={"study_id": pl.String})
    if not known:
        return pl.DataFrame(
            schema={"study_id": pl.String, "is_complete": pl.Boolean, "has_images": pl.Boolean}
        )
    whole = (
        pl.concat(complete)
        if complete
        else pl.LazyFrame(schema={"study_id": pl.String, "is_complete": pl.Boolean})
    )
    return (
        table.join(whole, on="study_id", how="left")
        .select("study_id", "is_complete", has_images=pl.col("num_images") > 0)
        .sort("study_id")
        .collect()
    )


def choose(table: pl.DataFrame, size: int, seed: int) -> list[str]:
    """Up to ``size`` study ids: strata share them as evenly as they can, a hash settles which.

    The order takes strata in turn, so that any first part of it is stratified too.
    """
    hashed = [
        hashlib.sha256(f"{seed}|{study_id}".encode()).hexdigest()
        for study_id in table["study_id"].to_list()
    ]
    turn = pl.int_range(pl.len(), dtype=pl.Int64)
    return (
        table.with_columns(pl.Series("hash", hashed, dtype=pl.String))
        .sort("hash")
        .with_columns(turn.over("is_complete", "has_images").alias("turn"))
        .sort("turn", "hash")
        .head(size)["study_id"]
        .to_list()
    )
