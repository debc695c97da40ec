"""Any OpenAI-compatible server: bounded concurrency, time-outs, back-off (paper Sec. E.1.2).

Built on the standard library alone. Each request has a deadline over all it does, so that a server
that hangs, or sends a byte a minute, costs that long and no more. What may pass (refused
connections, 429, 5xx, half an answer) is tried again with growing pauses; what the server refuses
for good (400, 413, 422) is an answer of its own kind; a wrong model or key ends the job.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from cxrqba.errors import UserError, nearest
from cxrqba.llm.messages import Reply, Request

MAX_BYTES = 16_000_000
"""A longer body is given up: a model that repeats itself must not fill the memory."""

DEAD_AFTER = 20
"""So many requests in a row without any answer, each tried to the end, and the server is dead."""

MAX_PAUSE = 60.0
_REFUSED = (400, 413, 422)
_NO_ACCESS = (401, 403)


@dataclass(frozen=True, slots=True)
class Limits:
    """Requests at once, seconds a try may take, tries of a request, first pause in seconds."""

    concurrency: int = 32
    timeout: float = 300.0
    tries: int = 5
    pause: float = 1.0


class _PassingError(Exception):
    """A fault that may pass; its text is a kind, never content."""


class EndpointBackend:
    """Asks ``<url>/chat/completions``; ``key_env`` names the variable that holds the key."""

    name = "endpoint"

    def __init__(self, url: str, limits: Limits | None = None, key_env: str | None = None):
        parts = urlsplit(url.rstrip("/"))
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UserError(f"llm.url: '{url}' is no address such as http://127.0.0.1:8000/v1")
        self.url, self._parts = url.rstrip("/"), parts
        self.limits = limits or Limits()
        self._headers = {"Content-Type": "application/json"}
        if key_env:
            if not os.environ.get(key_env):
                raise UserError(f"llm.key_env: the environment variable {key_env} is not set")
            self._headers["Authorization"] = f"Bearer {os.environ[key_env]}"
        self._models: set[str] | None = None
        self._silent = 0
        self._lock = threading.Lock()

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Replies as they come."""
        if not requests:
            return
        self._check_model(requests[0].model)
        pool = ThreadPoolExecutor(self.limits.concurrency)
        try:
            futures = {pool.submit(self._one, r): i for i, r in enumerate(requests)}
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Connections end with their requests."""

    def _one(self, request: Request) -> Reply:
        body = json.dumps(_payload(request)).encode("utf-8", "replace")
        kind = "no_try"
        for number in range(self.limits.tries):
            if number:
                time.sleep(self._pause(number))
            try:
                status, content = self._call("POST", "/chat/completions", body)
                reply = self._read(status, content, request.model)
            except _PassingError as fault:
                kind = str(fault)
                continue
            with self._lock:
                self._silent = 0
            return reply
        with self._lock:
            self._silent += 1
            silent = self._silent
        if silent >= DEAD_AFTER:
            raise UserError(
                f"{self.url}: {silent} requests in a row were not answered (last: {kind}); start "
                "the server again, then run again: what was answered is kept"
            )
        return Reply(failure=kind)

    def _pause(self, number: int) -> float:
        """Seconds before the next try; spread, so that not all come back at once."""
        longest = min(MAX_PAUSE, self.limits.pause * 2.0 ** (number - 1))
        return longest * random.uniform(0.5, 1.0)

    def _read(self, status: int, content: bytes, model: str) -> Reply:
        if status in _NO_ACCESS:
            raise UserError(f"{self.url}: no access (HTTP {status}); set llm.key_env")
        if status == 404:
            raise UserError(f"{self.url}: HTTP 404; no model '{model}' there, or llm.url is wrong")
        if status in _REFUSED:
            return Reply(failure=f"http_{status}", permanent=True)
        if status != 200:
            raise _PassingError(f"http_{status}")
        try:
            return _reply(json.loads(content))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            raise _PassingError("unreadable_body") from None

    def _check_model(self, model: str) -> None:
        """The names a server lists must hold ours: some servers answer under any name."""
        if self._models is None:
            try:
                status, content = self._call("GET", "/models", None)
                found = json.loads(content)["data"] if status == 200 else []
                self._models = {str(entry["id"]) for entry in found}
            except (_PassingError, ValueError, KeyError, TypeError):
                self._models = set()
        if self._models and model not in self._models:
            hint = nearest(model, self._models)
            raise UserError(f"{self.url}: no model '{model}' there{hint}; see llm.model")

    def _call(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        """(status, body) within the time-out; :class:`_PassingError` for what the network does."""
        deadline = time.monotonic() + self.limits.timeout
        host, port = str(self._parts.hostname), self._parts.port
        connection: http.client.HTTPConnection
        if self._parts.scheme == "https":
            context = ssl.create_default_context()
            connection = http.client.HTTPSConnection(
                host, port, timeout=self.limits.timeout, context=context
            )
        else:
            connection = http.client.HTTPConnection(host, port, timeout=self.limits.timeout)
        try:
            connection.request(method, self._parts.path + path, body, self._headers)
            response = connection.getresponse()
            parts: list[bytes] = []
            size = 0
            while chunk := response.read1(65_536):
                parts.append(chunk)
                size += len(chunk)
                if size > MAX_BYTES:
                    raise _PassingError("endless_body")
                if time.monotonic() > deadline:
                    raise _PassingError("timeout")
            if response.length:
                raise _PassingError("closed_early")
            return response.status, b"".join(parts)
        except TimeoutError:
            raise _PassingError("timeout") from None
        except (OSError, http.client.HTTPException) as error:
            raise _PassingError(type(error).__name__) from None
        finally:
            connection.close()


def _payload(request: Request) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "model": request.model,
        "messages": [message.model_dump() for message in request.messages],
        **request.sampling.model_dump(),
    }
    if request.structured and request.shape is not None:
        schema = {"name": "answer", "schema": request.shape, "strict": True}
        payload["response_format"] = {"type": "json_schema", "json_schema": schema}
    return payload


def _reply(body: Any) -> Reply:
    choice = body["choices"][0]
    message = choice["message"]
    usage = body.get("usage") or {}
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
    refusal = message.get("refusal")
    text = refusal or message.get("content") or ""
    if not isinstance(text, str):
        raise TypeError
    reason = choice.get("finish_reason")
    return Reply(
        text=text.encode("utf-8", "replace").decode(),
        finish_reason="content_filter" if refusal else None if reason is None else str(reason),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        cached_tokens=_count(cached),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None
