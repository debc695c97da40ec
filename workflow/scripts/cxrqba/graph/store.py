"""Scene graphs as tables and as the release's JSON (paper Sec. D.1)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import polars as pl

from cxrqba.graph.model import Indication, Localization, Observation, RegionNode, SceneGraph
from cxrqba.schema import EXTRACTION_QUALITY, GRAPHS, LOCALIZATION, OBSERVATIONS, REGIONS

ANSWER_ID = "OIND"

_LOCALIZATION = tuple(f.name for f in fields(Localization))
_OBSERVATION = tuple(f.name for f in fields(Observation))
_INDICATION = tuple(f.name for f in fields(Indication))
_RANK = {a: {level: i for i, level in enumerate(ls)} for a, ls in EXTRACTION_QUALITY.items()}
_SAME = (
    "patient_id",
    "study_id",
    "sentences",
    "top_level_obs_ids",
    "located_at_relations",
    "obs_relations",
    "obs_sent_relations",
    "region_region_relations",
    "study_quality",
    "study_img_localization_quality",
    "is_complete",
    "incomplete_reasons",
)
"""Fields of the graph that are columns of GRAPHS as they are."""

_BOXES = pl.Schema([("row", pl.UInt32), ("localization", pl.List(LOCALIZATION))])

_ENCODE = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


def to_tables(graphs: Iterable[SceneGraph]) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Graphs as (GRAPHS, OBSERVATIONS, REGIONS), sorted by study; OIND is an observation row."""
    ordered = sorted(graphs, key=lambda g: g.study_id)
    roots: list[dict[str, Any]] = []
    observations: list[dict[str, Any]] = []
    regions: list[tuple[str, RegionNode]] = []
    for graph in ordered:
        root = {name: getattr(graph, name) for name in _SAME}
        node = graph.indication
        root["indication"] = node and {name: getattr(node, name) for name in _INDICATION}
        roots.append(root)
        rows = list(graph.observations.values())
        if graph.answer_for_indication is not None:
            rows.append(graph.answer_for_indication)
        observations += [_observation_row(graph.study_id, o) for o in rows]
        regions += [(graph.study_id, r) for r in graph.regions.values()]
    return _table(roots, GRAPHS), _table(observations, OBSERVATIONS), _regions(regions)


def _regions(nodes: Sequence[tuple[str, RegionNode]]) -> pl.DataFrame:
    """Region nodes as REGIONS: plain columns as they are, only boxes by way of JSON."""
    boxes = [
        {"row": i, "localization": [_localization_row(one) for one in node.localization]}
        for i, (_, node) in enumerate(nodes)
        if node.localization
    ]
    nested = _table(boxes, _BOXES)
    plain = pl.DataFrame(
        {
            "study_id": [study_id for study_id, _ in nodes],
            "region": [node.region for _, node in nodes],
            "laterality": [node.laterality for _, node in nodes],
            "region_localization_quality": [n.region_localization_quality for _, n in nodes],
        },
        schema={c: REGIONS[c] for c in REGIONS if c != "localization"},
    )
    return (
        plain.with_row_index("row")
        .join(nested, on="row", how="left", maintain_order="left")
        .with_columns(pl.col("localization").fill_null([]))
        .select(list(REGIONS))
    )


def _table(rows: Sequence[Mapping[str, Any]], schema: pl.Schema) -> pl.DataFrame:
    """Rows as a table by way of JSON: far faster than from nested objects or from JSON lines."""
    if not rows:
        return pl.DataFrame(schema=schema)
    return pl.read_json(_ENCODE(rows).encode("ascii"), schema=schema)


def _observation_row(study_id: str, observation: Observation) -> dict[str, Any]:
    row = {name: getattr(observation, name) for name in _OBSERVATION}
    row["study_id"] = study_id
    row["localization"] = [_localization_row(one) for one in observation.localization]
    return row


def _localization_row(one: Localization) -> dict[str, Any]:
    return {name: getattr(one, name) for name in _LOCALIZATION}


