"""run.json: what a run was made of and with, so that it can be told and repeated.

It holds no time: the same inputs, settings, code and packages give the same bytes.
"""

from __future__ import annotations

import json
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba import __version__
from cxrqba.checksum import sha256
from cxrqba.config import DatasetConfig
from cxrqba.provenance.versions import versions

PACKAGE = "cxr-qba"
READ = ("tables", "figures")
"""Folders of the results that people read."""


def run_record(results: Path, project: Path, dataset: DatasetConfig) -> dict[str, Any]:
    """The record of the run whose results lie in ``results``."""
    return {
        "format": 1,
        "dataset": {"name": dataset.name, "title": dataset.title},
        "project": {"version": __version__, **git_state(project)},
        "config": dataset.model_dump(),
        "environment": {"python": platform.python_version(), "packages": packages()},
        **versions(project),
        "models": models(results, dataset),
        "inputs": inputs(project, dataset, results),
        "sources": sources(project),
    }


def to_text(record: dict[str, Any]) -> str:
    """As JSON with sorted keys."""
    return json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def git_state(project: Path) -> dict[str, Any]:
    """Commit, its date and whether tracked files differ from it; all null outside of git."""

    def git(*words: str) -> str | None:
        command = ["git", "-C", str(project), *words]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        return done.stdout.strip()

    status = git("status", "--porcelain", "--untracked-files=no")
    return {
        "commit": git("rev-parse", "HEAD"),
        "committed": git("show", "--no-patch", "--format=%cs", "HEAD"),
        "dirty": None if status is None else bool(status),
    }


def packages() -> dict[str, str]:
    """Versions of the packages that the project names, directly."""
    try:
        required = metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return {}
    names = {_name(r) for r in required if "extra ==" not in r}
    found = {}
    for name in sorted(names):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _name(requirement: str) -> str:
    for end, letter in enumerate(requirement):
        if not (letter.isalnum() or letter in "-_."):
            return requirement[:end]
    return requirement


def models(results: Path, dataset: DatasetConfig) -> dict[str, Any]:
    """Who localised, read, mapped and judged: backend, model, revision, checksums of weights."""
    backend = results / "map_entities" / "backend.json"
    mapping = json.loads(backend.read_text(encoding="utf-8")) if backend.is_file() else None
    llm = dataset.llm
    return {
        "segmentation": {
            "backend": dataset.segmentation.backend,
            "weights": _hashed(dataset.segmentation.files()),
        },
        "sentences": {
            "backend": dataset.sentences.backend,
            "files": _hashed(dataset.sentences.files()),
        },
        "passes": {
            "backend": llm.backend,
            "model": llm.model,
            "revision": llm.revision,
            "temperature": llm.temperature,
        },
        "mapping": mapping,
        "judge": {"backend": dataset.judge.backend},
    }


def inputs(project: Path, dataset: DatasetConfig, results: Path) -> dict[str, dict[str, Any]]:
    """Path -> checksum and size of each file outside the results that decides them.

    The reports of MIMIC-CXR are too many to be listed; their text stands in the studies tables.
    """
    paths = [*dataset.source_files()]
    if dataset.phantoms:
        paths += [dataset.phantoms.images, dataset.phantoms.lesions]
    own = str(results)
    for references in dataset.references(own).values():
        for reference in references:
            keys = ("path", "observations", "split", "names", "sections")
            paths += [p for k in keys if (p := reference.get(k)) and not str(p).startswith(own)]
    paths += [r.path for r in dataset.evaluate.ratings]
    if dataset.qa.statistics != "computed":
        paths.append(dataset.qa.statistics)
    there = sorted({p for p in paths if (project / p).is_file()})
    return {
        p: {"sha256": sha256(project / p), "bytes": (project / p).stat().st_size} for p in there
    }


def sources(project: Path) -> list[dict[str, Any]]:
    """Outside data behind the reference definitions, with their versions."""
    path = project / "resources" / "reference" / "sources.csv"
    return pl.read_csv(path, infer_schema=False).to_dicts() if path.is_file() else []


def _hashed(files: list[str]) -> dict[str, str]:
    return {Path(f).name: sha256(Path(f)) for f in files if Path(f).is_file()}


def read_results(results: Path) -> dict[str, str]:
    """Tables, figures and pages of a run with their checksums."""
    files = [p for folder in READ for p in (results / folder).glob("*") if p.is_file()]
    files += [p for p in (results / "summary.txt", results / "index.html") if p.is_file()]
    return {p.relative_to(results).as_posix(): sha256(p) for p in sorted(files)}
