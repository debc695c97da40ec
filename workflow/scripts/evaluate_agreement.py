"""Compare the judge with people and with another judge (paper Sec. 4.2, C.1, Tab. 5, Fig. 12)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from cxrqba import step
from cxrqba.evaluate.agreement import agreement, judge_confusion
from cxrqba.judge.review import read_sheets
from cxrqba.schema import AGREEMENT, ANSWERS, CONFUSION, IMAGES, JUDGEMENTS, QUESTIONS
from cxrqba.tables import read_tables, write_table


class Settings(BaseModel):
    """Settings of the step."""

    model_config = ConfigDict(extra="forbid")

    bootstrap: int = 1000
    seed: int = 0


def main() -> None:
    args = step.arguments(
        __doc__,
        lists=("questions", "answers", "images", "judgements", "ratings", "second"),
        files=("scores", "confusion"),
    )
    settings = Settings.model_validate(args.settings)
    judgements = read_tables(args.judgements, JUDGEMENTS)
    ratings = read_sheets(args.ratings)
    scores = agreement(judgements, ratings, settings.bootstrap, settings.seed)
    counts = judge_confusion(
        read_tables(args.questions, QUESTIONS),
        read_tables(args.answers, ANSWERS),
        read_tables(args.images, IMAGES),
        judgements,
        read_tables(args.second, JUDGEMENTS),
    )
    write_table(scores, args.scores, AGREEMENT)
    write_table(counts, args.confusion, CONFUSION)
    step.log.info(
        "evaluate_agreement: %d ratings by people, %d pairs rated by two judges",
        ratings.height,
        counts["count"].sum(),
    )


if __name__ == "__main__":
    step.run(main)
