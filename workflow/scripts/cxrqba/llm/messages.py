"""Requests and replies: the two things every backend and the store of responses agree on.

A request is all that decides an answer: messages, sampling, schema, model and revision. Its key is
the sha256 of these, so that the same request is never asked twice, whoever renders it and whatever
the shards are (paper Sec. 3.1, E.1.2).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Status = Literal[
    "ok",
    "repaired",
    "truncated",
    "invalid_json",
    "schema_error",
    "refused",
    "missing_response",
    "error",
]
USABLE: tuple[Status, ...] = ("ok", "repaired")
"""Statuses of answers that are read; of all others the raw text is kept and nothing is read."""


class Message(BaseModel):
    """One turn of a chat."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Literal["system", "user", "assistant"]
    content: str


class Sampling(BaseModel):
    """How tokens are drawn; ``max_tokens`` bounds the output."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float = 0.0
    max_tokens: int = 1024
    seed: int = 0


class Request(BaseModel):
    """What a model is asked; ``shape`` is the JSON schema of the answer, ``structured`` forces it.

    Enforced or not, an answer is checked against the outermost level of ``shape``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    messages: tuple[Message, ...]
    model: str
    revision: str | None = None
    sampling: Sampling = Sampling()
    shape: dict[str, Any] | None = None
    structured: bool = False

    @property
    def key(self) -> str:
        """64 hex digits over everything that decides the answer."""
        text = json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Reply(BaseModel):
    """What came back for one request: raw text, why it ended, token counts where they are known.

    ``failure`` is set where there is no answer at all: ``permanent`` says that asking again is
    useless (the server refused this very request), otherwise a later run asks again.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = ""
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    failure: str | None = None
    permanent: bool = False


def chat(system: str, turns: Sequence[tuple[str, str]], last: str) -> tuple[Message, ...]:
    """Static text first: system, few-shot turns as (user, assistant), then what is asked."""
    messages = [Message(role="system", content=system)]
    for user, assistant in turns:
        messages.append(Message(role="user", content=user))
        messages.append(Message(role="assistant", content=assistant))
    return (*messages, Message(role="user", content=last))
