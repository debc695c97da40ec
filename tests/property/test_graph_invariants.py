"""Invariants of scene graphs for whatever an extraction may return."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from graph_fixtures import build, raw, reasons, reference, sentence, vocabulary

from cxrqba.graph.model import SceneGraph
from cxrqba.graph.sides import OPPOSITE
from cxrqba.graph.store import from_tables, to_tables
from cxrqba.ledger import Ledger
from cxrqba.mapping.mentions import MAX_VALUES, collect
from cxrqba.schema import CHILD_TYPES, EXTRACTION_QUALITY, INDICATIONS, RAW_OBSERVATIONS
from cxrqba.tables import frame

FINDINGS = ["pleural effusion", "Opacity", "pneumonia", "heart failure", "PICC line", "clear"]
REGIONS = ["left lung", "right base", "lungs", "heart", "bilateral hila", "lingula", "RML"]
HOSTILE = st.one_of(
    st.sampled_from(
        ["", " ", "<b>x</b>", '{"a": [1]}', "Pleuraerguss links", "null", "\x00", "___"]
    ),
    st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=12),
)
IDS = st.sampled_from(["R01", "R02", "R02.01", "R10", "", "?"])


@st.composite
def rows(draw: Any) -> dict[str, Any]:
    """A raw row with arbitrary values in every field."""
    texts = st.lists(st.one_of(st.sampled_from(FINDINGS), HOSTILE), max_size=3)
    places = st.lists(st.one_of(st.sampled_from(REGIONS), HOSTILE), max_size=3)
    return raw(
        draw(IDS),
        draw(texts),
        name=draw(st.one_of(st.none(), HOSTILE)),
        summary_sentence=draw(st.one_of(st.none(), HOSTILE)),
        parent_raw_id=draw(st.one_of(st.none(), IDS)),
        child_type=draw(st.one_of(st.none(), st.sampled_from(CHILD_TYPES), HOSTILE)),
        regions=draw(places),
        probability=draw(
            st.one_of(st.none(), st.sampled_from(["positive", "no", "possible"]), HOSTILE)
        ),
        laterality_text=draw(st.one_of(st.none(), st.sampled_from(["left", "right", "both"]))),
        changes=draw(texts),
        modifiers=draw(st.lists(HOSTILE, max_size=2)),
        sent_ids=draw(st.lists(st.sampled_from(["S01", "S02", "S99"]), max_size=2)),
        issue_level=draw(st.sampled_from([*EXTRACTION_QUALITY["issue_level"], None, "odd"])),
    )


def check(graph: SceneGraph) -> None:
    sides = vocabulary().region_sides
    levels = reference().levels
    sent_ids = {s["sent_id"] for s in graph.sentences}
    for obs_id, o in graph.observations.items():
        assert o.obs_id == obs_id
        assert o.child_level == obs_id.count(".")
        assert (o.child_type in CHILD_TYPES) if o.child_level else o.child_type is None
        assert o.child_level == 0 or obs_id.rpartition(".")[0] in graph.observations
        level = levels[o.probability]
        assert (o.certainty, o.positiveness) == (level.certainty, level.positiveness)
        wrong = OPPOSITE.get(o.laterality)
        assert wrong is None or all(sides.get(r) != wrong for r in o.region_names)
        assert set(o.region_names) <= set(graph.regions)
        assert set(o.sent_ids) <= sent_ids
        for aspect, found in o.obs_quality.items():
            assert found in EXTRACTION_QUALITY[aspect]
        assert o.from_report or graph.is_complete
    for r in graph.located_at_relations:
        assert r["region"] in graph.regions
        assert r["observation_id"] in graph.observations
    for r in graph.region_region_relations:
        assert {r["region"], r["related_region"]} <= set(graph.regions)
    for r in graph.obs_sent_relations:
        assert r["sentence_id"] in sent_ids
    assert graph.is_complete == (not graph.incomplete_reasons)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(rows(), max_size=6), st.randoms())
def test_any_rows_give_a_sound_graph_in_any_order(made: list[dict[str, Any]], random: Any) -> None:
    sentences = [sentence("S01"), sentence("S02", "IMPRESSION")]
    ledger = Ledger("build_graphs")
    graph = build(made, ledger, sentences=sentences)
    check(graph)
    told = sum(o.from_report for o in graph.observations.values())
    assert told or not made or ledger.rows  # nothing vanishes in silence
    shuffled = list(made)
    random.shuffle(shuffled)
    again = build(shuffled, sentences=sentences)
    assert again == graph
    assert from_tables(*to_tables([graph])) == [graph]


def test_ten_thousand_values_and_observations() -> None:
    values = raw(entity=[f"qzx{i}qzx" for i in range(10_000)])
    many = [raw(f"R{i}", "pleural effusion", name=f"n{i}") for i in range(2, 10_000)]
    chain = [
        raw(f"C{i}", "pneumothorax", name=f"c{i}", parent_raw_id=f"C{i - 1}" if i else None)
        for i in range(3000)
    ]
    ledger = Ledger("build_graphs")
    graph = build([values, *many, *chain], ledger)
    check(graph)
    assert len(graph.observations) > 3
    cut = [o for o in graph.observations.values() if "cut:entities" in o.origin]
    assert [len(o.non_resolved_obs_entities) for o in cut] == [MAX_VALUES]
    assert cut[0].obs_quality["issue_level"] == "NON_INTERPRETABLE"
    assert not graph.is_complete
    assert {"too_many_values", "too_deep"} <= set(reasons(ledger))


def test_all_pairs_of_many_findings_and_regions_are_not_mapped() -> None:
    row = raw(entity=[f"thing {i}" for i in range(300)], regions=[f"spot {i}" for i in range(300)])
    found = collect(frame([row], RAW_OBSERVATIONS), frame([], INDICATIONS))
    assert found.filter(found["kind"] == "entity_region").height == MAX_VALUES**2
