"""The whole road in a fresh clone: plans, one run, no rerun without cause, kills, two runs."""

from __future__ import annotations

import html
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from cxrqba import launch

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.workflow

REPORT = """                                 FINAL REPORT
 INDICATION: Cough and fever. Evaluate for pneumonia.

 FINDINGS: {findings}

 IMPRESSION: {impression}
"""


def clone(target: Path) -> Path:
    """A clone of the working tree as it would be committed: tracked and new files."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, path)
    return target


def environment(**changes: str) -> dict[str, str]:
    """The smallest PATH: rules must not depend on an interpreter found there."""
    keep = {k: v for k, v in os.environ.items() if k in ("HOME", "LANG", "TMPDIR", "USER")}
    return {
        **keep,
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(ROOT / "workflow" / "scripts"),
        **changes,
    }


def snakemake(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "snakemake", *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def planned(result: subprocess.CompletedProcess[str]) -> int:
    """Number of jobs a dry run plans; 0 when there is nothing to do."""
    text = result.stdout + result.stderr
    assert result.returncode == 0, text[-3000:]
    if "Nothing to be done" in text:
        return 0
    totals = re.findall(r"^total\s+(\d+)", text, flags=re.MULTILINE)
    assert totals, text[-3000:]
    return int(totals[-1])


def small_dataset(folder: Path, count: int = 4) -> list[str]:
    """Write a text dataset of a few reports; return the arguments that select it."""
    texts = [
        ("Moderate left pleural effusion. No pneumothorax.", "Left pleural effusion."),
        ("The lungs are clear. Heart size is normal.", "No acute cardiopulmonary process."),
        ("Right lower lobe consolidation.", "Right lower lobe pneumonia."),
        ("Unchanged cardiomegaly. No edema.", "Stable cardiomegaly."),
    ]
    reports = folder / "reports"
    reports.mkdir()
    for number in range(count):
        findings, impression = texts[number % len(texts)]
        (reports / f"study{number}.txt").write_text(
            REPORT.format(findings=findings, impression=impression), encoding="utf-8"
        )
    return ["--config", "dataset=config/datasets/text.yaml", f"reports={reports}"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh clone in which the demo was run once."""
    folder = clone(tmp_path_factory.mktemp("demo"))
    result = snakemake(folder, "--cores", "all")
    assert result.returncode == 0, (result.stdout + result.stderr)[-5000:]
    return folder


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A fresh clone in which nothing has run."""
    return clone(tmp_path / "clone")


def test_a_fresh_clone_plans_the_whole_road(fresh: Path) -> None:
    assert planned(snakemake(fresh, "-n", "--cores", "all")) > 20
    result = snakemake(fresh, "-n", "--cores", "all", "--profile", "slurm")
    assert planned(result) > 20
    assert not re.search(r"resources:.*\bgpu", result.stdout + result.stderr)


@pytest.mark.parametrize("dataset", ["openi", "mimic", "jsrt", "table", "text"])
def test_each_bundled_dataset_parses(fresh: Path, dataset: str) -> None:
    """Plans as far as the data allows: a missing source is the only complaint."""
    result = snakemake(fresh, "--list", "--config", f"dataset={dataset}")
    assert result.returncode == 0, result.stdout + result.stderr


def test_nothing_is_done_again_after_a_run(demo: Path) -> None:
    assert planned(snakemake(demo, "-n", "--cores", "all")) == 0
    assert planned(snakemake(demo, "-n", "--cores", "all", "--profile", "slurm")) == 0


def test_touching_every_source_file_reruns_nothing(demo: Path) -> None:
    for path in demo.rglob("*"):
        if path.is_file() and not {"results", ".snakemake"} & set(path.parts):
            os.utime(path)
    assert planned(snakemake(demo, "-n", "--cores", "all")) == 0


def test_a_changed_word_in_a_template_reruns_questions_and_what_follows_alone(demo: Path) -> None:
    path = demo / "resources" / "templates" / "finding.yaml"
    before = path.read_bytes()
    path.write_bytes(before + b"\n# a remark\n")
    result = snakemake(demo, "-n", "--cores", "all")
    path.write_bytes(before)
    text = result.stdout + result.stderr
    assert "generate_qa" in text
    for step in ("segment_anatomy", "extract_observations", "build_graphs"):
        assert step not in text


def test_every_study_is_passed_on_or_in_the_ledger(demo: Path) -> None:
    results = demo / "results" / "demo"
    listed = pl.read_csv(demo / "resources/demo/mimic-cxr/cxr-study-list.csv.gz")
    asked = pl.read_parquet(results / "generate_qa" / "*.questions.parquet")["study_id"].unique()
    lost = pl.concat(
        [pl.read_parquet(p) for p in sorted(results.glob("*/*.ledger.parquet"))]
    ).filter(pl.col("scope") == "study")
    assert lost["study_id"].is_unique().all()
    assert set(asked) | set(lost["study_id"]) == {f"s{study}" for study in listed["study_id"]}
    assert len(asked) + len(lost) == len(listed)


def test_the_run_makes_what_it_promises(demo: Path) -> None:
    results = demo / "results" / "demo"
    for table in ("2a_labels", "2b_boxes", "3_uniqueness", "accounting", "regions"):
        for ending in ("csv", "md"):
            assert (results / "tables" / f"table_{table}.{ending}").stat().st_size > 0
    for figure in ("1_examples", "4_quality", "5_tags", "6_lengths"):
        for ending in ("csv", "pdf", "png"):
            assert (results / "figures" / f"figure_{figure}.{ending}").stat().st_size > 0
    assert (results / "index.html").stat().st_size > 0
    assert "results/demo/index.html" in (results / "summary.txt").read_text(encoding="utf-8")


def test_no_report_text_in_logs(demo: Path) -> None:
    """No run of eight words of any report stands in any log or ledger."""
    studies = pl.read_parquet(demo / "results/demo/prepare_studies/*.studies.parquet")
    runs = set()
    for report in studies["report"].drop_nulls():
        words = report.split()
        runs |= {" ".join(words[i : i + 8]) for i in range(len(words) - 7)}
    logs = [p.read_text(encoding="utf-8") for p in (demo / "logs").rglob("*.log")]
    for path in (demo / "results" / "demo").glob("*/*.ledger.parquet"):
        logs += pl.read_parquet(path)["detail"].drop_nulls().to_list()
    for text in logs:
        words = text.split()
        assert not runs & {" ".join(words[i : i + 8]) for i in range(len(words) - 7)}


def test_the_snakemake_report_is_made_without_report_text(demo: Path) -> None:
    result = snakemake(demo, "--report", "report.zip")
    assert result.returncode == 0, (result.stdout + result.stderr)[-3000:]
    with zipfile.ZipFile(demo / "report.zip") as archive:
        names = " ".join(archive.namelist())
        pages = [
            html.unescape(archive.read(n).decode("utf-8", "ignore")) for n in archive.namelist()
        ]
    assert "figure_4_quality" in names
    assert "table_2a_labels.html" in names
    assert "figure_1_examples" not in names
    assert "index.html" not in names
    folder = demo / "results" / "demo" / "extract_sentences"
    sentences = pl.read_parquet(folder / "*.sentences.parquet")["sentence"]
    long = [s for s in sentences if len(s.split()) >= 5]
    assert long
    assert not any(sentence in page for page in pages for sentence in long)


def run_command(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "cxrqba.cli", "run", *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.fixture
def killed(fresh: Path) -> Iterator[tuple[Path, list[str]]]:
    """A clone in which a run on a few reports was killed in its middle."""
    arguments = small_dataset(fresh)
    run = run_command(fresh, *arguments)
    graphs = fresh / "results" / "notes" / "extract_sentences"
    deadline = time.monotonic() + 120
    while not any(graphs.glob("*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.1)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    return fresh, arguments


def test_a_killed_run_is_taken_up_and_a_second_run_is_told_who_holds_the_lock(
    killed: tuple[Path, list[str]],
) -> None:
    folder, arguments = killed
    run = run_command(folder, *arguments)
    deadline = time.monotonic() + 60
    while (launch._record(folder / launch.HOLDER) or {}).get("pid") != run.pid:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    second = run_command(folder, *arguments)
    told, _ = second.communicate(timeout=60)
    output, _ = run.communicate(timeout=300)
    assert run.returncode == 0, output[-3000:]
    assert second.returncode == 1
    assert re.search(r"error: another run holds the lock of this folder: process \d+", told)
    assert (folder / "results" / "notes" / "summary.txt").is_file()


def merged(folder: Path, pattern: str, keys: list[str]) -> pl.DataFrame:
    return pl.read_parquet(folder / "results" / "notes" / pattern).sort(keys)


def test_results_do_not_depend_on_the_number_of_shards(tmp_path: Path) -> None:
    tables = {}
    for count in (1, 3):
        folder = clone(tmp_path / str(count))
        path = folder / "config" / "datasets" / "text.yaml"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("count: 2", f"count: {count}"), encoding="utf-8")
        result = snakemake(folder, "--cores", "all", *small_dataset(folder, count=8))
        assert result.returncode == 0, (result.stdout + result.stderr)[-3000:]
        tables[count] = {
            "questions": merged(
                folder, "generate_qa/*.questions.parquet", ["study_id", "question_id"]
            ),
            "rated": merged(folder, "rate_qa/*.rated.parquet", ["study_id", "question_id"]),
            "graphs": merged(folder, "build_graphs/*.graphs.parquet", ["study_id"]),
        }
    for name, one in tables[1].items():
        assert one.equals(tables[3][name]), name


def test_a_mistake_in_the_configuration_is_one_line(fresh: Path) -> None:
    result = snakemake(fresh, "-n", "--config", "dataset=dmeo")
    text = result.stdout + result.stderr
    assert result.returncode != 0
    assert "did you mean 'demo'" in text
    assert "Traceback" not in text


def test_a_missing_source_is_named(fresh: Path) -> None:
    result = snakemake(
        fresh, "--cores", "1", "--config", "dataset=text", "reports=/nowhere/reports"
    )
    text = result.stdout + result.stderr
    assert result.returncode != 0
    assert "/nowhere/reports" in text
    assert "Traceback" not in text


def test_films_without_reports_end_with_their_boxes(fresh: Path) -> None:
    films = fresh / "films" / "images"
    films.mkdir(parents=True)
    (films.parent / "index.csv").write_text("image_id\nA1\nA2\nA3\n", encoding="utf-8")
    Image.new("L", (64, 64), 90).save(films / "A1.png")  # blank: no chest in it
    (films / "A2.png").write_bytes(b"no image")  # A3 is missing
    mask = films.parent / "masks" / "left_lung" / "A1.png"
    mask.parent.mkdir(parents=True)
    Image.new("1", (64, 64), 1).save(mask)
    result = snakemake(
        fresh, "--cores", "all", "--config", "dataset=jsrt", f"images={films.parent}"
    )
    assert result.returncode == 0, (result.stdout + result.stderr)[-3000:]
    accounting = pl.read_parquet(fresh / "results/jsrt/account_studies/accounting.parquet")
    counts = {(w, r): n for _, w, r, n in accounting.iter_rows()}
    assert counts[("studies in", None)] == counts[("studies out", None)] == 3
    assert counts[("images", "unreadable")] == 2
    assert counts[("images", "no_localization")] == 1
