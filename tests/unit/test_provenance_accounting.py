"""The accounting adds up, and a study lost in silence stops the run by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxrqba.errors import UserError
from cxrqba.ledger import Ledger
from cxrqba.provenance.accounting import Tables, account
from cxrqba.schema import (
    ACCOUNTING,
    ANSWERS,
    GRAPHS,
    IMAGE_STATUS,
    LEDGER,
    OBSERVATIONS,
    PASS_STATUS,
    QUESTIONS,
    RATED,
    SKIPPED_QUESTIONS,
    STUDIES,
)
from cxrqba.tables import frame, write_table


class Run:
    """A small run with every table in two shards, changed by the tests."""

    def __init__(self, folder: Path):
        self.folder = folder
        prepare, sentences, observe, judge = (
            Ledger(s)
            for s in ("prepare_studies", "extract_sentences", "extract_observations", "judge_qa")
        )
        prepare.study("s9", "undecodable", "")
        prepare.study("s1", "duplicate_id", "")  # the first of the two was kept
        prepare.image("s1", "i9", "duplicate_id", "")
        sentences.study("s3", "no_report", "")
        observe.item("s1", "S04", "uncovered_sentence", "")
        observe.study("s4", "extraction_failed", "")
        self.indication = Ledger("extract_indication")
        self.indication.study("s4", "extraction_failed", "")
        judge.item("s1", "Q1", "judge_failed", "")
        self.ledgers = [prepare, sentences, observe, self.indication, judge]
        self.studies = ["s1", "s2", "s3", "s4"]
        self.graphs = ["s1", "s2"]
        self.has_reports = True

    def tables(self) -> Tables:
        ledger = pl.concat([led.table() for led in self.ledgers])
        graphs = [
            {
                "study_id": s,
                "is_complete": s == "s1",
                "incomplete_reasons": [] if s == "s1" else ["a"],
            }
            for s in self.graphs
        ]
        parts = [{"answer_type": "main_answer"}, {"answer_type": "details"}]
        later: dict[str, tuple[list[dict[str, Any]], pl.Schema]] = {
            "statuses": (
                [
                    {"study_id": s, "step": "extract_sentences", "status": t, "num_items": n}
                    for s, t, n in (("s1", "ok", 3), ("s2", "ok", 2), ("s3", "failed", 0))
                ],
                PASS_STATUS,
            ),
            "graphs": (graphs, GRAPHS),
            "observations": (
                [
                    {"study_id": "s1", "from_report": f, "positiveness": p}
                    for f, p in ((True, "pos"), (True, "neg"), (False, "neg"))
                ],
                OBSERVATIONS,
            ),
            "questions": ([{"study_id": "s1", "question_strategy": "abnormal"}], QUESTIONS),
            "answers": (parts, ANSWERS),
            "skipped": (
                [{"study_id": "s2", "reason": "incomplete", "count": 1}],
                SKIPPED_QUESTIONS,
            ),
            "rated": (
                [
                    {"study_id": "s1", "rating": r, "pre_training": p, "fine_tuning": False}
                    for r, p in (("B", True), ("C", False), (None, False))
                ],
                RATED,
            ),
        }
        rows = {
            "studies": ([{"study_id": s} for s in self.studies], STUDIES),
            "ledgers": (ledger.rows(named=True), LEDGER),
            "image_status": (
                [{"study_id": "s1", "status": t} for t in ("ok", "ok", "unreadable")],
                IMAGE_STATUS,
            ),
            **(
                later
                if self.has_reports
                else {name: ([], schema) for name, (_, schema) in later.items()}
            ),
        }
        paths: dict[str, list[Path]] = {}
        for name, (content, schema) in rows.items():
            paths[name] = []
            if name in later and not self.has_reports:
                continue
            for shard in (0, 1):
                path = self.folder / f"{name}.{shard}.parquet"
                write_table(frame(content[shard::2], schema), path, schema)
                paths[name].append(path)
        return Tables(**paths)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def counts(table: pl.DataFrame) -> dict[tuple[str, str, str | None], int]:
    assert table.schema == ACCOUNTING
    found = {(s, w, r): n for s, w, r, n in table.iter_rows()}
    assert len(found) == table.height
    return found


def test_every_number(run: Run) -> None:
    found = counts(account(run.tables()))
    assert found == {
        ("prepare_studies", "studies in", None): 6,
        ("prepare_studies", "studies lost", "duplicate_id"): 1,
        ("prepare_studies", "studies lost", "undecodable"): 1,
        ("extract_sentences", "studies lost", "no_report"): 1,
        ("extract_observations", "studies lost", "extraction_failed"): 1,
        ("prepare_studies", "images left out", "duplicate_id"): 1,
        ("extract_observations", "items left out", "uncovered_sentence"): 1,
        ("judge_qa", "items left out", "judge_failed"): 1,
        ("segment_anatomy", "images", "ok"): 2,
        ("segment_anatomy", "images", "unreadable"): 1,
        ("extract_sentences", "studies", "failed"): 1,
        ("extract_sentences", "studies", "ok"): 2,
        ("extract_sentences", "items", None): 5,
        ("build_graphs", "complete studies", None): 1,
        ("build_graphs", "incomplete studies", "a"): 1,
        ("build_graphs", "observations", "added by default"): 1,
        ("build_graphs", "observations", "from the report, neg"): 1,
        ("build_graphs", "observations", "from the report, pos"): 1,
        ("rate_qa", "studies out", None): 2,
        ("generate_qa", "questions", "abnormal"): 1,
        ("generate_qa", "answer parts", "details"): 1,
        ("generate_qa", "answer parts", "main_answer"): 1,
        ("generate_qa", "questions skipped", "incomplete"): 1,
        ("rate_qa", "questions rated", "A++"): 0,
        ("rate_qa", "questions rated", "A+"): 0,
        ("rate_qa", "questions rated", "A"): 0,
        ("rate_qa", "questions rated", "B"): 1,
        ("rate_qa", "questions rated", "C"): 1,
        ("rate_qa", "questions rated", "D"): 0,
        ("rate_qa", "questions not rated", None): 1,
        ("rate_qa", "pre-training grade", None): 1,
        ("rate_qa", "fine-tuning grade", None): 0,
    }
    lost = sum(n for (_, what, _), n in found.items() if what == "studies lost")
    went_in = found["prepare_studies", "studies in", None]
    assert went_in == found["rate_qa", "studies out", None] + lost


def test_images_without_reports_end_after_localisation(run: Run) -> None:
    run.has_reports = False
    run.ledgers = run.ledgers[:1]
    found = counts(account(run.tables()))
    assert found["prepare_studies", "studies out", None] == 4
    assert not any(stage in ("build_graphs", "generate_qa", "rate_qa") for stage, _, _ in found)


def test_a_study_lost_in_silence_is_named(run: Run) -> None:
    run.graphs.remove("s2")
    with pytest.raises(UserError, match="study s2: has no graph and stands in no ledger"):
        account(run.tables())


def test_a_study_both_lost_and_built_is_named(run: Run) -> None:
    run.graphs.append("s3")
    with pytest.raises(UserError, match=r"study s3: has a graph, yet extract_sentences lost it"):
        account(run.tables())


def test_a_study_from_nowhere_is_named(run: Run) -> None:
    run.graphs.append("s7")
    with pytest.raises(UserError, match=r"study s7: has a graph, but"):
        account(run.tables())
    run.graphs.remove("s7")
    run.indication.study("s8", "extraction_failed", "")
    with pytest.raises(UserError, match=r"study s8: lost at extract_indication, but"):
        account(run.tables())


def test_a_study_built_or_read_twice_is_named(run: Run) -> None:
    run.graphs.append("s1")
    with pytest.raises(UserError, match=r"study s1: two graphs"):
        account(run.tables())
    run.studies.append("s2")
    with pytest.raises(UserError, match=r"study s2: read twice"):
        account(run.tables())


def test_a_study_without_questions_is_lost_after_its_graph(run: Run) -> None:
    tables = run.tables()
    graph = scan_first_graph(tables)
    ledger = run.folder / "generate_qa.ledger.parquet"
    late = Ledger("generate_qa")
    late.study(graph, "no_questions", "nothing to ask")
    write_table(late.table(), ledger, LEDGER)
    before = counts(account(tables))
    after = counts(account(replace(tables, ledgers=[*tables.ledgers, ledger])))
    out = ("rate_qa", "studies out", None)
    assert after[out] == before[out] - 1
    assert after[("generate_qa", "studies lost", "no_questions")] == 1


def scan_first_graph(tables: Tables) -> str:
    return str(pl.read_parquet(tables.graphs[0])["study_id"][0])
