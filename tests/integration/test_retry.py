"""A shard of films whose job is killed: Snakemake tries again, and it goes on where it stopped."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image
from test_workflow import clone, environment

pytestmark = pytest.mark.workflow
FILMS = 16


def films(folder: Path) -> Path:
    """Images without a chest, large enough to take a while, and their index."""
    rng = np.random.default_rng(0)
    (folder / "images").mkdir(parents=True)
    for number in range(FILMS):
        grey = rng.integers(0, 255, (1200, 1000), dtype=np.uint8)
        Image.fromarray(grey).save(folder / "images" / f"film{number:02d}.png")
    names = "".join(f"film{n:02d}\n" for n in range(FILMS))
    (folder / "index.csv").write_text("image_id\n" + names, encoding="utf-8")
    return folder


def segmenting(folder: Path) -> list[int]:
    """Processes that run segment_anatomy in ``folder``."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            inside = (entry / "cwd").resolve() == folder.resolve()
        except OSError:  # it has ended, or is not ours
            continue
        if inside and len(words) > 1 and words[1].endswith(b"/segment_anatomy.py"):
            found.append(int(entry.name))
    return found


def test_snakemake_tries_a_killed_shard_again_where_it_stopped(tmp_path: Path) -> None:
    folder = clone(tmp_path / "clone")
    path = folder / "config" / "datasets" / "jsrt.yaml"
    text = path.read_text(encoding="utf-8").replace("count: 2", "count: 1")
    path.write_text(text, encoding="utf-8")
    made = "results/jsrt/segment_anatomy/0"
    arguments = ["-m", "snakemake", "--cores", "1", "--retries", "1", f"{made}.status.parquet"]
    arguments += ["--config", "dataset=jsrt", f"images={films(tmp_path / 'films')}"]
    run = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    journal = folder / f"{made}.journal"
    deadline = time.monotonic() + 180
    while not journal.exists() or journal.read_bytes().count(b"\n") < 2:
        assert run.poll() is None, (run.stdout.read() if run.stdout else "")[-3000:]
        assert time.monotonic() < deadline
        time.sleep(0.01)
    for process in segmenting(folder):
        os.kill(process, signal.SIGKILL)
    output, _ = run.communicate(timeout=300)
    assert run.returncode == 0, output[-3000:]
    known = re.search(rf"(\d+) of {FILMS} images are known", output)
    assert known, output[-3000:]
    assert 2 <= int(known[1]) < FILMS
    assert pl.read_parquet(folder / f"{made}.status.parquet").height == FILMS
    assert not journal.exists()
