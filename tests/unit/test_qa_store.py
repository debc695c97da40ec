"""Questions as tables and JSON, and a whole shard."""

from __future__ import annotations

import json
import runpy
import sys

import polars as pl
import pytest
from qa_fixtures import (
    FRONTAL,
    ROOT,
    STATISTICS_ROWS,
    ask,
    context,
    find,
    lean,
    rich_graph,
    statistics,
)

from cxrqba.graph import store as graph_store
from cxrqba.qa.boxes import part_boxes
from cxrqba.qa.export import localization, to_json
from cxrqba.qa.quality import ASPECTS, level
from cxrqba.qa.run import generate_shard
from cxrqba.qa.source import read_studies
from cxrqba.qa.store import to_tables
from cxrqba.schema import (
    ANSWERS,
    GRAPHS,
    LEDGER,
    OBSERVATIONS,
    QUESTIONS,
    REGIONS,
    SKIPPED_QUESTIONS,
    STATISTICS,
)
from cxrqba.tables import read_table, write_table

SCALARS = ("text", "name_tag", "certainty", "positiveness", "from_report", "template")
TAGS = (
    "regions", "obs_entities", "obs_entities_parents", "obs_categories", "obs_subcategories",
)  # fmt: skip


@pytest.fixture(scope="module")
def questions():
    return ask(rich_graph())[0]


def test_tables_have_the_schema_and_every_value(questions):
    table, answers = to_tables(questions)
    assert (table.schema, answers.schema) == (QUESTIONS, ANSWERS)
    assert table.height == len(questions)
    rows = answers.iter_rows(named=True)
    for row, question in zip(table.iter_rows(named=True), questions, strict=True):
        assert row["question"] == question.question
        assert {v["name"]: v["value"] for v in row["variables"]} == question.variables
        assert row["contains_report_answers"] or row["contains_template_answers"]
        assert named(row["extraction_quality"]) == named_ranks(question.quality)
        assert [tuple(i.values())[:2] for i in row["question_img_localization_quality"]] == [
            i[:2] for i in question.image_quality
        ]
        for part in question.parts:
            answer = next(rows)
            for name in ("study_id", "question_id", "question_strategy"):
                assert answer[name] == getattr(question, name)
            for name in ("answer_id", "parent_answer_id", "answer_type", "answer_level"):
                assert answer[name] == getattr(part, name)
            check_content(answer, part.content)
    assert next(rows, None) is None


def check_content(answer, content):
    for name in SCALARS:
        assert answer[name] == getattr(content, name)
    for name in TAGS:
        assert tuple(answer[name]) == getattr(content.tags, name)
    assert answer["laterality"] == content.tags.laterality
    assert tuple((m["type"], m["value"]) for m in answer["modifiers"]) == content.tags.modifiers
    assert tuple(answer["obs_ids"]) == content.obs_ids
    assert tuple(answer["box_obs_ids"]) == content.place.obs_ids
    assert tuple(answer["box_regions"]) == content.place.regions
    assert named(answer["extraction_quality"]) == named_ranks(content.quality)


def named(quality):
    return {aspect: value for aspect, value in quality.items() if value}


def named_ranks(quality):
    return {a: level(a, r) for a, r in zip(ASPECTS, quality, strict=True) if level(a, r)}


def test_no_questions_make_empty_tables():
    assert [t.schema for t in to_tables([])] == [QUESTIONS, ANSWERS]


def test_boxes_of_parts_are_those_of_what_they_refer_to(questions):
    graph = rich_graph()
    _, observations, regions = graph_store.to_tables([graph])
    _, answers = to_tables(questions)
    boxes = part_boxes(answers, observations.lazy(), regions.lazy())
    assert boxes["image_id"].unique().to_list() == [FRONTAL]
    found = {tuple(row[:3]): row[4] for row in boxes.iter_rows()}
    for row in answers.iter_rows(named=True):
        key = (row["study_id"], row["question_id"], row["answer_id"])
        places = localization(row, graph)
        shown = [p.bboxes for p in places if p.bboxes]
        assert ([found[key]] if key in found else []) == shown


