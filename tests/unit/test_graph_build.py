"""Scene graph construction: tags, sides, regions, tree, boxes, relations, quality, completeness."""

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

from cxrqba.graph.quality import change_level, sentence_name_level
from cxrqba.graph.tags import level_of
from cxrqba.ledger import Ledger
from cxrqba.schema import EXTRACTION_QUALITY

IMAGES = [{"image_id": "i1", "view": "frontal"}]


# --- tags ---------------------------------------------------------------------------------------


def test_unresolved_findings_and_regions_are_kept_modifiers_and_changes_only_as_decisions() -> None:
    o = observed(raw(entity=["xqzzy"], regions=["qqqq"], modifiers=["zzzz"], changes=["wwww"]))
    assert o.non_resolved_obs_entities == ["xqzzy"]
    assert [r["region"] for r in o.non_resolved_regions] == ["qqqq"]
    assert not any(o.modifiers.values())
    assert o.changes == []
    assert {(d["kind"], d["reference"]) for d in o.decisions} >= {
        ("modifier", None),
        ("change", None),
    }


def test_pair_of_finding_and_region_names_a_finding_that_the_word_alone_does_not() -> None:
    o = observed(raw(entity=["enlarged"], regions=["heart"]))
    assert o.obs_entities == ["cardiomegaly"]


def test_exact_entity_wins_over_a_like_pair() -> None:
    o = observed(raw(entity=["opacity"], regions=["hilum"]))
    assert o.obs_entities == ["lung opacity"]


@pytest.mark.parametrize(
    ("entity", "region", "finding"),
    [
        ("emphysema", "subcutaneous", "subcutaneous emphysema"),
        ("fracture", "rib", "rib fracture"),
        ("effusion", "pericardial", "pericardial effusion"),
        ("emphysema", "lungs", "emphysema"),
    ],
)
def test_exact_pair_wins_over_the_bare_word(entity: str, region: str, finding: str) -> None:
    assert observed(raw(entity=[entity], regions=[region])).obs_entities == [finding]


@pytest.mark.parametrize(
    ("value", "level"),
    [
        ("positive", "positive"),
        ("Cannot exclude", "cannot_exclude"),
        ("no", "negative"),
        ("comparison only", "comparison_only"),
        ("", "indeterminate"),
        (None, "indeterminate"),
        ("zzz", "indeterminate"),
    ],
)
def test_probability_follows_levels_and_cues(value: str | None, level: str) -> None:
    assert level_of(raw(probability=value), vocabulary()) == level


# --- sides --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "regions", "side"),
    [
        ("small left", [], "left"),
        ("upright view", [], "unknown"),
        ("right greater than left", [], "bilateral"),
        ("bilateral", [], "bilateral"),
        ("left in place", [], "unknown"),
        ("beside the right heart border", [], "unknown"),
        (None, ["right lower lobe"], "right"),
        (None, ["lingula"], "left"),
        (None, ["middle lobe"], "right"),
        (None, ["lungs"], "bilateral"),
        (None, ["lung"], "unknown"),
        (None, ["heart"], "unknown"),
    ],
)
def test_side_by_keywords(text: str | None, regions: list[str], side: str) -> None:
    o = observed(raw(entity="consolidation", laterality_text=text, regions=regions))
    assert o.laterality == side


@pytest.mark.parametrize(
    ("entity", "text", "regions", "side"),
    [
        ("enteric tube", None, ["stomach"], "unknown"),
        ("opacity", None, ["retrocardiac"], "unknown"),
        ("PICC", "left", ["right atrium"], "left"),
        ("endotracheal tube", "between the clavicles", [], "unknown"),
        ("pacemaker", "wires are where they were left", [], "unknown"),
    ],
)
def test_organs_chambers_and_verbs_give_no_side(
    entity: str, text: str | None, regions: list[str], side: str
) -> None:
    o = observed(raw(entity=entity, laterality_text=text, regions=regions))
    assert o.laterality == side
    assert len(o.region_names) >= len(regions)


def test_side_is_never_taken_from_the_summary() -> None:
    o = observed(raw(summary_sentence="Effusion is new, left chest tube was removed."))
    assert o.laterality == "unknown"


def test_region_of_the_other_side_is_removed_and_logged() -> None:
    ledger = Ledger("build_graphs")
    graph = build([raw(laterality_text="left", regions=["right lung", "left lung"])], ledger)
    o = graph.observations["O01"]
    assert o.region_names == ["left lung"]
    assert "region_removed:right lung" in o.origin
    assert reasons(ledger) == ["region_contradicts_side"]


