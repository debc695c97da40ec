"""The strings that need mapping: every free value of the extraction, once (paper Sec. E.1.3).

Mapping runs once per dataset over the sorted unique strings of all shards, so that a string means
the same in every study and the result does not depend on the number of shards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice

import polars as pl

from cxrqba.schema import MENTIONS
from cxrqba.tables import frame

PAIR = " | "
"""Joins a finding and a region in mentions of kind ``entity_region``."""


MAX_VALUES = 50
"""Values of one field of an observation that count; no radiologist names more in one breath, and
pairs of findings and regions grow with the product. ``graph.build`` notes what is cut."""


def clean(text: str | None) -> str:
    """A free value with white space made single spaces; empty for null."""
    return " ".join(text.split()) if text else ""


def pair(entity: str, region: str) -> str:
    """The mention of a finding together with a region."""
    return f"{entity}{PAIR}{region}"


def collect(observations: pl.DataFrame, indications: pl.DataFrame) -> pl.DataFrame:
    """Unique strings per kind with their counts (table MENTIONS), sorted by kind and text.

    ``observations`` has the columns of RAW_OBSERVATIONS, ``indications`` those of INDICATIONS (its
    answers are names and summaries too).
    """
    counts: Counter[tuple[str, str]] = Counter()
    for row in observations.iter_rows(named=True):
        entities = texts(row["entities"])
        regions = texts(r["region"] for r in row["regions"] or () if r)
        counts.update(("entity", e) for e in entities)
        counts.update(("region", r) for r in regions)
        counts.update(("entity_region", pair(e, r)) for e in entities for r in regions)
        counts.update(
            ("modifier", m) for m in texts(m["value"] for m in row["modifiers"] or () if m)
        )
        counts.update(("change", c) for c in texts(row["changes"]))
        counts.update(_named(row["name"], row["summary_sentence"]))
    for row in indications.iter_rows(named=True):
        counts.update(_named(row["answer_name"], row["answer_sentence"]))
    rows = [{"kind": k, "text": t, "count": n} for (k, t), n in counts.items()]
    return frame(rows, MENTIONS).sort("kind", "text")


def merge(parts: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Mentions of several shards as one table, counts added."""
    parts = list(parts)
    if not parts:
        return pl.DataFrame(schema=MENTIONS)
    both = pl.concat(parts).group_by("kind", "text").agg(pl.col("count").sum())
    return both.cast(dict(MENTIONS)).sort("kind", "text")  # type: ignore[arg-type]


def _named(name: str | None, summary: str | None) -> list[tuple[str, str]]:
    named = [("name", clean(name)), ("summary", clean(summary))]
    return [(kind, text) for kind, text in named if text]


def texts(values: Iterable[str | None] | None) -> list[str]:
    """Distinct non-empty values in their order, the first ``MAX_VALUES`` of them."""
    found = dict.fromkeys(t for t in map(clean, values or ()) if t)
    return list(islice(found, MAX_VALUES))
