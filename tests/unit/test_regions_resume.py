"""A killed shard goes on at the image where it stopped; nothing stale is taken, nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from cxrqba.config import SegmentationConfig
from cxrqba.errors import UserError
from cxrqba.regions import segment as module
from cxrqba.regions.backends import Film, Finding
from cxrqba.regions.crops import Crop
from cxrqba.regions.engine import Anatomy
from cxrqba.regions.journal import Journal
from cxrqba.regions.segment import Outputs, Recipe, segment
from cxrqba.schema import IMAGES
from cxrqba.tables import frame, write_table

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "resources" / "reference"
TABLES = ("boxes", "masks", "status", "ledger")


class FakeBackend:
    """Finds the same lung in every film and counts the films; may die at one of them."""

    def __init__(self, dies_at: int | None = None, batch_size: int = 1):
        self.seen: list[str] = []
        self.dies_at = dies_at
        self.batch_size = batch_size

    def sources(self, row: object) -> list[Path]:
        return []

    def find(self, films: Sequence[Film]) -> list[Finding]:
        if len(self.seen) == self.dies_at:
            raise KeyboardInterrupt
        self.seen.extend(film.row["image_id"] for film in films)
        lung = Crop(np.ones((6, 4), dtype=bool), 5, 5)
        return [Finding(Anatomy("frontal", {"left lung": lung}, (20, 20))) for _ in films]


def films(folder: Path, number: int) -> pl.DataFrame:
    rows = []
    for index in range(number):
        path = folder / f"{index:03d}.png"
        Image.new("L", (40, 40), index % 200).save(path)
        rows.append({"study_id": "s1", "image_id": path.stem, "path": str(path)})
    return frame(rows, IMAGES)


def run(
    images: pl.DataFrame,
    folder: Path,
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
    code: str = "code",
    **settings: Any,
) -> list[bytes]:
    monkeypatch.setattr(module, "_backend", lambda recipe, regions: backend)
    outputs = Outputs(*(folder / f"{name}.parquet" for name in TABLES))
    recipe = Recipe(SegmentationConfig.model_validate(settings), REFERENCE, code)
    segment(images, recipe, outputs, folder / "journal")
    return [(folder / f"{name}.parquet").read_bytes() for name in TABLES]


def interrupted(images: pl.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that has done four images when it ends."""
    backend = FakeBackend(dies_at=4)
    with pytest.raises(KeyboardInterrupt):
        run(images, folder, backend, monkeypatch)
    assert len(backend.seen) == 4
    assert not (folder / "boxes.parquet").exists()


def test_a_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = films(tmp_path, 9)
    whole = run(images, tmp_path, FakeBackend(), monkeypatch)
    for name in TABLES:
        (tmp_path / f"{name}.parquet").unlink()
    interrupted(images, tmp_path, monkeypatch)
    backend = FakeBackend(batch_size=3)
    assert run(images, tmp_path, backend, monkeypatch) == whole
    assert backend.seen == [f"{n:03d}" for n in range(4, 9)]
    assert not (tmp_path / "journal").exists()


@pytest.mark.parametrize("changed", [{"min_area": 3.0}, {"code": "other"}])
def test_other_settings_or_code_start_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any]
) -> None:
    images = films(tmp_path, 6)
    interrupted(images, tmp_path, monkeypatch)
    backend = FakeBackend()
    run(images, tmp_path, backend, monkeypatch, **changed)
    assert len(backend.seen) == 6


def test_a_repaired_image_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = films(tmp_path, 6)
    (tmp_path / "001.png").write_bytes(b"broken")
    backend = FakeBackend(dies_at=3)
    with pytest.raises(KeyboardInterrupt):
        run(images, tmp_path, backend, monkeypatch)
    Image.new("L", (40, 40), 9).save(tmp_path / "001.png")
    backend = FakeBackend()
    run(images, tmp_path, backend, monkeypatch)
    assert backend.seen == ["001", "004", "005"]


def test_a_torn_last_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Journal(path) as journal:
        journal.add("a", {"x": 1})
        journal.add("b", {"x": 2})
    whole = path.read_bytes()
    for cut in range(1, len(whole) // 2):
        path.write_bytes(whole[:-cut])
        with Journal(path) as journal:
            assert "a" in journal
            assert "b" not in journal
            journal.add("b", {"x": 3})
            assert (journal.get("a"), journal.get("b")) == ({"x": 1}, {"x": 3})


@pytest.mark.parametrize("rubbish", [b"\0" * 50, b"[1]\n", b'{"a": 1}\n', b"\xff\n"])
def test_what_is_no_journal_line_ends_it(tmp_path: Path, rubbish: bytes) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b'["a",{"x":1}]\n' + rubbish)
    with Journal(path) as journal:
        assert journal.get("a") == {"x": 1}
    assert path.read_bytes() == b'["a",{"x":1}]\n'


def test_two_runs_do_not_write_one_shard(tmp_path: Path) -> None:
    with (
        Journal(tmp_path / "journal"),
        pytest.raises(UserError, match="another run"),
        Journal(tmp_path / "journal"),
    ):
        pass


def test_memory_does_not_grow_with_the_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PIECE", 8)
    images = films(tmp_path, 48)
    peaks = []
    for number in (16, 48):
        tracemalloc.start()
        run(images.head(number), tmp_path, FakeBackend(), monkeypatch)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_shard_that_is_killed_or_out_of_time_goes_on(tmp_path: Path, end: signal.Signals) -> None:
    """The real script, ended in the middle of its work: by the kernel, or as Slurm ends a job."""
    rng = np.random.default_rng(0)
    rows = []
    for index in range(12):
        path = tmp_path / f"{index:02d}.png"
        Image.fromarray(rng.integers(0, 255, (300, 260), dtype=np.uint8)).save(path)
        rows.append({"study_id": "s1", "image_id": path.stem, "path": str(path)})
    write_table(frame(rows, IMAGES), tmp_path / "images.parquet", IMAGES)
    script = ROOT / "workflow" / "scripts" / "segment_anatomy.py"
    arguments = ["--images", "images.parquet", "--reference", str(REFERENCE), "--shard", "7"]
    for name in TABLES:
        arguments += [f"--{name}", f"{name}.parquet"]
    job = subprocess.Popen([sys.executable, script, *arguments], cwd=tmp_path)
    journal = tmp_path / "7.journal"
    deadline = time.monotonic() + 120
    while _lines(journal) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    job.send_signal(end)
    assert job.wait() != 0
    done = _lines(journal)
    assert 2 <= done < 12
    assert not (tmp_path / "boxes.parquet").exists()
    again = subprocess.run(
        [sys.executable, script, *arguments],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"{done} of 12 images are known" in again.stderr
    assert pl.read_parquet(tmp_path / "status.parquet").height == 12
    assert not journal.exists()


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0
