"""The durable store of responses: append only, keyed by request and attempt.

``<folder>/<pass>/<shard>.jsonl`` holds one response a line. Files are never an output of a rule, so
that no rerun deletes them: an answer was paid for. A file has one writer, who holds its lease; what
a killed writer left of its last line is dropped. Lines are flushed to disk by sub-batch.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import socket
from collections.abc import Container, Iterable
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from cxrqba.errors import UserError
from cxrqba.llm.messages import Reply, Request, Status

log = logging.getLogger("cxrqba")

Index = dict[tuple[str, int], "Response"]
"""(request key, attempt) -> response."""


class Response(BaseModel):
    """One call of a model as it is kept: who was asked what how, and the raw text."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    key: str
    attempt: int
    status: Status
    backend: str
    model: str
    revision: str | None
    sampling: dict[str, Any]
    reply: Reply

    @classmethod
    def of(
        cls,
        request: Request,
        attempt: int,
        status: Status,
        backend: str,
        asked: Request,
        reply: Reply,
    ) -> Response:
        """The response to ``asked``, which is ``request`` itself or its second attempt."""
        return cls(
            key=request.key,
            attempt=attempt,
            status=status,
            backend=backend,
            model=request.model,
            revision=request.revision,
            sampling=asked.sampling.model_dump(),
            reply=reply,
        )


def stored(paths: Iterable[Path], wanted: Container[str]) -> Index:
    """Responses of the request keys ``wanted`` in files of the store; the first of each counts."""
    found: Index = {}
    for path in paths:
        damaged = 0
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break  # torn: its writer was killed
                try:
                    raw = json.loads(line)
                    if raw["key"] in wanted:
                        response = Response.model_validate(raw)
                        found.setdefault((response.key, response.attempt), response)
                except (ValueError, KeyError, TypeError, ValidationError):
                    damaged += 1
        if damaged:
            log.warning("%s: %d damaged lines are not used; they are asked again", path, damaged)
    return found


def files(folder: Path) -> list[Path]:
    """All files of the store below ``folder``."""
    return sorted(folder.rglob("*.jsonl"))


class Writer:
    """``with Writer(path) as out: out.add(responses)``: the one writer of a file."""

    def __init__(self, path: Path):
        self.path = path
        self._lease = path.with_suffix(".lease")

    def __enter__(self) -> Writer:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock: IO[str] = self._lease.open("a+", encoding="utf-8")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.seek(0)
            holder = self._lock.read().strip() or "another job"
            self._lock.close()
            raise UserError(
                f"{self.path}: {holder} is writing it; wait for that job or end it"
            ) from None
        self._lock.truncate(0)
        self._lock.write(_holder())
        self._lock.flush()
        self._file = self.path.open("ab")
        _drop_torn_line(self.path)
        return self

    def add(self, responses: Iterable[Response]) -> None:
        """Append and flush to disk."""
        lines = [response.model_dump_json() + "\n" for response in responses]
        self._file.write("".join(lines).encode())
        self._file.flush()
        os.fsync(self._file.fileno())

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._lock.truncate(0)
        self._lock.close()


def _holder() -> str:
    job = os.environ.get("SLURM_JOB_ID")
    of_job = f"job {job}, " if job else ""
    return f"{of_job}process {os.getpid()} on {socket.gethostname()}"


def _drop_torn_line(path: Path) -> None:
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        at = end
        while at > 0:
            start = max(0, at - 65_536)
            file.seek(start)
            newline = file.read(at - start).rfind(b"\n")
            if newline >= 0:
                at = start + newline + 1
                break
            at = start
        if at < end:
            log.warning("%s: the last line was cut off by a kill and is asked again", path)
            file.truncate(at)
