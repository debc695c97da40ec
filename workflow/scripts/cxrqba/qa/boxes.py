"""Boxes of answer parts, from the observations and regions they refer to (paper Sec. D.2)."""

from __future__ import annotations

import polars as pl

from cxrqba.schema import BOXES

PART = ["study_id", "question_id", "answer_id"]
PART_BOXES = pl.Schema({**dict.fromkeys([*PART, "image_id"], pl.String), "bboxes": BOXES})


def part_boxes(
    answers: pl.DataFrame, observations: pl.LazyFrame, regions: pl.LazyFrame
) -> pl.DataFrame:
    """One row per answer part and image with boxes; columns as ``PART_BOXES``.

    ``answers`` are rows of ANSWERS; of OBSERVATIONS and REGIONS only the studies concerned are
    read. Boxes are in original image pixels, each once, in the order of what they belong to.
    """
    studies = answers["study_id"].unique().implode()
    several = [
        _referred(answers, source, column, name, studies)
        for source, column, name in (
            (observations, "box_obs_ids", "obs_id"),
            (regions, "box_regions", "region"),
        )
    ]
    boxes = (
        pl.concat(several)
        .explode("bboxes", empty_as_null=True)
        .group_by(*PART, "image_id", maintain_order=True)
        .agg(pl.col("bboxes").unique(maintain_order=True))
    )
    return boxes.select(list(PART_BOXES)).cast(dict(PART_BOXES))  # type: ignore[arg-type]


def _referred(
    answers: pl.DataFrame, source: pl.LazyFrame, column: str, name: str, studies: pl.Series
) -> pl.DataFrame:
    place = pl.col("localization").struct
    shown = (
        source.filter(pl.col("study_id").is_in(studies))
        .select("study_id", name, "localization")
        .explode("localization", empty_as_null=True)
        .select("study_id", name, place.field("image_id"), place.field("bboxes"))
        .filter(pl.col("bboxes").list.len() > 0)
        .collect()
    )
    return (
        answers.select(*PART, pl.col(column).alias(name))
        .explode(name, empty_as_null=True)
        .join(shown, on=["study_id", name], how="inner", maintain_order="left_right")
        .drop(name)
    )
