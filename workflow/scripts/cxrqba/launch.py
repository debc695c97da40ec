"""Starting Snakemake so that a killed run is recovered from and a live one is respected.

Snakemake's lock survives a kill, and it cannot tell a dead holder from a live one. Here a run
writes who it is beside the lock; a later run removes the lock only if that process is gone.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import yaml

from cxrqba.config import load_config
from cxrqba.errors import UserError

HOLDER = Path(".snakemake") / "cxrqba-run.json"
LOCKS = Path(".snakemake") / "locks"

OWN_SUMMARY = {"labels": "labels/summary.txt", "worklist": "worklist/summary.txt"}
"""Targets that say by themselves what they made."""


def run(arguments: list[str], folder: Path) -> int:
    """Run snakemake in ``folder`` with ``--cores all`` unless told otherwise; return its status."""
    if not (folder / "Snakefile").is_file():
        raise UserError(f"{folder}: no Snakefile here; run this in the project's top folder")
    if not any(a == "-c" or a.startswith(("--cores", "-c=")) for a in arguments):
        arguments = ["--cores", "all", *arguments]
    command = [sys.executable, "-m", "snakemake", *arguments]
    if _only_plans(arguments):  # needs no lock, and leaves that of others alone
        return subprocess.run(command, cwd=folder, check=False).returncode
    started = time.monotonic()
    with _held(folder):
        if _locked(folder):
            print(
                "A killed run left its lock; removing it and going on where it stopped.", flush=True
            )
            _unlock(folder)
        status = subprocess.run(command, cwd=folder, check=False).returncode
    if status == 0:
        _report(arguments, folder, time.monotonic() - started)
    return status


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold the folder for one run; :class:`UserError` names who holds it already.

    The operating system drops the hold when this process ends, however it ends.
    """
    path = folder / HOLDER
    path.parent.mkdir(exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        record = _record(path)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _busy(_described(record)) from None
        if _locked(folder):
            other = _snakemake_in(folder)
            if other:
                raise _busy(other)
            if record is None or record["host"] != socket.gethostname():
                raise UserError(
                    f"a run holds the lock of this folder: {_described(record)}; it cannot be seen "
                    f"from here. If it is gone, run {Path(sys.executable).parent}/snakemake "
                    f"--unlock, delete {path} and run again"
                )
        _write_record(file)
        yield
        file.truncate(0)


def _busy(holder: str) -> UserError:
    return UserError(
        f"another run holds the lock of this folder: {holder}; wait for it or stop it first"
    )


def _write_record(file: TextIO) -> None:
    file.truncate(0)
    record = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "user": os.environ.get("USER") or str(os.getuid()),
        "started": time.strftime("%Y-%m-%d %H:%M:%S"),
    }
    json.dump(record, file)
    file.flush()


def _record(path: Path) -> dict[str, Any] | None:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    keys = {"pid", "host", "user", "started"}
    return record if isinstance(record, dict) and keys <= record.keys() else None


def _described(record: dict[str, Any] | None) -> str:
    if record is None:
        return "a snakemake started by hand, or a run that has just started"
    return "process {pid} of {user} on {host}, started {started}".format(**record)


def _locked(folder: Path) -> bool:
    locks = folder / LOCKS
    return locks.is_dir() and any(locks.iterdir())


def _unlock(folder: Path) -> None:
    """Remove the lock as ``snakemake --unlock`` does, which first reads the configuration."""
    for path in (folder / LOCKS).iterdir():
        path.unlink(missing_ok=True)


def _snakemake_in(folder: Path) -> str | None:
    """A live snakemake process that works in ``folder``, whoever started it."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            same_folder = (entry / "cwd").resolve() == folder.resolve()
        except OSError:
            continue
        if same_folder and any(Path(word).name == "snakemake" for word in words[:4]):
            return f"process {entry.name} ({' '.join(words[:6]).strip()})"
    return None


def _only_plans(arguments: list[str]) -> bool:
    plans = {"-n", "--dry-run", "--dryrun", "--lint", "--dag", "--rulegraph", "--report", "--help"}
    plans |= {"-h", "--version", "-l", "--list", "--list-rules", "-s", "--summary", "--unlock"}
    return any(a.split("=")[0] in plans for a in arguments)


def _report(arguments: list[str], folder: Path, seconds: float) -> None:
    """Print the run's summary and how long it took."""
    raw = yaml.safe_load((folder / "config" / "config.yaml").read_text(encoding="utf-8"))
    run_config, dataset = load_config({**raw, **_given(arguments)}, folder)
    asked = [name for name in OWN_SUMMARY if name in arguments]
    for place in [OWN_SUMMARY[name] for name in asked] or ["summary.txt"]:
        summary = folder / run_config.results / dataset.name / place
        if summary.is_file():
            print(summary.read_text(encoding="utf-8"))
    print(f"Took {seconds:.0f} s.")


def _given(arguments: list[str]) -> dict[str, Any]:
    """The ``key=value`` pairs after ``--config``."""
    given: dict[str, Any] = {}
    inside = False
    for argument in arguments:
        if argument in ("--config", "-C"):
            inside = True
        elif argument.startswith("-"):
            inside = False
        elif inside and "=" in argument:
            key, _, value = argument.partition("=")
            given[key] = yaml.safe_load(value)
    return given
