"""Question generation for a shard: all studies, in the order of their ids."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from cxrqba.graph.model import SceneGraph
from cxrqba.ledger import Ledger
from cxrqba.qa.context import QaContext
from cxrqba.qa.engine import generate
from cxrqba.qa.model import Question, Skipped
from cxrqba.qa.store import skipped_table, to_table
from cxrqba.schema import QUESTIONS
from cxrqba.step import progress

STAGE = "generate_qa"
STUDIES_AT_ONCE = 50
"""Studies whose questions are held as objects before they become a table: bounds the memory."""


def generate_shard(
    graphs: Sequence[SceneGraph], context: QaContext, what: str = STAGE
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Questions of all graphs; returns (QUESTIONS, SKIPPED_QUESTIONS, LEDGER).

    A study whose generation fails, or that can be asked nothing, goes to the ledger.
    """
    ledger = Ledger(STAGE)
    tables: list[pl.DataFrame] = []
    waiting: list[Question] = []
    skipped: list[Skipped] = []
    ordered = sorted(graphs, key=lambda g: g.study_id)
    for number, graph in enumerate(progress(ordered, len(ordered), what), start=1):
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
            tables.append(to_table(waiting))
            waiting = []
    tables.append(to_table(waiting))
    table = pl.concat(tables) if tables else pl.DataFrame(schema=QUESTIONS)
    return table, skipped_table(skipped), ledger.table()
