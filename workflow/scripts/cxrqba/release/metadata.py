"""The seven metadata tables of a release (patients, studies, images, questions, answers).

Keys are patient_id, study_id, image_id, question_id, answer_id; a question id is unique only within
its study. Quality levels are integers from worst to best, ratings text such as ``3_B``.
"""

from __future__ import annotations

import polars as pl

from cxrqba.schema import EXTRACTION_QUALITY, RATINGS, TEXT_QUALITY

STUDY = ("patient_id", "study_id")
QUESTION = (*STUDY, "question_id")
ANSWER = (*QUESTION, "answer_id")
KEYS = {
    "patient": ("patient_id",),
    "study": STUDY,
    "image": (*STUDY, "image_id"),
    "question": QUESTION,
    "question_image": (*QUESTION, "image_id"),
    "answer": ANSWER,
    "answer_image": (*ANSWER, "image_id"),
}
"""Table -> its key."""

RATED = {rating: f"{place}_{rating}" for place, rating in enumerate(RATINGS, start=1)}
"""Rating -> how metadata writes it, so that text sorts from worst to best."""

_LEVELS = {
    aspect: {level: place for place, level in enumerate(levels)}
    for aspect, levels in {**EXTRACTION_QUALITY, **TEXT_QUALITY}.items()
}
TAGS = ("regions", "obs_entities", "obs_entities_parents", "obs_categories", "obs_subcategories")

ANSWER_IMAGES = pl.Schema(
    {
        **dict.fromkeys((*ANSWER, "image_id"), pl.String),
        "num_regions": pl.Int32,
        "localization_quality": pl.Int32,
    }
)


def rated(column: str) -> pl.Expr:
    """A rating column as metadata writes it."""
    return pl.col(column).replace_strict(RATED, return_dtype=pl.String)


def levels(aspect: str, level: pl.Expr) -> pl.Expr:
    """Levels of an aspect as integers."""
    return level.replace_strict(_LEVELS[aspect], return_dtype=pl.Int32)


def _quality(column: str, prefix: str) -> list[pl.Expr]:
    return [
        levels(a, pl.col(column).struct.field(a)).alias(f"{prefix}.{a}") for a in EXTRACTION_QUALITY
    ]


def _extraction_rating(column: str) -> pl.Expr:
    """Best rating that an extraction quality allows, as metadata writes it."""
    places = {
        a: {level: RATINGS.index(r) for level, r in of.items()}
        for a, of in EXTRACTION_QUALITY.items()
    }
    codes = [
        pl.col(column).struct.field(a).replace_strict(places[a], return_dtype=pl.Int32)
        for a in EXTRACTION_QUALITY
    ]
    written = dict(enumerate(RATED.values()))
    return pl.min_horizontal(codes).replace_strict(written, return_dtype=pl.String)


def study_table(studies: pl.DataFrame, graphs: pl.DataFrame, nodes: pl.DataFrame) -> pl.DataFrame:
    """Studies that have a graph."""
    counts = nodes.group_by("study_id").agg(pl.len().cast(pl.Int32).alias("study.num_observations"))
    return (
        studies.join(graphs.select("study_id", "study_quality", "is_complete"), on="study_id")
        .join(counts, on="study_id", how="left")
        .sort("study_id")
        .select(
            *STUDY,
            "split",
            pl.col("study_date").alias("study.date"),
            pl.col("procedure").alias("study.procedure"),
            pl.col("num_images").alias("study.num_images"),
            pl.col("study.num_observations").fill_null(0),
            pl.col("is_complete").alias("study.is_complete"),
            _extraction_rating("study_quality").alias("study.quality.extraction_rating"),
            *_quality("study_quality", "study.quality"),
        )
    )


def patient_table(studies: pl.DataFrame) -> pl.DataFrame:
    """Patients from the studies table of the whole dataset."""
    day = pl.col("study.date").str.to_date("%Y%m%d", strict=False)
    return (
        studies.filter(pl.col("patient_id").is_not_null())
        .group_by("patient_id")
        .agg(
            pl.col("split").first(),
            pl.len().cast(pl.Int32).alias("patient.total_studies"),
            (day.max() - day.min()).dt.total_days().alias("patient.total_study_timespan"),
        )
        .sort("patient_id")
    )


