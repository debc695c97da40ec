"""Sets of regions and findings, and the balance of sampling."""

from __future__ import annotations

from collections import Counter

from qa_fixtures import ask, context, graph, observation, reference, rich_graph, statistics

from cxrqba.config import QaConfig
from cxrqba.qa.context import build_context
from cxrqba.qa.sampling import Chooser, Sampler, choose, study_generator


def asked(questions, question_type):
    return {v for q in questions if q.question_type == question_type for v in q.variables.values()}


def test_defaults_mentioned_and_parents_are_asked():
    questions, skipped = ask(rich_graph(), context(with_statistics=False))
    described = asked(questions, "C01_describe_region")
    key = set(context().always("region_abnormal"))
    assert {"lungs", "heart", "pleural spaces"} <= key
    wanted = key | {"right lower lobe", "lower lobes", "left lung base", "carina"}
    missing = len(wanted - described)
    assert missing <= sum(s.question_type == "C01_describe_region" for s in skipped)
    assert {"right lower lobe", "lower lobes", "left lung base", "carina"} <= described
    assert "lung opacity" in asked(questions, "D01_describe_finding")  # parent of atelectasis


def test_weights_rise_with_positives_and_fall_with_negatives():
    counts = Counter()
    sampler = Sampler({"a": 40 / 1, "b": 40 / 41, "c": 1 / 1})
    for number in range(300):
        counts.update(sampler.draw((), 1, study_generator(0, f"s{number}")))
    assert counts["a"] > 10 * counts["b"]
    assert counts["a"] > 10 * counts["c"]
    rows = [("region", "heart", 10, 4), ("region", "aorta", 0, 9), ("finding", "no finding", 9, 0)]
    built = build_context(reference(), (), statistics(rows), QaConfig())
    assert built.region_sampler.names == ["heart"]  # 10 / (1 + 4); the aorta is never positive
    assert built.finding_sampler.names == []


def test_sampling_excludes_what_is_asked_anyway():
    drawn = Sampler(dict.fromkeys("abc", 1.0)).draw({"b"}, 3, study_generator(0, "s1"))
    assert drawn == ["a", "c"]


def test_seed_and_study_decide_alone():
    sampler = Sampler(dict.fromkeys("abcdefghij", 1.0))

    def drawn(seed, study_id):
        return tuple(sampler.draw((), 3, study_generator(seed, study_id)))

    assert drawn(0, "s1") == drawn(0, "s1")
    assert len({drawn(0, f"s{i}") for i in range(20)}) > 5
    assert len({drawn(i, "s1") for i in range(20)}) > 5
    study = rich_graph()
    first = asked(ask(study)[0], "D02_has_finding")
    assert first == asked(ask(rich_graph())[0], "D02_has_finding")


def test_wording_does_not_depend_on_other_templates():
    options = ("a", "b", "c", "d")
    chosen = {choose(options, Chooser(0, f"s{i}").key("C01", "heart")) for i in range(40)}
    assert chosen == set(options)


def test_correlated_findings_are_related_information():
    study = graph(
        [
            observation("O01", "Left pleural effusion.", ["pleural effusion"],
                        ["left pleural space"], laterality="left"),
            observation("O02", "Right atelectasis.", ["atelectasis"], ["right lung base"],
                        laterality="right"),
        ]
    )  # fmt: skip
    for with_statistics in (True, False):
        questions, _ = ask(study, context(with_statistics=with_statistics))
        question = next(
            q
            for q in questions
            if q.question_type == "D01_describe_finding"
            and q.variables["finding"] == "pleural effusion"
        )
        related = [p.content.text for p in question.parts if p.answer_type != "main_answer"]
        assert ("Right atelectasis." in related) is with_statistics
