"""Questions and their answer parts as two flat tables (paper Sec. D.2).

Parts carry their texts and tags; for boxes they refer to the observations or regions of the
scene graph (``box_obs_ids``, ``box_regions``), so that one box is stored once. One observation
answers many questions: each content is encoded once and then gathered by index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import polars as pl

from cxrqba.qa.model import Content, Part, Question, Skipped, Tags
from cxrqba.qa.quality import ASPECTS, Quality, level
from cxrqba.schema import ANSWERS, QUESTIONS, SKIPPED_QUESTIONS

T = TypeVar("T")

_TAG_LISTS = (
    "regions",
    "obs_entities",
    "obs_entities_parents",
    "obs_categories",
    "obs_subcategories",
)
_VARIABLE = ("name", "value")
_MODIFIER = ("type", "value")


def to_tables(questions: Sequence[Question]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Questions as (QUESTIONS, ANSWERS), in the given order; parts stand in that order too."""
    if not questions:
        return pl.DataFrame(schema=QUESTIONS), pl.DataFrame(schema=ANSWERS)
    return _questions(questions), _answers(questions)


def skipped_table(skipped: Iterable[Skipped]) -> pl.DataFrame:
    """Skipped questions as a table, one row per study, type and reason."""
    rows = [(s.study_id, s.question_type, s.reason, s.count) for s in skipped]
    return pl.DataFrame(rows, schema=SKIPPED_QUESTIONS, orient="row")


def _questions(questions: Sequence[Question]) -> pl.DataFrame:
    given = _fields(questions, Question)
    reported = [[p.content.from_report for p in parts] for parts in given.pop("parts")]
    columns = {
        "contains_report_answers": pl.Series([any(r) for r in reported]),
        "contains_template_answers": pl.Series([not all(r) for r in reported]),
        "variables": _coded(
            [tuple(v.items()) for v in given.pop("variables")], lambda v: _structs(v, _VARIABLE)
        ),
        "extraction_quality": _coded(given.pop("quality"), _qualities),
        "question_img_localization_quality": _coded(given.pop("image_quality"), _image_qualities),
    }
    columns |= {name: pl.Series(values, dtype=QUESTIONS[name]) for name, values in given.items()}
    columns["statistics"] = pl.Series([None] * len(questions), dtype=pl.String)  # of the shard
    return pl.DataFrame({name: columns[name] for name in QUESTIONS})


def _answers(questions: Sequence[Question]) -> pl.DataFrame:
    """One row per answer part."""
    of_question = np.repeat(np.arange(len(questions)), [len(q.parts) for q in questions])
    columns = {
        name: pl.Series([getattr(q, name) for q in questions], dtype=pl.String)[of_question]
        for name in ("study_id", "question_id", "question_strategy")
    }
    given = _fields([p for q in questions for p in q.parts], Part)
    contents = given.pop("content")
    columns |= {name: pl.Series(values, dtype=ANSWERS[name]) for name, values in given.items()}
    columns |= _contents(contents)
    return pl.DataFrame({name: columns[name] for name in ANSWERS})


def _contents(contents: Sequence[Content]) -> dict[str, pl.Series]:
    """Columns of the contents of parts, which share many of them."""
    distinct, index = _shared(contents)
    given = _fields(distinct, Content)
    tags, tags_of = _shared(given.pop("tags"))
    places, places_of = _shared(given.pop("place"))
    columns = {
        "obs_ids": _coded(given.pop("obs_ids"), _lists)[index],
        "extraction_quality": _coded(given.pop("quality"), _qualities)[index],
    }
    columns |= {n: pl.Series(v, dtype=ANSWERS[n])[index] for n, v in given.items()}
    of_places = {
        "box_obs_ids": _lists([p.obs_ids for p in places]),
        "box_regions": _lists([p.regions for p in places]),
    }
    columns |= {name: column[places_of[index]] for name, column in of_places.items()}
    return columns | {name: column[tags_of[index]] for name, column in _tags(tags).items()}


def _tags(tags: Sequence[Tags]) -> dict[str, pl.Series]:
    return {
        "laterality": pl.Series([t.laterality for t in tags], dtype=pl.String),
        "modifiers": _structs([t.modifiers for t in tags], _MODIFIER),
        **{name: _lists([getattr(t, name) for t in tags]) for name in _TAG_LISTS},
    }


# --- encoding ------------------------------------------------------------------------------------


def _fields(rows: Sequence[Any], kind: type[Any]) -> dict[str, Any]:
    """The columns of named tuples."""
    return dict(zip(kind._fields, zip(*rows, strict=True), strict=True))


def _shared(values: Sequence[T]) -> tuple[list[T], np.ndarray]:
    """The distinct objects in order of appearance, and the place of each value among them."""
    by_id = {id(v): v for v in values}
    places = {key: place for place, key in enumerate(by_id)}
    index = np.fromiter(map(places.__getitem__, map(id, values)), np.int64, len(values))
    return list(by_id.values()), index


def _coded(values: Sequence[T], encode: Callable[[list[T]], pl.Series]) -> pl.Series:
    """``encode`` done once per distinct value."""
    places: dict[T, int] = {}
    index = np.fromiter((places.setdefault(v, len(places)) for v in values), np.int64, len(values))
    return encode(list(places))[index]


def _lists(values: Sequence[tuple[str, ...]]) -> pl.Series:
    flat = pl.Series([s for v in values for s in v], dtype=pl.String)
    return _nest([len(v) for v in values], flat)


def _structs(values: Sequence[tuple[tuple[str, ...], ...]], fields: Sequence[str]) -> pl.Series:
    """Lists of structs of strings from tuples of tuples."""
    rows = [row for v in values for row in v]
    flat = pl.DataFrame(
        {name: pl.Series([r[i] for r in rows], dtype=pl.String) for i, name in enumerate(fields)}
    ).to_struct("")
    return _nest([len(v) for v in values], flat)


def _image_qualities(values: Sequence[tuple[tuple[str, str, int], ...]]) -> pl.Series:
    named = [tuple((i, v, level("localization_quality", r)) for i, v, r in one) for one in values]
    return _structs(named, ("image_id", "view", "localization_quality"))  # type: ignore[arg-type]


def _qualities(values: Sequence[Quality]) -> pl.Series:
    return pl.DataFrame(
        {
            aspect: pl.Series([level(aspect, v[i]) for v in values], dtype=pl.String)
            for i, aspect in enumerate(ASPECTS)
        }
    ).to_struct("")


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
