"""The chain behind a question leads from every answer part to characters of the report."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from run_fixtures import REPORTS, make_project

from cxrqba.cli import main
from cxrqba.errors import UserError
from cxrqba.provenance.explain import explain


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("explain"))


def questions(results: Path, study_id: str) -> pl.DataFrame:
    table = pl.read_parquet(results / "generate_qa" / "0.questions.parquet")
    return table.filter(pl.col("study_id") == study_id)


def about(results: Path, study_id: str, kind: str, value: str) -> str:
    """Id of the question of a type about a value."""
    for row in questions(results, study_id).iter_rows(named=True):
        if row["question_type"] == kind and value in [v["value"] for v in row["variables"]]:
            return str(row["question_id"])
    raise AssertionError((kind, value))


def told(results: Path, study_id: str, question_id: str) -> str:
    return explain(results, results.parents[1], study_id, question_id)


def test_a_positive_answer_leads_to_sentence_evidence_mapping_and_rating(results: Path) -> None:
    study_id = "s70000001"
    text = told(results, study_id, about(results, study_id, "D02_has_finding", "pleural effusion"))
    report, sentence = REPORTS[study_id], "There is a small left pleural effusion."
    start = report.index(sentence)
    assert f'[{start},{start + len(sentence)}) in FINDINGS: "{sentence}"' in text
    words = report.index("pleural effusion")
    assert f'evidence [{words},{words + len("pleural effusion")}): "pleural effusion"' in text
    assert "mapped entity 'pleural effusion' -> pleural effusion 1.000 (exact); runner-up" in text
    assert "made by rules:finding; step extract_observations " in text
    assert "resources/templates/finding.yaml" in text
    assert "entailment ALIGNED_MENTIONED (allows A++)" in text
    assert "side: left" in text
    assert "(limited by " in text


def test_every_part_of_questions_of_all_strategies_is_told(results: Path) -> None:
    answers = pl.read_parquet(results / "generate_qa" / "0.answers.parquet")
    for question_id in questions(results, "s70000003")["question_id"][::60]:
        text = told(results, "s70000003", question_id)
        own = answers.filter(
            (pl.col("study_id") == "s70000003") & (pl.col("question_id") == question_id)
        )
        assert own.height > 0
        for answer_id, words in own.select("answer_id", "text").iter_rows():
            assert f"part {answer_id} " in text
            assert words in text
        assert "run `cxrqba audit`" not in text


def test_an_added_denial_says_why_silence_means_absence(results: Path) -> None:
    table = pl.read_parquet(results / "build_graphs" / "0.observations.parquet")
    added = table.filter(~pl.col("from_report"))
    assert added.height > 0
    answers = pl.read_parquet(results / "generate_qa" / "0.answers.parquet")
    uses = answers.join(added, on="study_id").filter(
        pl.col("obs_ids").list.contains(pl.col("obs_id"))
    )
    text = told(results, uses["study_id"][0], uses["question_id"][0])
    assert "not mentioned, and the graph is complete: every sentence of findings" in text
    assert "made by default_negative; step build_graphs " in text


def test_an_unknown_study_or_question_is_one_line_with_the_nearest(results: Path) -> None:
    with pytest.raises(UserError, match="did you mean 's70000001'"):
        told(results, "s7000001", "D02_has_finding_001")
    known = questions(results, "s70000001")["question_id"][0]
    with pytest.raises(UserError, match=f"did you mean '{known}'"):
        told(results, "s70000001", known + "x")


def test_the_command_prints_the_chain(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(results.parents[1])
    question = questions(results, "s70000004")["question_id"][0]
    main(["explain", "s70000004", question, "--config", "own"])
    assert capsys.readouterr().out.startswith("study s70000004, report ")