def test_bilateral_region_on_one_side_is_split_and_two_sides_are_merged() -> None:
    split = observed(raw(entity="consolidation", laterality_text="left", regions=["lungs"]))
    assert split.region_names == ["left lung"]
    both = observed(raw(entity="consolidation", regions=["left lung", "right lung"]))
    assert both.region_names == ["lungs"]
    assert both.laterality == "bilateral"


def test_default_regions_follow_the_side_and_are_only_added_where_needed() -> None:
    o = observed(raw(laterality_text="left"))
    assert o.region_names == ["left pleural space", "left costophrenic angle"]
    assert o.default_regions == o.region_names
    assert observed(raw(regions=["left lung base"])).default_regions == []


def test_wide_region_gets_the_more_precise_default() -> None:
    o = observed(raw(regions=["thorax"]))
    assert o.region_names[0] == "thorax"
    assert "pleural spaces" in o.default_regions


# --- tree ---------------------------------------------------------------------------------------


def test_children_get_ids_and_levels() -> None:
    rows = [
        raw("R01", "endotracheal tube"),
        raw("R01.01", "pneumothorax", parent_raw_id="R01", child_type="associated with"),
        raw("R01.01.01", "atelectasis", parent_raw_id="R01.01", child_type="related region"),
    ]
    graph = build(rows)
    levels = {i: o.child_level for i, o in graph.observations.items() if o.from_report}
    assert levels == {"O01": 0, "O01.01": 1, "O01.01.01": 2}
    assert graph.obs_relations[0] == {
        "parent_observation_id": "O01",
        "child_observation_id": "O01.01",
        "child_type": "associated with",
    }


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([raw(parent_raw_id="R01")], "self_parent"),
        ([raw(parent_raw_id="R77")], "unknown_parent"),
        (
            [raw(parent_raw_id="R02"), raw("R02", "pneumothorax", parent_raw_id="R01")],
            "parent_cycle",
        ),
        (
            [raw(), raw("R02", "pneumothorax", parent_raw_id="R01", child_type="cousin")],
            "unknown_child_type",
        ),
        ([raw(), raw(name="Another")], "duplicate_raw_id"),
        ([raw(), raw("R02", [], name=" ", summary_sentence="")], "discarded_observation"),
    ],
)
def test_broken_trees_are_repaired_and_noted(rows: list[dict[str, Any]], reason: str) -> None:
    ledger = Ledger("build_graphs")
    graph = build(rows, ledger)
    assert reason in reasons(ledger)
    assert graph.observations["O01"].from_report


def test_mere_list_of_findings_is_lifted() -> None:
    rows = [
        raw("R01", ["pleural effusion", "pneumothorax"]),
        raw("R01.01", "pleural effusion", parent_raw_id="R01", child_type="associated with"),
        raw("R01.02", "pneumothorax", parent_raw_id="R01", child_type="associated with"),
    ]
    found = [o for o in build(rows).observations.values() if o.from_report]
    assert [(o.obs_id, o.obs_entities, o.child_type) for o in found] == [
        ("O01", ["pleural effusion"], None),
        ("O02", ["pneumothorax"], None),
    ]


def test_duplicates_are_merged_but_not_across_polarity_or_side() -> None:
    rows = [
        raw("R01", sent_ids=["S01"]),
        raw("R02", sent_ids=["S02"]),
        raw("R03", probability="negative"),
        raw("R04", laterality_text="left"),
    ]
    graph = build(rows, sentences=[sentence("S01"), sentence("S02")])
    assert graph.observations["O01"].sent_ids == ["S01", "S02"]
    assert "merged:R02" in graph.observations["O01"].origin
    found = [o for o in graph.observations.values() if o.from_report]
    assert [o.positiveness for o in found] == ["pos", "neg", "pos"]


# --- boxes and relations ------------------------------------------------------------------------


def test_boxes_missing_regions_and_fallbacks() -> None:
    rows = [raw(regions=["left lung", "heart"])]
    full = build(rows, images=IMAGES, boxes=[box("left lung"), box("heart")])
    part = build(rows, images=IMAGES, boxes=[box("heart", is_fallback=True)])
    one = part.observations["O01"].localization[0]
    assert one.missing_localization == ["left lung"]
    assert one.is_fallback
    assert one.localization_quality == "FALLBACK_LOCALIZATION"
    levels = [
        g.observations["O01"].obs_quality["localization_quality"]
        for g in (full, part, build(rows, images=IMAGES))
    ]
    assert levels == ["BBOX_AND_MASK_LOCALIZATION", "FALLBACK_LOCALIZATION", "NO_LOCALIZATION"]
    mixed = build(rows, images=IMAGES, boxes=[box("left lung")])
    assert mixed.study_img_localization_quality[0]["localization_quality"] == (
        "INCOMPLETE_LOCALIZATION"
    )


