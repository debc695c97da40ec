"""SHA256SUMS over the results of a run, in the format of ``sha256sum``.

Folders that are made by name, after or beside a run, are no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cxrqba.checksum import sha256
from cxrqba.errors import UserError

SUMS = "provenance/SHA256SUMS"
BY_NAME = frozenset(
    ("label_studies", "labels", "plan_judge", "release", "release_shard", "review_sheet", "show",
     "sweep_mapping", "worklist")
)  # fmt: skip
"""Folders of the results that are asked for by name: made, remade and removed at will."""

_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


@dataclass(frozen=True, order=True)
class Fault:
    """Something that is not as it was recorded or derived; ``what`` never quotes a report."""

    file: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


def result_files(results: Path) -> list[str]:
    """Files of a run relative to ``results``, sorted; without SHA256SUMS itself."""
    found = (p for p in results.rglob("*") if p.is_file())
    names = (p.relative_to(results) for p in found)
    kept = (n for n in names if n.parts[0] not in BY_NAME and not _is_hidden(n))
    return sorted(n.as_posix() for n in kept if n.as_posix() != SUMS)


def sums(results: Path) -> str:
    """The text of SHA256SUMS."""
    lines = (f"{sha256(results / name)}  {name}\n" for name in result_files(results))
    return "".join(lines)


def read_sums(path: Path) -> dict[str, str]:
    """File -> checksum; :class:`UserError` for a line that is none."""
    if not path.is_file():
        raise UserError(f"{path}: not made yet; run the workflow, which writes it last")
    found: dict[str, str] = {}
    text = path.read_bytes().decode("utf-8", "replace")
    for number, line in enumerate(text.splitlines(), start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise UserError(f"{path}, line {number}: no checksum and file name; it was changed")
        found[match[2]] = match[1]
    return found


def check_sums(results: Path) -> Iterator[Fault]:
    """Files that changed, are gone or came in since the run was recorded."""
    known = read_sums(results / SUMS)
    there = set(result_files(results))
    for name in sorted(known.keys() | there):
        if name not in there:
            yield Fault(name, "is gone; bring it back or run again")
        elif name not in known:
            yield Fault(name, f"is not in {SUMS}; it is no part of the recorded run")
        elif sha256(results / name) != known[name]:
            yield Fault(name, f"its bytes are not those of {SUMS}")


def _is_hidden(name: Path) -> bool:
    return any(part.startswith(".") for part in name.parts)
