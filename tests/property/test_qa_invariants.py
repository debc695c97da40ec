"""Invariants of question generation over arbitrary scene graphs (paper Sec. E.2)."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))

from qa_fixtures import ask, context, graph, observation, reference

from cxrqba.judge.grammar import faults, has_placeholder
from cxrqba.qa.strategies.region_abnormal import WHOLE

FINDINGS = [
    "pleural effusion", "atelectasis", "lung opacity", "consolidation", "pneumonia", "pneumothorax",
    "cardiomegaly", "pulmonary edema", "pulmonary nodule", "rib fracture", "fracture",
    "hiatal hernia", "spinal degenerative changes", "sternotomy wires", "endotracheal tube",
    "central venous catheter", "support device", "motion artifact", "no finding",
    "acute cardiopulmonary process", "postsurgical changes", "pleural abnormality",
]  # fmt: skip
REGIONS = [
    "lungs", "left lung", "right lung", "left lung base", "right lower lobe", "left lower lobe",
    "right upper lung zone", "pleural spaces", "left pleural space", "right pleural space",
    "heart", "mediastinum", "spine", "left ribs", "left 5th posterior rib", "carina", "thorax",
    "left hilum",
]  # fmt: skip
PROBABILITIES = [
    "positive", "positive", "negative", "negative", "likely", "possible", "cannot_exclude",
    "unlikely", "indeterminate", "comparison_only", "recommendation",
]  # fmt: skip
MODIFIERS = [
    {},
    {},
    {"severity": ["small"]},
    {"severity": ["mild", "severe"]},
    {"temporal": ["new"]},
]
POSITIVE = re.compile(r"^Yes,")
NEGATIVE = re.compile(r"^No,")
YES_NO = {
    "B03_is_abnormal", "B10_is_abnormal_subcat", "B13_has_devices", "B16_has_imaging_artifacts",
    "C03_is_abnormal_region", "C08_has_region_device", "D02_has_finding", "D06_has_device",
}  # fmt: skip
INVERTED = {"B04_is_normal", "B11_is_normal_subcat", "C04_is_normal_region"}


@st.composite
def graphs(draw):
    observations = []
    for number in range(1, draw(st.integers(0, 7)) + 1):
        entities = draw(st.lists(st.sampled_from(FINDINGS), max_size=2, unique=True))
        regions = draw(st.lists(st.sampled_from(REGIONS), max_size=2, unique=True))
        sides = {reference().regions[r].laterality for r in regions}
        side = "unknown"
        if sides & {"left", "right"}:
            side = "bilateral" if {"left", "right"} <= sides else (sides & {"left", "right"}).pop()
        elif sides & {"bilateral"}:
            side = draw(st.sampled_from(["bilateral", "unknown"]))
        child = draw(st.booleans()) and observations
        parent = observations[-1].obs_id if child else None
        obs_id = f"{parent}.01" if parent else f"O{number:02d}"
        observations.append(
            observation(
                obs_id,
                f"Statement {number} about {' and '.join(entities) or 'something'}.",
                entities,
                regions,
                laterality=side,
                probability=draw(st.sampled_from(PROBABILITIES)),
                modifiers=draw(st.sampled_from(MODIFIERS)),
                default_regions=regions if draw(st.booleans()) else [],
                from_report=draw(st.sampled_from([True, True, True, False])),
            )
        )
    return graph(observations, complete=draw(st.booleans()))


CHECKS = settings(
    max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


def answered(question):
    """yes, no or other, as an answer to whether the thing asked for is there."""
    text = question.parts[0].content.text
    yes, no = bool(POSITIVE.match(text)), bool(NEGATIVE.match(text))
    if question.question_type in INVERTED:
        yes, no = no, yes
    return "yes" if yes else "no" if no else "other"


@given(graphs())
@CHECKS
def test_every_question_is_well_formed(study):
    questions, _ = ask(study)
    assert len({q.question_id for q in questions}) == len(questions)
    answer_ids = [p.answer_id for q in questions for p in q.parts]
    assert len(set(answer_ids)) == len(answer_ids)
    for question in questions:
        assert any(p.answer_type == "main_answer" for p in question.parts)
        levels = {}
        for part in question.parts:
            assert part.answer_id.startswith(f"{question.question_id}.")
            if part.parent_answer_id is None:
                assert part.answer_level == 0
            else:  # parents come first
                assert part.answer_level == levels[part.parent_answer_id] + 1
            levels[part.answer_id] = part.answer_level
        texts = [p.content.text for p in question.parts]
        assert len(set(texts)) == len(texts)
        assert set(question.obs_ids) <= {*study.observations, "OIND"}


@given(graphs())
@CHECKS
def test_texts_are_clean(study):
    for question in ask(study)[0]:
        assert not has_placeholder(question.question)
        assert not faults(question.question, endings="?."), question.question
        for part in question.parts:
            text = part.content.text
            assert not has_placeholder(text)
            assert part.content.name_tag.strip()
            assert not faults(text, endings="."), text


@given(graphs())
@CHECKS
def test_yes_and_no_agree_with_the_parts(study):
    for question in ask(study)[0]:
        if question.question_type not in YES_NO | INVERTED:
            continue
        firm = {
            p.content.positiveness
            for p in question.parts[1:]
            if p.answer_type == "details" and p.content.tags.obs_entities != ("no finding",)
        }
        verdict = answered(question)
        if verdict == "yes":
            assert "pos" in firm
        if verdict == "no":
            assert "pos" not in firm
        if verdict == "other":
            assert firm & {"pos", "neg"}


@given(graphs())
@CHECKS
def test_answers_of_a_study_do_not_contradict_each_other(study):
    questions, _ = ask(study)
    verdicts = {}
    for question in questions:
        if question.question_type in YES_NO | INVERTED:
            kind = re.sub(r"B04_\w+", "B03_is_abnormal", question.question_type)
            kind = kind.replace("B11_is_normal_subcat", "B10_is_abnormal_subcat")
            kind = kind.replace("C04_is_normal_region", "C03_is_abnormal_region")
            key = (kind, *question.variables.values())
            assert verdicts.setdefault(key, answered(question)) == answered(question)
    study_verdict = verdicts.get(("B03_is_abnormal",))
    for (kind, *_), verdict in verdicts.items():
        if kind in ("B10_is_abnormal_subcat", "C03_is_abnormal_region", "D02_has_finding"):
            assert not (study_verdict == "no" and verdict != "no")
    above = reference().finding_ancestors
    for (kind, *value), verdict in verdicts.items():
        if kind in ("D02_has_finding", "D06_has_device") and verdict == "yes":
            for ancestor in above[value[0]]:
                assert verdicts.get((kind, ancestor), "yes") == "yes"
        if kind == "C03_is_abnormal_region" and verdict == "yes":
            for ancestor in reference().region_ancestors[value[0]]:
                assert verdicts.get((kind, ancestor), "yes") == "yes"
    for question in questions:
        if question.question_type in ("D03_where_is_finding", "D04_how_severe_is_finding"):
            absent = question.parts[0].content.positiveness == "neg"
            verdict = verdicts.get(("D02_has_finding", question.variables["finding"]))
            assert absent is (verdict == "no")


@given(graphs())
@CHECKS
def test_negatives_need_a_complete_study_and_a_statement(study):
    questions, _ = ask(study)
    stated = any(
        o.positiveness in ("pos", "neg") and o.from_report for o in study.observations.values()
    )
    for question in questions:
        if question.question_strategy == "abnormal":
            assert study.is_complete
        for part in question.parts:
            if part.content.template and part.content.positiveness == "neg":
                assert study.is_complete
                assert stated
    positive = {
        e
        for o in study.observations.values()
        if o.positiveness == "pos"
        for e in (*o.obs_entities, *o.obs_entities_parents)
    }
    for question in questions:
        if question.question_type in ("D02_has_finding", "D06_has_device"):
            (name,) = question.variables.values()
            assert not (answered(question) == "no" and name in positive)


@given(graphs())
@CHECKS
def test_mentioned_findings_and_regions_are_asked_or_accounted_for(study):
    questions, skipped = ask(study)
    asked = {v for q in questions for v in q.variables.values()}
    missing = Counter(s.question_type for s in skipped)
    findings = reference().findings
    mentioned = {e for o in study.observations.values() if o.from_report for e in o.obs_entities}
    for name in mentioned:
        if findings[name].polarity in ("abnormal", "postsurgical"):
            assert name in asked or missing["D01_describe_finding"]
    for obs in study.observations.values():
        if obs.from_report:
            for region in set(obs.region_names) - set(obs.default_regions):
                assert region in asked or missing["C01_describe_region"]


@given(graphs())
@CHECKS
def test_sides_agree_between_text_tags_and_boxes(study):
    regions = reference().regions
    for question in ask(study)[0]:
        for part in question.parts:
            content = part.content
            if content.template is None:
                continue
            words = set(re.findall(r"\w+", content.text.lower()))
            sides = {regions[r].laterality for r in content.tags.regions if r in regions}
            for side, other in (("left", "right"), ("right", "left")):
                if side in words and other not in words:
                    assert content.tags.laterality in (side, "unknown", "bilateral"), content
                    if question.question_strategy == "region_abnormal":
                        assert other not in sides
                if content.tags.laterality == side and content.positiveness == "pos":
                    assert other not in sides
            observed = (study.observations[o].region_names for o in content.place.obs_ids)
            boxed = {r for names in (*observed, content.place.regions) for r in names}
            boxed_sides = {regions[r].laterality for r in boxed if r in regions}
            if content.tags.laterality == "left":
                assert "right" not in boxed_sides
            if content.tags.laterality == "right":
                assert "left" not in boxed_sides


@given(graphs(), st.integers(0, 3))
@CHECKS
def test_the_same_study_gets_the_same_questions(study, seed):
    first = ask(study, context(seed=seed))[0]
    again = ask(study, context(seed=seed))[0]
    assert [(q.question_id, q.question, [p.content.text for p in q.parts]) for q in first] == [
        (q.question_id, q.question, [p.content.text for p in q.parts]) for q in again
    ]


def test_whole_is_a_region_of_the_reference():
    assert WHOLE in reference().regions
