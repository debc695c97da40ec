"""Compare splits, and guess answers without looking: what a release is held back for."""

from __future__ import annotations

import json
from collections.abc import Iterator

import polars as pl
from pydantic import BaseModel, ConfigDict

from cxrqba import step
from cxrqba.config import LeaksConfig
from cxrqba.evaluate import gate
from cxrqba.evaluate.balance import COUNTS, TAG_COUNTS, fold_of, guesses, question_counts, summed
from cxrqba.evaluate.balance import tag_counts as tags_of
from cxrqba.evaluate.leak_texts import answer_texts, report_texts
from cxrqba.evaluate.leaks import repeated_texts, shared_patients
from cxrqba.schema import ANSWERS, LEAK_PAIRS, LEAK_SCORES, QUESTIONS, SENTENCES, STUDIES
from cxrqba.tables import read_tables, scan_table, write_table, write_text


class Settings(BaseModel):
    """Settings of the step."""

    model_config = ConfigDict(extra="forbid")

    dataset: str
    leaks: LeaksConfig = LeaksConfig()


def main() -> None:
    args = step.arguments(
        __doc__,
        lists=("studies", "sentences", "questions", "answers"),
        files=("scores", "pairs", "gate"),
    )
    settings = Settings.model_validate(args.settings)
    limits = settings.leaks
    studies = read_tables(args.studies, STUDIES).drop("report")
    questions = [scan_table(p, QUESTIONS) for p in args.questions]
    answers = [scan_table(p, ANSWERS) for p in args.answers]
    reports = report_texts([scan_table(p, SENTENCES) for p in args.sentences], studies)
    told = answer_texts(answers, studies, limits)
    pairs = pl.concat(
        [
            shared_patients(studies),
            repeated_texts(reports, "reports", limits.similarity),
            repeated_texts(told, "answers", limits.similarity),
        ]
    )
    folds = fold_of(studies)
    counts = summed(
        (question_counts(q, a, folds) for q, a in zip(questions, answers, strict=True)), COUNTS
    )
    tags = summed(map(tags_of, answers), TAG_COUNTS)

    def rows() -> Iterator[gate.Row]:
        yield gate.patient_row(studies, pairs)
        yield from gate.split_rows("reports", reports, pairs)
        yield from gate.split_rows("answers", told, pairs)
        yield from gate.guess_rows(guesses(counts))
        yield from gate.positive_rows(counts)
        yield from gate.tag_rows(tags, limits.tag_parts)

    scores = gate.scores_table(list(rows()), settings.dataset)
    verdict = gate.verdict(scores, pairs, limits)
    write_table(scores, args.scores, LEAK_SCORES)
    write_table(pairs, args.pairs, LEAK_PAIRS)
    write_text(json.dumps(verdict, indent=2, ensure_ascii=False) + "\n", args.gate)
    for finding in verdict["findings"]:
        step.log.info("evaluate_leaks: beyond a limit: %s", finding["what"])
    step.log.info("evaluate_leaks: %s", "passed" if verdict["passed"] else "not passed")


if __name__ == "__main__":
    step.run(main)
