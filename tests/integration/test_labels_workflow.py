"""Labels of one's own reports: no image is read, and a one-row edit makes only what it must."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from test_workflow import clone, planned, snakemake

pytestmark = pytest.mark.workflow

REPORTS = (
    "study_id,report\n"
    "a1,FINDINGS: Small left quillosis. No pneumothorax.\n"
    "a2,FINDINGS: Cardiomegaly.\n"
    "a3,\n"
)
CONFIG = (
    "name: own\ntitle: Own reports\n"
    "source: {kind: table, reports: reports.csv, columns: {study_id: study_id, report: report}}\n"
)


def steps(plan: subprocess.CompletedProcess[str]) -> set[str]:
    """Steps in the table of jobs that a dry run prints."""
    return set(re.findall(r"^(\w+) +\d+$", plan.stdout + plan.stderr, flags=re.MULTILINE))


def test_labels_and_worklist_after_a_one_row_edit(tmp_path: Path) -> None:
    folder = clone(tmp_path / "clone")
    plan = snakemake(folder, "labels", "worklist", "-n", "--cores", "1")
    assert planned(plan) > 5
    assert "label_studies" in steps(plan)
    assert not {"segment_anatomy", "draw_phantoms", "build_graphs", "generate_qa"} & steps(plan)
    (folder / "reports.csv").write_text(REPORTS, encoding="utf-8")
    (folder / "own.yaml").write_text(CONFIG, encoding="utf-8")
    own = ("labels", "worklist", "--cores", "all", "--config", "dataset=own.yaml")
    run = snakemake(folder, *own)
    assert run.returncode == 0, (run.stdout + run.stderr)[-3000:]
    labels = folder / "results" / "own" / "labels"
    assert "a3,prepare_studies,empty_report" in (labels / "left_out.csv").read_text("utf-8")
    assert "quillosis" in (folder / "results/own/worklist/worklist.csv").read_text("utf-8")
    shutil.copytree(labels, folder / "before")
    findings = folder / "resources" / "reference" / "findings.csv"
    text = findings.read_text(encoding="utf-8")
    lines = [
        line.replace("|pleural fluid|", "|pleural fluid|quillosis|")
        if line.startswith("pleural_effusion,")
        else line
        for line in text.splitlines(keepends=True)
    ]
    findings.write_text("".join(lines), encoding="utf-8")
    assert "quillosis" in "".join(lines), "give the row another anchor"
    plan = snakemake(folder, *own, "-n")
    assert planned(plan) > 0
    assert "extract_observations" in steps(plan)
    assert "prepare_studies" not in steps(plan)
    run = snakemake(folder, *own)
    assert run.returncode == 0, (run.stdout + run.stderr)[-3000:]
    changed = {
        (old, new)
        for old, new in zip(
            (folder / "before" / "labels.csv").read_text("utf-8").splitlines(),
            (labels / "labels.csv").read_text("utf-8").splitlines(),
            strict=True,
        )
        if old != new
    }
    assert len(changed) == 1
    assert next(iter(changed))[0].startswith(",a1,")
    assert "quillosis" not in (folder / "results/own/worklist/worklist.csv").read_text("utf-8")


def test_a_file_whose_name_has_braces_is_read_and_its_change_noticed(tmp_path: Path) -> None:
    folder = clone(tmp_path / "clone")
    reports = folder / "reports"
    reports.mkdir()
    (reports / "{shard}.txt").write_text("FINDINGS: Cardiomegaly.", encoding="utf-8")
    (reports / "plain.txt").write_text("FINDINGS: Cardiomegaly.", encoding="utf-8")
    own = ("--cores", "1", "--config", "dataset=text", f"reports={reports}")
    run = snakemake(folder, "--until", "prepare_studies", *own)
    assert run.returncode == 0, (run.stdout + run.stderr)[-3000:]
    studies = pl.read_parquet(folder / "results/notes/prepare_studies/*.studies.parquet")
    assert sorted(studies["study_id"]) == ["plain", "{shard}"]
    again = ("-n", "--until", "prepare_studies", *own)
    assert planned(snakemake(folder, *again)) == 0
    (reports / "{shard}.txt").write_text("FINDINGS: Pneumothorax.", encoding="utf-8")
    assert planned(snakemake(folder, *again)) == 2
