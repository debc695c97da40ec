"""The accounting as a table for reading: what came in, what went on, what was lost and why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from cxrqba.paper.scan import scan
from cxrqba.paper.tables import Block, Table, count, no_data
from cxrqba.schema import ACCOUNTING

STAGES = (
    "draw_phantoms",
    "prepare_studies",
    "segment_anatomy",
    "extract_sentences",
    "extract_observations",
    "extract_indication",
    "map_entities",
    "build_graphs",
    "generate_qa",
    "judge_qa",
    "rate_qa",
)
"""Order of the rows: that of the flow; stages not listed come last, in the order they have."""
CAPTION = "Accounting: what came in, what went on, what was lost and why"


def load_accounting(paths: Sequence[Path]) -> pl.DataFrame:
    """The accounting in the order of the flow."""
    table = scan(paths, list(ACCOUNTING), ACCOUNTING).collect()
    order = {stage: i for i, stage in enumerate(STAGES)}
    return (
        table.with_columns(
            order=pl.col("stage").replace_strict(order, default=len(order), return_dtype=pl.Int32)
        )
        .sort("order", maintain_order=True)
        .drop("order")
    )


def accounting_table(paths: Sequence[Path], dataset: str) -> Table:
    """One row per stage, thing counted and reason."""
    data = load_accounting(paths)
    if data.is_empty():
        return no_data("", CAPTION, dataset, data, "no stage has run")
    rows = []
    previous = None
    for row in data.iter_rows(named=True):
        stage = row["stage"]
        rows.append(
            {
                "Stage": "" if stage == previous else stage,
                "What": str(row["what"]).replace("_", " "),
                "Reason": (row["reason"] or "").replace("_", " "),
                "Count": count(row["count"]),
            }
        )
        previous = stage
    block = Block(pl.DataFrame(rows), None, ("Stage", "What", "Reason"))
    notes = (
        "Every study that came in either reaches the end or has a reason here; a reason in a row "
        "of images or items means that only these were left out while their study went on.",
    )
    return Table("", CAPTION, dataset, data, (block,), notes)
