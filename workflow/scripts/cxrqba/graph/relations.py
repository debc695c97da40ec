"""Region nodes and the four relation lists of a scene graph (paper Sec. D.1, E.1.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cxrqba.graph.localize import Localizer, overall_level
from cxrqba.graph.model import Observation, RegionNode
from cxrqba.graph.vocabulary import Vocabulary

_SIDES = ("left", "right", "bilateral")


def region_names(observations: Iterable[Observation], vocabulary: Vocabulary) -> list[str]:
    """Mentioned regions, all regions above them, the pairs they belong to, and key regions."""
    reference = vocabulary.reference
    names = {r.name for r in reference.regions.values() if r.key_region}
    names.update(r for o in observations for r in o.region_names)
    for name in list(names):
        pair = reference.regions[name].bilateral
        names.update(reference.region_ancestors[name])
        if pair is not None:
            names.update((pair, *reference.region_ancestors[pair]))
    return [r for r in reference.regions if r in names]


def region_nodes(
    names: Iterable[str], localizer: Localizer, vocabulary: Vocabulary
) -> dict[str, RegionNode]:
    """Region nodes in table order; localizations of the images that show the region."""
    nodes = {}
    for name in names:
        side = vocabulary.reference.regions[name].laterality
        found = [one for one in localizer.of((name,)) if one.bboxes] if localizer.has_boxes else []
        nodes[name] = RegionNode(
            region=name,
            laterality=side if side in _SIDES else "unknown",
            localization=found,
            region_localization_quality=overall_level(found),
        )
    return nodes


def located_at(observations: Iterable[Observation], vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """direct: as extracted; bilateral: the pair of such a region; sub_region: regions above."""
    relations: list[dict[str, Any]] = []
    for o in observations:
        how = {r["region"]: ("direct", list(r["distances"])) for r in o.regions}
        wider = [pair for r in o.regions for pair in vocabulary.wider(r["region"])]
        for kind in ("bilateral", "sub_region"):
            for name, specified in wider:
                if specified == kind and name not in how:
                    how[name] = (kind, [])
        relations += [
            {
                "region": region,
                "observation_id": o.obs_id,
                "distances": distances,
                "where_specified": specified,
            }
            for region, (specified, distances) in how.items()
        ]
    return relations


def region_relations(names: Iterable[str], vocabulary: Vocabulary) -> list[dict[str, str]]:
    """``related_region`` is a sub region, or the left, right or bilateral version of ``region``."""
    known = frozenset(names)
    links = {
        link
        for name in known
        for link in vocabulary.links(name)
        if link[0] in known and link[1] in known
    }
    return [
        {"region": a, "related_region": b, "relation_type": kind} for a, b, kind in sorted(links)
    ]


def observation_relations(observations: Mapping[str, Observation]) -> list[dict[str, str]]:
    """Parent and child by their ids."""
    return [
        {
            "parent_observation_id": i.rpartition(".")[0],
            "child_observation_id": i,
            "child_type": o.child_type or "",
        }
        for i, o in observations.items()
        if o.child_level > 0
    ]


def sentence_relations(observations: Iterable[Observation]) -> list[dict[str, str]]:
    """Observation and the sentences it stems from."""
    return [
        {"observation_id": o.obs_id, "sentence_id": s} for o in observations for s in o.sent_ids
    ]