def test_json_has_the_release_s_shape(questions):
    document = json.loads(json.dumps(to_json(*to_tables(questions), rich_graph())))
    assert list(document) == ["patient_id", "study_id", "questions"]
    described = next(q for q in document["questions"] if q["question_type"] == "B01_describe_all")
    effusion = described["answers"][0]
    assert effusion["modifiers"] == [["severity", "small"]]
    assert effusion["localization"][FRONTAL]["localization_quality"] == 3
    assert [a["answer_level"] for a in effusion["sub_answers"]] == [1, 1]
    assert effusion["extraction_quality"]["entity_quality"] == 2
    assert set(effusion) == {
        "answer_id", "answer_type", "answer_level", "text", "name_tag", "laterality", "regions",
        "obs_entities", "obs_entities_parents", "obs_categories", "obs_subcategories",
        "certainty", "positiveness", "modifiers", "localization", "sub_answers", "from_report",
        "extraction_quality", "answer_quality",
    }  # fmt: skip


def shard(graphs):
    return generate_shard(read_studies(*graph_store.to_tables(graphs)), len(graphs), context())


def test_a_shard_does_not_depend_on_order_or_company():
    graphs = [rich_graph(f"s5000000{i}") for i in range(4)]
    together = shard(graphs)[:2]
    reversed_order = shard(graphs[::-1])[:2]
    apart = [pl.concat(t) for t in zip(*(shard([g])[:2] for g in graphs), strict=True)]
    for one, other, third in zip(together, reversed_order, apart, strict=True):
        assert one.equals(other)
        assert one.equals(third)


def test_a_broken_study_goes_to_the_ledger_and_the_others_stay():
    studies = [lean(rich_graph(f"s5000000{i}")) for i in (1, 2)]
    studies[1].observations["O01"].regions = None
    table, _, skipped, ledger = generate_shard(studies, 2, context())
    assert table["study_id"].unique().to_list() == ["s50000001"]
    assert ledger.select("study_id", "reason").rows() == [("s50000002", "generation_failed")]
    assert (skipped.schema, ledger.schema) == (SKIPPED_QUESTIONS, LEDGER)


def test_question_ids_carry_the_type_and_a_running_index(questions):
    assert find(questions, "B01_describe_all").question_id == "B01_describe_all_001"
    ids = [q.question_id for q in questions if q.question_type == "C01_describe_region"]
    assert ids[:2] == ["C01_describe_region_001", "C01_describe_region_002"]


def test_the_step_reads_graph_tables_and_writes_four_tables(tmp_path, monkeypatch):
    graph_tables = graph_store.to_tables(
        [rich_graph("s50000001"), rich_graph("s50000002", complete=False)]
    )
    schemas = {"graphs": GRAPHS, "graph-observations": OBSERVATIONS, "graph-regions": REGIONS}
    for (name, schema), table in zip(schemas.items(), graph_tables, strict=True):
        write_table(table, tmp_path / name, schema)
    write_table(statistics(STATISTICS_ROWS), tmp_path / "statistics", STATISTICS)
    options = [*schemas, "statistics", "questions", "answers", "skipped", "ledger"]
    argv = [x for name in options for x in (f"--{name}", str(tmp_path / name))]
    argv += ["--templates", str(ROOT / "resources/templates")]
    argv += ["--reference", str(ROOT / "resources/reference"), "--settings", '{"seed": 0}']
    monkeypatch.setattr(sys, "argv", ["generate_qa.py", *argv])
    runpy.run_path(str(ROOT / "workflow/scripts/generate_qa.py"), run_name="__main__")
    table = read_table(tmp_path / "questions", QUESTIONS)
    # the step uses the project's templates as they are, which ask less than the tests
    assert set(table["question_id"]) <= set(shard([rich_graph()])[0]["question_id"])
    answers = read_table(tmp_path / "answers", ANSWERS)
    assert set(answers["question_id"]) == set(table["question_id"])
    assert set(table["study_id"]) == {"s50000001", "s50000002"}
    skipped = read_table(tmp_path / "skipped", SKIPPED_QUESTIONS)
    assert "incomplete_study" in skipped["reason"].to_list()
    assert read_table(tmp_path / "ledger", LEDGER).height == 0
