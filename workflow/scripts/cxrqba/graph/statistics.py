"""Counts over all graphs: what the sampling of questions needs (paper Sec. E.2).

Counted are observations from the report that assert or deny something; added defaults, mere
comparisons, recommendations and the answer to the indication are not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import polars as pl

from cxrqba.graph.store import ANSWER_ID
from cxrqba.schema import STATISTICS
from cxrqba.tables import frame

_COLUMNS = (
    "study_id",
    "obs_id",
    "obs_entities",
    "regions",
    "positiveness",
    "certainty",
    "from_report",
)


def statistics(observations: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Studies with positive and negative observations per region, finding and pair of findings.

    ``observations`` are OBSERVATIONS tables, studies whole within one; returns STATISTICS. A study
    counts once a name and sign; a pair (``"a|b"``, a < b) counts where both are positive.
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    for table in observations:
        kept = table.select(_COLUMNS).filter(
            pl.col("from_report")
            & (pl.col("obs_id") != ANSWER_ID)
            & pl.col("positiveness").is_in(["pos", "neg"])
            & ~((pl.col("positiveness") == "neg") & (pl.col("certainty") == "uncertain"))
        )
        for _, study in kept.sort("study_id").group_by("study_id", maintain_order=True):
            _count(study, counts)
    names = sorted({(kind, name) for kind, name, _ in counts})
    return frame(
        (
            {
                "kind": kind,
                "name": name,
                "positive": counts[kind, name, "pos"],
                "negative": counts[kind, name, "neg"],
            }
            for kind, name in names
        ),
        STATISTICS,
    )


def _count(study: pl.DataFrame, counts: Counter[tuple[str, str, str]]) -> None:
    found: set[tuple[str, str, str]] = set()
    for row in study.iter_rows(named=True):
        sign = row["positiveness"]
        found.update(("finding", name, sign) for name in row["obs_entities"])
        found.update(("region", r["region"], sign) for r in row["regions"])
    counts.update(found)
    positive = sorted(name for kind, name, sign in found if kind == "finding" and sign == "pos")
    for i, first in enumerate(positive):
        counts.update(("finding_pair", f"{first}|{other}", "pos") for other in positive[i + 1 :])
