"""What a run was made with, as short hashes: code of steps, reference tables, templates, prompts.

The same values stand in run.json and in explanations, so that both can be compared.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cxrqba.checksum import sha256
from cxrqba.provenance.code import code_hash

RESOURCES = {
    "reference": "resources/reference",
    "templates": "resources/templates",
    "judge": "resources/judge",
}
"""Name -> folder of definitions that decide results."""

PROMPTS = "resources/prompts"


def folder_hash(folder: Path) -> str:
    """16 hex digits over names and contents of the files below ``folder``; empty: no such files."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and not _is_hidden(p, folder))
    if not files:
        return ""
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(folder).as_posix()}\0{sha256(path)}\n".encode())
    return digest.hexdigest()[:16]


def one_hash(project: Path, kind: str, name: str) -> str:
    """Hash of the code of a step, of a folder of definitions or of a prompt; empty: there is none.

    A prompt is instructions, examples and schema; code is a script with all modules it imports.
    """
    if kind == "code":
        script = project / "workflow" / "scripts" / f"{name}.py"
        return code_hash(script) if script.is_file() else ""
    place = RESOURCES.get(name) if kind == "resources" else f"{PROMPTS}/{name}"
    return folder_hash(project / place) if place else ""


def versions(project: Path) -> dict[str, dict[str, str]]:
    """Kind -> name -> hash, as run.json holds them."""
    scripts = sorted(p.stem for p in (project / "workflow" / "scripts").glob("*.py"))
    prompts = sorted(p.name for p in (project / PROMPTS).glob("*") if p.is_dir())
    names = {"code": scripts, "resources": sorted(RESOURCES), "prompts": prompts}
    return {kind: {n: one_hash(project, kind, n) for n in ns} for kind, ns in names.items()}


def recorded(results: Path) -> dict[str, Any]:
    """The run's record; empty if none was written."""
    path = results / "provenance" / "run.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


class Cited:
    """Hashes of now, beside those that the run recorded where they differ."""

    def __init__(self, project: Path, results: Path):
        self._project, self._recorded = project, recorded(results)
        self._now: dict[tuple[str, str], str] = {}

    def cite(self, kind: str, names: Iterable[str]) -> str:
        """``name HASH`` of each, joined by commas; a hash that changed since the run says so."""
        return ", ".join(self._one(kind, name) for name in names)

    def _one(self, kind: str, name: str) -> str:
        if (kind, name) not in self._now:
            self._now[kind, name] = one_hash(self._project, kind, name)
        now = self._now[kind, name]
        then = self._recorded.get(kind, {}).get(name, now)
        changed = "" if then == now else f" (the run used {then})"
        return f"{name} {now or 'absent'}{changed}"


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith((".", "__")) for part in path.relative_to(folder).parts)
