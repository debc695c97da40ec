"""Put the distinct views of the criteria that see no report into buckets (paper Sec. E.4.2)."""

from __future__ import annotations

from cxrqba import step
from cxrqba.config import JudgeConfig
from cxrqba.judge.plan import plan
from cxrqba.schema import JUDGE_VIEWS
from cxrqba.tables import write_table


def main() -> None:
    args = step.arguments(__doc__, lists=("questions", "answers", "views"))
    config = JudgeConfig.model_validate(args.settings)
    buckets = plan(args.questions, args.answers, config.buckets)
    for path, bucket in zip(args.views, sorted(buckets), strict=True):
        write_table(buckets[bucket], path, JUDGE_VIEWS)
    sizes = [table.height for table in buckets.values()]
    step.log.info(
        "plan_judge: %d views in %d buckets of %d to %d",
        sum(sizes),
        len(sizes),
        min(sizes),
        max(sizes),
    )


if __name__ == "__main__":
    step.run(main)
