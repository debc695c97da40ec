"""A run through a real Slurm of one node: a job and the node's daemon die midway, same bytes.

Only `make test-slurm` runs this: it installs Slurm, needs root, and takes minutes.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from test_workflow import clone, environment, small_dataset, snakemake

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "tests" / "slurm" / "cluster.sh"
pytestmark = [
    pytest.mark.workflow,
    pytest.mark.skipif(
        os.environ.get("CXRQBA_REQUIRE_SLURM") != "1", reason="asked for by `make test-slurm`"
    ),
]
QUICK = [
    "--slurm-init-seconds-before-status-checks=2",
    "--seconds-between-status-checks=2",
    "--slurm-status-command=squeue",
]
"""Small jobs; without accounting `sacct` never tells that a job ended."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Callable[[str], None]]:
    folder = tmp_path / "slurm"
    folder.mkdir()

    def do(action: str) -> None:
        subprocess.run([str(CLUSTER), action, str(folder)], check=True)

    try:
        do("start")
        yield do
    finally:
        do("remove")


def queue() -> list[str]:
    """Ids of the running jobs."""
    listed = subprocess.run(
        ["squeue", "-h", "-t", "running", "-o", "%i"], capture_output=True, text=True, check=True
    )
    return listed.stdout.split()


def wait_for(condition: Callable[[], object], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"no {what} within {seconds:.0f} s"
        time.sleep(0.2)


def digests(folder: Path) -> dict[str, str]:
    made = folder / "results" / "notes"
    return {
        str(p.relative_to(made)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(made.rglob("*"))
        if p.is_file() and p.suffix in (".parquet", ".csv")
    }


def test_a_killed_job_and_a_dead_node_leave_the_same_bytes(
    tmp_path: Path, cluster: Callable[[str], None]
) -> None:
    plain, queued = clone(tmp_path / "plain"), clone(tmp_path / "queued")
    arguments = small_dataset(plain, count=8)
    result = snakemake(plain, "labels", "--cores", "all", *arguments)
    assert result.returncode == 0, (result.stdout + result.stderr)[-3000:]

    log = (tmp_path / "run.log").open("w+", encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "labels", "--cores", "all", "--profile", "slurm"]
    run = subprocess.Popen(
        [*command, *QUICK, "--latency-wait=5", *arguments],
        cwd=queued,
        env=environment(),
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    try:
        wait_for(queue, 90, "job in the queue")
        subprocess.run(["scancel", "--signal=KILL", "--full", queue()[0]], check=False)
        made = queued / "results" / "notes" / "extract_sentences"
        wait_for(lambda: any(made.glob("*.sentences.parquet")), 200, "sentences")
        cluster("node-down")
        time.sleep(3)
        cluster("node-up")
        assert run.wait(timeout=400) == 0, (tmp_path / "run.log").read_text(encoding="utf-8")[
            -4000:
        ]
    finally:
        if run.poll() is None:
            run.kill()
        log.close()
    told = (tmp_path / "run.log").read_text(encoding="utf-8")
    assert "Trying to restart" in told
    assert digests(queued) == digests(plain)
    assert digests(plain)