def test_located_at_and_region_tree() -> None:
    graph = build([raw(regions=[{"region": "left lower lobe", "distances": ["1 cm above"]}])])
    how = {r["region"]: r["where_specified"] for r in graph.located_at_relations}
    assert how["left lower lobe"] == "direct"
    assert how["lower lobes"] == "bilateral"
    assert how["left lung"] == "sub_region"
    assert graph.located_at_relations[0]["distances"] == ["1 cm above"]
    assert {"left lung", "lungs", "thorax", "heart"} <= set(graph.regions)
    links = {
        (r["region"], r["related_region"], r["relation_type"])
        for r in graph.region_region_relations
    }
    assert ("lungs", "left lung", "left") in links
    assert ("left lung", "lungs", "bilateral") in links
    assert ("left lung", "left lower lobe", "sub_region") in links


# --- indication ---------------------------------------------------------------------------------


def test_answer_takes_tags_of_associated_observations_of_its_sign_only() -> None:
    rows = [
        raw("R01", laterality_text="left", modifiers=["small"]),
        raw("R02", "pneumothorax", probability="negative"),
        raw("R03", "cardiomegaly", sent_ids=["S02"]),
    ]
    graph = build(
        rows, indication=indication(), sentences=[sentence("S01"), sentence("S02", "IMPRESSION")]
    )
    answer = graph.answer_for_indication
    assert answer is not None
    assert graph.indication is not None
    assert answer.obs_id == "OIND"
    assert graph.indication.associated_obs_ids == ["O01", "O02"]
    assert (answer.obs_entities, answer.positiveness, answer.laterality) == (
        ["pleural effusion"],
        "pos",
        "left",
    )
    assert answer.modifiers["severity"] == ["small"]


# --- quality ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "aspect", "level"),
    [
        ({"entity": "azzzzq", "regions": []}, "region_quality", "NO_REGIONS"),
        ({}, "region_quality", "DEFAULT_REGIONS_ONLY"),
        ({"regions": ["thorax"]}, "region_quality", "CONTAINS_DEFAULT_REGIONS"),
        ({"regions": ["heart", "qqqqq"]}, "region_quality", "CONTAINS_NON_RESOLVED_REGIONS"),
        ({"regions": ["heart"]}, "region_quality", "RESOLVED_REGIONS_ONLY"),
        ({"entity": [], "name": "x"}, "entity_quality", "NO_ENTITIES"),
        ({"entity": "azzzzq"}, "entity_quality", "CONTAINS_NON_RESOLVED_ENTITIES"),
        ({}, "entity_quality", "RESOLVED_ENTITIES_ONLY"),
        ({"name": "Worsening x"}, "sentence_name_quality", "CHANGE_IN_SENTENCE_OR_NAME"),
        ({"name": "Seen by ___"}, "sentence_name_quality", "UNDERSCORES_IN_SENTENCE_OR_NAME"),
        ({}, "sentence_name_quality", "NO_ISSUES"),
        ({"change_sentence": "Bla."}, "change_quality", "CHANGE_SENTENCE_REMOVED"),
        (
            {"change_sentence": "Worse than ___."},
            "change_quality",
            "UNDERSCORES_IN_CHANGE_SENTENCE",
        ),
        ({"changes": ["qqqqq"]}, "change_quality", "CONTAINS_NON_RESOLVED_CHANGES"),
        ({}, "change_quality", "NO_ISSUES"),
        *(
            ({"issue_level": v}, "issue_level", v)
            for v in list(EXTRACTION_QUALITY["issue_level"])[1:]
        ),
    ],
)
def test_every_quality_level_is_reached(values: dict[str, Any], aspect: str, level: str) -> None:
    graph = build([raw(**values)])
    assert graph.observations["O01"].obs_quality[aspect] == level
    assert graph.study_quality[aspect] == level


def test_discarded_observation_lowers_the_study() -> None:
    graph = build([raw(), raw("R02", issue_level="DISCARDED")])
    assert graph.study_quality["issue_level"] == "DISCARDED"
    assert not graph.is_complete


