"""Steps of graph construction one by one: levels, evidence, lifting, merging, boxes, indication."""

from __future__ import annotations

from typing import Any

import pytest
from graph_fixtures import (
    box,
    build,
    indication,
    observed,
    raw,
    reasons,
    reference,
    sentence,
    vocabulary,
)

from cxrqba.graph.localize import Localizer
from cxrqba.graph.model import Observation, SceneGraph
from cxrqba.graph.tags import read_level
from cxrqba.ledger import Ledger
from cxrqba.schema import EXTRACTION_QUALITY, REGION_BOXES
from cxrqba.tables import frame

IMAGES = [{"image_id": "i2", "view": "lateral"}, {"image_id": "i1", "view": "frontal"}]


def typed(kind: str, value: str) -> dict[str, str]:
    return {"type": kind, "value": value}


# --- probability --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("probability", "modifiers", "level"),
    [
        ("positive", [typed("severity", "possible")], "possible"),
        ("positive", [typed("texture", "Cannot be excluded")], "cannot_exclude"),
        ("likely", [typed("probability", "possible")], "possible"),
        ("negative", [typed("severity", "unlikely")], "unlikely"),
        (None, [typed("probability", "probably")], "likely"),
        ("positive", [typed("temporal", "resolved")], None),
        ("positive", [typed("severity", "absent")], None),
        ("positive", [typed("severity", "subtle"), typed("temporal", "new")], "positive"),
        ("positive", [typed("severity", ""), typed("severity", "small")], "positive"),
        ("zzz", [typed("severity", "possible")], None),
        (None, [], None),
    ],
)
def test_doubt_among_the_modifiers_counts_whatever_its_type(
    probability: str | None, modifiers: list[dict[str, str]], level: str | None
) -> None:
    row = raw(probability=probability, modifiers=modifiers)
    assert read_level(row, vocabulary()) == level


@pytest.mark.parametrize("level", ["comparison_only", "recommendation"])
def test_comparison_and_advice_are_neither_positive_nor_negative(level: str) -> None:
    o = observed(raw(probability=level))
    assert (o.positiveness, o.certainty) == (level, level)


# --- evidence -----------------------------------------------------------------------------------


def span(sent_id: str | None, start: int | None, end: int | None) -> dict[str, Any]:
    return {"sent_id": sent_id, "start": start, "end": end}


def test_evidence_outside_of_the_report_is_left_out_and_lowers_the_issue_level() -> None:
    ledger = Ledger("build_graphs")
    spans = [span("S01", 0, 4), span("S09", 0, 4), span(None, 1, 2), span("S01", 4, None)]
    rows = [
        raw(sent_ids=["S01", "S09"], spans=[*spans, span("S01", 5, 2)]),
        raw("R02", "pneumothorax", sent_ids=["S08"]),
    ]
    graph = build(rows, ledger)
    some, none = graph.observations["O01"], graph.observations["O02"]
    assert (some.sent_ids, some.spans) == (["S01"], [span("S01", 0, 4)])
    assert none.sent_ids == []
    assert some.obs_quality["issue_level"] == "FIXABLE"
    assert none.obs_quality["issue_level"] == "MOSTLY_INTERPRETABLE"
    assert reasons(ledger) == ["unknown_sentence", "unknown_sentence"]


def test_region_taken_out_for_its_side_counts_as_a_repair() -> None:
    o = observed(raw(laterality_text="left", regions=["right lung"]))
    assert o.obs_quality["issue_level"] == "FIXABLE"
    assert "right lung" not in o.region_names


# --- tree ---------------------------------------------------------------------------------------


def test_mere_list_below_the_top_is_lifted_into_its_parent_s_place() -> None:
    rows = [
        raw("R01", "endotracheal tube"),
        raw(
            "R01.01",
            ["pleural effusion", "atelectasis"],
            parent_raw_id="R01",
            child_type="related region",
        ),
        raw("R01.01.01", "pleural effusion", parent_raw_id="R01.01", child_type="associated with"),
        raw("R01.01.02", "atelectasis", parent_raw_id="R01.01", child_type="associated with"),
    ]
    graph = build(rows)
    found = {i: (o.obs_entities, o.child_type) for i, o in graph.observations.items()}
    assert found["O01.01"] == (["pleural effusion"], "related region")
    assert found["O01.02"] == (["atelectasis"], "related region")
    assert not any(i.startswith("O01.01.") for i in found)


