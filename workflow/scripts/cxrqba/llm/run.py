"""One step that asks: from a table of requests to a table of receipts (paper Sec. E.1.2)."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from pathlib import Path

import polars as pl

from cxrqba.config import PassesConfig
from cxrqba.errors import UserError
from cxrqba.llm.backends import Backend, DummyBackend, ReplayBackend
from cxrqba.llm.endpoint import EndpointBackend, Limits
from cxrqba.llm.infer import check_bad_rate, infer
from cxrqba.llm.messages import Reply, Request
from cxrqba.llm.offline import VllmBackend
from cxrqba.llm.store import Index, Response, files, stored
from cxrqba.schema import RECEIPTS
from cxrqba.tables import frame

log = logging.getLogger("cxrqba")

_NAMED = ("key", "attempt", "status", "digest")


def store_of(table: Path) -> Path:
    """The store of responses of the results folder that a step's table lies in."""
    return table.parent.parent / "responses"


def backend_of(config: PassesConfig) -> Callable[[], Backend]:
    """Makes the configured backend when it is needed."""
    if config.backend == "endpoint":
        limits = Limits(config.concurrency, config.timeout, config.tries)
        return lambda: EndpointBackend(config.url or "", limits, config.key_env)
    if config.backend == "vllm":
        return lambda: VllmBackend(config.folder or config.model or "", config.engine)
    if config.backend == "dummy":
        return lambda: DummyBackend.from_file(config.canned)
    return ReplayBackend


def answer(
    requests: pl.DataFrame, config: PassesConfig, store: Path, name: str, shard: str
) -> pl.DataFrame:
    """RECEIPTS of all requests; ``<store>/<name>/<shard>.jsonl`` receives what was missing.

    A shard in quarantine is not asked for and never fails. Raises :class:`UserError` above the bad
    rate of the configuration.
    """
    quarantined = shard in config.quarantine
    asked = [Request.model_validate_json(text) for text in requests["request"]]
    outcome = infer(
        asked,
        store,
        store / name / f"{shard}.jsonl",
        ReplayBackend if quarantined else backend_of(config),
        sub_batch=config.sub_batch,
        everywhere=config.backend == "replay",
    )
    counts = sorted(outcome.statuses.items()) + sorted(outcome.faults.items())
    told = ", ".join(f"{count} {kind}" for kind, count in counts)
    log.info("%s: %d requests, %d calls now; %s", shard, len(asked), outcome.calls, told or "none")
    if not quarantined:
        check_bad_rate(outcome, shard, config.max_bad)
    return frame([_receipt(r) for _, r in sorted(outcome.responses.items())], RECEIPTS)


def _receipt(response: Response) -> dict[str, object]:
    reply = response.reply
    return {
        "key": response.key,
        "attempt": response.attempt,
        "status": response.status,
        "digest": _digest(reply.text),
        "finish_reason": reply.finish_reason,
        "prompt_tokens": reply.prompt_tokens,
        "cached_tokens": reply.cached_tokens,
        "output_tokens": reply.output_tokens,
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def answers_of(requests: pl.DataFrame, receipts: pl.DataFrame, path: Path) -> dict[str, Response]:
    """Request key -> the response that its receipt, of the table ``path``, names.

    :class:`UserError` if it is gone. The shard's own file is looked through first.
    """
    wanted = {k: Request.model_validate_json(r) for k, r in requests["key", "request"].iter_rows()}
    named = {row[0]: row[1:] for row in receipts.select(_NAMED).iter_rows() if row[0] in wanted}
    store, shard = store_of(path), path.name.partition(".")[0]
    index: Index = {}
    for file in sorted(files(store), key=lambda p: p.stem != shard):
        if any((key, attempt) not in index for key, (attempt, *_) in named.items()):
            index = stored([file], named) | index
    found: dict[str, Response] = {}
    for key, (attempt, status, digest) in named.items():
        response = index.get((key, attempt))
        if status == "missing_response":
            reply = Reply(failure=status)
            response = Response.of(wanted[key], attempt, status, "none", wanted[key], reply)
        if response is None or _digest(response.reply.text) != digest:
            raise UserError(
                f"{store}: the answer to request {key[:16]} is gone or was changed; bring the "
                "folder back, or delete the receipts of the infer step to ask again"
            )
        found[key] = response
    return found
