"""What question generation reads of scene graphs: a lean view of their three tables.

Texts, tags and qualities of the observations are needed, but no spans, decisions or coordinates:
which images show boxes, and how good they are, is enough. Answer parts refer to observations and
regions for their boxes (``qa.export`` resolves them).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from cxrqba.graph.store import ANSWER_ID
from cxrqba.qa.language import sentence
from cxrqba.qa.quality import NOT_APPLICABLE, Quality
from cxrqba.schema import EXTRACTION_QUALITY, MODIFIER_TYPES

Image = tuple[str, int, bool]
"""(image_id, rank of the localization quality, whether there are boxes)"""


@dataclass(slots=True, eq=False)
class Observation:
    """One observation node, as far as questions need it (paper Sec. D.1)."""

    obs_id: str
    name: str
    text: str  # the summary sentence, or else the name, as a clean sentence; may be empty
    regions: list[tuple[str, list[str]]]  # (region, distances)
    laterality: str
    default_regions: list[str]
    obs_entities: list[str]
    obs_entities_parents: list[str]
    obs_categories: list[str]
    obs_subcategories: list[str]
    certainty: str
    positiveness: str
    modifiers: dict[str, list[str]]
    changes: list[str]
    from_report: bool
    quality: Quality
    images: tuple[Image, ...]

    @property
    def region_names(self) -> list[str]:
        """Names of the resolved regions, without distances."""
        return [region for region, _ in self.regions]


@dataclass(slots=True)
class StudyGraph:
    """One study's graph, as far as questions need it."""

    patient_id: str | None
    study_id: str
    is_complete: bool
    images: list[tuple[str, str]]  # (image_id, view)
    indication_summary: str | None
    associated_obs_ids: list[str]
    relations: list[tuple[str, str, str]]  # (parent, child, child_type)
    observations: dict[str, Observation] = field(default_factory=dict)  # without OIND
    answer_for_indication: Observation | None = None
    region_images: dict[str, tuple[Image, ...]] = field(default_factory=dict)


_RANKS = {a: {level: i for i, level in enumerate(ls)} for a, ls in EXTRACTION_QUALITY.items()}
_TEXT_COLUMNS = ("obs_id", "name", "summary_sentence")
_LIST_COLUMNS = (
    "default_regions",
    "obs_entities",
    "obs_entities_parents",
    "obs_categories",
    "obs_subcategories",
)


Frame = pl.DataFrame | pl.LazyFrame
AT_ONCE = 200
"""Studies that are objects at the same time: bounds the memory."""


def _ranks() -> list[pl.Expr]:
    quality = pl.col("obs_quality").struct
    return [
        quality.field(aspect)
        .replace_strict(_RANKS[aspect], return_dtype=pl.Int64)
        .fill_null(NOT_APPLICABLE)
        for aspect in EXTRACTION_QUALITY
    ]


def _images() -> pl.Expr:
    one = pl.element().struct
    ranks = _RANKS["localization_quality"]
    shown = pl.struct(
        one.field("image_id"),
        one.field("localization_quality")
        .replace_strict(ranks, return_dtype=pl.Int64)
        .alias("rank"),
        (one.field("bboxes").list.len() > 0).alias("boxes"),
    )
    return pl.col("localization").list.eval(shown).alias("images")


def _modifiers() -> pl.Expr:
    """Modifiers, null where there are none: most observations have none."""
    said = [
        pl.col("modifiers").struct.field(kind).list.len().fill_null(0) for kind in MODIFIER_TYPES
    ]
    return pl.when(pl.sum_horizontal(said) > 0).then("modifiers").alias("modifiers")


def _views() -> pl.Expr:
    image = pl.element().struct
    return pl.col("study_img_localization_quality").list.eval(
        pl.concat_list(image.field("image_id"), image.field("view"))
    )


_GRAPH: tuple[str | pl.Expr, ...] = (
    "patient_id",
    "study_id",
    "is_complete",
    _views(),
    pl.col("indication").struct.field("indication_summary"),
    pl.col("indication").struct.field("associated_obs_ids"),
    "obs_relations",
)
_OBSERVATION: tuple[str | pl.Expr, ...] = (
    "study_id",
    *_TEXT_COLUMNS,
    _modifiers(),
    "regions",
    "laterality",
    *_LIST_COLUMNS,
    "certainty",
    "positiveness",
    "changes",
    "from_report",
    *_ranks(),
    _images(),
)
_REGION: tuple[str | pl.Expr, ...] = ("study_id", "region", _images())


def read_studies(graphs: Frame, observations: Frame, regions: Frame) -> Iterator[StudyGraph]:
    """The studies of the GRAPHS, OBSERVATIONS and REGIONS tables of a shard, by study id.

    Of all studies only the columns needed are held, and objects of ``AT_ONCE`` studies.
    """
    roots = graphs.lazy().select(_GRAPH).sort("study_id").collect()
    nodes = observations.lazy().select(_OBSERVATION).collect()
    places = regions.lazy().select(_REGION).filter(pl.col("images").list.len() > 0).collect()
    for batch in roots.iter_slices(AT_ONCE):
        ids = batch["study_id"].implode()
        found = _observations(nodes.filter(pl.col("study_id").is_in(ids)))
        shown = _region_images(places.filter(pl.col("study_id").is_in(ids)))
        for row in _graph_rows(batch):
            study = StudyGraph(*row)
            study.observations = found.get(study.study_id, {})
            study.answer_for_indication = study.observations.pop(ANSWER_ID, None)
            study.region_images = shown.get(study.study_id, {})
            yield study


def _graph_rows(graphs: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    for *scalars, images, summary, associated, relations in graphs.iter_rows():
        yield (
            *scalars,
            [(image_id, view) for image_id, view in images or ()],
            summary,
            associated or [],
            [tuple(r.values()) for r in relations or ()],
        )


def _observations(table: pl.DataFrame) -> dict[str, dict[str, Observation]]:
    aspects = len(EXTRACTION_QUALITY)
    studies: dict[str, dict[str, Observation]] = {}
    for row in table.iter_rows():
        study_id, obs_id, name, summary, modifiers, placed, side = row[:7]
        defaults, entities, parents, categories, subcategories = row[7:12]
        certainty, positiveness, changes, from_report = row[12:16]
        studies.setdefault(study_id, {})[obs_id] = Observation(
            obs_id=obs_id,
            name=name or "",
            text=sentence(summary or "") or sentence(name or ""),
            regions=[(r["region"], r["distances"] or []) for r in placed],
            laterality=side,
            default_regions=defaults,
            obs_entities=entities,
            obs_entities_parents=parents,
            obs_categories=categories,
            obs_subcategories=subcategories,
            certainty=certainty,
            positiveness=positiveness,
            modifiers={k: v for k, v in modifiers.items() if v} if modifiers else {},
            changes=changes,
            from_report=from_report,
            quality=row[16 : 16 + aspects],
            images=_image_tuples(row[-1]),
        )
    return studies


def _region_images(table: pl.DataFrame) -> dict[str, dict[str, tuple[Image, ...]]]:
    studies: dict[str, dict[str, tuple[Image, ...]]] = {}
    for study_id, region, images in table.iter_rows():
        studies.setdefault(study_id, {})[region] = _image_tuples(images)
    return studies


def _image_tuples(images: list[dict[str, Any]] | None) -> tuple[Image, ...]:
    return tuple([(i["image_id"], i["rank"], i["boxes"]) for i in images]) if images else ()
