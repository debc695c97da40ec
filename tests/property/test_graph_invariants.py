"""Invariants of scene graphs for whatever an extraction may return."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from graph_fixtures import box, build, indication, raw, reasons, reference, sentence, vocabulary

from cxrqba.graph.model import SceneGraph
from cxrqba.graph.observe import GONE
from cxrqba.graph.sides import OPPOSITE
from cxrqba.graph.store import from_tables, to_tables
from cxrqba.ledger import Ledger
from cxrqba.mapping.mentions import MAX_VALUES, collect
from cxrqba.schema import CHILD_TYPES, EXTRACTION_QUALITY, INDICATIONS, RAW_OBSERVATIONS
from cxrqba.tables import frame

FINDINGS = ["pleural effusion", "Opacity", "pneumonia", "heart failure", "PICC line", "clear"]
CHANGES = ["resolved", "has been removed", "interval resolution", "new", "stable", "no new"]
REGIONS = ["left lung", "right base", "lungs", "heart", "bilateral hila", "lingula", "RML"]
HOSTILE = st.one_of(
    st.sampled_from(
        ["", " ", "<b>x</b>", '{"a": [1]}', "Pleuraerguss links", "null", "\x00", "___"]
    ),
    st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=12),
)
IMAGE_IDS = ["i1", "i2"]
IDS = st.sampled_from(["R01", "R02", "R02.01", "R10", "", "?"])


NUMBERS = st.one_of(st.none(), st.integers(-2, 9))
SPANS = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {
            "sent_id": st.sampled_from([None, "S01", "S99"]),
            "start": NUMBERS,
            "end": NUMBERS,
        }
    ),
)


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
        changes=draw(st.lists(st.one_of(st.sampled_from(CHANGES), HOSTILE), max_size=2)),
        modifiers=draw(st.lists(HOSTILE, max_size=2)),
        sent_ids=draw(st.lists(st.sampled_from(["S01", "S02", "S99"]), max_size=2)),
        spans=draw(st.lists(SPANS, max_size=3)),
        issue_level=draw(st.sampled_from([*EXTRACTION_QUALITY["issue_level"], None, "odd"])),
    )


@st.composite
def questions(draw: Any) -> dict[str, Any]:
    """A row of INDICATIONS with arbitrary values in every field."""
    return indication(
        **{
            field: draw(st.one_of(st.none(), HOSTILE))
            for field in ("patient_info", "indication", "evaluation", "answer_name", "origin")
        },
        indication_summary=draw(st.one_of(st.none(), HOSTILE)),
        answer_sentence=draw(st.one_of(st.none(), HOSTILE)),
        associated_sentence_ids=draw(
            st.one_of(st.none(), st.lists(st.sampled_from(["S01", "S02", "S99", "", None])))
        ),
    )


@st.composite
def placed(draw: Any) -> dict[str, Any]:
    """A row of REGION_BOXES, of an image of the study or another."""
    return box(
        draw(st.sampled_from(["left lung", "right lung", "heart", "nowhere"])),
        draw(st.sampled_from(["i1", "i2", "i9"])),
        bboxes=draw(st.sampled_from([[], [[0.0, 0.0, 1.0, 1.0]], [[2.0, 2.0, 3.0, 3.0]]])),
        is_fallback=draw(st.booleans()),
        mask_ids=draw(st.one_of(st.none(), st.just(["m"]))),
    )


def check(graph: SceneGraph) -> None:
    sides = vocabulary().region_sides
    levels = reference().levels
    sent_ids = {s["sent_id"] for s in graph.sentences}
    assert "OIND" not in graph.observations
    answer = graph.answer_for_indication
    assert answer is None or graph.indication is not None
    for obs_id, o in [*graph.observations.items(), *([("OIND", answer)] if answer else [])]:
        assert o.obs_id == obs_id
        assert o.child_level == obs_id.count(".")
        assert (o.child_type in CHILD_TYPES) if o.child_level else o.child_type is None
        assert o.child_level == 0 or obs_id.rpartition(".")[0] in graph.observations
        level = levels[o.probability]
        assert (o.certainty, o.positiveness) == (level.certainty, level.positiveness)
        assert o.positiveness != "pos" or not set(o.changes) & set(GONE)
        wrong = OPPOSITE.get(o.laterality)
        assert wrong is None or all(sides.get(r) != wrong for r in o.region_names)
        assert set(o.region_names) <= set(graph.regions)
        assert set(o.sent_ids) <= sent_ids
        for aspect, found in o.obs_quality.items():
            assert found in EXTRACTION_QUALITY[aspect]
        assert o.from_report or graph.is_complete
        assert set(o.default_regions) <= set(o.region_names)
        assert len(set(o.region_names)) == len(o.region_names)
        assert not set(o.obs_entities) & set(o.obs_entities_parents)
        assert all(s["sent_id"] in sent_ids and 0 <= s["start"] <= s["end"] for s in o.spans)
        assert [one.image_id for one in o.localization] in ([], IMAGE_IDS)
    for r in graph.located_at_relations:
        assert r["region"] in graph.regions
        assert r["observation_id"] in graph.observations
    for r in graph.region_region_relations:
        assert {r["region"], r["related_region"]} <= set(graph.regions)
    for r in graph.obs_sent_relations:
        assert r["sentence_id"] in sent_ids
        assert r["observation_id"] in graph.observations
    for r in graph.obs_relations:
        ids = {r["parent_observation_id"], r["child_observation_id"]}
        assert ids <= set(graph.observations)
        assert r["child_type"] in CHILD_TYPES
    assert set(graph.top_level_obs_ids) == {i for i in graph.observations if "." not in i}
    if graph.indication is not None:
        assert set(graph.indication.associated_sentence_ids) <= sent_ids
        assert set(graph.indication.associated_obs_ids) <= set(graph.observations)
    assert graph.is_complete == (not graph.incomplete_reasons)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(rows(), max_size=6),
    st.one_of(st.none(), questions()),
    st.lists(placed(), max_size=5),
    st.randoms(),
)
def test_any_rows_give_a_sound_graph_in_any_order(
    made: list[dict[str, Any]],
    asked: dict[str, Any] | None,
    boxes: list[dict[str, Any]],
    random: Any,
) -> None:
    sentences = [sentence("S01"), sentence("S02", "IMPRESSION")]
    images = [{"image_id": i, "view": "frontal"} for i in IMAGE_IDS]
    ledger = Ledger("build_graphs")
    given_ = {"indication": asked}
    graph = build(made, ledger, sentences=sentences, images=images, boxes=boxes, **given_)
    check(graph)
    told = sum(o.from_report for o in graph.observations.values())
    assert told or not made or ledger.rows  # nothing vanishes in silence
    assert asked is None or graph.indication or "no_indication_summary" in reasons(ledger)
    for values in (made, sentences, images, boxes):
        random.shuffle(values)
    again = build(made, sentences=sentences, images=images, boxes=boxes, **given_)
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


def test_very_long_strings_and_nests_of_lists_are_kept_or_noted() -> None:
    long = "a " * 100_000
    rows_ = [
        raw(name=long, summary_sentence=long, entity=[long], regions=[long], changes=[long]),
        raw("R02", "pneumothorax", laterality_text=long, change_sentence=long, origin=long),
        *(
            raw(f"N{i}", ["pneumonia", "scoliosis"], parent_raw_id=f"N{i - 1}" if i else None)
            for i in range(30)
        ),
    ]
    ledger = Ledger("build_graphs")
    graph = build(rows_, ledger)
    check(graph)
    assert {o.name[:3] for o in graph.observations.values() if o.from_report} >= {"a a", "Pne"}
    assert not graph.is_complete or not [o for o in graph.observations if o.startswith("D")]


def test_all_pairs_of_many_findings_and_regions_are_not_mapped() -> None:
    row = raw(entity=[f"thing {i}" for i in range(300)], regions=[f"spot {i}" for i in range(300)])
    found = collect(frame([row], RAW_OBSERVATIONS), frame([], INDICATIONS))
    assert found.filter(found["kind"] == "entity_region").height == MAX_VALUES**2