def from_tables(
    graphs: pl.DataFrame, observations: pl.DataFrame, regions: pl.DataFrame
) -> list[SceneGraph]:
    """The graphs of three tables that :func:`to_tables` made, in the order of GRAPHS."""
    nodes: dict[str, dict[str, Observation]] = {}
    for row in observations.iter_rows(named=True):
        of_study = nodes.setdefault(row["study_id"], {})
        of_study[row["obs_id"]] = _observation(row)
    places: dict[str, dict[str, RegionNode]] = {}
    for row in regions.iter_rows(named=True):
        places.setdefault(row["study_id"], {})[row["region"]] = RegionNode(
            row["region"],
            row["laterality"],
            _localizations(row["localization"]),
            row["region_localization_quality"],
        )
    result = []
    for row in graphs.iter_rows(named=True):
        values = {name: row[name] for name in _SAME}
        values["study_quality"] = _known(row["study_quality"])
        of_study = nodes.get(row["study_id"], {})
        answer = of_study.pop(ANSWER_ID, None)
        result.append(
            SceneGraph(
                observations=of_study,
                regions=places.get(row["study_id"], {}),
                indication=None if row["indication"] is None else Indication(**row["indication"]),
                answer_for_indication=answer,
                **values,
            )
        )
    return result


def _observation(row: Mapping[str, Any]) -> Observation:
    values = {name: row[name] for name in _OBSERVATION}
    values["localization"] = _localizations(row["localization"])
    values["obs_quality"] = _known(row["obs_quality"])
    values["modifiers"] = _known(row["modifiers"])
    return Observation(**values)


def _localizations(rows: Sequence[Mapping[str, Any]]) -> list[Localization]:
    return [Localization(**row) for row in rows]


def _known(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """A struct without its null fields: tables have all keys, graphs only those that are set."""
    return {k: v for k, v in (values or {}).items() if v is not None}


# --- the release's JSON -------------------------------------------------------------------------


def to_json(graph: SceneGraph) -> dict[str, Any]:
    """A graph in the shape of the release's ``s########.scene_graph.json``.

    Sentences, observations, regions and localizations are objects by their ids; quality levels are
    integers from worst to best.
    """
    indication: dict[str, Any] | None = None
    if graph.indication is not None:
        indication = asdict(graph.indication)
        answer = graph.answer_for_indication
        indication["answer_for_indication"] = answer and _observation_json(answer)
    return {
        "patient_id": graph.patient_id,
        "study_id": graph.study_id,
        "sentences": {s["sent_id"]: dict(s) for s in graph.sentences},
        "top_level_obs_ids": list(graph.top_level_obs_ids),
        "observations": {i: _observation_json(o) for i, o in graph.observations.items()},
        "indication": indication,
        "regions": {
            name: {
                "region": r.region,
                "laterality": r.laterality,
                "localization": _localization_json(r.localization),
                "region_localization_quality": _RANK["localization_quality"][
                    r.region_localization_quality
                ],
            }
            for name, r in graph.regions.items()
        },
        "located_at_relations": graph.located_at_relations,
        "obs_relations": graph.obs_relations,
        "obs_sent_relations": graph.obs_sent_relations,
        "region_region_relations": graph.region_region_relations,
        "study_quality": _quality_json(graph.study_quality),
        "study_img_localization_quality": {
            q["image_id"]: _RANK["localization_quality"][q["localization_quality"]]
            for q in graph.study_img_localization_quality
        },
    }


_NOT_RELEASED = ("sent_ids", "spans", "origin", "decisions")


def _observation_json(observation: Observation) -> dict[str, Any]:
    values = {n: getattr(observation, n) for n in _OBSERVATION if n not in _NOT_RELEASED}
    values["obs_quality"] = _quality_json(observation.obs_quality)
    values["localization"] = _localization_json(observation.localization)
    return values


def _localization_json(localizations: Iterable[Localization]) -> dict[str, Any]:
    return {
        one.image_id: {
            **_localization_row(one),
            "localization_quality": _RANK["localization_quality"][one.localization_quality],
        }
        for one in localizations
    }


def _quality_json(quality: Mapping[str, str]) -> dict[str, int]:
    return {aspect: _RANK[aspect][level] for aspect, level in quality.items()}