def test_inflected_change_words_are_seen() -> None:
    assert change_level("It remains the same.", 0, 0, vocabulary()) == "NO_ISSUES"
    assert sentence_name_level("A", "Effusion has worsened.", vocabulary()).startswith("CHANGE")


# --- completeness -------------------------------------------------------------------------------


def defaults(rows: list[dict[str, Any]], **values: Any) -> set[str]:
    graph = build(rows, **values)
    return {e for o in graph.observations.values() if not o.from_report for e in o.obs_entities}


def test_complete_study_gets_negatives_of_key_findings_nobody_mentions() -> None:
    found = defaults([raw("R01", "pneumothorax", probability="negative")])
    assert "pleural effusion" in found
    assert "pneumothorax" not in found
    assert all(reference().findings[f].key_finding for f in found)


@pytest.mark.parametrize("level", ["positive", "possible", "comparison_only", "recommendation"])
def test_no_negative_beside_a_doubtful_relative(level: str) -> None:
    rows = [raw(entity="consolidation", probability=level), raw("R02", "scoliosis")]
    found = defaults(rows)
    assert not {"lung opacity", "consolidation", "pneumonia"} & found
    assert "pneumothorax" in found


def test_unresolved_finding_forbids_negatives_where_it_may_lie() -> None:
    anywhere = [raw(), raw("R02", "qzxqzx")]
    assert defaults(anywhere) == set()
    heart = [raw(), raw("R02", "qzxqzx", regions=["heart"])]
    assert "cardiomegaly" not in defaults(heart)
    assert "pneumoperitoneum" in defaults(heart)


@pytest.mark.parametrize(
    ("rows", "values", "reason"),
    [
        ([raw()], {"sentences": [sentence(), sentence("S02")]}, "uncovered_sentence: S02"),
        (
            [raw()],
            {"failures": ["failed_pass: extract_indication"]},
            "failed_pass: extract_indication",
        ),
        ([raw(issue_level="NON_INTERPRETABLE")], {}, "non_interpretable_observation"),
        (
            [raw(probability="comparison_only")],
            {},
            "no_positive_or_negative_observation",
        ),
        ([], {"sentences": []}, "no_reported_sentence"),
    ],
)
def test_incomplete_studies_say_why_and_get_no_negatives(
    rows: list[dict[str, Any]], values: dict[str, Any], reason: str
) -> None:
    graph = build(rows, **values)
    assert reason in graph.incomplete_reasons
    assert not graph.is_complete
    assert all(o.from_report for o in graph.observations.values())


def test_sentence_that_describes_nothing_does_not_make_a_study_incomplete() -> None:
    graph = build(
        [raw()],
        sentences=[sentence(), sentence("S02", "IMPRESSION")],
        non_observational=frozenset(["S02"]),
    )
    assert graph.is_complete


# --- what must not be claimed -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entity", "text", "regions", "side"),
    [
        ("PICC", None, ["left brachiocephalic vein"], "unknown"),
        ("endotracheal tube", None, ["right main bronchus"], "unknown"),
        ("enteric tube", "enters", ["stomach"], "unknown"),
        ("PICC", "right", ["left brachiocephalic vein"], "right"),
        ("chest tube", None, ["left pleural space"], "left"),
        ("mediastinal shift", "leftward mediastinal shift", [], "unknown"),
        ("mediastinal shift", "shift rightward", [], "unknown"),
    ],
)
def test_device_ends_and_directions_give_no_side(
    entity: str, text: str | None, regions: list[str], side: str
) -> None:
    o = observed(raw(entity=entity, laterality_text=text, regions=regions))
    assert o.laterality == side
    assert set(regions) <= set(o.region_names)


@pytest.mark.parametrize(
    ("child_type", "level"),
    [("recommendation", "recommendation"), ("comparison only", "comparison_only")],
)
def test_advice_and_comparisons_claim_nothing(child_type: str, level: str) -> None:
    rows = [raw(), raw("R01.01", "atelectasis", parent_raw_id="R01", child_type=child_type)]
    child = build(rows).observations["O01.01"]
    assert (child.probability, child.positiveness, child.certainty) == (level, level, level)


@pytest.mark.parametrize(
    "values",
    [
        {"modifiers": ["large"]},
        {"laterality_text": "no left effusion"},
        {"regions": ["left costophrenic angle"]},
        {"probability": "unlikely"},
    ],
)
def test_qualified_denial_denies_neither_finding_nor_relatives(values: dict[str, Any]) -> None:
    found = defaults([raw(**({"probability": "negative"} | values))])
    assert not {"pleural effusion", "pleural abnormality"} & found
    assert "pneumoperitoneum" in found


