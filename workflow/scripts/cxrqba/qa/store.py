"""Questions as tables and as the release's JSON (paper Sec. D.2).

A table of a shard repeats the same answer parts many times: one observation answers many
questions. Each content and each localization is encoded once and then gathered by index.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Generic, TypeVar

import polars as pl

from cxrqba.graph.model import Localization
from cxrqba.qa.model import Content, Part, Question, Skipped
from cxrqba.qa.quality import LOCALIZATION, NO_LOCALIZATION, worst, worst_level
from cxrqba.schema import (
    ANSWER,
    EXTRACTION_QUALITY,
    QUALITY,
    QUESTIONS,
    RAW_MODIFIER,
    SKIPPED_QUESTIONS,
    STRINGS,
)
from cxrqba.schema import LOCALIZATION as LOCALIZATION_TYPE
from cxrqba.tables import frame

T = TypeVar("T", bound=Hashable)
U = TypeVar("U")

_LOCALIZATION_FIELDS = tuple(f.name for f in fields(Localization))
_STRING_LISTS = (
    "regions",
    "obs_entities",
    "obs_entities_parents",
    "obs_categories",
    "obs_subcategories",
    "obs_ids",
)
_ANSWER_FIELDS = tuple(pl.Schema({"answer": ANSWER})["answer"].to_schema())  # type: ignore[attr-defined]
_TEXTS = ("text", "name_tag", "laterality", "certainty", "positiveness", "template")
_RANK = {a: {level: i for i, level in enumerate(ls)} for a, ls in EXTRACTION_QUALITY.items()}


def to_table(questions: Sequence[Question]) -> pl.DataFrame:
    """Questions as a table with the columns of ``schema.QUESTIONS``, in the given order."""
    if not questions:
        return pl.DataFrame(schema=QUESTIONS)
    qualities: _Encoder[tuple[tuple[str, str], ...]] = _Encoder()
    images: _Encoder[tuple[tuple[str, str, str], ...]] = _Encoder()
    quality_index = [qualities.index(tuple(question_quality(q).items())) for q in questions]
    image_index = [images.index(tuple(image_quality(q))) for q in questions]
    plain: dict[str, list[Any]] = {
        "patient_id": [q.patient_id for q in questions],
        "study_id": [q.study_id for q in questions],
        "question_id": [q.question_id for q in questions],
        "question_type": [q.question_type for q in questions],
        "question_strategy": [q.question_strategy for q in questions],
        "variables": [[{"name": k, "value": v} for k, v in q.variables.items()] for q in questions],
        "mentioned": [q.mentioned for q in questions],
        "obs_ids": [q.obs_ids for q in questions],
        "contains_report_answers": [any(p.content.from_report for p in q.parts) for q in questions],
        "contains_template_answers": [
            any(not p.content.from_report for p in q.parts) for q in questions
        ],
        "question": [q.question for q in questions],
    }
    table = pl.DataFrame(plain, schema={c: QUESTIONS[c] for c in plain})
    image_type = QUESTIONS["question_img_localization_quality"]
    image_values = pl.Series(
        [
            [{"image_id": i, "view": v, "localization_quality": q} for i, v, q in value]
            for value in images.values
        ],
        dtype=image_type,
    )
    return table.with_columns(
        _answers(questions).alias("answers"),
        _qualities(qualities.values).gather(quality_index).alias("extraction_quality"),
        image_values.gather(image_index).alias("question_img_localization_quality"),
    ).select(list(QUESTIONS))


def skipped_table(skipped: Iterable[Skipped]) -> pl.DataFrame:
    """Skipped questions as a table, one row per question not asked."""
    return frame((asdict(s) for s in skipped), SKIPPED_QUESTIONS)


def question_quality(question: Question) -> dict[str, str]:
    """Worst level per aspect over the parts of a question (Tab. 11)."""
    return worst(p.content.extraction_quality for p in question.parts)


def image_quality(question: Question) -> list[tuple[str, str, str]]:
    """(image_id, view, worst localization level) of each image that has boxes of any part."""
    contents = [p.content for p in question.parts if p.content.is_localizable]
    by_image: dict[str, list[str]] = {}
    for content in contents:
        for one in content.localization:
            if one.bboxes:
                by_image.setdefault(one.image_id, []).append(one.localization_quality)
    result = []
    for image_id, view in question.images:
        levels = by_image.get(image_id)
        if levels:
            if len(levels) < len(contents):  # some part has no box in this image
                levels = [NO_LOCALIZATION]
            result.append((image_id, view, worst_level(levels)))
    return result


class _Encoder(Generic[T]):
    """Gives equal values the same number, from 0 in the order they come."""

    def __init__(self) -> None:
        self.values: list[T] = []
        self._known: dict[T, int] = {}

    def index(self, value: T) -> int:
        """The number of ``value``."""
        number = self._known.setdefault(value, len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number


class _ById(Generic[U]):
    """Gives each object a number; objects are compared by identity, for they are shared."""

    def __init__(self) -> None:
        self.values: list[U] = []  # keeps them alive, so that ids stay unique
        self._known: dict[int, int] = {}

    def index(self, value: U) -> int:
        """The number of ``value``."""
        number = self._known.setdefault(id(value), len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number


def _answers(questions: Sequence[Question]) -> pl.Series:
    """One list of answer parts per question."""
    contents: _ById[Content] = _ById()
    parts = [p for q in questions for p in q.parts]
    index = [contents.index(p.content) for p in parts]
    place = pl.DataFrame(
        {
            "question": [n for n, q in enumerate(questions) for _ in q.parts],
            "answer_id": [p.answer_id for p in parts],
            "parent_answer_id": [p.parent_answer_id for p in parts],
            "answer_type": [p.answer_type for p in parts],
            "answer_level": [p.answer_level for p in parts],
        },
        schema={
            "question": pl.UInt32,
            "answer_id": pl.String,
            "parent_answer_id": pl.String,
            "answer_type": pl.String,
            "answer_level": pl.Int32,
        },
    )
    wide = pl.concat([place, _contents(contents.values)[index]], how="horizontal")
    return (
        wide.select("question", pl.struct(_ANSWER_FIELDS).alias("answers"))
        .group_by("question", maintain_order=True)
        .agg("answers")["answers"]
        .cast(QUESTIONS["answers"])
    )


def _contents(contents: Sequence[Content]) -> pl.DataFrame:
    """Contents column by column; localizations and qualities are encoded once each."""
    localizations: _ById[list[Localization]] = _ById()
    qualities: _Encoder[tuple[tuple[str, str], ...]] = _Encoder()
    where = [localizations.index(c.localization) for c in contents]
    quality = [qualities.index(tuple(c.extraction_quality.items())) for c in contents]
    columns: list[pl.Series] = [
        pl.Series(name, [getattr(c, name) for c in contents], dtype=pl.String) for name in _TEXTS
    ]
    columns += [
        pl.Series(name, [getattr(c, name) for c in contents], dtype=STRINGS)
        for name in _STRING_LISTS
    ]
    columns += [
        pl.Series("from_report", [c.from_report for c in contents], dtype=pl.Boolean),
        pl.Series(
            "modifiers",
            [[{"type": t, "value": v} for t, v in c.modifiers] for c in contents],
            dtype=pl.List(RAW_MODIFIER),
        ),
        _localizations(localizations.values).gather(where).alias("localization"),
        _qualities(qualities.values).gather(quality).alias("extraction_quality"),
    ]
    return pl.DataFrame(columns)


def _localizations(values: Sequence[list[Localization]]) -> pl.Series:
    return pl.Series(
        [[{f: getattr(one, f) for f in _LOCALIZATION_FIELDS} for one in v] for v in values],
        dtype=pl.List(LOCALIZATION_TYPE),
    )


def _qualities(values: Sequence[tuple[tuple[str, str], ...]]) -> pl.Series:
    return pl.Series(
        [{**dict.fromkeys(EXTRACTION_QUALITY), **dict(value)} for value in values], dtype=QUALITY
    )


# --- the release's JSON --------------------------------------------------------------------------


def to_json(questions: Sequence[Question]) -> dict[str, Any]:
    """All questions of one study in the shape of the release's ``s########.qa.json``.

    Localizations are objects by image id, modifiers pairs, sub-answers nest, and quality levels
    are integers from worst to best. ``questions`` must not be empty.
    """
    return {
        "patient_id": questions[0].patient_id,
        "study_id": questions[0].study_id,
        "questions": [_question_json(q) for q in questions],
    }


def _question_json(question: Question) -> dict[str, Any]:
    rank = _RANK[LOCALIZATION]
    return {
        "question_id": question.question_id,
        "question_type": question.question_type,
        "question_strategy": question.question_strategy,
        "variables": dict(question.variables),
        "obs_ids": question.obs_ids,
        "contains_report_answers": any(p.content.from_report for p in question.parts),
        "contains_template_answers": any(not p.content.from_report for p in question.parts),
        "extraction_quality": _quality_json(question_quality(question)),
        "question_img_localization_quality": {
            image_id: rank[level] for image_id, _, level in image_quality(question)
        },
        "question": question.question,
        "answers": [
            _part_json(p, question.parts) for p in question.parts if p.parent_answer_id is None
        ],
        "question_quality": {},
    }


def _part_json(part: Part, parts: Sequence[Part]) -> dict[str, Any]:
    content = part.content
    return {
        "answer_id": part.answer_id,
        "answer_type": part.answer_type,
        "answer_level": part.answer_level,
        "text": content.text,
        "name_tag": content.name_tag,
        "laterality": content.laterality,
        **{name: list(getattr(content, name)) for name in _STRING_LISTS if name != "obs_ids"},
        "certainty": content.certainty,
        "positiveness": content.positiveness,
        "modifiers": [list(m) for m in content.modifiers],
        "localization": {
            one.image_id: {
                **asdict(one),
                "localization_quality": _RANK[LOCALIZATION][one.localization_quality],
            }
            for one in content.localization
        },
        "sub_answers": [
            _part_json(p, parts) for p in parts if p.parent_answer_id == part.answer_id
        ],
        "from_report": content.from_report,
        "extraction_quality": _quality_json(content.extraction_quality),
        "answer_quality": {},
    }


def _quality_json(quality: Mapping[str, str]) -> dict[str, int]:
    return {aspect: _RANK[aspect][level] for aspect, level in quality.items()}
