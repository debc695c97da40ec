"""Before the queue: does what a run needs exist? One line a thing, in under a minute.

Nothing is read whole but the list of studies; of reports and images the first few are tried.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import yaml

from cxrqba.config import DatasetConfig, RunConfig, load_config
from cxrqba.errors import UserError
from cxrqba.reports.listing import ImageEntry
from cxrqba.reports.readers import READERS

TRIED = 20
"""Reports and images opened to see that the paths lead somewhere."""

DISK_PER_STUDY = 60_000
"""Bytes of results a study, most of it questions and masks (docs/scaling.md)."""


@dataclass(frozen=True)
class Finding:
    """One thing looked at: what, whether it will do, and what was seen or what to do."""

    what: str
    good: bool
    text: str

    def __str__(self) -> str:
        return f"{'ok ' if self.good else 'BAD'}  {self.what}: {self.text}"


def check(dataset: str, results: str, profile: str | None, folder: Path) -> Iterator[Finding]:
    """Look at everything a run of ``dataset`` in ``folder`` needs; ``profile``: a folder or none.

    A configuration that cannot be read raises :class:`UserError`.
    """
    run, block = load_config({"dataset": dataset, "results": results}, folder)
    shards = block.shard_names()
    yield Finding("configuration", True, f"{block.name}, {len(shards)} shards")
    studies = yield from _source(block)
    yield from _references(block, run)
    yield from _models(block)
    yield from _gpus(block)
    yield _space(folder / run.results, studies)
    if profile is not None:
        yield from _profile(folder / profile / "config.yaml", _gpus_wanted(block) > 0)


def _source(block: DatasetConfig) -> Generator[Finding, None, int]:
    """Yields what was seen of studies and images; returns the number of studies."""
    if block.phantoms:
        yield Finding("images", True, "drawn by the run itself")
    try:
        listed, pictures = READERS[type(block.source)](block.source)
        entries = list(listed)
    except UserError as error:
        yield Finding("source", False, str(error))
        return 0
    bad = _unreadable(entry.load for entry in entries[:TRIED] if entry.load is not None)
    tried = min(TRIED, len(entries))
    text = f"{len(entries)} studies" + (
        f"; of the first {tried}, {bad} reports fail" if bad else ""
    )
    yield Finding("source", bool(entries) and bad < tried, text if entries else "no study listed")
    if not block.phantoms and getattr(block.source, "images", None):
        yield _images(pictures)
    return len(entries)


def _unreadable(loads: Iterable[Callable[[], str]]) -> int:
    count = 0
    for load in loads:
        try:
            load()
        except (OSError, ValueError):
            count += 1
    return count


def _images(pictures: Iterable[ImageEntry]) -> Finding:
    try:
        paths = [Path(image.path) for image in islice(pictures, TRIED)]
    except UserError as error:
        return Finding("images", False, str(error))
    missing = [path for path in paths if not path.is_file()]
    if missing or not paths:
        text = f"{missing[0]} is missing" if missing else "none is listed"
        return Finding("images", False, f"{text}; correct source.images or complete the download")
    return Finding("images", True, f"the first {len(paths)} exist")


def _references(block: DatasetConfig, run: RunConfig) -> Iterator[Finding]:
    made = f"{run.results}/{block.name}"
    for kind, references in block.references(made).items():
        for reference in references:
            named = [reference.get(key) for key in ("path", "observations", "split", "names")]
            paths = [path for path in named if path and not str(path).startswith(made)]
            gone = [path for path in paths if not Path(path).exists()]
            text = (
                f"no {gone[0]}; correct evaluate.{kind}, or remove the entry" if gone else "found"
            )
            yield Finding(f"evaluate.{kind} '{reference['name']}'", not gone, text)


def _models(block: DatasetConfig) -> Iterator[Finding]:
    wanted = {
        "segmentation.weights": (block.segmentation.backend == "cxas", block.segmentation.files()),
        "sentences.model": (block.sentences.backend == "stanza", block.sentences.files()),
        "embedding.model": (
            block.embedding.backend == "sentence_transformers",
            block.embedding.files(),
        ),
    }
    for key, (needed, files) in wanted.items():
        if needed:
            gone = "no file of it here; nothing is downloaded at run time, copy it to shared disk"
            yield Finding(key, bool(files), f"{len(files)} files" if files else gone)
    if block.llm.backend == "vllm":
        place = Path(block.llm.folder or str(block.llm.model))
        text = str(place) if place.is_dir() else f"no folder {place}; copy the model to shared disk"
        yield Finding("llm.folder", place.is_dir(), text)


def _gpus_wanted(block: DatasetConfig) -> int:
    return max(block.segmentation.gpus, block.llm.gpus, block.embedding.gpus)


def _gpus(block: DatasetConfig) -> Iterator[Finding]:
    if not _gpus_wanted(block):
        yield Finding("GPU", True, "none is needed by these backends")
        return
    lines = _output("nvidia-smi", "-L")
    here = f"{len(lines.splitlines())} here" if lines else "none here: the nodes must have them"
    yield Finding("GPU", True, here)


def _space(results: Path, studies: int) -> Finding:
    place = results
    while not place.exists():
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        return Finding("space", False, f"{place}: {error.strerror}; set results to another folder")
    free, need = shutil.disk_usage(place).free, studies * DISK_PER_STUDY
    quota = _output("quota", "-s", "--no-wrap")
    text = f"{free / 1e9:.0f} GB free at {place}, about {need / 1e9:.1f} GB needed"
    if quota:
        text += "; you have a quota here: compare `quota -s`"
    return Finding("space", free > need, text)


def _profile(path: Path, gpus: bool) -> Iterator[Finding]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError:
        yield Finding("profile", False, f"no {path}; copy slurm/config.yaml there")
        return
    except yaml.YAMLError:
        yield Finding("profile", False, f"{path}: not valid YAML")
        return
    if not shutil.which("sbatch"):
        yield Finding("profile", False, "no sbatch here; log in to a node that can submit jobs")
        return
    resources = content.get("default-resources") or {}
    partitions = {name.strip("* ") for name in _output("sinfo", "-h", "-o", "%P").split()}
    if not partitions:
        yield Finding("profile", False, "sinfo does not answer; is the controller up?")
        return
    partition = str(resources.get("slurm_partition", "")).strip("'\"")
    known = ", ".join(sorted(partitions))
    if partition and partition not in partitions:
        yield Finding("partition", False, f"'{partition}' is none of {known}; correct {path}")
    else:
        yield Finding("partition", True, partition or f"the site's default of {known}")
    if not content.get("slurm-status-command") and not _sacct_works():
        yield Finding(
            "job status",
            False,
            f"sacct does not answer: jobs would never end; in {path} set "
            "slurm-status-command: squeue",
        )
    if gpus and not any("gpu" in key for key in (content.get("resources") or {})):
        yield Finding("profile", False, f"no `resources: gpu` in {path}: GPU jobs are not capped")


def _sacct_works() -> bool:
    try:
        done = subprocess.run(
            ["sacct", "-n", "-X", "-S", "now-1hours"], capture_output=True, timeout=15, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and b"disabled" not in done.stderr


def _output(*command: str) -> str:
    """What a program prints; empty where it is missing, fails or takes 15 s."""
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=15, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
