"""Leaks between splits, answers without looking, and the gate that holds a release back."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxrqba.config import LeaksConfig
from cxrqba.errors import UserError
from cxrqba.evaluate import gate
from cxrqba.evaluate.balance import (
    COUNTS,
    TAG_COUNTS,
    fold_of,
    guesses,
    question_counts,
    summed,
    tag_counts,
)
from cxrqba.evaluate.leak_texts import answer_texts, report_texts
from cxrqba.evaluate.leaks import (
    jaccard,
    nearest_texts,
    ordered,
    repeated_texts,
    shared_patients,
    shingles,
)
from cxrqba.paper.leaks import leaks_table
from cxrqba.paper.tables import to_markdown
from cxrqba.schema import ANSWERS, LEAK_PAIRS, LEAK_SCORES, QUESTIONS, SENTENCES, STUDIES
from cxrqba.tables import frame, write_table

LONG = "there is a small left pleural effusion with adjacent atelectasis and no pneumothorax today"


def studies_of(*rows: tuple[str, str | None, str | None]) -> pl.DataFrame:
    return frame(
        ({"study_id": s, "patient_id": p, "split": split} for s, p, split in rows), STUDIES
    )


def test_later_splits_come_after_earlier_ones() -> None:
    assert ordered(["test", "other", "train", "validate", "test"]) == [
        "train", "validate", "test", "other",
    ]  # fmt: skip


def test_a_patient_in_several_splits_is_found() -> None:
    studies = studies_of(
        ("s1", "p1", "train"), ("s2", "p1", "test"), ("s3", "p2", "test"), ("s4", "p2", "test"),
        ("s5", None, "train"), ("s6", None, "test"), ("s7", "p3", None), ("s8", "p3", "train"),
    )  # fmt: skip
    pairs = shared_patients(studies)
    assert pairs.rows() == [("patients", "test", "p1", "train", "p1", 1.0)]
    row = gate.patient_row(studies, pairs)
    assert (row["value"], row["count"]) == (1.0, 3)


def test_shingles_are_runs_of_three_words() -> None:
    assert shingles("The Lungs, are_clear.") == {"the lungs are", "lungs are clear"}
    assert shingles("Clear lungs") == {"clear lungs"}
    assert shingles(" ___ ") == frozenset()
    assert jaccard(shingles("a b c d"), shingles("b c d e")) == pytest.approx(1 / 3)
    assert jaccard(frozenset(), frozenset()) == 0


def test_minhash_finds_the_pairs_that_an_exact_search_finds() -> None:
    words = LONG.split()
    variants = {f"v{i}": " ".join([*words[:i], "other", *words[i + 1 :]]) for i in range(14)}
    variants["far"] = " ".join([*words[:4], "other", *words[5:9], "other", *words[10:]])
    others = [("o1", LONG), ("o2", "lungs are clear and the heart is not enlarged at all")]
    found = nearest_texts(variants, others, 0.6)
    exact = {
        item: ("o1", similarity)
        for item, text in variants.items()
        if (similarity := jaccard(shingles(text), shingles(LONG))) >= 0.6
    }
    assert found == exact
    assert set(variants) - set(exact) == {"far"}


def test_texts_are_compared_with_earlier_splits_alone() -> None:
    texts = pl.DataFrame(
        [
            ("train", "s1", LONG), ("train", "s2", "the heart is large and the lungs are clear"),
            ("validate", "s3", LONG.upper() + "!"), ("test", "s4", LONG),
            ("test", "s5", "a right chest tube ends in the fissure beside the hilum"),
            ("test", "s6", "a right chest tube ends in the fissure beside the hilum"),
        ],
        schema=["split", "item", "text"],
        orient="row",
    )  # fmt: skip
    pairs = repeated_texts(texts, "reports", 0.8)
    assert pairs.rows() == [
        ("reports", "validate", "s3", "train", "s1", 1.0),
        ("reports", "test", "s4", "train", "s1", 1.0),
    ]
    shares = {r["subject"]: r["value"] for r in gate.split_rows("reports", texts, pairs)}
    assert shares == {
        "validate in train": 1.0, "test in train, validate": 1 / 3, "all held-out": 0.5,
    }  # fmt: skip
    assert repeated_texts(texts.filter(pl.col("split") == "test"), "reports", 0.8).is_empty()


def test_texts_of_reports_and_of_long_answers() -> None:
    studies = studies_of(("s1", "p1", "train"), ("s2", "p2", "test"), ("s3", "p3", None))
    sentences = frame(
        (
            {"study_id": s, "sent_id": "S", "section_type": kind, "sentence": text}
            for s, kind, text in (
                ("s1", "INDICATION", "Cough."), ("s1", "FINDINGS", "Clear."),
                ("s1", "IMPRESSION", "Normal."), ("s3", "FINDINGS", "Clear."),
            )
        ),
        SENTENCES,
    ).lazy()  # fmt: skip
    assert report_texts([sentences], studies).rows() == [("train", "s1", "Clear. Normal.")]
    answers = answers_of(
        ("s1", "q1", LONG, "pos"), ("s1", "q1", "more", "pos"), ("s1", "q2", "Short.", "neg"),
        ("s2", "q1", LONG + " more", "pos"), ("s2", "q2", LONG + " more", "pos"),
        ("s3", "q1", LONG + " more", "pos"),
    )  # fmt: skip
    limits = LeaksConfig(answer_words=15)
    texts = answer_texts([answers.lazy()], studies, limits)
    assert texts.rows() == [
        ("test", "s2 q1", LONG + " more"), ("train", "s1 q1", LONG + " more"),
    ]  # fmt: skip
    assert repeated_texts(texts, "answers", 0.8)["other_item"].to_list() == ["s1 q1"]
    assert answer_texts([answers.lazy()], studies, LeaksConfig(answer_words=99)).is_empty()


def answers_of(*rows: tuple[str, str, str, str], kind: str = "main_answer") -> pl.DataFrame:
    return frame(
        (
            {"study_id": s, "question_id": q, "text": text, "positiveness": sign,
             "answer_type": kind, "obs_entities": ["effusion"], "regions": []}
            for s, q, text, sign in rows
        ),
        ANSWERS,
    )  # fmt: skip


def questions_of(*rows: tuple[str, str, str]) -> pl.DataFrame:
    return frame(
        (
            {"study_id": s, "question_id": q, "question": text, "question_type": "D01",
             "question_strategy": "finding"}
            for s, q, text in rows
        ),
        QUESTIONS,
    )  # fmt: skip


def test_folds_are_the_splits_or_halves_by_patient() -> None:
    split = studies_of(("s1", "p1", "train"), ("s2", "p2", "test"), ("s3", "p3", None))
    assert fold_of(split) == {"s1": "fit", "s2": "test"}
    halves = fold_of(studies_of(*((f"s{i}", f"p{i // 2}", None) for i in range(40))))
    assert all(halves[f"s{i}"] == halves[f"s{i + 1}"] for i in range(0, 40, 2))
    assert set(halves.values()) == {"fit", "test"}
    assert fold_of(studies_of(("s1", None, "train"), ("s2", None, "train"))).keys() == {"s1", "s2"}


def test_one_positive_main_part_makes_an_answer_positive() -> None:
    questions = questions_of(("s1", "q1", "A?"), ("s1", "q2", "A?"), ("s1", "q3", "A?"))
    answers = pl.concat(
        [
            answers_of(
                ("s1", "q1", "no", "neg"), ("s1", "q1", "yes", "pos"), ("s1", "q2", "no", "neg"),
                ("s1", "q3", "see earlier", "comparison_only"),
            ),
            answers_of(("s1", "q2", "yes", "pos"), kind="details"),
        ]
    )  # fmt: skip
    counts = question_counts(questions.lazy(), answers.lazy(), {"s1": "fit"})
    assert counts.rows() == [("fit", "finding", "D01", "A?", 1, 1)]
    tags = summed([tag_counts(answers.lazy()), tag_counts(answers.lazy())], TAG_COUNTS)
    assert tags.rows() == [("finding", "effusion", 4, 4)]


def counts_of(*rows: tuple[str, str, int, int]) -> pl.DataFrame:
    return pl.DataFrame(
        [(fold, "finding", "D01", q, yes, no) for fold, q, yes, no in rows],
        schema=COUNTS,
        orient="row",
    )


def test_a_guess_from_the_question_alone() -> None:
    told = counts_of(
        ("fit", "A?", 9, 1), ("fit", "B?", 1, 7), ("test", "A?", 6, 2), ("test", "B?", 0, 4)
    )
    found = guesses(told)["all"]
    assert found.answers == 12
    assert found.positive == 0.5
    assert found.majority == 0.5  # 10 of 18 were positive
    assert found.accuracy == pytest.approx(10 / 12)
    assert found.balanced == pytest.approx((6 / 6 + 4 / 6) / 2)
    unseen = guesses(counts_of(("fit", "A?", 1, 3), ("test", "new?", 1, 3)))["finding"]
    assert unseen.accuracy == 0.75
    assert unseen.balanced == 0.5
    assert math.isnan(guesses(counts_of(("test", "A?", 1, 0)))["all"].balanced)


def gate_rows(**values: float) -> pl.DataFrame:
    rows: list[dict[str, Any]] = [
        {"check": "x", "subject": "all", "metric": "m", "value": v, "count": 10, "limit": k}
        for k, v in values.items()
    ]
    rows.append({"check": "tags", "subject": "finding: tube", "metric": "positive", "value": 1.0,
                 "count": 60, "limit": None})  # fmt: skip
    rows.append({"check": "tags", "subject": "finding: edema", "metric": "positive", "value": 0.5,
                 "count": 60, "limit": None})  # fmt: skip
    return gate.scores_table(rows, "Title")


PAIRS = frame(
    [
        {"check": "patients", "split": "test", "item": "p1", "other_split": "train",
         "other_item": "p1", "similarity": 1.0},
        {"check": "reports", "split": "test", "item": "s4", "other_split": "train",
         "other_item": "s1", "similarity": 0.9},
    ],
    LEAK_PAIRS,
)  # fmt: skip


def test_the_gate_says_which_limit_what_was_found_and_who(tmp_path: Path) -> None:
    limits = LeaksConfig()
    scores = gate_rows(
        max_shared_patients=1, max_duplicate_reports=0.2, max_duplicate_answers=0.5,
        max_question_only=0.95, min_positive=0.05, max_positive=0.05, max_one_sided_tags=0.81,
    )  # fmt: skip
    verdict = gate.verdict(scores, PAIRS, limits)
    assert verdict["passed"] is False
    found = {f["limit"].removeprefix("evaluate.leaks."): f for f in verdict["findings"]}
    assert set(found) == {
        "max_shared_patients", "max_duplicate_reports", "max_question_only", "min_positive",
        "max_one_sided_tags",
    }  # fmt: skip
    assert found["max_shared_patients"]["what"] == "1 patients are in more than one split"
    assert found["max_shared_patients"]["examples"] == ["p1 (test, train)"]
    assert found["max_duplicate_reports"] == {
        "limit": "evaluate.leaks.max_duplicate_reports", "allowed": 0.05, "found": 0.2,
        "what": "20.0 % of held-out reports nearly repeat one of an earlier split",
        "examples": ["s4 (test) ~ s1 (train)"],
    }  # fmt: skip
    assert found["max_one_sided_tags"]["examples"] == ["finding: tube (100 %)"]
    path = tmp_path / "gate.json"
    path.write_text(json.dumps(verdict), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        gate.require_passed(path)
    assert "nothing is released: 1 patients are in more than one split" in str(caught.value)
    assert "limit evaluate.leaks.max_duplicate_reports = 0.05; s4 (test) ~ s1" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_gate_passes_below_the_limits_and_says_what_it_could_not_check(tmp_path: Path) -> None:
    scores = gate_rows(max_shared_patients=math.nan, max_positive=0.9, max_question_only=0.9)
    verdict = gate.verdict(scores, PAIRS, LeaksConfig())
    assert verdict == {
        "passed": True, "findings": [],
        "not_checked": ["evaluate.leaks.max_shared_patients: nothing to check"],
    }  # fmt: skip
    path = tmp_path / "gate.json"
    path.write_text(json.dumps(verdict), encoding="utf-8")
    gate.require_passed(path)
    for wrong in ("{", "[]", '{"findings": []}'):
        path.write_text(wrong, encoding="utf-8")
        with pytest.raises(UserError, match="no verdict of evaluate_leaks"):
            gate.require_passed(path)


def test_tags_that_nearly_always_say_the_same_are_counted() -> None:
    tags = pl.DataFrame(
        [
            ("finding", "a", 95, 5),
            ("finding", "b", 94, 6),
            ("region", "c", 0, 50),
            ("region", "d", 9, 0),
        ],
        schema=TAG_COUNTS,
        orient="row",
    )
    rows = list(gate.tag_rows(tags, 50))
    assert [r["subject"] for r in rows] == ["finding: a", "finding: b", "region: c", "all"]
    assert rows[-1]["value"] == pytest.approx(2 / 3)
    assert math.isnan(list(gate.tag_rows(tags, 1000))[-1]["value"])


def test_the_table_shows_verdict_and_dataset(tmp_path: Path) -> None:
    scores = gate_rows(max_shared_patients=1, max_positive=0.5, max_question_only=math.nan)
    write_table(scores, tmp_path / "scores.parquet", LEAK_SCORES)
    verdict = gate.verdict(scores, PAIRS, LeaksConfig())
    (tmp_path / "gate.json").write_text(json.dumps(verdict), encoding="utf-8")
    text = to_markdown(leaks_table(tmp_path / "scores.parquet", tmp_path / "gate.json", "Title"))
    assert "# Leaks between splits, and balance (Title)" in text
    assert "## Gate: not passed: no release" in text
    cells = [
        [c.strip() for c in line.split("|")[1:-1]] for line in text.splitlines() if "max_" in line
    ]
    assert [(row[0], row[3]) for row in cells] == [
        ("max_shared_patients", "beyond 0"), ("max_positive", "kept"),
        ("max_question_only", "not checked"),
    ]  # fmt: skip
    assert "| finding | tube  |    60 |  100.0 % |" in text
    write_table(frame([], LEAK_SCORES), tmp_path / "none.parquet", LEAK_SCORES)
    empty = leaks_table(tmp_path / "none.parquet", tmp_path / "gate.json", "Title")
    assert "No data: there are no questions." in to_markdown(empty)
