"""Answers of the four strategies on graphs with known content (paper Sec. E.2.2)."""

from __future__ import annotations

import pytest
from qa_fixtures import (
    FRONTAL,
    LATERAL,
    ask,
    find,
    graph,
    lean,
    main_text,
    observation,
    rich_graph,
    texts,
)

from cxrqba.qa.quality import ASPECTS, level

LEFT_EFFUSION = (
    "Small left pleural effusion.",
    ["pleural effusion"],
    ["left pleural space"],
)


def left_effusion(**values):
    return observation(
        "O01", *LEFT_EFFUSION, laterality="left", modifiers={"severity": ["small"]}, **values
    )


def reasons(skipped, question_type):
    return {s.reason for s in skipped if s.question_type == question_type}


def test_all_27_question_types_are_asked():
    artifact = observation("O09", "Motion artifact is present.", ["motion artifact"])
    questions, _ = ask(graph([*rich_graph().observations.values(), artifact]))
    types = {q.question_type for q in questions} | {"A_indication"}
    indication = {q.question_type for q in ask(rich_graph())[0] if q.question_type[0] == "A"}
    assert indication == {"A_indication"}
    assert len(types) == 27


def test_indication_is_the_question_and_its_answer_the_main_answer():
    associated = observation(
        "O01", "The lungs are clear.", ["lung opacity"], ["lungs"], probability="negative"
    )
    answer = observation("OIND", "There is no pneumonia.", ["pneumonia"], probability="negative")
    study = graph([associated], indication="is there pneumonia?", answer=answer, associated=["O01"])
    question = find(ask(study)[0], "A_indication")
    assert question.question == "Is there pneumonia?"
    assert texts(question, "main_answer") == ["There is no pneumonia."]
    assert texts(question, "details") == ["The lungs are clear."]


def test_positive_finding_is_yes_with_severity_and_side():
    questions, _ = ask(graph([left_effusion()]))
    question = find(questions, "D02_has_finding", "pleural effusion")
    part = question.parts[0].content
    assert part.text in (
        "Yes, there is a small left pleural effusion.",
        "Yes, there is evidence of a small left pleural effusion.",
    )
    assert (part.tags.laterality, part.tags.regions, part.positiveness) == (
        "left",
        ("left pleural space",),
        "pos",
    )
    assert part.tags.obs_entities == ("pleural effusion",)
    assert (part.place.obs_ids, part.place.regions) == (("O01",), ())


def test_bilateral_finding_is_plural():
    both = [
        left_effusion(),
        observation("O02", "Right pleural effusion.", ["pleural effusion"],
                    ["right pleural space"], laterality="right"),
    ]  # fmt: skip
    question = find(ask(graph(both))[0], "D02_has_finding", "pleural effusion")
    assert "bilateral pleural effusions" in main_text(question)
    assert "small" not in main_text(question)


@pytest.mark.parametrize(
    ("probability", "start", "certainty"),
    [
        ("possible", "Possibly,", "uncertain"),
        ("cannot_exclude", "Possibly,", "uncertain"),
        ("likely", "Yes, there is likely", "likely"),
        ("unlikely", "No, pneumonia is unlikely.", "likely"),
        ("negative", "No,", "certain"),
        ("indeterminate", "It cannot be determined", "uncertain"),
    ],
)
def test_probability_decides_the_answer(probability, start, certainty):
    study = graph(
        [observation("O01", "About pneumonia.", ["pneumonia"], ["right lung"],
                     probability=probability)]
    )  # fmt: skip
    question = find(ask(study)[0], "D02_has_finding", "pneumonia")
    assert main_text(question).startswith(start)
    assert question.parts[0].content.certainty == certainty


def test_possible_finding_makes_study_and_region_possibly_abnormal_never_normal():
    study = graph(
        [observation("O01", "Possible nodule in the right upper lobe.", ["pulmonary nodule"],
                     ["right upper lobe"], laterality="right", probability="possible")]
    )  # fmt: skip
    questions, _ = ask(study)
    for question_type, value in [
        ("B03_is_abnormal", None),
        ("B04_is_normal", None),
        ("B10_is_abnormal_subcat", "LUNG FIELD"),
        ("C03_is_abnormal_region", "right upper lobe"),
        ("C04_is_normal_region", "right lung"),
    ]:
        assert main_text(find(questions, question_type, value)).startswith("Possibly")