def test_near_equivalents_are_not_denied_beside_each_other() -> None:
    found = defaults([raw(entity="infiltrate")])
    assert not {"consolidation", "pneumonia", "lung opacity"} & found
    assert "pneumothorax" in found


@pytest.mark.parametrize("section", ["ADDENDUM", "WET_READ"])
def test_unread_addendum_leaves_a_study_incomplete_unless_discarded(section: str) -> None:
    graph = build([raw()], sentences=[sentence(), sentence("S02", section)])
    assert graph.incomplete_reasons == ["uncovered_sentence: S02"]
    dropped = sentence("S02", section, discarded="header_only")
    assert build([raw()], sentences=[sentence(), dropped]).is_complete


def test_what_cannot_be_assessed_makes_no_complete_study() -> None:
    graph = build([raw(probability="indeterminate")])
    assert graph.incomplete_reasons == ["no_positive_or_negative_observation"]


@pytest.mark.parametrize(
    ("name", "probability", "level", "issue"),
    [
        ("No pneumothorax", "positive", "indeterminate", "MOSTLY_INTERPRETABLE"),
        ("There is no pneumothorax", "likely", "indeterminate", "MOSTLY_INTERPRETABLE"),
        ("No pneumothorax", "negative", "negative", "NO_ISSUES"),
        ("No change in pneumothorax", "positive", "positive", "NO_ISSUES"),
        ("Pneumothorax, no mediastinal shift", "positive", "positive", "NO_ISSUES"),
        ("Pneumothorax", "zzz qux", "indeterminate", "MOSTLY_INTERPRETABLE"),
        ("Pneumothorax", "", "indeterminate", "IGNORABLE"),
    ],
)
def test_text_against_its_probability_claims_nothing(
    name: str, probability: str, level: str, issue: str
) -> None:
    row = raw(entity="pneumothorax", name=name, summary_sentence="", probability=probability)
    o = observed(row)
    assert (o.probability, o.obs_quality["issue_level"]) == (level, issue)


@pytest.mark.parametrize("change", ["resolved", "interval resolution", "has been removed"])
@pytest.mark.parametrize("probability", ["positive", "likely", "possible"])
@pytest.mark.parametrize("entity", ["pneumothorax", "endotracheal tube"])
def test_what_is_gone_is_not_present(entity: str, probability: str, change: str) -> None:
    ledger = Ledger("build_graphs")
    graph = build([raw(entity=entity, probability=probability, changes=[change])], ledger)
    [o] = (o for o in graph.observations.values() if o.from_report)
    assert o.probability == "indeterminate"
    assert o.obs_quality["issue_level"] == "MOSTLY_INTERPRETABLE"
    assert o.changes
    assert "text_contradicts_probability" in reasons(ledger)


@pytest.mark.parametrize(
    ("probability", "change"),
    [("negative", "resolved"), ("positive", "nearly resolved"), ("positive", "resolving")],
)
def test_what_is_gone_is_denied_and_what_is_going_is_present(probability: str, change: str) -> None:
    o = observed(raw(entity="pneumothorax", probability=probability, changes=[change]))
    assert o.probability == probability
    assert o.obs_quality["issue_level"] == "NO_ISSUES"


@pytest.mark.parametrize(
    "row",
    [
        {"entity": "fracture", "regions": ["left knee"]},
        {"entity": "knee fracture"},
        {"entity": "edema", "regions": ["right calf"]},
    ],
)
def test_what_is_found_outside_of_the_chest_is_in_the_ledger_alone(row: dict[str, Any]) -> None:
    ledger = Ledger("build_graphs")
    sentences = [sentence(), sentence("S02")]
    graph = build([raw(), raw("R02", sent_ids=["S02"], **row)], ledger, sentences=sentences)
    told = [o.obs_entities for o in graph.observations.values() if o.from_report]
    assert told == [["pleural effusion"]]
    assert "outside_the_chest" in reasons(ledger)
    assert graph.is_complete  # its sentence was read


@pytest.mark.parametrize(
    "row",
    [
        {"entity": "fracture", "regions": ["left knee", "left clavicle"]},
        {"entity": "PICC line", "regions": ["left arm"]},
        {"entity": "fracture", "regions": ["zorblax"]},
    ],
)
def test_what_is_not_only_outside_of_the_chest_stays(row: dict[str, Any]) -> None:
    graph = build([raw(**row)])
    assert [o for o in graph.observations.values() if o.from_report]


