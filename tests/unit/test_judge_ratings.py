"""Ratings are the worst over Tabs 11 and 12; checked against a slow second implementation."""

from __future__ import annotations

import itertools
import random
from typing import Any

import polars as pl
import pytest
from qa_rows import qa_frames

from cxrqba.errors import UserError
from cxrqba.judge import ratings
from cxrqba.judge.ratings import check_levels, rate
from cxrqba.schema import (
    EXTRACTION_QUALITY,
    IMAGES,
    JUDGEMENTS,
    PART_CRITERIA,
    RATED,
    RATED_ANSWERS,
    RATINGS,
    TEXT_QUALITY,
)
from cxrqba.tables import frame

BEST_QUALITY = {aspect: list(levels)[-1] for aspect, levels in EXTRACTION_QUALITY.items()}
BEST_TEXT = {criterion: next(iter(levels)) for criterion, levels in TEXT_QUALITY.items()}


def question(
    quality: dict[str, str | None] | None = None,
    types: tuple[str, ...] = ("main_answer",),
    images: dict[str, str] | None = None,
    number: int = 1,
) -> dict[str, Any]:
    """A question of study s1; ``images``: image id -> localization level."""
    name = f"Q{number}"
    quality = {**BEST_QUALITY, **(quality or {})}
    return {
        "patient_id": "p1",
        "study_id": "s1",
        "question_id": name,
        "question_type": "B01_describe_all",
        "question_strategy": "abnormal",
        "extraction_quality": quality,
        "answers": [
            {"answer_id": f"{name}.a{i:02}", "answer_type": t, "extraction_quality": quality}
            for i, t in enumerate(types)
        ],
        "question_img_localization_quality": [
            {"image_id": i, "view": "frontal", "localization_quality": level}
            for i, level in (images or {"f": "BBOX_LOCALIZATION"}).items()
        ],
    }


def judged(row: dict[str, Any], **levels: str | None) -> list[dict[str, Any]]:
    """Judgements of all criteria, the best level unless given; all parts alike."""
    levels = {**BEST_TEXT, **levels}
    rows: list[dict[str, Any]] = []
    for criterion, level in levels.items():
        ids = [a["answer_id"] for a in row["answers"]] if criterion in PART_CRITERIA else [None]
        rows += [
            {
                "study_id": row["study_id"],
                "question_id": row["question_id"],
                "answer_id": i,
                "criterion": criterion,
                "level": level,
                "status": "ok" if level else "error",
            }
            for i in ids
        ]
    return rows


def images(**views: str) -> pl.DataFrame:
    return frame(
        [
            {"study_id": "s1", "image_id": i, "view": v}
            for i, v in (views or {"f": "frontal"}).items()
        ],
        IMAGES,
    )


