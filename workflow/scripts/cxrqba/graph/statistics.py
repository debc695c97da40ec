"""Counts over all graphs: what the sampling of questions needs (paper Sec. E.2).

Counted are observations from the report that assert or deny something; added defaults, mere
comparisons, recommendations and the answer to the indication are not.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from cxrqba.errors import UserError
from cxrqba.graph.store import ANSWER_ID
from cxrqba.schema import STATISTICS

ALL = "all"
"""The split of all studies, as in the paper."""
_KEY = ["study_id", "kind", "name", "sign"]


def studies_of_split(studies: Iterable[pl.DataFrame], split: str) -> pl.Series | None:
    """Ids of the studies of a split in STUDIES tables; None for all.

    :class:`UserError` if no study belongs to it.
    """
    if split == ALL:
        return None
    ids = pl.concat([t.filter(pl.col("split") == split)["study_id"] for t in studies])
    if ids.is_empty():
        raise UserError(
            f"qa.statistics_split: no study is of split '{split}'; "
            "use all, or a source that names splits"
        )
    return ids


def statistics(
    observations: Iterable[pl.DataFrame], among: pl.Series | None = None
) -> pl.DataFrame:
    """Studies with positive and negative observations per region, finding and pair of findings.

    ``observations`` are OBSERVATIONS tables, studies whole within one, of which those ``among``
    count; returns STATISTICS. A study counts once a name and sign; a pair (``"a|b"``, a < b) counts
    where both are positive.
    """
    counted = [_count(table, among) for table in observations]
    if not counted:
        return pl.DataFrame(schema=STATISTICS)
    return (
        pl.concat(counted)
        .group_by("kind", "name")
        .agg(pl.col("positive", "negative").sum())
        .sort("kind", "name")
        .select(list(STATISTICS))
        .cast(dict(STATISTICS))  # type: ignore[arg-type]
    )


def _count(table: pl.DataFrame, among: pl.Series | None) -> pl.DataFrame:
    """Counts of one table."""
    said = _said(table, among)
    findings = _named(said, "finding", pl.col("obs_entities"))
    regions = _named(said, "region", pl.col("regions").list.eval(pl.element().struct["region"]))
    signs = pl.concat([findings, regions, _pairs(findings)])
    of = [(pl.col("sign") == sign).sum().cast(pl.Int64) for sign in ("pos", "neg")]
    return signs.group_by("kind", "name").agg(positive=of[0], negative=of[1])


def _said(table: pl.DataFrame, among: pl.Series | None) -> pl.DataFrame:
    """Observations that assert or deny something."""
    sign = pl.col("positiveness")
    kept = table.filter(
        pl.col("from_report")
        & (pl.col("obs_id") != ANSWER_ID)
        & sign.is_in(["pos", "neg"])
        & ~((sign == "neg") & (pl.col("certainty") == "uncertain"))
    )
    return kept if among is None else kept.filter(pl.col("study_id").is_in(among.implode()))


def _named(said: pl.DataFrame, kind: str, names: pl.Expr) -> pl.DataFrame:
    """Each name and sign of a study once."""
    return (
        said.select("study_id", names.alias("name"), pl.col("positiveness").alias("sign"))
        .explode("name", empty_as_null=True)
        .drop_nulls("name")
        .with_columns(kind=pl.lit(kind))
        .select(_KEY)
        .unique()
    )


def _pairs(findings: pl.DataFrame) -> pl.DataFrame:
    """Pairs of findings that are positive in the same study."""
    positive = findings.filter(pl.col("sign") == "pos").select("study_id", "name")
    return (
        positive.join(positive, on="study_id", suffix="_other")
        .filter(pl.col("name") < pl.col("name_other"))
        .select(
            "study_id",
            kind=pl.lit("finding_pair"),
            name=pl.format("{}|{}", "name", "name_other"),
            sign=pl.lit("pos"),
        )
    )
