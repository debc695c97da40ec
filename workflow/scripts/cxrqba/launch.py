"""Starting Snakemake so that a killed run is recovered from and a live one is respected.

Snakemake's lock survives a kill, and it cannot tell a dead holder from a live one. Here a run
writes who it is beside the lock; a later run removes the lock only if that process is gone.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml

from cxrqba.config import load_config
from cxrqba.errors import UserError

HOLDER = Path(".snakemake") / "cxrqba-run.json"
LOCKS = Path(".snakemake") / "locks"


def run(arguments: list[str], folder: Path) -> int:
    """Run snakemake in ``folder`` with ``--cores all`` unless told otherwise; return its status."""
    if not (folder / "Snakefile").is_file():
        raise UserError(f"{folder}: no Snakefile here; run this in the project's top folder")
    holder = live_holder(folder)
    if holder:
        raise UserError(
            f"another run holds the lock of this folder: {holder}; wait for it or stop it first"
        )
    if not any(a == "-c" or a.startswith(("--cores", "-c=")) for a in arguments):
        arguments = ["--cores", "all", *arguments]
    snakemake = [sys.executable, "-m", "snakemake"]
    if _locked(folder):
        print("A killed run left its lock; removing it and going on where it stopped.", flush=True)
        subprocess.run([*snakemake, "--unlock", "--quiet"], cwd=folder, check=True)
    started = time.monotonic()
    status = _run_as_holder([*snakemake, *arguments], folder)
    if status == 0 and not _only_plans(arguments):
        _report(arguments, folder, time.monotonic() - started)
    return status


def live_holder(folder: Path) -> str | None:
    """Describe the live run that works in ``folder``, or return None.

    Raises :class:`UserError` if a run of another machine is on record, whose life cannot be seen
    from here.
    """
    record = _record(folder)
    if record and record["host"] != socket.gethostname() and _locked(folder):
        raise UserError(
            f"a run of {record['user']} on {record['host']} (process {record['pid']}, started "
            f"{record['started']}) holds the lock of this folder; if it is gone, delete "
            f"{folder / HOLDER} and run again"
        )
    if record and record["host"] == socket.gethostname() and _alive(record["pid"], record["birth"]):
        return f"process {record['pid']} of {record['user']}, started {record['started']}"
    return _other_snakemake(folder)


def _run_as_holder(command: list[str], folder: Path) -> int:
    path = folder / HOLDER
    path.parent.mkdir(exist_ok=True)
    record = {
        "pid": os.getpid(),
        "birth": _birth(os.getpid()),
        "host": socket.gethostname(),
        "user": os.environ.get("USER") or str(os.getuid()),
        "started": time.strftime("%Y-%m-%d %H:%M:%S"),
    }
    try:
        with path.open("x", encoding="utf-8") as file:
            json.dump(record, file)
    except FileExistsError:  # a dead run's record: live ones were refused above
        path.write_text(json.dumps(record), encoding="utf-8")
    try:
        return subprocess.run(command, cwd=folder, check=False).returncode
    finally:
        path.unlink(missing_ok=True)


def _record(folder: Path) -> dict[str, Any] | None:
    try:
        record = json.loads((folder / HOLDER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    keys = {"pid", "birth", "host", "user", "started"}
    return record if isinstance(record, dict) and keys <= record.keys() else None


def _locked(folder: Path) -> bool:
    locks = folder / LOCKS
    return locks.is_dir() and any(locks.iterdir())


def _birth(pid: int) -> str | None:
    """Start time of a process in clock ticks since boot: a pid may have been used again."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[19]


def _alive(pid: int, birth: str | None) -> bool:
    now = _birth(pid)
    return now is not None and now == birth


def _other_snakemake(folder: Path) -> str | None:
    """A snakemake process that was started in ``folder`` without this command."""
    if not _locked(folder):
        return None
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            same_folder = (entry / "cwd").resolve() == folder.resolve()
        except OSError:
            continue
        is_snakemake = (
            any(Path(w).name == "snakemake" for w in words[:3]) or "snakemake" in words[:4]
        )
        if same_folder and is_snakemake and int(entry.name) != os.getpid():
            return f"process {entry.name} ({' '.join(words[:6]).strip()})"
    return None


def _only_plans(arguments: list[str]) -> bool:
    plans = {"-n", "--dry-run", "--dryrun", "--lint", "--dag", "--rulegraph", "--report", "--help"}
    return any(a.split("=")[0] in plans for a in arguments)


def _report(arguments: list[str], folder: Path, seconds: float) -> None:
    """Print the run's summary and how long it took."""
    raw = yaml.safe_load((folder / "config" / "config.yaml").read_text(encoding="utf-8"))
    run_config, dataset = load_config({**raw, **_given(arguments)}, folder)
    summary = folder / run_config.results / dataset.name / "summary.txt"
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