@pytest.mark.parametrize(
    "third",
    [
        {"entity": "pneumothorax"},  # not in the list
        {"entity": "atelectasis", "probability": "negative"},  # of another sign
        {"entity": ["atelectasis", "scoliosis"]},
    ],
)
def test_parent_whose_children_are_not_just_its_findings_stays(third: dict[str, Any]) -> None:
    child = {"parent_raw_id": "R01", "child_type": "associated with"}
    rows = [
        raw("R01", ["pleural effusion", "atelectasis"]),
        raw("R01.01", "pleural effusion", **child),
        raw("R01.02", **(child | third)),
    ]
    assert build(rows).observations["O01"].obs_entities == ["pleural effusion", "atelectasis"]


def test_region_one_of_two_merged_observations_names_is_no_default() -> None:
    rows = [
        raw("R01", laterality_text="left"),
        raw("R02", laterality_text="left", regions=["left pleural space", "left CP angle"]),
    ]
    for order in (rows, rows[::-1]):
        for number, row in enumerate(order, start=1):
            row["raw_id"] = f"R{number:02d}"
        (o,) = [o for o in build(order).observations.values() if o.from_report]
        assert o.default_regions == []
        assert o.obs_quality["region_quality"] == "RESOLVED_REGIONS_ONLY"


# --- boxes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("boxes", "level"),
    [
        ([], "NO_LOCALIZATION"),
        ([box("heart", is_fallback=True)], "FALLBACK_LOCALIZATION"),
        ([box("left lung")], "INCOMPLETE_LOCALIZATION"),
        ([box("left lung"), box("heart", is_fallback=True)], "INCOMPLETE_LOCALIZATION"),
        (
            [box("left lung"), box("heart", localization_quality="BBOX_LOCALIZATION")],
            "BBOX_LOCALIZATION",
        ),
        ([box("left lung"), box("heart")], "BBOX_AND_MASK_LOCALIZATION"),
        ([box("left lung", "i2"), box("heart", "i2")], "BBOX_AND_MASK_LOCALIZATION"),
        ([box("left lung", "i3"), box("heart", "i3")], "NO_LOCALIZATION"),  # no image of the study
    ],
)
def test_every_level_of_localization_is_reached(boxes: list[dict[str, Any]], level: str) -> None:
    graph = build([raw(regions=["left lung", "heart"])], images=IMAGES, boxes=boxes)
    o = graph.observations["O01"]
    assert o.obs_quality["localization_quality"] == level
    assert [one.image_id for one in o.localization] == ["i1", "i2"]
    assert graph.study_quality["localization_quality"] == level


def test_every_level_of_every_aspect_has_a_test() -> None:
    here = {"localization_quality"}
    elsewhere = {  # test_graph_build: test_every_quality_level_is_reached, discarded observation
        "region_quality",
        "entity_quality",
        "sentence_name_quality",
        "change_quality",
        "issue_level",
    }
    assert here | elsewhere == set(EXTRACTION_QUALITY)


def test_region_without_box_takes_its_fallback_and_says_so() -> None:
    (fallback,) = vocabulary().reference.regions["left hemithorax"].fallbacks
    boxes = frame([box(fallback)], REGION_BOXES)
    localizer = Localizer(["i1"], boxes, ["left hemithorax"], vocabulary())
    (one,) = localizer.of(("left hemithorax",))
    assert one.is_fallback
    assert one.localization_reference_ids == [fallback]
    assert one.localization_quality == "FALLBACK_LOCALIZATION"
    assert localizer.of(("left hemithorax",)) is localizer.of(("left hemithorax",))


def test_of_two_rows_of_a_region_one_is_taken_in_any_order() -> None:
    rows = [box("heart"), box("heart", bboxes=[[5.0, 5.0, 6.0, 6.0]])]
    found = [
        Localizer(["i1"], frame(order, REGION_BOXES), ["heart"], vocabulary()).of(("heart",))
        for order in (rows, rows[::-1])
    ]
    assert found[0] == found[1]
    assert len(found[0][0].bboxes) == 1


