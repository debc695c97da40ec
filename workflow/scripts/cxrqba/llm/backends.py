"""The interface of a backend, and the two that need no server: replay and dummy.

``backend.ask(requests)`` yields ``(index, reply)`` in any order, each index once; a backend never
raises for a single request (it yields a reply with ``failure``), and raises
:class:`~cxrqba.errors.UserError` where going on is useless: no engine, no such model, no access.
Nothing is loaded or connected before the first ``ask``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from cxrqba.errors import UserError
from cxrqba.llm.messages import Reply, Request


class Backend(Protocol):
    """Answers requests."""

    name: str

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """(index into ``requests``, reply) of each, in any order."""
        ...

    def close(self) -> None:
        """Free what was loaded."""
        ...


class ReplayBackend:
    """Knows stored responses only: what was not stored is missing and is never asked."""

    name = "replay"

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """The store was looked through before: whatever comes here is missing."""
        for index in range(len(requests)):
            yield index, Reply(failure="missing_response")

    def close(self) -> None:
        """Nothing is loaded."""


class DummyBackend:
    """Canned answers by request key; any other request gets the emptiest answer of its shape."""

    name = "dummy"

    def __init__(self, canned: Mapping[str, str] | None = None):
        self._canned = canned or {}

    @classmethod
    def from_file(cls, path: str | Path | None) -> DummyBackend:
        """Canned answers of a JSON object: request key -> text."""
        if path is None:
            return cls()
        try:
            found = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise UserError(
                f"{path}: no JSON object of canned answers; mend it or leave out llm.canned"
            ) from None
        if not isinstance(found, dict):
            raise UserError(f"{path}: a JSON object (request key -> answer) is expected")
        return cls({str(key): str(text) for key, text in found.items()})

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Answers in order."""
        for index, request in enumerate(requests):
            text = self._canned.get(request.key)
            if text is None:
                text = json.dumps(emptiest(request.shape or {"type": "object"}))
            yield index, Reply(text=text, finish_reason="stop", output_tokens=len(text) // 4)

    def close(self) -> None:
        """Nothing is loaded."""


def emptiest(shape: Mapping[str, Any]) -> Any:
    """The smallest value of a JSON schema: empty lists and texts, required keys alone."""
    if "enum" in shape:
        return shape["enum"][0]
    kind = shape.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        keys = shape.get("required", ())
        return {key: emptiest(shape["properties"][key]) for key in keys}
    if kind == "array":
        return [emptiest(shape["items"]) for _ in range(shape.get("minItems", 0))]
    return {"string": "", "boolean": False, "null": None}.get(str(kind), 0)
