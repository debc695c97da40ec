"""Asking what is missing: the loop between requests, the store and a backend.

Answers are judged here only as far as a second attempt depends on it: whether they are JSON, of the
asked shape at the outermost level, cut off, or refused. One repair attempt follows an unreadable
answer, one longer attempt an answer that was cut off (paper Sec. E.1.2 counts what remains as parse
errors). A failed connection is not stored: the next run asks again.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cxrqba.errors import UserError
from cxrqba.llm.backends import Backend
from cxrqba.llm.loose_json import loads
from cxrqba.llm.messages import USABLE, Message, Reply, Request, Status
from cxrqba.llm.store import Index, Response, Writer, files, stored

log = logging.getLogger("cxrqba")

ATTEMPTS = 2
LONGER = 2
"""An answer that was cut off is given this many times the tokens."""

ECHO = 4_000
"""Characters of an unreadable answer that the repair attempt is shown."""

_AGAIN = (
    "That was not the JSON asked for. Answer once more, with the JSON alone: no other words, no "
    "code fence, no empty lines."
)


@dataclass
class Outcome:
    """Final response of each request key, and how many calls this run made."""

    responses: dict[str, Response] = field(default_factory=dict)
    calls: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    """Kind of fault -> calls of this run that had no answer at all."""

    @property
    def statuses(self) -> Counter[str]:
        """Status -> number of requests."""
        return Counter(response.status for response in self.responses.values())

    @property
    def bad_rate(self) -> float:
        """Share of requests without a usable answer."""
        bad = sum(count for status, count in self.statuses.items() if status not in USABLE)
        return bad / max(1, len(self.responses))


def status_of(reply: Reply, shape: Mapping[str, Any] | None) -> Status:
    """How far a reply can be read; ``shape`` is checked at its outermost level."""
    if reply.failure is not None:
        return "missing_response" if reply.failure == "missing_response" else "error"
    if reply.finish_reason == "content_filter":
        return "refused"
    loaded = loads(reply.text)
    if reply.finish_reason == "length" and loaded.status != "ok":
        return "truncated"
    if loaded.status == "invalid_json":
        return "invalid_json"
    if loaded.status == "truncated":
        return "truncated"
    if shape is not None and not _fits(loaded.value, shape):
        return "schema_error"
    return "ok" if loaded.status == "ok" else "repaired"


def _fits(value: Any, shape: Mapping[str, Any]) -> bool:
    required = shape.get("required", ())
    if isinstance(value, list):
        return len(required) == 1 and shape["properties"][required[0]].get("type") == "array"
    return isinstance(value, dict) and all(key in value for key in required)


def second_attempt(request: Request, first: Response) -> Request | None:
    """What is asked after an unusable first answer; None if a second is of no use."""
    if first.status == "truncated":
        longer = request.sampling.max_tokens * LONGER
        sampling = request.sampling.model_copy(update={"max_tokens": longer})
        return request.model_copy(update={"sampling": sampling})
    if first.status in ("invalid_json", "schema_error"):
        messages = (
            *request.messages,
            Message(role="assistant", content=first.reply.text[:ECHO]),
            Message(role="user", content=_AGAIN),
        )
        return request.model_copy(update={"messages": messages})
    return None


def final(index: Index, request: Request) -> Response | None:
    """The response that counts: the second attempt if it is usable, else the first."""
    first, second = (index.get((request.key, n)) for n in (1, 2))
    if second is not None and (second.status in USABLE or first is None):
        return second
    return first


def infer(
    requests: Iterable[Request],
    store: Path,
    path: Path,
    make_backend: Callable[[], Backend],
    *,
    sub_batch: int,
    everywhere: bool = False,
) -> Outcome:
    """Ask all requests that ``path``, a file of the folder ``store``, does not answer yet.

    ``everywhere`` looks through all files of the store (``replay``; other shards than last time).
    The backend is made only if something is missing. Requests with the same key are asked once.
    """
    distinct = {request.key: request for request in requests}
    others = files(store) if everywhere or not path.exists() else [path]
    index = stored(others, distinct)
    outcome = Outcome()
    waiting = _missing(distinct.values(), index)
    if waiting:
        backend = make_backend()
        log.info("%s: %d of %d to ask", backend.name, len(waiting), len(distinct))
        try:
            with Writer(path) as out:
                index |= stored([path], distinct)  # another job may have finished meanwhile
                for _ in range(ATTEMPTS):
                    for batch in _batches(_missing(distinct.values(), index), sub_batch):
                        _ask(batch, backend, index, out, outcome)
        finally:
            backend.close()
    for key, request in distinct.items():
        outcome.responses[key] = final(index, request) or _unanswered(request)
    return outcome


Asked = tuple[Request, int, Request]
"""(request, attempt, what is sent)."""


def _missing(requests: Iterable[Request], index: Index) -> list[Asked]:
    waiting: list[Asked] = []
    for request in requests:
        first = index.get((request.key, 1))
        if first is None:
            waiting.append((request, 1, request))
        elif (request.key, 2) not in index and (again := second_attempt(request, first)):
            waiting.append((request, 2, again))
    return waiting


def _ask(
    batch: Sequence[Asked], backend: Backend, index: Index, out: Writer, outcome: Outcome
) -> None:
    """Ask one sub-batch; what was answered is on disk before the next begins, or if it fails."""
    answered: list[Response] = []
    try:
        for number, reply in backend.ask([sent for _, _, sent in batch]):
            request, attempt, sent = batch[number]
            status = status_of(reply, request.shape)
            if status == "missing_response":
                continue
            outcome.calls += 1
            if reply.failure is not None:
                outcome.faults[reply.failure] += 1
            if reply.failure is not None and not reply.permanent:
                continue
            answered.append(Response.of(request, attempt, status, backend.name, sent, reply))
    finally:
        answered.sort(key=lambda r: (r.key, r.attempt))
        out.add(answered)
        index.update({(r.key, r.attempt): r for r in answered})


def _batches(items: Sequence[Asked], size: int) -> Iterator[Sequence[Asked]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _unanswered(request: Request) -> Response:
    reply = Reply(failure="missing_response")
    return Response.of(request, 1, "missing_response", "none", request, reply)


def check_bad_rate(outcome: Outcome, shard: str, limit: float) -> None:
    """:class:`UserError` if more than ``limit`` of the requests have no usable answer."""
    if outcome.bad_rate > limit:
        counts = sorted(outcome.statuses.items()) + sorted(outcome.faults.items())
        told = ", ".join(f"{n} {kind}" for kind, n in counts)
        raise UserError(
            f"shard {shard}: {outcome.bad_rate:.1%} of the answers cannot be used ({told}), more "
            f"than llm.max_bad ({limit:.1%}); see to the server and run again (only what failed "
            "is asked), or add the shard to llm.quarantine"
        )
