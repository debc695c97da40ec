"""The scene graph in memory (paper Sec. D.1); ``graph.store`` writes and reads it as tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Localization:
    """Boxes of an observation, region or answer part in one image, in original image pixels."""

    image_id: str
    bboxes: list[list[float]]
    localization_reference_ids: list[str]
    instance_mask_ids: list[str]
    missing_localization: list[str]
    is_fallback: bool
    localization_quality: str


@dataclass(slots=True)
class Observation:
    """One observation node; field names are the paper's (Sec. D.1)."""

    obs_id: str
    name: str
    summary_sentence: str
    child_type: str | None = None
    child_level: int = 0
    regions: list[dict[str, Any]] = field(default_factory=list)  # {"region", "distances"}
    non_resolved_regions: list[dict[str, Any]] = field(default_factory=list)
    laterality: str = "unknown"
    default_regions: list[str] = field(default_factory=list)
    obs_entities: list[str] = field(default_factory=list)
    obs_entities_parents: list[str] = field(default_factory=list)
    non_resolved_obs_entities: list[str] = field(default_factory=list)
    obs_categories: list[str] = field(default_factory=list)
    obs_subcategories: list[str] = field(default_factory=list)
    probability: str = "positive"
    certainty: str = "certain"
    positiveness: str = "pos"
    modifiers: dict[str, list[str]] = field(default_factory=dict)
    changes: list[str] = field(default_factory=list)
    change_sentence: str | None = None
    from_report: bool = True
    obs_quality: dict[str, str] = field(default_factory=dict)
    localization: list[Localization] = field(default_factory=list)  # one per image, by image id
    sent_ids: list[str] = field(default_factory=list)
    spans: list[dict[str, Any]] = field(default_factory=list)  # {"sent_id", "start", "end"}
    origin: list[str] = field(default_factory=list)
    decisions: list[dict[str, Any]] = field(default_factory=list)

    @property
    def region_names(self) -> list[str]:
        """Names of the resolved regions, without distances."""
        return [r["region"] for r in self.regions]


@dataclass(slots=True)
class RegionNode:
    """One region node; ``localization`` has one entry per image that shows it."""

    region: str
    laterality: str
    localization: list[Localization] = field(default_factory=list)
    region_localization_quality: str = "NO_LOCALIZATION"


@dataclass(slots=True)
class Indication:
    """The indication node; its answer is the observation OIND of the graph."""

    indication_summary: str
    patient_info: str | None
    indication: str | None
    evaluation: str | None
    associated_sentence_ids: list[str]
    associated_obs_ids: list[str]


@dataclass(slots=True)
class SceneGraph:
    """One study: the paper's ReportGraph root with all nodes and the four relation lists."""

    patient_id: str | None
    study_id: str
    sentences: list[dict[str, str]]  # {"sent_id", "section", "section_type", "sentence"}
    observations: dict[str, Observation]  # without OIND
    regions: dict[str, RegionNode]
    indication: Indication | None
    answer_for_indication: Observation | None  # obs_id OIND
    top_level_obs_ids: list[str]
    located_at_relations: list[dict[str, Any]]
    obs_relations: list[dict[str, str]]
    obs_sent_relations: list[dict[str, str]]
    region_region_relations: list[dict[str, str]]
    study_quality: dict[str, str]
    study_img_localization_quality: list[
        dict[str, str]
    ]  # {"image_id","view","localization_quality"}
    is_complete: bool
    incomplete_reasons: list[str]
