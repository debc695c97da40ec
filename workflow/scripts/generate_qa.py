"""Generate question-answer pairs from the scene graphs of a shard (paper Sec. 3.2, E.2)."""

from __future__ import annotations

import gc

import polars as pl

from cxrqba import step
from cxrqba.config import QaConfig
from cxrqba.qa.context import build_context
from cxrqba.qa.run import generate_shard
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
from cxrqba.tables import read_table, write_table


def main() -> None:
    args = step.arguments(
        __doc__,
        files=(
            "graphs",
            "graph_observations",
            "graph_regions",
            "statistics",
            "templates",
            "reference",
            "questions",
            "answers",
            "skipped",
            "ledger",
        ),
    )
    context = build_context(
        load_reference(args.reference),
        load_templates(args.templates),
        read_table(args.statistics, STATISTICS),
        QaConfig.model_validate(args.settings),
    )
    graphs = read_table(args.graphs, GRAPHS)
    studies = read_studies(
        graphs,
        read_table(args.graph_observations, OBSERVATIONS),
        read_table(args.graph_regions, REGIONS),
    )
    what = f"generate_qa {args.shard}"
    gc.disable()  # no cycles among the many small objects: looking for them costs a third
    questions, answers, skipped, ledger = generate_shard(studies, graphs.height, context, what)
    write_table(questions, args.questions, QUESTIONS)
    write_table(answers, args.answers, ANSWERS)
    write_table(skipped, args.skipped, SKIPPED_QUESTIONS)
    write_table(ledger, args.ledger, LEDGER)
    step.log.info(
        "%s: %d studies, %d questions, %d answer parts, %d questions skipped, %d studies lost",
        what,
        graphs.height,
        questions.height,
        answers.height,
        skipped["count"].sum(),
        ledger.filter(pl.col("scope") == "study").height,
    )


if __name__ == "__main__":
    step.run(main)
