"""Questions as tables and as the release's JSON (paper Sec. D.2).

A table of a shard repeats the same answer parts many times: one observation answers many
questions. Each content and each localization is encoded once and then gathered by index.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Generic, TypeVar

import numpy as np
import polars as pl

from cxrqba.graph.model import Localization
from cxrqba.qa.model import Content, Part, Question, Skipped
from cxrqba.qa.quality import LOCALIZATION, NO_LOCALIZATION, worst, worst_level
from cxrqba.schema import ANSWER, EXTRACTION_QUALITY, QUESTIONS, SKIPPED_QUESTIONS
from cxrqba.tables import frame

T = TypeVar("T", bound=Hashable)
U = TypeVar("U")

_LOCALIZATION_FIELDS = tuple(f.name for f in fields(Localization))
_ANSWER_FIELDS = tuple(f.name for f in ANSWER.fields)  # type: ignore[union-attr]
_QUESTION_SCALARS = (
    "patient_id",
    "study_id",
    "question_id",
    "question_type",
    "question_strategy",
    "mentioned",
    "question",
)
_VARIABLE = ("name", "value")
_IMAGE_QUALITY = ("image_id", "view", LOCALIZATION)
_STRING_LISTS = (
    "regions",
    "obs_entities",
    "obs_entities_parents",
    "obs_categories",
    "obs_subcategories",
    "obs_ids",
)
_TEXTS = ("text", "name_tag", "laterality", "certainty", "positiveness", "template")
_NO_BOXES = pl.Series([], dtype=pl.List(pl.Float64))
_RANK = {a: {level: i for i, level in enumerate(ls)} for a, ls in EXTRACTION_QUALITY.items()}


def to_table(questions: Sequence[Question]) -> pl.DataFrame:
    """Questions as a table with the columns of ``schema.QUESTIONS``, in the given order."""
    if not questions:
        return pl.DataFrame(schema=QUESTIONS)
    parts_of = [q.parts for q in questions]
    columns: dict[str, pl.Series] = {
        name: pl.Series([getattr(q, name) for q in questions], dtype=QUESTIONS[name])
        for name in _QUESTION_SCALARS
    }
    columns["variables"] = _struct_lists([list(q.variables.items()) for q in questions], _VARIABLE)
    columns["obs_ids"] = _string_lists([q.obs_ids for q in questions])
    from_report = [[p.content.from_report for p in parts] for parts in parts_of]
    columns["contains_report_answers"] = pl.Series([any(f) for f in from_report], dtype=pl.Boolean)
    columns["contains_template_answers"] = pl.Series(
        [not all(f) for f in from_report], dtype=pl.Boolean
    )
    columns["answers"] = _answers(questions)
    columns["extraction_quality"] = _qualities([question_quality(q) for q in questions])
    columns["question_img_localization_quality"] = _struct_lists(
        [image_quality(q) for q in questions], _IMAGE_QUALITY
    )
    return pl.DataFrame({name: columns[name] for name in QUESTIONS})


def skipped_table(skipped: Iterable[Skipped]) -> pl.DataFrame:
    """Skipped questions as a table, one row per question not asked."""
    return frame((asdict(s) for s in skipped), SKIPPED_QUESTIONS)


def question_quality(question: Question) -> dict[str, str]:
    """Worst level per aspect over the parts of a question (Tab. 11)."""
    distinct = {id(q): q for q in (p.content.extraction_quality for p in question.parts)}
    return worst(distinct.values()) if len(distinct) > 1 else next(iter(distinct.values()))


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


# --- nested columns ------------------------------------------------------------------------------


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


def _nest(counts: Sequence[int], flat: pl.Series) -> pl.Series:
    """Cut ``flat`` into consecutive lists of the given lengths.

    Building nested columns from flat ones is some twenty times faster than from Python lists.
    """
    lengths = np.asarray(counts, dtype=np.int64)
    filled = lengths > 0
    number = pl.Series(np.repeat(np.arange(len(lengths)), lengths)).set_sorted()
    lists = (
        pl.DataFrame({"list": number, "value": flat})
        .group_by("list", maintain_order=True)
        .agg("value")["value"]
        .rename("")
    )
    if filled.all():
        return lists
    place = np.where(filled, np.cumsum(filled) - 1, len(lists))
    return pl.concat([lists, pl.Series([[]], dtype=lists.dtype)]).gather(place)


def _string_lists(values: Sequence[list[str]]) -> pl.Series:
    """Lists of strings; most of them are one and the same list of an observation."""
    lists: _ById[list[str]] = _ById()
    index = [lists.index(v) for v in values]
    encoder: _Encoder[tuple[str, ...]] = _Encoder()
    distinct = [encoder.index(tuple(v)) for v in lists.values]
    flat = pl.Series([s for v in encoder.values for s in v], dtype=pl.String)
    return _nest([len(v) for v in encoder.values], flat).gather(distinct).gather(index)


def _struct_lists(values: Iterable[Sequence[tuple[str, ...]]], fields: Sequence[str]) -> pl.Series:
    """Lists of structs of strings from lists of tuples."""
    encoder: _Encoder[tuple[tuple[str, ...], ...]] = _Encoder()
    index = [encoder.index(tuple(v)) for v in values]
    rows = [row for v in encoder.values for row in v]
    flat = pl.DataFrame(
        {name: pl.Series([r[i] for r in rows], dtype=pl.String) for i, name in enumerate(fields)}
    ).to_struct("")
    return _nest([len(v) for v in encoder.values], flat).gather(index)


def _qualities(values: Iterable[Mapping[str, str]]) -> pl.Series:
    encoder: _Encoder[tuple[str | None, ...]] = _Encoder()
    index = [encoder.index(tuple(v.get(a) for a in EXTRACTION_QUALITY)) for v in values]
    distinct = pl.DataFrame(
        {
            aspect: pl.Series([v[i] for v in encoder.values], dtype=pl.String)
            for i, aspect in enumerate(EXTRACTION_QUALITY)
        }
    )
    return distinct.to_struct("").gather(index)


def _answers(questions: Sequence[Question]) -> pl.Series:
    """One list of answer parts per question."""
    contents: _ById[Content] = _ById()
    parts = [p for q in questions for p in q.parts]
    index = [contents.index(p.content) for p in parts]
    columns = {c.name: c for c in _contents(contents.values)[index]}
    for name in ("answer_id", "parent_answer_id", "answer_type"):
        columns[name] = pl.Series([getattr(p, name) for p in parts], dtype=pl.String)
    columns["answer_level"] = pl.Series([p.answer_level for p in parts], dtype=pl.Int32)
    flat = pl.DataFrame({name: columns[name] for name in _ANSWER_FIELDS}).to_struct("")
    return _nest([len(q.parts) for q in questions], flat)


def _contents(contents: Sequence[Content]) -> pl.DataFrame:
    """Contents column by column."""
    localizations: _ById[list[Localization]] = _ById()
    where = [localizations.index(c.localization) for c in contents]
    columns = {
        name: pl.Series([getattr(c, name) for c in contents], dtype=pl.String) for name in _TEXTS
    }
    columns |= {name: _string_lists([getattr(c, name) for c in contents]) for name in _STRING_LISTS}
    columns["from_report"] = pl.Series([c.from_report for c in contents], dtype=pl.Boolean)
    columns["modifiers"] = _struct_lists((c.modifiers for c in contents), ("type", "value"))
    columns["localization"] = _localizations(localizations.values).gather(where)
    columns["extraction_quality"] = _qualities(c.extraction_quality for c in contents)
    return pl.DataFrame(columns)


def _localizations(values: Sequence[list[Localization]]) -> pl.Series:
    flat = [one for v in values for one in v]
    boxes = np.array([b for one in flat for b in one.bboxes], dtype=float).reshape(-1, 4)
    box_lists = pl.Series("", boxes).cast(pl.List(pl.Float64)) if len(boxes) else _NO_BOXES
    columns = {
        "image_id": pl.Series([one.image_id for one in flat], dtype=pl.String),
        "bboxes": _nest([len(one.bboxes) for one in flat], box_lists),
        **{
            name: _string_lists([getattr(one, name) for one in flat])
            for name in ("localization_reference_ids", "instance_mask_ids", "missing_localization")
        },
        "is_fallback": pl.Series([one.is_fallback for one in flat], dtype=pl.Boolean),
        "localization_quality": pl.Series(
            [one.localization_quality for one in flat], dtype=pl.String
        ),
    }
    structs = pl.DataFrame({name: columns[name] for name in _LOCALIZATION_FIELDS}).to_struct("")
    return _nest([len(v) for v in values], structs)


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
