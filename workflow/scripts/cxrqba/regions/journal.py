"""What is already known of a shard's images, kept beside its outputs until these are complete.

Segmenting the films of MIMIC-CXR takes some 600 GPU-hours; a job may be killed at any image. Each
result is appended to a journal as one line of JSON under a key of everything it depends on; the
next run of the shard finds it there. A last line that was cut off is dropped. One run writes at a
time; a second one stops. Large tables are made from the journal piece by piece, so that memory
does not grow with the shard.
"""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any, BinaryIO

from cxrqba.errors import UserError


class Journal:
    """``with Journal(path) as journal:`` results by key, in a file that survives a kill."""

    def __init__(self, path: Path):
        self.path = path
        self._places: dict[str, tuple[int, int]] = {}  # key -> start and length of its line
        self._file: BinaryIO

    def __enter__(self) -> Journal:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise UserError(
                f"{self.path}: another run is writing this shard; wait for it or end it first"
            ) from None
        self._index()
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def add(self, key: str, result: dict[str, Any]) -> None:
        """Keep a result, a JSON object, under a key."""
        line = json.dumps([key, result], separators=(",", ":")).encode() + b"\n"
        start = self._file.seek(0, 2)
        self._file.write(line)
        self._file.flush()
        self._places[key] = start, len(line)

    def get(self, key: str) -> dict[str, Any]:
        """The result kept under a key."""
        start, length = self._places[key]
        self._file.seek(start)
        result: dict[str, Any] = json.loads(self._file.read(length))[1]
        return result

    def remove(self) -> None:
        """Delete the file: the outputs hold everything now."""
        self.path.unlink(missing_ok=True)

    def _index(self) -> None:
        """Find the lines; cut off what a kill or a full disk left of the last one."""
        self._file.seek(0)
        end = 0
        for line in self._file:
            try:
                key, result = json.loads(line)
            except (ValueError, TypeError):
                break
            if not line.endswith(b"\n") or not isinstance(result, dict):
                break
            self._places[key] = end, len(line)
            end += len(line)
        self._file.truncate(end)
