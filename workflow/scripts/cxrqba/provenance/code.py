"""Which code a script runs: its import closure inside the project, as one hash.

Snakemake sees neither imported modules nor, for shell commands, the script itself. Each rule
passes this hash as a parameter, so that an edit of any module a step really imports reruns that
step and no other, while touching files, switching branches or a fresh clone reruns nothing.
"""

from __future__ import annotations

import ast
import hashlib
from functools import lru_cache
from pathlib import Path

PACKAGE = "cxrqba"


def import_closure(script: Path) -> list[Path]:
    """Return ``script`` and every package module it imports, directly or not, sorted."""
    root = script.parent
    found = {script}
    waiting = [script]
    while waiting:
        for module in _imported(waiting.pop()):
            for path in _files(root, module):
                if path not in found:
                    found.add(path)
                    waiting.append(path)
    return sorted(found)


def code_hash(script: Path) -> str:
    """Return 16 hex digits over the names and contents of the script's import closure."""
    digest = hashlib.sha256()
    for path in import_closure(script):
        digest.update(path.relative_to(script.parent).as_posix().encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


@lru_cache(maxsize=1024)
def _imported(path: Path) -> frozenset[str]:
    """Dotted names of package modules and of names imported from them."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes(), filename=str(path))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(n for n in names if n == PACKAGE or n.startswith(PACKAGE + "."))


def _files(root: Path, module: str) -> list[Path]:
    """Files that importing ``module`` runs: the module and the packages above it."""
    parts = module.split(".")
    packages = [root.joinpath(*parts[:n], "__init__.py") for n in range(1, len(parts) + 1)]
    return [p for p in [*packages, root.joinpath(*parts).with_suffix(".py")] if p.is_file()]
