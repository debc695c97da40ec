"""Overall ratings from single aspects (paper Sec. D.3, Tabs 11 and 12).

Each aspect's level allows a best rating; the overall rating is the worst over all aspects, of the
question's extraction (Tab. 11) and of its texts (Tab. 12). Relevance depends on the part's type as
well. If any text aspect was not judged, there is no rating. The frontal rating leaves lateral
images out: only the localization aspect can change. From it follow the proposed subsets: B or
better is pre-training grade (PT), A or better fine-tuning grade (FT), both on frontal images only.

All of it is one minimum over small integers: rating, aspect and level are packed into one code, so
that the minimum holds the worst rating and the first aspect that caused it.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from cxrqba.errors import UserError, nearest
from cxrqba.schema import (
    EXTRACTION_QUALITY,
    PART_CRITERIA,
    RATED,
    RATED_ANSWERS,
    RATINGS,
    TEXT_QUALITY,
)

_ASPECTS = (*TEXT_QUALITY, *EXTRACTION_QUALITY)
_LEVELS = {**TEXT_QUALITY, **EXTRACTION_QUALITY}
BY_PART_TYPE = {
    ("RELEVANT_MAIN_ANSWER", "related_information"): "A",
    ("RELATED_INFO", "main_answer"): "A+",
    ("RELATED_INFO", "details"): "A+",
}
"""(relevance level, answer type) -> best rating, where it differs from TEXT_QUALITY."""

_NEEDED = (
    (
        "patient_id",
        "study_id",
        "question_id",
        "question_type",
        "question_strategy",
        "extraction_quality",
        "question_img_localization_quality",
    ),
    ("study_id", "question_id", "answer_id", "answer_type", "extraction_quality"),
    ("study_id", "question_id", "answer_id", "criterion", "level"),
)
"""Columns of QUESTIONS, ANSWERS and JUDGEMENTS."""
STUDIES_AT_ONCE = 300

_BEST = RATINGS.index("A++")
_KEY = ["study_id", "question_id"]


def _code(rating: str, aspect: str, level: str) -> int:
    names = list(_LEVELS[aspect])
    return (RATINGS.index(rating) * 100 + _ASPECTS.index(aspect)) * 100 + names.index(level)


_CODES = {
    aspect: {level: _code(rating, aspect, level) for level, rating in levels.items()}
    for aspect, levels in _LEVELS.items()
}
_CAUSES = {code: f"{a}={level}" for a, codes in _CODES.items() for level, code in codes.items()}
_RELEVANCE = {
    (level, kind): _code(rating, "relevance", level)
    for (level, kind), rating in BY_PART_TYPE.items()
}
_CAUSES |= {code: f"relevance={level}" for (level, _), code in _RELEVANCE.items()}


def rate(
    questions: pl.DataFrame,
    answers: pl.DataFrame,
    judgements: pl.DataFrame,
    images: pl.DataFrame,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rate questions and answer parts; returns (RATED, RATED_ANSWERS) in the order of questions.

    ``limiting_aspect`` is ``aspect=LEVEL`` of the aspect that set the rating, the first in the
    order of Tab. 12 and Tab. 11 where several do; null where nothing limits (A++) or not rated.
    """
    part_texts = _part_texts(_parts(answers), judgements)
    part_codes = part_texts.with_columns(
        _worst(["text", _extraction("quality", "localization_quality")])
    )
    rated_parts = part_codes.select(
        *_KEY, "answer_id", "answer_type", *_decoded("code", "rating", "limiting_aspect")
    )
    return _rate_questions(questions, part_texts, judgements, images), rated_parts.cast(
        dict(RATED_ANSWERS)  # type: ignore[arg-type]
    )


