"""Judge the texts of all questions of a shard by five criteria (paper Sec. 3.3, E.3)."""

from __future__ import annotations

from cxrqba import step
from cxrqba.config import JudgeConfig
from cxrqba.judge.rules import RulesJudge
from cxrqba.judge.run import judge_questions
from cxrqba.judge.vocabulary import load_vocabulary
from cxrqba.schema import ANSWERS, JUDGEMENTS, LEDGER, QUESTIONS, STUDIES
from cxrqba.tables import read_table, write_table


def main() -> None:
    args = step.arguments(
        __doc__, files=("studies", "questions", "answers", "vocabulary", "judgements", "ledger")
    )
    JudgeConfig.model_validate(args.settings)
    judge = RulesJudge(load_vocabulary(args.vocabulary))
    judgements, ledger = judge_questions(
        read_table(args.studies, STUDIES),
        read_table(args.questions, QUESTIONS),
        read_table(args.answers, ANSWERS),
        judge,
    )
    write_table(judgements, args.judgements, JUDGEMENTS)
    write_table(ledger, args.ledger, LEDGER)
    failed = judgements["level"].null_count()
    step.log.info(
        "judge_qa %s: %d judgements, %d without a level", args.shard, judgements.height, failed
    )


if __name__ == "__main__":
    step.run(main)
