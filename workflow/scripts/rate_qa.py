"""Rate question-answer pairs and answer parts from their judged aspects (paper Sec. D.3)."""

from __future__ import annotations

from collections import Counter

from cxrqba import step
from cxrqba.judge.ratings import check_levels, rate_batches
from cxrqba.schema import ANSWERS, IMAGES, JUDGEMENTS, QUESTIONS, RATED, RATED_ANSWERS
from cxrqba.tables import TableWriter, read_table, scan_table


def main() -> None:
    args = step.arguments(
        __doc__, files=("questions", "answers", "judgements", "images", "rated", "rated_answers")
    )
    judgements = scan_table(args.judgements, JUDGEMENTS)
    check_levels(judgements.select("criterion", "level").unique().collect(), str(args.judgements))
    batches = rate_batches(
        scan_table(args.questions, QUESTIONS),
        scan_table(args.answers, ANSWERS),
        judgements,
        read_table(args.images, IMAGES),
    )
    counts = Counter[str]()
    with (
        TableWriter(args.rated, RATED) as rated_out,
        TableWriter(args.rated_answers, RATED_ANSWERS) as answers_out,
    ):
        for rated, answers in batches:
            rated_out.add(rated)
            answers_out.add(answers)
            counts["rated"] += rated.height - rated["rating"].null_count()
            for subset in ("pre_training", "fine_tuning"):
                counts[subset] += int(rated[subset].sum())
    step.log.info(
        "rate_qa %s: %d questions, %d rated, %d pre-training grade, %d fine-tuning grade",
        *(args.shard, rated_out.rows, counts["rated"]),
        *(counts["pre_training"], counts["fine_tuning"]),
    )


if __name__ == "__main__":
    step.run(main)
