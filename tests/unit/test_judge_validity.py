"""Tests of the judge itself: planted errors, natural errors, how both are counted."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest
from qa_rows import qa_frames

from cxrqba.config import ExtractionReference
from cxrqba.errors import UserError
from cxrqba.evaluate.extraction_claims import Claim
from cxrqba.evaluate.extraction_gold import GoldRow, read_gold
from cxrqba.evaluate.judge_natural import part_verdicts, verdicts
from cxrqba.evaluate.judge_planted import CRITERION, HAND, Case, planted, written
from cxrqba.evaluate.judge_validity import (
    Outcome,
    case_tables,
    misses,
    natural_scores,
    outcomes,
    planted_scores,
    wilson,
)
from cxrqba.judge.rules import RulesJudge
from cxrqba.judge.run import judge_questions
from cxrqba.judge.vocabulary import load_vocabulary
from cxrqba.paper.judge_validity import validity_table
from cxrqba.paper.tables import to_markdown
from cxrqba.reference.tables import Reference, load_reference
from cxrqba.schema import JUDGE_SCORES, JUDGEMENTS, TEXT_QUALITY
from cxrqba.tables import frame, write_table

ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "resources" / "judge" / "planted.csv"
ROUTINE = ROOT / "resources" / "routine"


@pytest.fixture(scope="module")
def reference() -> Reference:
    return load_reference(ROOT / "resources" / "reference")


@pytest.fixture(scope="module")
def judge() -> RulesJudge:
    return RulesJudge(load_vocabulary(ROOT / "resources" / "judge"))


@pytest.fixture(scope="module")
def found(reference: Reference, judge: RulesJudge) -> list[Outcome]:
    """Outcomes on the pairs written by hand and on the dev half of the ordinary reports."""
    reports = {
        path.stem: path.read_text(encoding="utf-8") for path in (ROUTINE / "reports").glob("*.txt")
    }
    gold = ROUTINE / "gold"
    wanted = ExtractionReference(
        name="routine",
        observations=str(gold / "observations.csv"),
        split=str(gold / "split.csv"),
        names=str(gold / "finding_names.csv"),
        sections=str(gold / "sections.csv"),
    )
    texts, pairs = written(PAIRS)
    cases = {"routine": planted(read_gold(wanted, reports, reference), "dev", reference)}
    cases[HAND] = pairs
    tables = case_tables(cases, {"routine": reports, HAND: texts})
    return outcomes(cases, judge_questions(*tables, judge)[0])


def test_the_rules_judge_tells_contradictions(found: list[Outcome]) -> None:
    """A regression test over more than 2,000 answers; no claim about answers as they come."""
    assert 2 * len(found) >= 2_000
    rows = {(r["kind"], r["metric"]): r for r in planted_scores(found) if r["source"] == "all"}
    detected, charged = rows["contradictions", "detected"], rows["contradictions", "charged"]
    assert detected["value"] >= 0.99
    assert detected["low"] >= 0.97
    assert charged["value"] <= 0.02
    assert rows["contradictions", "accepted"]["value"] >= 0.9
    for kind, least in {"finding": 0.98, "device": 0.98, "grammar": 0.98, "severity": 0.9,
                        "region": 0.8, "missing": 0.9, "irrelevant": 0.85}.items():  # fmt: skip
        assert rows[kind, "detected"]["value"] >= least, kind


def test_pairs_written_by_hand_hold_nearly_all(found: list[Outcome]) -> None:
    own = [o for o in found if o.source == HAND]
    assert len(own) >= 100
    assert {o.case.kind for o in own} == set(CRITERION)
    wrong = misses(own)
    assert wrong.height <= 0.03 * len(own), wrong.select("right", "wrong").rows()


def row(finding: str, accepted: str, **values: str) -> GoldRow:
    given = {"polarity": "pos", "side": "none", "region": "", "severity": ""} | values
    return GoldRow(
        "s1", ((0, 9),), finding, frozenset({accepted}), given["polarity"], "certain",
        given["side"], given["region"], given["severity"], "",
    )  # fmt: skip


class Part:
    """The annotation of one study."""

    def __init__(self, *rows: GoldRow):
        self.rows = list(rows)
        self.part_of = {"s1": "dev"}


def kinds(reference: Reference, *rows: GoldRow) -> dict[str, tuple[tuple[str, ...], ...]]:
    gold = Part(*rows)
    cases = planted(gold, "dev", reference)  # type: ignore[arg-type]
    return {c.kind: (c.right, c.wrong) for c in cases}


def test_errors_are_false_by_the_annotation(reference: Reference) -> None:
    effusion = row("pleural effusion", "pleural effusion", side="left", severity="small")
    made = kinds(reference, effusion)
    assert made["polarity"] == (
        ("The study shows left pleural effusion.",), ("The study shows no left pleural effusion.",)
    )  # fmt: skip
    assert made["side"][1] == ("The study shows right pleural effusion.",)
    assert made["severity"] == (
        ("The study shows small left pleural effusion.",),
        ("The study shows large left pleural effusion.",),
    )
    assert "effusion" not in made["finding"][1][0]


def test_what_the_annotation_cannot_confirm_is_left_out(reference: Reference) -> None:
    left = row("pleural effusion", "pleural effusion", side="left")
    right = row("pleural effusion", "pleural effusion", side="right", polarity="neg")
    assert not {"polarity", "side"} & set(kinds(reference, left, right))
    deviated = row("tracheal deviation", "tracheal deviation", side="left")
    assert "side" not in kinds(reference, deviated)
    assert kinds(reference, row("goo", "pneumonia", polarity="neg"))["polarity"][0] == (
        "The study shows no goo.",
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("h,kindness,r,q,a,b", "kind 'kindness' is none of polarity"),
        ("h,side,,q,a,b", "no row before gives the report of 'h'"),
        ("h,side,r,q,a,a", "right and wrong must be given and differ"),
    ],
)
def test_pairs_with_mistakes_are_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(f"study,kind,report,question,right,wrong\n{line}\n", encoding="utf-8")
    with pytest.raises(UserError, match=f"line 2: {message}"):
        written(path)


def outcome(kind: str, right: str | None, wrong: str | None) -> Outcome:
    return Outcome("x", Case("s", kind, "q", ("a",), ("b",), (0, 0)), right, wrong)


def test_detection_is_a_fall_of_the_level_of_an_accepted_answer() -> None:
    good, fair = "ALIGNED_MENTIONED", "ALIGNED_NEGATIVE_NOT_MENTIONED"
    bad = "NON_ALIGNED_CONTRADICTING"
    assert outcome("polarity", good, bad).detected
    assert outcome("polarity", good, fair).detected
    assert not outcome("polarity", good, good).detected
    assert not outcome("polarity", bad, bad).detected
    assert not outcome("polarity", good, None).detected
    assert outcome("missing", "FULLY_COMPLETE", "NOT_ANSWERED").detected
    found = [outcome("polarity", *pair) for pair in ((good, bad), (good, good), (bad, bad))]
    rows = {r["metric"]: r for r in planted_scores(found) if r["source"] == "all"}
    assert (rows["accepted"]["value"], rows["accepted"]["count"]) == (2 / 3, 3)
    assert (rows["detected"]["value"], rows["detected"]["count"]) == (1 / 2, 2)
    assert rows["charged"]["value"] == 1 / 3


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (8, 10, 0.4902, 0.9433)],
)
def test_wilson(part: int, whole: int, low: float, high: float) -> None:
    assert wilson(part, whole) == pytest.approx((low, high), abs=1e-3)


def test_wilson_of_nothing_is_undefined() -> None:
    assert all(math.isnan(x) for x in wilson(0, 0))


def claim(claim_id: str, polarity: str, side: str = "left", finding: str = "pneumonia") -> Claim:
    return Claim(claim_id, None, (finding,), ("S1",), ((0, 9),), polarity, "certain", side)


def test_observations_are_right_or_wrong_by_the_annotation() -> None:
    sentences = {"S1": (0, 20)}
    gold = [row("pneumonia", "pneumonia", side="left")]
    assert verdicts(gold, [claim("O1", "pos")], sentences) == {"O1": "right"}
    assert verdicts(gold, [claim("O1", "pos", "right")], sentences) == {"O1": "side"}
    assert verdicts(gold, [claim("O1", "neg")], sentences) == {"O1": "polarity"}
    assert verdicts(gold, [claim("O1", "pos", finding="goiter")], sentences) == {"O1": "finding"}


def test_parts_inherit_the_gravest_verdict_and_undecided_ones_are_left_out() -> None:
    answers = [
        {"answer_id": "a1", "obs_ids": ["O1"]},
        {"answer_id": "a2", "obs_ids": ["O1", "O2"]},
        {"answer_id": "a3", "obs_ids": ["O1", "O3"]},
        {"answer_id": "a4", "obs_ids": []},
    ]
    _, table = qa_frames([{"study_id": "s1", "question_id": "q", "answers": answers}])
    parts = part_verdicts(table, {"s1": {"O1": "right", "O2": "side"}})
    assert dict(parts.select("answer_id", "verdict").iter_rows()) == {"a1": "right", "a2": "side"}


def test_natural_scores_and_the_table(tmp_path: Path) -> None:
    parts = pl.DataFrame(
        {
            "study_id": ["s1", "s1", "s2", "s2"],
            "question_id": ["q"] * 4,
            "answer_id": ["a1", "a2", "a3", "a4"],
            "verdict": ["right", "finding", "right", "side"],
        }
    )
    bad, good = "NON_ALIGNED_MISLEADING", "ALIGNED_MENTIONED"
    levels = dict(zip(parts["answer_id"], (bad, bad, good, None), strict=True))
    judgements = frame(
        [
            {"study_id": s, "question_id": q, "answer_id": a, "criterion": "entailment",
             "level": levels[a]}
            for s, q, a, _ in parts.iter_rows()
        ],
        JUDGEMENTS,
    )  # fmt: skip
    rows = natural_scores(parts, judgements, 50, 0)
    values = {(r["kind"], r["metric"]): (r["value"], r["count"]) for r in rows}
    assert values["any", "recall"] == (1.0, 1)
    assert values["any", "precision"] == (0.5, 2)
    assert values["right", "false alarms"] == (0.5, 2)
    assert values["any", "unrated"] == (0.25, 4)
    assert math.isnan(values["side", "recall"][0])
    path = tmp_path / "scores.parquet"
    head = {"dataset": "d", "part": "dev", "judge": "rules/2", "source": "g"}
    planted_rows = [{**head, **r} for r in planted_scores([outcome("polarity", good, bad)])]
    write_table(
        frame([*planted_rows, *({**head, **r} for r in rows)], JUDGE_SCORES), path, JUDGE_SCORES
    )
    text = to_markdown(validity_table(path, "Title"))
    assert "rules/2, dev: planted errors" in text
    assert "| 0.500" in text
    assert "–" in text


def test_levels_that_accept_exist() -> None:
    from cxrqba.evaluate.judge_validity import ACCEPTED, CHARGES

    for criterion, levels in ACCEPTED.items():
        assert levels
        assert levels <= set(TEXT_QUALITY[criterion])
    assert set(TEXT_QUALITY["entailment"]) >= CHARGES