@pytest.mark.parametrize("probability", ["comparison_only", "recommendation"])
def test_comparisons_and_recommendations_alone_are_never_normal(probability):
    study = graph(
        [observation("O01", "Previously seen nodule.", ["pulmonary nodule"], ["left lung"],
                     laterality="left", probability=probability)]
    )  # fmt: skip
    questions, skipped = ask(study)
    asked = {q.question_type for q in questions}
    assert not asked & {"B02_describe_abnormal", "B03_is_abnormal", "B04_is_normal"}
    assert reasons(skipped, "B04_is_normal") == {"no_positive_or_negative_statement"}
    assert not [
        q
        for q in questions
        if q.question_type == "D02_has_finding" and "pulmonary nodule" in q.variables.values()
    ]


def test_open_comparison_beside_a_negative_blocks_normal_too():
    study = graph(
        [
            observation("O01", "Heart size is normal.", ["cardiomegaly"], ["heart"],
                        probability="negative"),
            observation("O02", "Previously seen nodule.", ["pulmonary nodule"], ["left lung"],
                        probability="comparison_only"),
        ]
    )  # fmt: skip
    questions, skipped = ask(study)
    assert reasons(skipped, "B04_is_normal") == {"only_comparison_or_recommendation"}
    left = [q for q in questions if q.variables.get("region") == "left lung"]
    assert not [q for q in left if q.question_type == "C04_is_normal_region"]
    assert main_text(find(questions, "C04_is_normal_region", "heart")).startswith("Yes")


def test_incomplete_study_gets_no_study_questions_and_no_negatives():
    study = graph(
        [
            left_effusion(),
            observation("O02", "No pneumothorax.", ["pneumothorax"], ["pleural spaces"],
                        probability="negative"),
        ],
        complete=False,
    )  # fmt: skip
    questions, skipped = ask(study)
    assert not [q for q in questions if q.question_strategy == "abnormal"]
    assert reasons(skipped, "B01_describe_all") == {"incomplete_study"}
    for question in questions:
        for part in question.parts:
            assert part.content.template is None or part.content.positiveness == "pos"
    assert main_text(find(questions, "D02_has_finding", "pleural effusion")).startswith("Yes")
    assert main_text(find(questions, "C03_is_abnormal_region", "left pleural space"))[:3] == "Yes"


def test_unmentioned_finding_is_no_in_a_complete_study():
    questions, _ = ask(graph([left_effusion()]))
    question = find(questions, "D02_has_finding", "cardiomegaly")
    assert main_text(question).startswith("No, there is no")
    assert not question.mentioned
    assert question.parts[0].content.tags.regions == ("heart",)


def asks(questions, name):
    return [q for q in questions if name in q.variables.values()]


@pytest.mark.parametrize(
    ("entity", "region", "reason"),
    [
        ("consolidation", "right lower lobe", "broader_finding_positive"),
        ("pleural effusion", "right pleural space", "suggested_by_other_finding"),
    ],
)
def test_finding_that_another_may_stand_for_is_not_denied(entity, region, reason):
    study = graph([observation("O01", f"Right {entity}.", [entity], [region], laterality="right")])
    questions, skipped = ask(study)
    assert not asks(questions, "pneumonia")
    assert reason in reasons(skipped, "D02_has_finding")


@pytest.mark.parametrize(
    "values",
    [
        {"modifiers": {"severity": ["large"]}},
        {"changes": ["new"]},
        {"modifiers": {"temporal": ["new"]}},
    ],
)
def test_qualified_negative_is_no_denial(values):
    study = graph(
        [observation("O01", "No large pleural effusion.", ["pleural effusion"],
                     ["pleural spaces"], probability="negative", **values)]
    )  # fmt: skip
    questions, skipped = ask(study)
    assert not [
        q
        for q in questions
        if q.question_type == "D02_has_finding" and q.variables["finding"] == "pleural effusion"
    ]
    assert "qualified_negative" in reasons(skipped, "D02_has_finding")
    described = find(questions, "D01_describe_finding", "pleural effusion")
    assert texts(described, "main_answer") == ["No large pleural effusion."]


def test_negative_of_one_side_does_not_deny_the_finding():
    study = graph(
        [observation("O01", "No right pleural effusion.", ["pleural effusion"],
                     ["right pleural space"], laterality="right", probability="negative")]
    )  # fmt: skip
    _, skipped = ask(study)
    assert "denied_on_one_side" in reasons(skipped, "D02_has_finding")


def test_negative_of_the_other_side_stays_beside_the_positive():
    study = graph(
        [
            left_effusion(),
            observation("O02", "No right pleural effusion.", ["pleural effusion"],
                        ["right pleural space"], laterality="right", probability="negative"),
        ]
    )  # fmt: skip
    questions, _ = ask(study)
    assert main_text(find(questions, "D02_has_finding", "pleural effusion")).startswith("Yes")
    described = find(questions, "D01_describe_finding", "pleural effusion")
    assert len(texts(described, "main_answer")) == 2
    assert main_text(find(questions, "C03_is_abnormal_region", "right pleural space"))[:2] == "No"


