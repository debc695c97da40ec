"""Table 5: the judge beside people (paper Sec. 4.2, C.1).

It is about language models: where the judge is none, or no sheet was imported, it says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.evaluate.agreement import is_model
from cxrqba.paper.tables import UNDEFINED, Block, Table, count, interval, no_data
from cxrqba.schema import AGREEMENT
from cxrqba.tables import read_table

NAME, CAPTION = "Table 5", "Agreement of the judge with people"
HEADINGS = {
    "agreement": "Equal",
    "kappa": "Kappa",
    "weighted kappa": "Weighted kappa",
    "AC1": "AC1",
    "over A": "Over at A",
    "under A": "Under at A",
    "over B": "Over at B",
    "under B": "Under at B",
}


def agreement_table(scores_path: Path, dataset: str) -> Table:
    """Table 5: a row per criterion and rater."""
    scores = read_table(scores_path, AGREEMENT)
    if scores.is_empty():
        reason = "no review sheet was imported (evaluate.ratings of the dataset file)"
        return no_data(NAME, CAPTION, dataset, scores, reason)
    shown = scores.filter(pl.col("judge").map_elements(is_model, return_dtype=pl.Boolean))
    if shown.is_empty():
        reason = "people rated, but the judge is no language model"
        return no_data(NAME, CAPTION, dataset, shown, reason)
    rows = []
    keys = ["judge", "rater", "criterion"]
    for (judge, rater, criterion), cells in shown.group_by(keys, maintain_order=True):
        by_metric = {r["metric"]: r for r in cells.iter_rows(named=True)}
        rows.append(
            {
                "Judge": str(judge),
                "Rater": str(rater),
                "Criterion": str(criterion).replace("_", " "),
                "Cases": count(cells["cases"][0]),
                **{h: _cell(by_metric.get(m)) for m, h in HEADINGS.items()},
            }
        )
    block = Block(pl.DataFrame(rows), text=("Judge", "Rater", "Criterion"))
    return Table(NAME, CAPTION, dataset, shown, (block,), _NOTES)


def _cell(row: Mapping[str, Any] | None) -> str:
    return interval(row["value"], row["low"], row["high"]) if row else UNDEFINED


_NOTES = (
    "Weighted kappa: disagreements cost the squared distance of the grades. Over at A: share of "
    "cases the judge rates A or better and the rater below; under: the reverse. The sample is "
    "stratified by level, so shares are of the sample, not of the dataset. Brackets: 95 % "
    "bootstrap interval over studies.",
)
