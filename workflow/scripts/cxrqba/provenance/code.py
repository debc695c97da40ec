"""Which code a script runs: its import closure inside the project, as one hash.

Snakemake sees neither imported modules nor, for shell commands, the script itself. Each rule
passes this hash as a parameter, so that an edit of any module a step really imports reruns that
step and no other, while touching files, switching branches or a fresh clone reruns nothing.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from pathlib import Path

PACKAGE = "cxrqba"

# Reading the import statements alone is ten times as fast as parsing, and every run, dry run and
# cluster job waits for it. A line of a docstring that looks like one only widens the closure.
_IMPORT = re.compile(
    rf"^[ \t]*(?:import (?P<module>{PACKAGE}[\w.]*)"
    rf"|from (?P<source>{PACKAGE}[\w.]*) import (?P<names>\((?:#[^\n]*|[^)#])*\)|[^\n]*))",
    re.MULTILINE,
)
_REMARK = re.compile(r"#[^\n]*")
_NAME = re.compile(r"\w+")


def import_closure(script: Path) -> list[Path]:
    """Return ``script`` and every package module it imports, directly or not, sorted."""
    found = {script}
    waiting = [script]
    while waiting:
        new = _read(waiting.pop(), script.parent)[1] - found
        found |= new
        waiting += new
    return sorted(found)


def code_hash(script: Path) -> str:
    """Return 16 hex digits over the names and contents of the script's import closure."""
    digest = hashlib.sha256()
    for path in import_closure(script):
        digest.update(path.relative_to(script.parent).as_posix().encode())
        digest.update(_read(path, script.parent)[0])
    return digest.hexdigest()[:16]


def folder_hash(folder: Path, suffixes: tuple[str, ...]) -> str:
    """Return 16 hex digits over the names and contents of the files of ``folder`` itself."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.iterdir() if p.suffix in suffixes):
        digest.update(path.name.encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


@lru_cache(maxsize=1024)
def _read(path: Path, root: Path) -> tuple[bytes, frozenset[Path]]:
    """Digest of a file and the files below ``root`` that it imports, read once a process."""
    content = path.read_bytes()
    modules: set[str] = set()
    for match in _IMPORT.finditer(content.decode()):
        module, imported = match["module"] or match["source"], match["names"]
        words = _NAME.findall(_REMARK.sub("", imported or ""))
        modules.update([module, *(f"{module}.{word}" for word in words)])
    files = {file for module in modules for file in _files(root, module)}
    return hashlib.sha256(content).digest(), frozenset(files)


@lru_cache(maxsize=4096)
def _files(root: Path, module: str) -> list[Path]:
    """Files that importing ``module`` runs: the module and the packages above it."""
    parts = module.split(".")
    packages = [root.joinpath(*parts[:n], "__init__.py") for n in range(1, len(parts) + 1)]
    return [p for p in [*packages, root.joinpath(*parts).with_suffix(".py")] if p.is_file()]
