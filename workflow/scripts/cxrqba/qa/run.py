"""Question generation for a shard: all studies, in the order of their ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import polars as pl

from cxrqba.ledger import Ledger
from cxrqba.qa.context import QaContext
from cxrqba.qa.engine import generate
from cxrqba.qa.model import Question, Skipped
from cxrqba.qa.source import StudyGraph
from cxrqba.qa.store import skipped_table, to_tables
from cxrqba.step import progress

STAGE = "generate_qa"
STUDIES_AT_ONCE = 100
"""Studies whose questions are held as objects before they become tables: bounds the memory."""

Tables = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]
"""(QUESTIONS, ANSWERS, SKIPPED_QUESTIONS, LEDGER)"""


def generate_batches(
    studies: Iterable[StudyGraph], total: int, context: QaContext, what: str = STAGE
) -> Iterator[Tables]:
    """Questions of ``total`` studies, in tables of some studies each.

    A study whose generation fails, or that can be asked nothing, goes to the ledger.
    """
    for batch in _batches(progress(studies, total, what)):
        ledger = Ledger(STAGE)
        questions: list[Question] = []
        skipped: list[Skipped] = []
        for graph in batch:
            try:
                found, unasked = generate(graph, context)
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                detail = f"{type(error).__name__} while generating questions; see the study's graph"
                ledger.study(graph.study_id, "generation_failed", detail)
                continue
            if not found:
                detail = "no template applies to the study's graph"
                ledger.study(graph.study_id, "no_questions", detail)
            questions += found
            skipped += unasked
        asked, answers = to_tables(questions)
        asked = asked.with_columns(pl.lit(context.statistics, pl.String).alias("statistics"))
        yield asked, answers, skipped_table(skipped), ledger.table()


def generate_shard(
    studies: Iterable[StudyGraph], total: int, context: QaContext, what: str = STAGE
) -> Tables:
    """As :func:`generate_batches`, all studies in one."""
    batches = [*generate_batches(studies, total, context, what)]
    if not batches:
        return (*to_tables(()), skipped_table(()), Ledger(STAGE).table())
    return tuple(pl.concat(several) for several in zip(*batches, strict=True))  # type: ignore[return-value]


def _batches(studies: Iterable[StudyGraph]) -> Iterator[list[StudyGraph]]:
    rest = iter(studies)
    while batch := list(islice(rest, STUDIES_AT_ONCE)):
        yield batch
