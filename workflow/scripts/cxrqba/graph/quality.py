"""Extraction quality of observations and studies (paper Tab. 11): the worst level counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cxrqba.graph.model import Localization, Observation, RegionNode
from cxrqba.graph.vocabulary import Vocabulary, normal
from cxrqba.schema import EXTRACTION_QUALITY

_RANK = {
    aspect: {level: i for i, level in enumerate(levels)}
    for aspect, levels in EXTRACTION_QUALITY.items()
}


def region_level(observation: Observation) -> str:
    """Level of region_quality."""
    names, defaults = observation.region_names, set(observation.default_regions)
    if not names:
        return "NO_REGIONS"
    if defaults.issuperset(names):
        return "DEFAULT_REGIONS_ONLY"
    if defaults.intersection(names):
        return "CONTAINS_DEFAULT_REGIONS"
    if observation.non_resolved_regions:
        return "CONTAINS_NON_RESOLVED_REGIONS"
    return "RESOLVED_REGIONS_ONLY"


def entity_level(observation: Observation) -> str:
    """Level of entity_quality."""
    if observation.non_resolved_obs_entities:
        return "CONTAINS_NON_RESOLVED_ENTITIES"
    return "RESOLVED_ENTITIES_ONLY" if observation.obs_entities else "NO_ENTITIES"


def sentence_name_level(name: str, summary: str, vocabulary: Vocabulary) -> str:
    """Level of sentence_name_quality; change words and underscores are tracked, not cleaned.

    A change word within a finding's name ("reduced lung volumes") tells of no change.
    """
    if vocabulary.tells_change(name) or vocabulary.tells_change(summary):
        return "CHANGE_IN_SENTENCE_OR_NAME"
    return "UNDERSCORES_IN_SENTENCE_OR_NAME" if "_" in name + summary else "NO_ISSUES"


def change_level(
    sentence: str | None, resolved: int, unresolved: int, vocabulary: Vocabulary
) -> str:
    """Level of change_quality; CHANGE_SENTENCE_REMOVED if the sentence mentions no change."""
    if sentence and not resolved and not vocabulary.changes.found(normal(sentence)):
        return "CHANGE_SENTENCE_REMOVED"
    if sentence and "_" in sentence:
        return "UNDERSCORES_IN_CHANGE_SENTENCE"
    return "CONTAINS_NON_RESOLVED_CHANGES" if unresolved else "NO_ISSUES"


def worst_levels(qualities: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Worst level per aspect; aspects that nothing has are absent."""
    found: dict[str, list[str]] = {}
    for quality in qualities:
        for aspect, level in quality.items():
            found.setdefault(aspect, []).append(level)
    return {a: min(found[a], key=_RANK[a].__getitem__) for a in EXTRACTION_QUALITY if a in found}


def best_level(aspect: str, levels: Iterable[str]) -> str:
    """Best of some levels; ``levels`` must not be empty."""
    return max(levels, key=_RANK[aspect].__getitem__)


def worst_level(aspect: str, levels: Iterable[str]) -> str:
    """Worst of some levels; ``levels`` must not be empty."""
    return min(levels, key=_RANK[aspect].__getitem__)


def study_quality(observations: Iterable[Observation], discarded: Iterable[str]) -> dict[str, str]:
    """Worst level per aspect over the report's observations; ``discarded`` are issue levels."""
    qualities = [o.obs_quality for o in observations if o.from_report]
    return worst_levels([*qualities, *({"issue_level": level} for level in discarded)])


def image_quality(
    images: Sequence[Mapping[str, Any]],
    observations: Iterable[Observation],
    regions: Mapping[str, RegionNode],
) -> list[dict[str, str]]:
    """Per image the worst level over observations, or the best over regions if there is none."""
    of_observations: dict[str, list[str]] = {}
    of_regions: dict[str, list[str]] = {}
    for o in observations:
        if o.from_report:
            _collect(o.localization, of_observations)
    for node in regions.values():
        _collect(node.localization, of_regions)
    aspect = "localization_quality"
    result = []
    for image in sorted(images, key=lambda i: str(i["image_id"])):
        image_id = image["image_id"]
        levels = of_observations.get(image_id)
        best = best_level(aspect, of_regions.get(image_id, ["NO_LOCALIZATION"]))
        level = worst_level(aspect, levels) if levels else best
        result.append({"image_id": image_id, "view": image["view"], aspect: level})
    return result


def _collect(localizations: Iterable[Localization], levels: dict[str, list[str]]) -> None:
    for one in localizations:
        levels.setdefault(one.image_id, []).append(one.localization_quality)
