"""Questions and answer parts in memory (paper Sec. D.2); ``qa.store`` writes them as tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from cxrqba.graph.model import Localization


@dataclass(slots=True, eq=False)
class Content:
    """What an answer part says. One observation has one content, shared by all its parts."""

    text: str
    name_tag: str
    laterality: str
    regions: list[str]
    obs_entities: list[str]
    obs_entities_parents: list[str]
    obs_categories: list[str]
    obs_subcategories: list[str]
    certainty: str
    positiveness: str
    modifiers: list[tuple[str, str]]  # (type, value)
    localization: list[Localization]  # one per image, by image id
    from_report: bool
    extraction_quality: dict[str, str]  # aspects that do not apply are absent
    obs_ids: list[str]
    template: str | None  # id of the template sentence; null for an observation
    is_localizable: bool  # whether boxes can be expected at all


@dataclass(slots=True)
class Part:
    """An answer part: a content in its place in one answer."""

    content: Content
    answer_id: str
    parent_answer_id: str | None
    answer_type: str
    answer_level: int


@dataclass(slots=True)
class Question:
    """One question-answer pair; ``parts`` depth-first."""

    patient_id: str | None
    study_id: str
    question_id: str
    question_type: str
    question_strategy: str
    variables: dict[str, str]
    mentioned: bool
    question: str
    parts: list[Part]
    images: list[tuple[str, str]] = field(default_factory=list)  # (image_id, view) of the study

    @property
    def obs_ids(self) -> list[str]:
        """Observations behind the answer, in the order of its parts."""
        return list(dict.fromkeys(o for p in self.parts for o in p.content.obs_ids))


@dataclass(frozen=True, slots=True)
class Skipped:
    """A question that was not asked, and why."""

    study_id: str
    question_type: str
    reason: str
