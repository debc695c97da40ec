"""What `cxrqba check` and `cxrqba pilot` say of good and of broken set-ups."""

from __future__ import annotations

import subprocess
from pathlib import Path

import polars as pl
import pytest

from cxrqba import cli
from cxrqba.errors import UserError
from cxrqba.pilot import pilot
from cxrqba.provenance import check as checking

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset file of two reports and one image, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "a.png").write_bytes(b"")
    (tmp_path / "reports.csv").write_text(
        "study_id,report,picture\ne1,No effusion.,a.png\ne2,Clear lungs.,\n", encoding="utf-8"
    )
    path = tmp_path / "own.yaml"
    path.write_text(
        "name: own\ntitle: Own\nshards: {by: hash, count: 4}\n"
        "source: {kind: table, reports: reports.csv, images: films,\n"
        "         columns: {study_id: study_id, report: report, image: picture}}\n",
        encoding="utf-8",
    )
    return path


def told(path: Path, profile: str | None = None) -> dict[str, tuple[bool, str]]:
    found = list(checking.check(str(path), "results", profile, path.parent))
    return {finding.what: (finding.good, finding.text) for finding in found}


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_a_good_set_up_is_all_ok(own: Path) -> None:
    found = told(own)
    assert all(good for good, _ in found.values()), found
    assert found["configuration"][1] == "own, 4 shards"
    assert found["source"][1] == "2 studies"


def test_a_missing_column_is_named(own: Path) -> None:
    own.write_text(own.read_text().replace("report: report", "report: text"), encoding="utf-8")
    good, text = told(own)["source"]
    assert not good
    assert "text" in text
    assert "reports.csv" in text


def test_missing_images_weights_and_references_are_named(own: Path) -> None:
    (own.parent / "films" / "a.png").unlink()
    append(own, "segmentation: {backend: cxas, weights: models/cxas}\n")
    append(own, "evaluate: {boxes: [{name: experts, format: ms_cxr, path: gold/boxes.csv}]}\n")
    found = told(own)
    bad = {what: text for what, (good, text) in found.items() if not good}
    assert set(bad) == {"images", "segmentation.weights", "evaluate.boxes 'experts'"}
    assert "films/a.png" in bad["images"]
    assert "gold/boxes.csv" in bad["evaluate.boxes 'experts'"]


def test_too_little_space_is_told(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "DISK_PER_STUDY", 10**18)
    assert not told(own)["space"][0]


def slurm(monkeypatch: pytest.MonkeyPatch, partitions: str, accounting: bool) -> None:
    """Pretend that Slurm's commands are there."""
    answers = {"sinfo": (0, partitions, b""), "sacct": (int(not accounting), "", b"disabled")}

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess:
        status, out, error = answers.get(command[0], (1, "", b""))
        return subprocess.CompletedProcess(command, status, out, error)

    monkeypatch.setattr(checking.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(checking.subprocess, "run", run)


def profile(own: Path, text: str) -> None:
    (own.parent / "site").mkdir()
    (own.parent / "site" / "config.yaml").write_text(text, encoding="utf-8")


def test_a_partition_that_the_site_lacks_and_silent_accounting_are_told(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slurm(monkeypatch, "cpu*\ngpu\n", accounting=False)
    profile(own, "executor: slurm\ndefault-resources: {slurm_partition: fast}\n")
    found = told(own, "site")
    assert found["partition"] == (
        False,
        f"'fast' is none of cpu, gpu; correct {own.parent}/site/config.yaml",
    )
    assert "slurm-status-command: squeue" in found["job status"][1]


def test_squeue_for_status_is_enough_without_accounting(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slurm(monkeypatch, "cpu*\n", accounting=False)
    profile(own, "slurm-status-command: squeue\ndefault-resources: {slurm_partition: cpu}\n")
    found = told(own, "site")
    assert found["partition"] == (True, "cpu")
    assert "job status" not in found


def test_without_slurm_a_profile_cannot_do(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile(own, "executor: slurm\n")
    monkeypatch.setattr(checking.shutil, "which", lambda name: None)
    good, text = told(own, "site")["profile"]
    assert not good
    assert "sbatch" in text


def test_the_command_ends_with_status_1_where_something_is_bad(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as status:
        cli.main(["check", "--config", str(own)])
    assert status.value.code == 0
    (own.parent / "reports.csv").unlink()
    capsys.readouterr()
    with pytest.raises(SystemExit) as status:
        cli.main(["check", "--config", str(own)])
    assert status.value.code == 1
    assert "BAD  source: " in capsys.readouterr().out


def test_a_pilot_is_scaled_by_studies(own: Path) -> None:
    folder = own.parent
    made = folder / "results" / "own" / "prepare_studies"
    made.mkdir(parents=True)
    pl.DataFrame({"study_id": ["e1", "e2"]}).write_parquet(made / "1.studies.parquet")
    for place, seconds in (("judge_qa/1", 36), ("graph_statistics", 1.8)):
        path = folder / "benchmarks" / "own" / f"{place}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\th:m:s\tmax_rss\n{seconds}\t0:00:36\t150.0\n", encoding="utf-8")
    text = pilot(str(own), "results", 200, folder)
    assert "| judge_qa | 4 | 36.0 | 1.0 |  | 150 |" in text
    assert "| graph_statistics | 1 | 1.8 | 0.1 |  | 150 |" in text
    assert "In all 5 jobs, 2 hours" in text


def test_without_a_pilot_the_command_for_one_is_told(own: Path) -> None:
    with pytest.raises(UserError, match=r"cxrqba run --config dataset=.*own\.yaml only=0"):
        pilot(str(own), "results", 200, own.parent)
