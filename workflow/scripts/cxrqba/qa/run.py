"""Question generation for a shard: all studies, in the order of their ids."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from cxrqba.ledger import Ledger
from cxrqba.qa.context import QaContext
from cxrqba.qa.engine import generate
from cxrqba.qa.model import Question, Skipped
from cxrqba.qa.source import StudyGraph
from cxrqba.qa.store import skipped_table, to_tables
from cxrqba.step import progress

STAGE = "generate_qa"
STUDIES_AT_ONCE = 50
"""Studies whose questions are held as objects before they become tables: bounds the memory."""

Tables = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]


def generate_shard(
    studies: Iterable[StudyGraph], total: int, context: QaContext, what: str = STAGE
) -> Tables:
    """Questions of ``total`` studies; returns (QUESTIONS, ANSWERS, SKIPPED_QUESTIONS, LEDGER).

    A study whose generation fails, or that can be asked nothing, goes to the ledger.
    """
    ledger = Ledger(STAGE)
    tables = [to_tables(())]
    waiting: list[Question] = []
    skipped: list[Skipped] = []
    for number, graph in enumerate(progress(studies, total, what), start=1):
        try:
            questions, unasked = generate(graph, context)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            detail = f"{type(error).__name__} while generating questions; see the study's graph"
            ledger.study(graph.study_id, "generation_failed", detail)
            continue
        if not questions:
            ledger.study(graph.study_id, "no_questions", "no template applies to the study's graph")
        waiting.extend(questions)
        skipped.extend(unasked)
        if number % STUDIES_AT_ONCE == 0:
            tables.append(to_tables(waiting))
            waiting = []
    tables.append(to_tables(waiting))
    questions_table, answers = (pl.concat(several) for several in zip(*tables, strict=True))
    questions_table = questions_table.with_columns(
        pl.lit(context.statistics, pl.String).alias("statistics")
    )
    return questions_table, answers, skipped_table(skipped), ledger.table()
