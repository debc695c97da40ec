"""Test the judge with planted errors and with answers known to be wrong (paper Sec. 3.3, 4.2)."""

from __future__ import annotations

import polars as pl
from pydantic import BaseModel, ConfigDict

from cxrqba import step
from cxrqba.config import ExtractionReference
from cxrqba.evaluate import judge as evaluation
from cxrqba.judge.rules import RulesJudge
from cxrqba.judge.run import judge_questions
from cxrqba.judge.vocabulary import load_vocabulary
from cxrqba.reference.tables import load_reference
from cxrqba.schema import (
    ANSWERS,
    JUDGE_MISSES,
    JUDGE_SCORES,
    JUDGEMENTS,
    OBSERVATIONS,
    SENTENCES,
    STUDIES,
)
from cxrqba.tables import read_tables, write_table


class Settings(BaseModel):
    """Settings of the step."""

    model_config = ConfigDict(extra="forbid")

    dataset: str
    references: list[ExtractionReference] = []
    bootstrap: int = 1000
    seed: int = 0


def main() -> None:
    args = step.arguments(
        __doc__,
        lists=("studies", "sentences", "observations", "answers", "judgements"),
        files=("reference", "vocabulary", "pairs", "scores", "misses"),
    )
    settings = Settings.model_validate(args.settings)
    judge = RulesJudge(load_vocabulary(args.vocabulary))

    def ask(studies: pl.DataFrame, questions: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
        return judge_questions(studies, questions, answers, judge)[0]

    scores, misses = evaluation.evaluate(
        evaluation.Tables(
            read_tables(args.studies, STUDIES),
            read_tables(args.sentences, SENTENCES),
            read_tables(args.observations, OBSERVATIONS),
            read_tables(args.answers, ANSWERS),
            read_tables(args.judgements, JUDGEMENTS),
        ),
        settings.references,
        load_reference(args.reference),
        args.pairs,
        ask,
        evaluation.Settings(settings.dataset, settings.bootstrap, settings.seed),
    )
    write_table(scores, args.scores, JUDGE_SCORES)
    write_table(misses, args.misses, JUDGE_MISSES)
    step.log.info("evaluate_judge: %s", evaluation.summary(scores))


if __name__ == "__main__":
    step.run(main)
