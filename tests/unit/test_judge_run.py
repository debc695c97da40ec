"""Judging a shard: rows for every text and criterion, faults to the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from qa_rows import qa_frames

from cxrqba.judge.rules import RulesJudge
from cxrqba.judge.run import judge_questions
from cxrqba.judge.vocabulary import load_vocabulary
from cxrqba.schema import JUDGEMENTS, PART_CRITERIA, STUDIES, TEXT_QUALITY
from cxrqba.tables import frame

VOCABULARY = Path(__file__).parents[2] / "resources" / "judge"


def studies() -> pl.DataFrame:
    return frame(
        [
            {"study_id": "s1", "report": "FINDINGS: Small left pleural effusion."},
            {"study_id": "s2", "report": None},
        ],
        STUDIES,
    )


def questions() -> tuple[pl.DataFrame, pl.DataFrame]:
    return qa_frames(
        [
            {
                "study_id": study,
                "question_id": question,
                "question": "Is there a pleural effusion?",
                "answers": [
                    {"answer_id": f"{question}.a01", "text": "Yes, there is a pleural effusion."},
                    {"answer_id": f"{question}.a02", "text": "There is a small left effusion."},
                ],
            }
            for study, question in (("s1", "Q1"), ("s1", "Q2"), ("s2", "Q1"))
        ]
    )


@pytest.fixture(scope="module")
def judge() -> RulesJudge:
    return RulesJudge(load_vocabulary(VOCABULARY))


def test_one_row_for_each_text_and_criterion(judge: RulesJudge) -> None:
    judgements, ledger = judge_questions(studies(), *questions(), judge)
    assert judgements.schema == JUDGEMENTS
    assert ledger.is_empty()
    counts = dict(judgements.group_by("criterion").len().iter_rows())
    assert counts == {c: 6 if c in PART_CRITERIA else 3 for c in TEXT_QUALITY}
    levels = judgements.filter(pl.col("study_id") == "s1").select("criterion", "level")
    assert all(level in TEXT_QUALITY[criterion] for criterion, level in levels.iter_rows())


def test_without_report_what_needs_it_stays_open(judge: RulesJudge) -> None:
    judgements, _ = judge_questions(studies(), *questions(), judge)
    without = judgements.filter((pl.col("study_id") == "s2") & pl.col("level").is_null())
    assert set(without["criterion"]) == {"entailment", "completeness"}
    assert set(without["status"]) == {"no_report"}


def test_a_failing_question_goes_to_the_ledger_and_the_rest_goes_on() -> None:
    class Failing(RulesJudge):
        def relevance(self, question: str, parts: Sequence[str]) -> list[str]:
            if self.calls == 0:
                self.calls += 1
                raise ValueError("secret report text")
            return super().relevance(question, parts)

        calls = 0

    judgements, ledger = judge_questions(
        studies(), *questions(), Failing(load_vocabulary(VOCABULARY))
    )
    assert ledger.select("scope", "study_id", "item_id", "reason").rows() == [
        ("item", "s1", "Q1", "judge_failed")
    ]
    assert "secret" not in ledger["detail"][0]
    failed = judgements.filter(pl.col("status") == "error")
    assert failed.select("study_id", "question_id").unique().rows() == [("s1", "Q1")]
    assert failed["level"].null_count() == failed.height
    assert judgements.height == 24


def test_the_order_of_questions_does_not_matter(judge: RulesJudge) -> None:
    forward, _ = judge_questions(studies(), *questions(), judge)
    asked, answers = questions()
    backward, _ = judge_questions(studies().reverse(), asked.reverse(), answers, judge)
    assert forward.equals(backward)
