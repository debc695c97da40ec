"""From free values to graphs: left and right are alike, and so are the words for one thing."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from graph_fixtures import box, build, mapper, raw, reference, sentence

from cxrqba.graph.model import Observation, SceneGraph

SLOW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
ENTITIES = ("pleural effusion", "opacity", "rib fracture", "chest tube", "pneumothorax", "nodule")
REGIONS = (
    *("left lung", "right lower lobe", "left costophrenic angle", "right hilum", "lungs"),
    *("left clavicle", "right lung apex", "mediastinum", "left zorblax"),
)
FINDINGS = tuple(reference().findings.values())
SIDED = re.compile(
    r"\b(?:left|right|both|bi\w+|lungs|bases|apices|hila|spinal|retrosternal|\w+s)\b", re.I
)
"""Words in a synonym that tell a side by themselves."""
IMAGE = {"image_id": "i1", "view": "frontal"}


def mirrored(text: str) -> str:
    return re.sub(r"left|right", lambda m: "right" if m[0] == "left" else "left", text)


@st.composite
def rows(draw: Any) -> dict[str, Any]:
    """A raw row of one finding that may have a side."""
    return raw(
        f"R{draw(st.integers(1, 9)):02d}",
        draw(st.sampled_from(ENTITIES)),
        regions=draw(st.lists(st.sampled_from(REGIONS), max_size=2, unique=True)),
        laterality_text=draw(st.sampled_from([None, "left", "small right", "left and right"])),
        probability=draw(st.sampled_from(["positive", "no", "possible"])),
        parent_raw_id=draw(st.sampled_from([None, "R01", "R02"])),
        child_type="associated with",
    )


def mirrored_row(row: dict[str, Any]) -> dict[str, Any]:
    side = row["laterality_text"]
    places = [{"region": mirrored(r["region"]), "distances": []} for r in row["regions"]]
    return row | {"laterality_text": side and mirrored(side), "regions": places}


def graph_of(rows_: list[dict[str, Any]], boxed: str) -> SceneGraph:
    boxes = [box(boxed, bboxes=[[1.0, 2.0, 3.0, 4.0]])]
    return build(rows_, sentences=[sentence()], images=[IMAGE], boxes=boxes)


def told(o: Observation, mirror: bool) -> tuple[Any, ...]:
    """What an observation says, its mirror image if wanted."""

    def seen(text: str) -> str:
        return mirrored(text) if mirror else text

    boxes = [
        (
            i.bboxes,
            i.is_fallback,
            i.localization_quality,
            *sorted(map(seen, i.missing_localization)),
        )
        for i in o.localization
    ]
    return (
        *(o.obs_id, o.child_type, o.probability, o.obs_entities, o.obs_entities_parents),
        seen(o.laterality),
        sorted(map(seen, o.region_names)),
        sorted(map(seen, o.default_regions)),
        sorted(seen(r["region"]) for r in o.non_resolved_regions),
        o.obs_quality,
        boxes,
    )


def located(graph: SceneGraph, mirror: bool) -> set[str]:
    """Where the reported observations are; what silence denies has organs of one side."""
    placed = (r for r in graph.located_at_relations if r["observation_id"] in reported(graph))
    return {mirrored(repr(r)) if mirror else repr(r) for r in placed}


def reported(graph: SceneGraph) -> dict[str, Observation]:
    return {i: o for i, o in graph.observations.items() if o.from_report}


@SLOW
@given(st.lists(rows(), max_size=5, unique_by=lambda r: r["raw_id"]), st.booleans())
def test_mirrored_rows_give_the_mirrored_graph(made: list[dict[str, Any]], left: bool) -> None:
    boxed = "left lung" if left else "right pleural space"
    graph = graph_of(made, boxed)
    other = graph_of([mirrored_row(row) for row in made], mirrored(boxed))
    assert [told(o, True) for o in reported(graph).values()] == [
        told(o, False) for o in reported(other).values()
    ]
    assert located(graph, mirror=True) == located(other, mirror=False)
    assert graph.incomplete_reasons == other.incomplete_reasons


def test_every_synonym_is_its_finding_and_region() -> None:
    tables = {"entity": reference().findings, "region": reference().regions}
    for kind, table in tables.items():
        names = {s: name for name, row in table.items() for s in row.synonyms[::5]}
        decided = mapper().decide(kind, list(names), 0.5)
        wrong = {
            text: d.reference
            for (text, name), d in zip(names.items(), decided, strict=True)
            if d.reference != name
        }
        assert wrong == {}


@SLOW
@given(st.data())
def test_a_synonym_gives_the_same_graph(data: Any) -> None:
    words = {
        f.name: [s for s in f.synonyms if not SIDED.search(s)]
        for f in FINDINGS
        if not SIDED.search(f.name)
    }
    name = data.draw(st.sampled_from([name for name, same in words.items() if same]))
    synonym = data.draw(st.sampled_from(words[name]))
    said = {"name": "It", "summary_sentence": "It is there.", "probability": "positive"}
    one, other = (build([raw(entity=word, **said)]) for word in (name, synonym))
    kept = [o for graph in (one, other) for o in graph.observations.values() if o.from_report]
    assert len(kept) == 2
    for o in kept:
        o.decisions = []
    assert kept[0] == kept[1]
    assert one.incomplete_reasons == other.incomplete_reasons
    assert set(one.observations) == set(other.observations)