# --- relations ----------------------------------------------------------------------------------


def test_direct_before_pair_before_regions_above() -> None:
    graph = build([raw(entity="consolidation", regions=["left lung", "left lower lobe"])])
    how = [
        (r["region"], r["where_specified"])
        for r in graph.located_at_relations
        if r["observation_id"] == "O01"
    ]
    assert how[:2] == [("left lung", "direct"), ("left lower lobe", "direct")]
    assert dict(how)["lungs"] == "bilateral"
    assert dict(how)["lower lobes"] == "bilateral"
    assert dict(how)["thorax"] == "sub_region"
    kinds = [kind for _, kind in how]
    assert kinds == sorted(kinds, key=["direct", "bilateral", "sub_region"].index)


# --- indication ---------------------------------------------------------------------------------


def test_indication_names_only_sentences_that_exist() -> None:
    ledger = Ledger("build_graphs")
    asked = indication(associated_sentence_ids=["S01", "S77"])
    graph = build([raw()], ledger, indication=asked)
    assert graph.indication is not None
    assert graph.answer_for_indication is not None
    assert graph.indication.associated_sentence_ids == ["S01"]
    assert graph.answer_for_indication.sent_ids == ["S01"]
    assert reasons(ledger) == ["unknown_sentence"]


def test_indication_that_asks_nothing_is_noted() -> None:
    ledger = Ledger("build_graphs")
    graph = build([raw()], ledger, indication=indication(indication_summary=" "))
    assert graph.indication is None
    assert graph.answer_for_indication is None
    assert reasons(ledger) == ["no_indication_summary"]


def test_answer_of_unrelated_sentences_claims_nothing() -> None:
    graph = build(
        [raw()],
        indication=indication(associated_sentence_ids=["S02"]),
        sentences=[sentence(), sentence("S02")],
    )
    answer = graph.answer_for_indication
    assert answer is not None
    assert (answer.probability, answer.obs_entities) == ("indeterminate", [])


# --- what follows from findings and from the tree -----------------------------------------------


def test_parents_categories_and_subcategories_follow_from_the_finding() -> None:
    [o] = told(build([raw(entity="rib fracture")]))
    finding = reference().findings["rib fracture"]
    assert o.obs_entities_parents == ["fracture", "bone abnormality"]
    assert tuple(o.obs_categories) == finding.categories
    assert tuple(o.obs_subcategories) == finding.subcategories


def test_a_parent_that_is_itself_named_is_no_parent_of_the_observation() -> None:
    [o] = told(build([raw(entity=["rib fracture", "fracture"])]))
    assert set(o.obs_entities) == {"rib fracture", "fracture"}
    assert o.obs_entities_parents == ["bone abnormality"]


def test_an_unresolved_finding_has_no_parents_or_categories() -> None:
    [o] = told(build([raw(entity="zorblax")]))
    assert (o.obs_entities_parents, o.obs_categories, o.obs_subcategories) == ([], [], [])


def test_observations_are_related_to_parents_and_to_their_sentences() -> None:
    rows = [
        raw(sent_ids=["S01", "S02"]),
        raw("R02", "atelectasis", parent_raw_id="R01", child_type="associated with"),
        raw("R03", "opacity", parent_raw_id="R02", child_type="related region", sent_ids=["S02"]),
    ]
    graph = build(rows, sentences=[sentence(), sentence("S02")])
    assert graph.obs_relations == [
        {
            "parent_observation_id": parent,
            "child_observation_id": child,
            "child_type": kind,
        }
        for parent, child, kind in (
            ("O01", "O01.01", "associated with"),
            ("O01.01", "O01.01.01", "related region"),
        )
    ]
    pairs = {(r["observation_id"], r["sentence_id"]) for r in graph.obs_sent_relations}
    assert pairs == {("O01", "S01"), ("O01", "S02"), ("O01.01", "S01"), ("O01.01.01", "S02")}
    assert graph.top_level_obs_ids[0] == "O01"


def told(graph: SceneGraph) -> list[Observation]:
    return [o for o in graph.observations.values() if o.from_report]