def test_contradiction_is_possible_and_the_denial_is_not_told():
    study = graph(
        [
            left_effusion(),
            observation("O02", "No pleural effusion.", ["pleural effusion"], ["pleural spaces"],
                        probability="negative"),
        ]
    )  # fmt: skip
    questions, _ = ask(study)
    assert main_text(find(questions, "D02_has_finding", "pleural effusion"))[:9] == "Possibly,"
    assert all("No pleural effusion." not in texts(q) for q in questions)


def test_specific_finding_stands_beside_a_general_denial():
    study = graph(
        [
            observation("O01", "Mild left basilar atelectasis.", ["atelectasis"],
                        ["left lung base"], laterality="left"),
            observation("O02", "Otherwise the lungs are clear.", ["lung opacity"], ["lungs"],
                        probability="negative"),
        ]
    )  # fmt: skip
    questions, _ = ask(study)
    assert main_text(find(questions, "D02_has_finding", "atelectasis")).startswith("Yes")
    assert main_text(find(questions, "D02_has_finding", "lung opacity")).startswith("Yes")
    assert main_text(find(questions, "C04_is_normal_region", "left lung")).startswith("No")


def test_side_unknown_is_asked_of_neither_side():
    study = graph(
        [observation("O01", "Pleural effusion.", ["pleural effusion"], ["pleural spaces"])]
    )
    questions, _ = ask(study)
    assert main_text(find(questions, "C03_is_abnormal_region", "pleural spaces"))[:3] == "Yes"
    for side in ("left pleural space", "right pleural space"):
        assert not [
            q
            for q in questions
            if q.question_type == "C03_is_abnormal_region" and q.variables["region"] == side
        ]


def test_bilateral_finding_concerns_both_sides():
    study = graph(
        [observation("O01", "Bilateral pleural effusions.", ["pleural effusion"],
                     ["pleural spaces"], laterality="bilateral")]
    )  # fmt: skip
    questions, _ = ask(study)
    for side in ("left pleural space", "right pleural space"):
        assert main_text(find(questions, "C03_is_abnormal_region", side)).startswith("Yes")


def test_overlapping_parts_of_a_lung_are_left_open():
    study = graph(
        [
            observation("O01", "Atelectasis at the left lung base.", ["atelectasis"],
                        ["left lung base"], laterality="left"),
            observation("O02", "The left lower and upper lobes show no nodule.",
                        ["pulmonary nodule"], ["left lower lobe", "left upper lobe"],
                        laterality="left", probability="negative"),
        ]
    )  # fmt: skip
    questions, skipped = ask(study)
    regions = {
        q.variables["region"] for q in questions if q.question_type == "C04_is_normal_region"
    }
    assert "left lower lobe" not in regions
    assert "left upper lobe" in regions
    assert "positive_in_overlapping_region" in reasons(skipped, "C04_is_normal_region")


def test_other_side_is_related_information():
    questions, _ = ask(graph([left_effusion()]))
    question = find(questions, "C01_describe_region", "right pleural space")
    assert texts(question, "related_information") == ["Small left pleural effusion."]


def test_region_answer_has_the_region_s_own_box_and_side():
    both = observation("O01", "Opacities in both lungs.", ["lung opacity"],
                       ["left lung", "right lung"], laterality="bilateral")  # fmt: skip
    part = find(ask(graph([both]))[0], "C03_is_abnormal_region", "left lung").parts[0].content
    assert (part.tags.regions, part.tags.laterality) == (("left lung",), "left")
    assert (part.place.obs_ids, part.place.regions) == ((), ("left lung",))


def test_location_and_severity():
    questions, _ = ask(rich_graph())
    assert main_text(find(questions, "D03_where_is_finding", "pleural effusion")) in (
        "The pleural effusion is located in the left pleural space.",
        "The pleural effusion is seen in the left pleural space.",
    )
    severity = find(questions, "D04_how_severe_is_finding", "pleural effusion")
    assert main_text(severity) == "The pleural effusion is small."
    tube = find(questions, "D07_where_is_device", "endotracheal tube")
    assert main_text(tube) == "The endotracheal tube is located 4 cm above the carina."


def test_default_regions_are_no_stated_location():
    study = graph(
        [observation("O01", "Pulmonary edema.", ["pulmonary edema"], ["lungs"],
                     default_regions=["lungs"])]
    )  # fmt: skip
    question = find(ask(study)[0], "D03_where_is_finding", "pulmonary edema")
    assert main_text(question) == "The exact location of the pulmonary edema is not specified."