def rate_batches(
    questions: pl.LazyFrame,
    answers: pl.LazyFrame,
    judgements: pl.LazyFrame,
    images: pl.DataFrame,
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """As :func:`rate`, ``STUDIES_AT_ONCE`` studies at a time: memory does not grow with the shard.

    Of the tables only the columns needed are read.
    """
    asked, parts, judged = (
        table.select(columns).collect()
        for table, columns in zip((questions, answers, judgements), _NEEDED, strict=True)
    )
    ids = asked["study_id"].unique(maintain_order=True)
    for offset in range(0, len(ids), STUDIES_AT_ONCE):
        own = pl.col("study_id").is_in(ids.slice(offset, STUDIES_AT_ONCE).implode())
        yield rate(asked.filter(own), parts.filter(own), judged.filter(own), images)


def _parts(answers: pl.DataFrame) -> pl.DataFrame:
    """What rating needs of the answer parts."""
    return answers.select(*_KEY, "answer_id", "answer_type", quality="extraction_quality")


def _part_texts(parts: pl.DataFrame, judgements: pl.DataFrame) -> pl.DataFrame:
    """Parts with the worst code of their text criteria; null where one is missing."""
    wide = _wide(judgements, PART_CRITERIA, [*_KEY, "answer_id"])
    joined = parts.join(wide, on=[*_KEY, "answer_id"], how="left", maintain_order="left")
    relevance = _encoded(pl.col("relevance"), "relevance")
    for (level, kind), code in _RELEVANCE.items():
        special = (pl.col("relevance") == level) & (pl.col("answer_type") == kind)
        relevance = pl.when(special).then(pl.lit(code, pl.Int32)).otherwise(relevance)
    codes = [relevance if c == "relevance" else _encoded(pl.col(c), c) for c in PART_CRITERIA]
    return joined.with_columns(_least(codes, all_required=True).alias("text"))


def _rate_questions(
    questions: pl.DataFrame, parts: pl.DataFrame, judgements: pl.DataFrame, images: pl.DataFrame
) -> pl.DataFrame:
    own = tuple(c for c in TEXT_QUALITY if c not in PART_CRITERIA)
    wide = _wide(judgements.filter(pl.col("answer_id").is_null()), own, _KEY)
    worst_part = parts.group_by(_KEY).agg(
        pl.when(pl.col("text").is_null().any())
        .then(None)
        .otherwise(pl.col("text").min())
        .alias("parts")
    )
    frontal = images.filter(pl.col("view") == "frontal").select("study_id", "image_id").unique()
    table = (
        questions.join(worst_part, on=_KEY, how="left", maintain_order="left")
        .join(wide, on=_KEY, how="left", maintain_order="left")
        .join(_frontal_levels(questions, frontal), on=_KEY, how="left", maintain_order="left")
        .with_columns(
            pl.col("study_id").is_in(frontal["study_id"].unique().implode()).alias("has_frontal")
        )
        .with_columns(
            _least(
                [pl.col("parts"), *(_encoded(pl.col(c), c) for c in own)], all_required=True
            ).alias("text")
        )
    )
    table = table.with_columns(
        _worst(["text", _extraction("extraction_quality", "localization_quality")]),
        _worst(["text", _extraction("extraction_quality", None), _frontal_code()], "frontal_code"),
    ).with_columns(pl.when("has_frontal").then("frontal_code").alias("frontal_code"))
    grade = pl.col("frontal_code") // 10_000
    return table.select(
        "patient_id",
        *_KEY,
        "question_type",
        "question_strategy",
        *_decoded("code", "rating", "limiting_aspect"),
        *_decoded("frontal_code", "frontal_rating", "frontal_limiting_aspect"),
        "has_frontal",
        (grade >= RATINGS.index("B")).fill_null(False).alias("pre_training"),
        (grade >= RATINGS.index("A")).fill_null(False).alias("fine_tuning"),
    ).cast(dict(RATED))  # type: ignore[arg-type]


def _frontal_levels(questions: pl.DataFrame, frontal: pl.DataFrame) -> pl.DataFrame:
    """Worst localization code of each question over the frontal images it has boxes for."""
    entry = pl.col("question_img_localization_quality").struct
    return (
        questions.select(*_KEY, "question_img_localization_quality")
        .explode("question_img_localization_quality", empty_as_null=True)
        .filter(pl.col("question_img_localization_quality").is_not_null())
        .select(*_KEY, entry.field("image_id"), entry.field("localization_quality").alias("level"))
        .join(frontal, on=["study_id", "image_id"], how="semi")
        .group_by(_KEY)
        .agg(_encoded(pl.col("level"), "localization_quality").min().alias("frontal_localization"))
    )


def _frontal_code() -> pl.Expr:
    """Localization over frontal images; none at all where only lateral images were localized."""
    nothing = _CODES["localization_quality"]["NO_LOCALIZATION"]
    overall = pl.col("extraction_quality").struct.field("localization_quality")
    return pl.when(overall.is_not_null()).then(
        pl.col("frontal_localization").fill_null(pl.lit(nothing, pl.Int32))
    )


def _wide(judgements: pl.DataFrame, criteria: tuple[str, ...], key: list[str]) -> pl.DataFrame:
    """One column of levels per criterion."""
    wide = judgements.select(key).unique(maintain_order=True)
    for criterion in criteria:
        rows = judgements.filter(pl.col("criterion") == criterion)
        wide = wide.join(rows.select(*key, pl.col("level").alias(criterion)), on=key, how="left")
    return wide


def _encoded(level: pl.Expr, aspect: str) -> pl.Expr:
    """Levels as codes; an unknown level is an error of the table, not of the user's data."""
    return level.replace_strict(_CODES[aspect], return_dtype=pl.Int32)


def _extraction(column: str, localization: str | None) -> pl.Expr:
    """Worst code over the aspects of an extraction quality; null aspects do not limit."""
    quality = pl.col(column).struct
    aspects = [a for a in EXTRACTION_QUALITY if localization or a != "localization_quality"]
    return _least([_encoded(quality.field(a), a) for a in aspects], all_required=False)


def _least(codes: list[pl.Expr], *, all_required: bool) -> pl.Expr:
    least = pl.min_horizontal(codes)  # skips nulls
    if not all_required:
        return least
    return pl.when(pl.all_horizontal([c.is_not_null() for c in codes])).then(least)


def _worst(codes: list[pl.Expr | str], name: str = "code") -> pl.Expr:
    """Worst of the text code, without which there is no rating, and the others."""
    return pl.when(pl.col("text").is_not_null()).then(pl.min_horizontal(codes)).alias(name)


def _decoded(code: str, rating: str, cause: str) -> tuple[pl.Expr, pl.Expr]:
    grade = pl.col(code) // 10_000
    return (
        grade.replace_strict(dict(enumerate(RATINGS)), return_dtype=pl.String).alias(rating),
        pl.when(grade < _BEST)
        .then(pl.col(code).replace_strict(_CAUSES, default=None, return_dtype=pl.String))
        .alias(cause),
    )


def check_levels(judgements: pl.DataFrame, where: str) -> None:
    """Raise :class:`UserError` for a criterion or level that Tab. 12 does not know."""
    for criterion, level in (
        judgements.select("criterion", "level").unique().sort("criterion").iter_rows()
    ):
        if criterion not in TEXT_QUALITY:
            raise UserError(
                f"{where}: unknown criterion '{criterion}'{nearest(criterion, TEXT_QUALITY)}"
            )
        if level is not None and level not in TEXT_QUALITY[criterion]:
            known = TEXT_QUALITY[criterion]
            raise UserError(
                f"{where}: unknown level '{level}' of {criterion}{nearest(level, known)}; "
                "judge the shard again"
            )