def image_table(
    images: pl.DataFrame, status: pl.DataFrame, studies: pl.DataFrame, graphs: pl.DataFrame
) -> pl.DataFrame:
    """Images of the studies that have a graph, with the size that was read."""
    entry = pl.col("study_img_localization_quality").struct
    quality = (
        graphs.select("study_id", "study_img_localization_quality")
        .explode("study_img_localization_quality", empty_as_null=True)
        .filter(pl.col("study_img_localization_quality").is_not_null())
        .select(
            "study_id",
            entry.field("image_id"),
            levels("localization_quality", entry.field("localization_quality")).alias(
                "img.localization_quality"
            ),
        )
    )
    on = ["study_id", "image_id"]
    read = status.select(*on, read_height="height", read_width="width", read="status")
    return (
        images.join(studies.select("study_id", "split"), on="study_id")
        .join(read.unique(on), on=on, how="left")
        .join(quality.unique(on), on=on, how="left")
        .sort("study_id", "image_id")
        .select(
            *STUDY,
            "image_id",
            "split",
            pl.col("view").alias("img.view_position"),
            pl.col("view_position").alias("img.source_view"),
            pl.coalesce("read_height", "height").alias("img.size_height"),
            pl.coalesce("read_width", "width").alias("img.size_width"),
            pl.col("read").alias("img.status"),
            "img.localization_quality",
        )
    )


def question_table(
    questions: pl.DataFrame, answers: pl.DataFrame, rating: pl.DataFrame, studies: pl.DataFrame
) -> pl.DataFrame:
    """Questions with qualities and ratings."""
    key = ["study_id", "question_id"]
    counts = answers.group_by(key).agg(pl.len().cast(pl.Int32).alias("num_answers"))
    grades = rating.select(
        *key,
        rated("rating").alias("rating"),
        rated("frontal_rating").alias("frontal_rating"),
        "limiting_aspect",
        "has_frontal",
        "pre_training",
        "fine_tuning",
    )
    return (
        questions.join(studies.select("study_id", "split"), on="study_id")
        .join(counts, on=key, how="left")
        .join(grades, on=key, how="left")
        .sort(key)
        .select(
            *QUESTION,
            "split",
            "question_type",
            "question_strategy",
            "contains_report_answers",
            "contains_template_answers",
            "num_answers",
            *(c for c in grades.columns if c not in key),
            *_quality("extraction_quality", "question.quality"),
        )
    )


def question_image_table(questions: pl.DataFrame) -> pl.DataFrame:
    """Images with boxes of each question."""
    entry = pl.col("question_img_localization_quality").struct
    return (
        questions.select(*QUESTION, "question_img_localization_quality")
        .explode("question_img_localization_quality", empty_as_null=True)
        .filter(pl.col("question_img_localization_quality").is_not_null())
        .select(
            *QUESTION,
            entry.field("image_id"),
            levels("localization_quality", entry.field("localization_quality")).alias(
                "localization_quality"
            ),
        )
        .sort("study_id", "question_id", "image_id")
    )


def answer_table(
    answers: pl.DataFrame, rating: pl.DataFrame, studies: pl.DataFrame
) -> pl.DataFrame:
    """Answer parts with tags, qualities and ratings; without their texts."""
    key = ["study_id", "question_id", "answer_id"]
    grades = rating.select(*key, rated("rating").alias("rating"), "limiting_aspect")
    return (
        answers.join(studies.select("patient_id", "study_id", "split"), on="study_id")
        .join(grades, on=key, how="left")
        .sort(key)
        .select(
            *ANSWER,
            "split",
            "parent_answer_id",
            "answer_type",
            "answer_level",
            "from_report",
            "laterality",
            "certainty",
            "positiveness",
            *TAGS,
            "rating",
            "limiting_aspect",
            *_quality("extraction_quality", "answer.quality"),
        )
    )