def test_hierarchy_becomes_sub_answers_and_notes_follow():
    question = find(ask(rich_graph())[0], "B01_describe_all")
    top, child, note = question.parts[:3]
    assert child.parent_answer_id == top.answer_id == note.parent_answer_id
    assert (top.answer_level, child.answer_level, note.answer_level) == (0, 1, 1)
    assert note.answer_type == "related_information"
    assert top.answer_id == "B01_describe_all_001.a01"


def test_parts_of_one_observation_share_one_content():
    questions, _ = ask(rich_graph())
    contents = {id(p.content) for q in questions for p in q.parts if p.content.obs_ids == ("O04",)
                and p.content.template is None}  # fmt: skip
    assert len(contents) == 1


def test_unresolved_positive_is_neither_abnormal_nor_normal():
    study = graph(
        [
            observation("O01", "The chest is interesting.", [], ["left lung"]),
            observation("O02", "Heart size is normal.", ["cardiomegaly"], ["heart"],
                        probability="negative"),
        ]
    )  # fmt: skip
    questions, skipped = ask(study)
    assert reasons(skipped, "B03_is_abnormal") == {"unresolved_positive"}
    assert "The chest is interesting." in texts(find(questions, "B01_describe_all"))
    assert not [
        q for q in questions
        if q.question_type == "C04_is_normal_region" and q.variables["region"] == "left lung"
    ]  # fmt: skip


def test_default_negatives_answer_their_finding_but_are_not_reported():
    questions, _ = ask(rich_graph())
    question = find(questions, "D02_has_finding", "fracture")
    assert main_text(question).startswith("No,")
    assert question.parts[0].content.obs_ids == ("D01",)
    assert not question.mentioned
    assert texts(find(questions, "D01_describe_finding", "fracture"))[0] == "No fracture."
    assert "No fracture." not in texts(find(questions, "B01_describe_all"))


def test_worst_quality_of_the_observations_counts():
    poor = observation("O02", "Right pleural effusion.", ["pleural effusion"],
                       ["right pleural space"], laterality="right",
                       obs_quality={**left_effusion().obs_quality,
                                    "issue_level": "MOSTLY_INTERPRETABLE"})  # fmt: skip
    questions, _ = ask(graph([left_effusion(), poor]))
    question = find(questions, "D02_has_finding", "pleural effusion")
    at = ASPECTS.index("issue_level")
    for quality in (question.parts[0].content.quality, question.quality):
        assert level("issue_level", quality[at]) == "MOSTLY_INTERPRETABLE"


def test_image_quality_names_the_images_with_boxes():
    question = find(ask(rich_graph())[0], "D03_where_is_finding", "pleural effusion")
    assert [i for i, _, _ in question.image_quality] == [FRONTAL]
    assert LATERAL in [i for i, _ in lean(rich_graph()).images]


def test_what_only_looks_like_a_finding_is_none_and_blocks_its_denial():
    study = graph(
        [
            observation("O01", "External foreign body.", ["external foreign body"], []),
            observation("O02", "No pneumothorax.", ["pneumothorax"], ["pleural spaces"],
                        probability="negative"),
        ]
    )  # fmt: skip
    questions, _ = ask(study)
    assert main_text(find(questions, "B03_is_abnormal")).startswith("No,")
    assert main_text(find(questions, "B16_has_imaging_artifacts")).startswith("Yes,")


def test_wires_are_a_device_and_postsurgical_changes():
    wires = observation("O01", "Sternotomy wires are intact.", ["sternotomy wires"], ["sternum"])
    questions, _ = ask(graph([wires]))
    assert main_text(find(questions, "D02_has_finding", "postsurgical changes")).startswith("Yes,")
    assert main_text(find(questions, "D06_has_device", "sternotomy wires")).startswith("Yes,")
    assert main_text(find(questions, "B03_is_abnormal")).startswith("Yes,")


@pytest.mark.parametrize("question_type", ["D03_where_is_finding", "D04_how_severe_is_finding"])
def test_unlikely_finding_is_unlikely_in_every_question(question_type):
    unlikely = observation("O01", "Pneumonia is unlikely.", ["pneumonia"], ["lungs"],
                           probability="unlikely")  # fmt: skip
    question = find(ask(graph([unlikely]))[0], question_type, "pneumonia")
    assert main_text(question) == "Pneumonia is unlikely."


def test_questions_agree_in_number():
    lines = observation("O01", "Septal lines are seen.", ["septal lines"], ["lungs"])
    questions, _ = ask(graph([lines]))
    for question in asks(questions, "septal lines"):
        assert not question.question.lower().startswith(("is septal", "where is", "how severe is"))
        assert "region is septal" not in question.question
