"""Figure 1: one QA pair per strategy, as chosen for a reader (paper Fig. 1).

The choice is deterministic and does not depend on shards: among the pairs of the best grades, those
with boxes, a positive part, a few parts and a moderate length come first, ties are broken by a hash
of the ids, and no study serves twice. Answers are close to the words of the report: the figure and
its CSV hold what the results hold, and stay with them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.paper.names import GRADE_GROUPS, NOT_RATED, STRATEGY_NAMES
from cxrqba.paper.scan import scan
from cxrqba.qa.boxes import part_boxes
from cxrqba.schema import ANSWERS, IMAGES, OBSERVATIONS, QUESTIONS, RATED, REGIONS, STUDIES

CANDIDATES = 300
"""Pairs of each strategy that are looked at in full."""
DATA = pl.Schema(
    {
        "question_strategy": pl.String,
        "question_type": pl.String,
        "study_id": pl.String,
        "question_id": pl.String,
        "rating": pl.String,
        "question": pl.String,
        "answer_id": pl.String,
        "answer_type": pl.String,
        "answer_level": pl.Int32,
        "text": pl.String,
        "positiveness": pl.String,
        "certainty": pl.String,
        "laterality": pl.String,
        "findings": pl.String,  # joined by |
        "regions": pl.String,
        "image_id": pl.String,
        "bboxes": pl.String,  # "x1 y1 x2 y2" in pixels, joined by |
    }
)
KEYS = ["study_id", "question_id"]
QUESTION_COLUMNS = [*KEYS, "question_type", "question_strategy", "question"]
IMAGE_COLUMNS = ["study_id", "image_id", "path", "view_position", "view"]


@dataclass(frozen=True)
class Tables:
    """Files of all shards, named as in ``schema``."""

    questions: Sequence[Path]
    answers: Sequence[Path]
    observations: Sequence[Path]
    regions: Sequence[Path]
    rated: Sequence[Path]
    images: Sequence[Path]
    studies: Sequence[Path]


@dataclass(frozen=True)
class Part:
    """One answer part and its boxes in the image that is shown."""

    values: dict[str, Any]  # a row of schema.ANSWERS, with boxes by image
    boxes: list[list[float]]


@dataclass(frozen=True)
class Example:
    """One QA pair with what is shown of it; ``image`` is a row of the images table or None."""

    strategy: str
    question_type: str
    study_id: str
    question_id: str
    rating: str
    question: str
    parts: list[Part]
    image: dict[str, Any] | None
    procedure: str | None


def choose_examples(
    tables: Tables,
) -> list[Example]:
    """One example per strategy that has QA pairs, each of another study while there are enough."""
    pool = _candidates(tables.rated)
    if pool.is_empty():
        return []
    rows = (
        scan(tables.questions, QUESTION_COLUMNS, QUESTIONS)
        .join(pool.lazy(), on=KEYS, how="semi")
        .collect()
        .join(pool, on=KEYS)
    )
    parts_of = _parts(tables, pool)
    wanted = rows["study_id"].unique().to_list()
    films = (
        scan(tables.images, IMAGE_COLUMNS, IMAGES)
        .filter(pl.col("study_id").is_in(wanted))
        .collect()
    )
    films_of: dict[str, list[dict[str, Any]]] = {}
    for film in films.sort("study_id", "image_id").iter_rows(named=True):
        films_of.setdefault(film["study_id"], []).append(film)
    candidates = [
        {**row, "answers": parts_of[row["study_id"], row["question_id"]]}
        for row in rows.iter_rows(named=True)
    ]
    ranked = sorted((_key(row, films_of.get(row["study_id"], [])), row) for row in candidates)
    chosen = _one_per_strategy([row for _, row in ranked])
    procedures = dict(
        scan(tables.studies, ["study_id", "procedure"], STUDIES)
        .filter(pl.col("study_id").is_in([row["study_id"] for row in chosen]))
        .collect()
        .iter_rows()
    )
    return [
        _example(row, films_of.get(row["study_id"], []), procedures.get(row["study_id"]))
        for row in chosen
    ]


def examples_frame(examples: Sequence[Example]) -> pl.DataFrame:
    """One row per answer part; columns as ``DATA``."""
    rows = [
        {
            "question_strategy": example.strategy,
            "question_type": example.question_type,
            "study_id": example.study_id,
            "question_id": example.question_id,
            "rating": example.rating,
            "question": example.question,
            **{
                name: part.values[name]
                for name in (
                    "answer_id",
                    "answer_type",
                    "answer_level",
                    "text",
                    "positiveness",
                    "certainty",
                    "laterality",
                )
            },
            "findings": "|".join(part.values["obs_entities"] or []),
            "regions": "|".join(part.values["regions"] or []),
            "image_id": example.image["image_id"] if example.image else None,
            "bboxes": "|".join(" ".join(f"{c:g}" for c in box) for box in part.boxes),
        }
        for example in examples
        for part in example.parts
    ]
    return pl.DataFrame(rows, schema=DATA, orient="row")


def _candidates(rated: Sequence[Path]) -> pl.DataFrame:
    """Up to ``CANDIDATES`` pairs of the best grades a strategy; columns KEYS, rating, tie."""
    tiers = {g: tier for tier, grades in enumerate(GRADE_GROUPS.values()) for g in grades}
    table = (
        scan(rated, [*KEYS, "question_strategy", "rating"], RATED)
        .with_columns(pl.col("rating").fill_null(NOT_RATED))
        .with_columns(tier=pl.col("rating").replace_strict(tiers, return_dtype=pl.Int32))
        .filter(pl.col("tier") == pl.col("tier").min().over("question_strategy"))
        .collect()
    )
    ties = [
        hashlib.sha256(f"{study}/{question}".encode()).hexdigest()
        for study, question in table.select(KEYS).iter_rows()
    ]
    return (
        table.with_columns(tie=pl.Series(ties, dtype=pl.String))
        .sort("tie")
        .group_by("question_strategy", maintain_order=True)
        .head(CANDIDATES)
        .select(*KEYS, "rating", "tie")
    )


def _parts(tables: Tables, pool: pl.DataFrame) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """(study, question) of the pool -> its answer parts with ``boxes``: image id -> boxes."""
    columns = [c for c in ANSWERS if c != "extraction_quality"]
    answers = (
        scan(tables.answers, columns, ANSWERS).join(pool.lazy(), on=KEYS, how="semi").collect()
    )
    boxes: dict[tuple[str, str, str], dict[str, list[list[float]]]] = {}
    observations = scan(tables.observations, ["study_id", "obs_id", "localization"], OBSERVATIONS)
    regions = scan(tables.regions, ["study_id", "region", "localization"], REGIONS)
    shown = part_boxes(answers, observations, regions)
    for study_id, question_id, answer_id, image_id, found in shown.iter_rows():
        boxes.setdefault((study_id, question_id, answer_id), {})[image_id] = found
    parts: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in answers.iter_rows(named=True):
        key = (row["study_id"], row["question_id"])
        own = boxes.get((*key, row["answer_id"]), {})
        parts.setdefault(key, []).append({**row, "boxes": own})
    return parts


def _key(row: dict[str, Any], films: list[dict[str, Any]]) -> tuple[int, str]:
    """Sort key, best first: points for what makes an example instructive, then the hash."""
    parts = row["answers"] or []
    words = sum(len((part["text"] or "").split()) for part in parts)
    film = _film(parts, films)
    boxed = film is not None and any(_boxes(part, film) for part in parts)
    signs = {part["positiveness"] for part in parts}
    points = (
        4 * boxed
        + 4 * any(p["answer_type"] == "main_answer" and p["positiveness"] == "pos" for p in parts)
        + 2 * ("pos" in signs)
        + ({"pos", "neg"} <= signs)
        + 2 * (2 <= len(parts) <= 4)
        + 2 * (8 <= words <= 60)
        + (len(row["question"].split()) <= 30)
    )
    return -points, row["tie"]


def _one_per_strategy(ranked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    chosen: list[dict[str, Any]] = []
    for strategy in STRATEGY_NAMES:
        rows = [row for row in ranked if row["question_strategy"] == strategy]
        used = {row["study_id"] for row in chosen}
        fresh = [row for row in rows if row["study_id"] not in used]
        chosen += (fresh or rows)[:1]
    return chosen


def _film(parts: list[dict[str, Any]], films: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The image to show: a frontal one before others, then the one with boxes of most parts."""
    return max(
        films,  # sorted by id: on a tie the first one is kept
        default=None,
        key=lambda film: (
            any(_boxes(part, film) for part in parts),
            film["view"] == "frontal",
            sum(bool(_boxes(part, film)) for part in parts),
        ),
    )


def _boxes(part: dict[str, Any], film: dict[str, Any] | None) -> list[list[float]]:
    found: list[list[float]] = part["boxes"].get(film["image_id"], []) if film else []
    return found


def _example(row: dict[str, Any], films: list[dict[str, Any]], procedure: str | None) -> Example:
    film = _film(row["answers"], films)
    return Example(
        strategy=row["question_strategy"],
        question_type=row["question_type"],
        study_id=row["study_id"],
        question_id=row["question_id"],
        rating=row["rating"],
        question=row["question"],
        parts=[Part(part, _boxes(part, film)) for part in row["answers"]],
        image=film,
        procedure=procedure,
    )