def test_contradicting_text_is_in_the_ledger_and_forbids_a_default() -> None:
    ledger = Ledger("build_graphs")
    rows = [raw(), raw("R02", "pneumothorax", name="No pneumothorax")]
    graph = build(rows, ledger)
    assert "text_contradicts_probability" in reasons(ledger)
    denied = [o.obs_entities for o in graph.observations.values() if not o.from_report]
    assert denied
    assert ["pneumothorax"] not in denied


@pytest.mark.parametrize(
    ("levels", "answer", "entities"),
    [
        (("negative", "indeterminate"), "indeterminate", ["pneumonia"]),
        (("positive", "possible"), "positive", ["pleural effusion"]),
        (("possible", "negative"), "possible", ["pleural effusion"]),
    ],
)
def test_answer_is_as_sure_as_what_it_names(
    levels: tuple[str, str], answer: str, entities: list[str]
) -> None:
    rows = [raw(probability=levels[0]), raw("R02", "pneumonia", probability=levels[1])]
    found = build(rows, indication=indication()).answer_for_indication
    assert found is not None
    assert (found.probability, found.obs_entities) == (answer, entities)


def test_change_word_in_the_name_of_a_finding_is_no_change() -> None:
    assert sentence_name_level("Reduced lung volumes", "", vocabulary()) == "NO_ISSUES"
    level = sentence_name_level("Reduced lung volumes, worsened", "", vocabulary())
    assert level == "CHANGE_IN_SENTENCE_OR_NAME"


@pytest.mark.parametrize(
    ("parent", "child", "side"),
    [
        ({}, {"entity": "atelectasis"}, "left"),
        ({}, {"entity": "atelectasis", "regions": ["lung"]}, "left"),
        ({}, {"entity": "atelectasis", "laterality_text": "right"}, "right"),
        ({}, {"entity": "atelectasis", "name": "Atelectasis on the right"}, "unknown"),
        ({}, {"entity": "pneumothorax", "probability": "negative"}, "unknown"),
        ({}, {"entity": "cardiomegaly"}, "unknown"),
        ({}, {"entity": "calcification", "regions": ["aorta"]}, "unknown"),
        ({"laterality_text": None}, {"entity": "atelectasis"}, "unknown"),
    ],
)
def test_child_takes_its_parents_side_only_where_it_has_none_and_may_have_it(
    parent: dict[str, Any], child: dict[str, Any], side: str
) -> None:
    rows = [
        raw(**({"laterality_text": "left"} | parent)),
        raw("R01.01", **({"parent_raw_id": "R01", "child_type": "associated with"} | child)),
    ]
    o = build(rows).observations["O01.01"]
    assert o.laterality == side
    if side == "left":
        assert all(vocabulary().region_sides.get(r) == "left" for r in o.region_names)


def test_child_of_a_discarded_parent_takes_the_place_and_side_above_it() -> None:
    rows = [
        raw("R01", laterality_text="left"),
        raw(
            "R02",
            "pneumothorax",
            parent_raw_id="R01",
            child_type="associated with",
            issue_level="DISCARDED",
        ),
        raw("R03", "atelectasis", parent_raw_id="R02", child_type="associated with"),
    ]
    assert build(rows).observations["O01.01"].laterality == "left"


def test_a_word_on_the_technique_alone_is_no_complete_study() -> None:
    graph = build([raw("R01", "portable technique")])
    assert not graph.is_complete
    assert not [o for o in graph.observations.values() if not o.from_report]


def test_silence_denies_nothing_that_a_report_may_leave_unsaid() -> None:
    found = defaults([raw("R01", "pneumothorax", probability="negative")])
    assert not found & {"tuberculosis", "lung cancer", "emphysema", "hiatal hernia", "fracture"}


def test_text_that_names_both_sides_leaves_neither_out() -> None:
    both = "moderate right and small left pleural effusions"
    o = observed(raw(laterality_text=both, regions=["left pleural space"]))
    assert o.laterality == "bilateral"
    assert "pleural spaces" in o.region_names
    assert "left pleural space" not in o.region_names
    line = "right subclavian line with its tip in the left brachiocephalic vein"
    entity = "central venous catheter"
    o = observed(raw(entity=entity, laterality_text=line, regions=["left brachiocephalic vein"]))
    assert "left brachiocephalic vein" in o.region_names