def rated_one(
    row: dict[str, Any], judgements: list[dict[str, Any]], shown: pl.DataFrame | None = None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    rated, answers = rate(
        *qa_frames([row]),
        frame(judgements, JUDGEMENTS),
        images() if shown is None else shown,
    )
    assert rated.schema == RATED
    assert answers.schema == RATED_ANSWERS
    return rated.row(0, named=True), answers.rows(named=True)


def test_nothing_wrong_is_a_plus_plus() -> None:
    row = question()
    rated, answers = rated_one(row, judged(row))
    assert (rated["rating"], rated["limiting_aspect"]) == ("A++", None)
    assert rated["pre_training"]
    assert rated["fine_tuning"]
    assert answers[0]["rating"] == "A++"


@pytest.mark.parametrize(
    ("criterion", "level", "rating"),
    [(c, level, r) for c, levels in TEXT_QUALITY.items() for level, r in levels.items()],
)
def test_each_level_of_table_12(criterion: str, level: str, rating: str) -> None:
    row = question(types=("details",) if level != "RELATED_INFO" else ("related_information",))
    rated, _ = rated_one(row, judged(row, **{criterion: level}))
    assert rated["rating"] == rating
    expected = None if rating == "A++" else f"{criterion}={level}"
    assert rated["limiting_aspect"] == expected


@pytest.mark.parametrize(
    ("aspect", "level", "rating"),
    [
        (a, level, r)
        for a, levels in EXTRACTION_QUALITY.items()
        if a != "localization_quality"
        for level, r in levels.items()
    ],
)
def test_each_level_of_table_11(aspect: str, level: str, rating: str) -> None:
    row = question({aspect: level})
    rated, answers = rated_one(row, judged(row))
    assert rated["rating"] == rated["frontal_rating"] == answers[0]["rating"] == rating
    assert rated["pre_training"] == (rating in ("B", "A", "A+", "A++"))
    assert rated["fine_tuning"] == (rating in ("A", "A+", "A++"))


@pytest.mark.parametrize(
    ("level", "kind", "rating"),
    [
        ("RELEVANT_MAIN_ANSWER", "main_answer", "A++"),
        ("RELEVANT_MAIN_ANSWER", "details", "A++"),
        ("RELEVANT_MAIN_ANSWER", "related_information", "A"),
        ("RELATED_INFO", "main_answer", "A+"),
        ("RELATED_INFO", "details", "A+"),
        ("RELATED_INFO", "related_information", "A++"),
        ("REDUNDANT_INFO", "related_information", "A"),
    ],
)
def test_relevance_depends_on_the_type_of_the_part(level: str, kind: str, rating: str) -> None:
    row = question(types=(kind,))
    rated, answers = rated_one(row, judged(row, relevance=level))
    assert rated["rating"] == answers[0]["rating"] == rating


def test_a_missing_or_failed_judgement_leaves_the_pair_unrated() -> None:
    row = question(types=("main_answer", "details"))
    complete = judged(row)
    for left_out in range(len(complete)):
        rated, answers = rated_one(row, complete[:left_out] + complete[left_out + 1 :])
        assert rated["rating"] is None
        assert rated["frontal_rating"] is None
        assert not rated["pre_training"]
        part = complete[left_out]["answer_id"]
        assert [a["answer_id"] for a in answers if a["rating"] is None] == ([part] if part else [])
    rated, _ = rated_one(row, judged(row, completeness=None))
    assert rated["rating"] is None
    assert rated["limiting_aspect"] is None


def test_frontal_rating_leaves_lateral_images_out() -> None:
    row = question(
        {"localization_quality": "FALLBACK_LOCALIZATION"},
        images={"f": "BBOX_LOCALIZATION", "l": "FALLBACK_LOCALIZATION"},
    )
    rated, _ = rated_one(row, judged(row), images(f="frontal", l="lateral"))
    assert (rated["rating"], rated["limiting_aspect"]) == (
        "B",
        "localization_quality=FALLBACK_LOCALIZATION",
    )
    assert (rated["frontal_rating"], rated["frontal_limiting_aspect"]) == ("A++", None)
    assert rated["fine_tuning"]


def test_without_a_frontal_image_there_is_no_frontal_rating() -> None:
    row = question(images={"l": "BBOX_LOCALIZATION"})
    rated, _ = rated_one(row, judged(row), images(l="lateral"))
    assert rated["rating"] == "A++"
    assert rated["frontal_rating"] is None
    assert not rated["has_frontal"]
    assert not rated["pre_training"]


def test_boxes_on_the_lateral_image_alone_are_none_on_the_frontal() -> None:
    row = question(images={"l": "BBOX_LOCALIZATION"})
    rated, _ = rated_one(row, judged(row), images(f="frontal", l="lateral"))
    assert rated["frontal_limiting_aspect"] == "localization_quality=NO_LOCALIZATION"
    assert rated["frontal_rating"] == "B"


def test_an_aspect_without_level_does_not_limit() -> None:
    row = question(dict.fromkeys(EXTRACTION_QUALITY))
    rated, _ = rated_one(row, judged(row))
    assert rated["rating"] == rated["frontal_rating"] == "A++"


def test_unknown_levels_are_named() -> None:
    row = question()
    with pytest.raises(UserError, match=r"'FULLY_COMPLETED' of completeness .*FULLY_COMPLETE'"):
        check_levels(frame(judged(row, completeness="FULLY_COMPLETED"), JUDGEMENTS), "file")


def test_random_pairs_agree_with_a_slow_reading_of_the_tables() -> None:
    generator = random.Random(0)
    rows, judgements, expected = [], [], []
    kinds = ("main_answer", "details", "related_information")
    for number in range(200):
        quality = {a: generator.choice(list(levels)) for a, levels in EXTRACTION_QUALITY.items()}
        row = question(quality, tuple(generator.choices(kinds, k=3)), number=number)
        given = judged(row)
        for judgement in given:
            if generator.random() < 0.3:
                judgement["level"] = generator.choice(list(TEXT_QUALITY[judgement["criterion"]]))
        rows.append(row)
        judgements += given
        expected.append(_slow(row, given))
    rated, _ = rate(*qa_frames(rows), frame(judgements, JUDGEMENTS), images())
    assert rated["question_id"].to_list() == [r["question_id"] for r in rows]
    assert rated["rating"].to_list() == expected


def _slow(row: dict[str, Any], judgements: list[dict[str, Any]]) -> str:
    kinds = {a["answer_id"]: a["answer_type"] for a in row["answers"]}
    found = [EXTRACTION_QUALITY[a][v] for a, v in row["extraction_quality"].items()]
    for judgement in judgements:
        level, kind = judgement["level"], kinds.get(judgement["answer_id"])
        rating = TEXT_QUALITY[judgement["criterion"]][level]
        if level == "RELEVANT_MAIN_ANSWER" and kind == "related_information":
            rating = "A"
        if level == "RELATED_INFO" and kind != "related_information":
            rating = "A+"
        found.append(rating)
    return min(found, key=RATINGS.index)


def test_no_questions_give_empty_tables() -> None:
    rated, answers = rate(*qa_frames([]), frame([], JUDGEMENTS), images())
    assert rated.is_empty()
    assert answers.is_empty()
    assert rated.schema == RATED
    assert list(itertools.chain(answers.schema)) == list(RATED_ANSWERS)


def test_batches_rate_as_the_whole_does(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{**question(number=n), "study_id": f"s{n // 2}"} for n in range(7)]
    judgements = frame([j for row in rows for j in judged(row)], JUDGEMENTS)
    asked, parts = qa_frames(rows)
    monkeypatch.setattr(ratings, "STUDIES_AT_ONCE", 2)
    batches = [*ratings.rate_batches(asked.lazy(), parts.lazy(), judgements.lazy(), images())]
    assert len(batches) == 2
    whole = rate(asked, parts, judgements, images())
    for several, one in zip(zip(*batches, strict=True), whole, strict=True):
        assert pl.concat(several).equals(one)
