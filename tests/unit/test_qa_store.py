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
    rich_graph,
    statistics,
)

from cxrqba.graph.store import from_tables, to_tables
from cxrqba.qa.run import generate_shard
from cxrqba.qa.store import to_json, to_table
from cxrqba.schema import (
    GRAPHS,
    LEDGER,
    OBSERVATIONS,
    QUESTIONS,
    REGIONS,
    SKIPPED_QUESTIONS,
    STATISTICS,
)
from cxrqba.tables import read_table, write_table

PLAIN = (
    "text", "name_tag", "laterality", "regions", "obs_entities", "certainty", "obs_categories",
    "positiveness", "from_report", "obs_ids", "template",
)  # fmt: skip


@pytest.fixture(scope="module")
def questions():
    return ask(rich_graph())[0]


def test_table_has_the_schema_and_every_value(questions):
    table = to_table(questions)
    assert table.schema == QUESTIONS
    assert table.height == len(questions)
    for row, question in zip(table.iter_rows(named=True), questions, strict=True):
        assert row["question"] == question.question
        assert {v["name"]: v["value"] for v in row["variables"]} == question.variables
        assert row["obs_ids"] == question.obs_ids
        assert row["contains_report_answers"] or row["contains_template_answers"]
        assert len(row["answers"]) == len(question.parts)
        for answer, part in zip(row["answers"], question.parts, strict=True):
            content = part.content
            for name in ("answer_id", "parent_answer_id", "answer_type", "answer_level"):
                assert answer[name] == getattr(part, name)
            for name in PLAIN:
                assert answer[name] == getattr(content, name)
            assert [(m["type"], m["value"]) for m in answer["modifiers"]] == content.modifiers
            assert [lo["bboxes"] for lo in answer["localization"]] == [
                lo.bboxes for lo in content.localization
            ]
            quality = {k: v for k, v in answer["extraction_quality"].items() if v}
            assert quality == content.extraction_quality


def test_no_questions_make_an_empty_table():
    assert to_table([]).schema == QUESTIONS


def test_json_has_the_release_s_shape(questions):
    document = json.loads(json.dumps(to_json(questions)))
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


def test_a_shard_does_not_depend_on_order_or_company():
    graphs = [rich_graph(f"s5000000{i}") for i in range(4)]
    together, _, _ = generate_shard(graphs, context())
    reversed_order, _, _ = generate_shard(graphs[::-1], context())
    apart = pl.concat([generate_shard([g], context())[0] for g in graphs])
    assert together.equals(reversed_order)
    assert together.equals(apart)


def test_a_broken_study_goes_to_the_ledger_and_the_others_stay():
    broken = rich_graph("s50000002")
    broken.observations["O01"].regions = None  # type: ignore[assignment]
    table, skipped, ledger = generate_shard([rich_graph("s50000001"), broken], context())
    assert table["study_id"].unique().to_list() == ["s50000001"]
    assert ledger.select("study_id", "reason").rows() == [("s50000002", "generation_failed")]
    assert (skipped.schema, ledger.schema) == (SKIPPED_QUESTIONS, LEDGER)


def test_question_ids_carry_the_type_and_a_running_index(questions):
    assert find(questions, "B01_describe_all").question_id == "B01_describe_all_001"
    ids = [q.question_id for q in questions if q.question_type == "C01_describe_region"]
    assert ids[:2] == ["C01_describe_region_001", "C01_describe_region_002"]


def test_the_step_reads_graph_tables_and_writes_three_tables(tmp_path, monkeypatch):
    graph_tables = to_tables([rich_graph("s50000001"), rich_graph("s50000002", complete=False)])
    schemas = {"graphs": GRAPHS, "graph-observations": OBSERVATIONS, "graph-regions": REGIONS}
    for (name, schema), table in zip(schemas.items(), graph_tables, strict=True):
        write_table(table, tmp_path / name, schema)
    write_table(statistics(STATISTICS_ROWS), tmp_path / "statistics", STATISTICS)
    options = [*schemas, "statistics", "questions", "skipped", "ledger"]
    argv = [x for name in options for x in (f"--{name}", str(tmp_path / name))]
    argv += ["--templates", str(ROOT / "resources/templates")]
    argv += ["--reference", str(ROOT / "resources/reference"), "--settings", '{"seed": 0}']
    monkeypatch.setattr(sys, "argv", ["generate_qa.py", *argv])
    runpy.run_path(str(ROOT / "workflow/scripts/generate_qa.py"), run_name="__main__")
    table = read_table(tmp_path / "questions", QUESTIONS)
    direct, _, _ = generate_shard(from_tables(*graph_tables), context())
    assert table.equals(direct)
    assert set(table["study_id"]) == {"s50000001", "s50000002"}
    skipped = read_table(tmp_path / "skipped", SKIPPED_QUESTIONS)
    assert "incomplete_study" in skipped["reason"].to_list()
    assert read_table(tmp_path / "ledger", LEDGER).height == 0
