"""Generate question-answer pairs from the scene graphs of a shard (paper Sec. 3.2, E.2)."""

from __future__ import annotations

import gc
from contextlib import ExitStack

import polars as pl

from cxrqba import step
from cxrqba.config import QaConfig
from cxrqba.qa.context import build_context
from cxrqba.qa.run import generate_batches
from cxrqba.qa.source import read_studies
from cxrqba.qa.templates import load_templates
from cxrqba.reference.tables import load_reference
from cxrqba.schema import (
    ANSWERS,
    GRAPHS,
    LEDGER,
    OBSERVATIONS,
    QUESTIONS,
    REGIONS,
    SKIPPED_QUESTIONS,
    STATISTICS,
)
from cxrqba.tables import TableWriter, read_table, scan_table

INPUTS = {"graphs": GRAPHS, "graph_observations": OBSERVATIONS, "graph_regions": REGIONS}
OUTPUTS = {
    "questions": QUESTIONS,
    "answers": ANSWERS,
    "skipped": SKIPPED_QUESTIONS,
    "ledger": LEDGER,
}


def main() -> None:
    args = step.arguments(
        __doc__,
        files=(*INPUTS, "statistics", "templates", "reference", *OUTPUTS),
    )
    context = build_context(
        load_reference(args.reference),
        load_templates(args.templates),
        read_table(args.statistics, STATISTICS),
        QaConfig.model_validate(args.settings),
    )
    tables = [scan_table(getattr(args, name), schema) for name, schema in INPUTS.items()]
    total = tables[0].select(pl.len()).collect().item()
    studies = read_studies(*tables)
    what = f"generate_qa {args.shard}"
    gc.disable()  # no cycles among the many small objects: looking for them costs a third
    lost = 0
    with ExitStack() as stack:
        writers = [
            stack.enter_context(TableWriter(getattr(args, name), schema))
            for name, schema in OUTPUTS.items()
        ]
        for made in generate_batches(studies, total, context, what):
            for writer, table in zip(writers, made, strict=True):
                writer.add(table)
            lost += made[-1].filter(pl.col("scope") == "study").height
    rows = [writer.rows for writer in writers]
    step.log.info(
        "%s: %d studies, %d questions, %d answer parts, %d studies lost",
        *(what, total, rows[0], rows[1], lost),
    )


if __name__ == "__main__":
    step.run(main)
