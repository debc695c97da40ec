"""Questions and answer parts in memory (paper Sec. D.2); ``qa.store`` writes them as tables.

There are hundreds a study: tuples are made and turned into columns faster than other objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from cxrqba.qa.quality import NO_LOCALIZATION, Quality
from cxrqba.qa.source import Image, Observation


@dataclass(slots=True, eq=False)
class Tags:
    """Tags of an answer part. Those of a region or finding are shared by all studies."""

    laterality: str = "unknown"
    regions: tuple[str, ...] = ()
    obs_entities: tuple[str, ...] = ()
    obs_entities_parents: tuple[str, ...] = ()
    obs_categories: tuple[str, ...] = ()
    obs_subcategories: tuple[str, ...] = ()
    modifiers: tuple[tuple[str, str], ...] = ()  # (type, value)


@dataclass(slots=True, eq=False)
class Place:
    """Whose boxes an answer part shows: those of observations or of regions of the study."""

    obs_ids: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    images: tuple[Image, ...] = ()
    rank: int = NO_LOCALIZATION  # worst of the images with boxes, for regions


def common_rank(images: tuple[Image, ...]) -> int:
    """The localization quality that all images with boxes reach."""
    return min([rank for _, rank, boxes in images if boxes], default=NO_LOCALIZATION)


NOWHERE = Place()


class Content(NamedTuple):
    """What an answer part says. One observation has one content, shared by all its parts."""

    text: str
    name_tag: str
    certainty: str
    positiveness: str
    from_report: bool
    template: str | None  # id of the template sentence; null for an observation
    tags: Tags
    place: Place
    quality: Quality
    obs_ids: tuple[str, ...]

    @property
    def is_localizable(self) -> bool:
        """Whether boxes can be expected at all: a general statement has none."""
        return self.template is None or bool(self.tags.regions)


def observation_content(obs: Observation) -> Content:
    """An observation as an answer part."""
    return Content(
        text=obs.text,
        name_tag=obs.name or obs.text,
        certainty=obs.certainty,
        positiveness=obs.positiveness,
        from_report=obs.from_report,
        template=None,
        tags=Tags(
            laterality=obs.laterality,
            regions=tuple(obs.region_names),
            obs_entities=tuple(obs.obs_entities),
            obs_entities_parents=tuple(obs.obs_entities_parents),
            obs_categories=tuple(obs.obs_categories),
            obs_subcategories=tuple(obs.obs_subcategories),
            modifiers=tuple((k, v) for k, values in obs.modifiers.items() for v in values),
        ),
        place=Place(obs_ids=(obs.obs_id,), images=obs.images),
        quality=obs.quality,
        obs_ids=(obs.obs_id,),
    )


class Part(NamedTuple):
    """An answer part: a content in its place in one answer."""

    content: Content
    answer_id: str
    parent_answer_id: str | None
    answer_type: str
    answer_level: int


class Question(NamedTuple):
    """One question-answer pair; ``parts`` depth-first."""

    patient_id: str | None
    study_id: str
    question_id: str
    question_type: str
    question_strategy: str
    variables: Mapping[str, str]
    mentioned: bool
    question: str
    parts: list[Part]
    quality: Quality  # worst of the parts
    image_quality: tuple[tuple[str, str, int], ...]  # (image_id, view, rank), images with boxes

    @property
    def obs_ids(self) -> list[str]:
        """Observations behind the answer, in the order of its parts."""
        return list(dict.fromkeys(o for p in self.parts for o in p.content.obs_ids))


@dataclass(slots=True)
class Skipped:
    """Questions of one type that were not asked of a study, and why."""

    study_id: str
    question_type: str
    reason: str
    count: int = 1
