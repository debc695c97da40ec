"""Rate question-answer pairs and answer parts from their judged aspects (paper Sec. D.3)."""

from __future__ import annotations

from cxrqba import step
from cxrqba.judge.ratings import check_levels, rate
from cxrqba.schema import ANSWERS, IMAGES, JUDGEMENTS, QUESTIONS, RATED, RATED_ANSWERS
from cxrqba.tables import read_table, write_table


def main() -> None:
    args = step.arguments(
        __doc__, files=("questions", "answers", "judgements", "images", "rated", "rated_answers")
    )
    judgements = read_table(args.judgements, JUDGEMENTS)
    check_levels(judgements, str(args.judgements))
    rated, answers = rate(
        read_table(args.questions, QUESTIONS),
        read_table(args.answers, ANSWERS),
        judgements,
        read_table(args.images, IMAGES),
    )
    write_table(rated, args.rated, RATED)
    write_table(answers, args.rated_answers, RATED_ANSWERS)
    step.log.info(
        "rate_qa %s: %d questions, %d rated, %d pre-training grade, %d fine-tuning grade",
        args.shard,
        rated.height,
        rated.height - rated["rating"].null_count(),
        rated["pre_training"].sum(),
        rated["fine_tuning"].sum(),
    )


if __name__ == "__main__":
    step.run(main)
