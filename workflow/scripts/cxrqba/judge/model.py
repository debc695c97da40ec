"""A language model as judge: requests of views, recovery, verdicts (paper Sec. E.3, E.4.2).

A view whose answers cannot be used is not given up: it is asked once more in a shorter form, with
the instructions of its criterion alone, and then of a second judge if there is one. Each verdict
says who gave it, and the shares that remain unrated after each round are counted (the paper lost
19.6 % of its pairs to answers that could not be parsed).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cxrqba.judge.prompts import Prompts, View
from cxrqba.judge.replies import parse_reply, reply_schema
from cxrqba.judge.verdict import Verdict
from cxrqba.llm.messages import USABLE, Message, Request, Sampling
from cxrqba.llm.store import Response

CODE_TOKENS = 6
"""Most tokens a code takes in a reply: quotes, comma, white space; SPARE are for what is around."""
SPARE_TOKENS = 32

Ask = Callable[[Sequence[Request]], Mapping[str, Response]]
"""Requests -> final response by request key; what was never answered may be absent."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model that judges: backend and name as they stand in judgements."""

    backend: str
    model: str
    revision: str | None = None
    structured: bool = False

    @property
    def name(self) -> str:
        """``vllm/Llama-3.1-8B-Instruct@revision``."""
        return f"{self.backend}/{self.model}" + (f"@{self.revision}" if self.revision else "")

    def request(self, prompts: Prompts, shown: View, *, short: bool = False) -> Request:
        """The request of a view; ``short``: in the form of the second round."""
        messages = prompts.render_short(shown) if short else prompts.render(shown)
        return Request(
            messages=tuple(Message.model_validate(m) for m in messages),
            model=self.model,
            revision=self.revision,
            sampling=Sampling(max_tokens=SPARE_TOKENS + CODE_TOKENS * shown.count),
            shape=reply_schema(shown.criterion, shown.count),
            structured=self.structured,
        )


@dataclass(frozen=True, slots=True)
class Round:
    """One way of asking: a model, and in which form."""

    model: Model
    short: bool = False

    @property
    def judge(self) -> str:
        """The name verdicts of this round carry."""
        return f"{self.model.name} (short)" if self.short else self.model.name


def rounds(first: Model, second: Model | None = None) -> tuple[Round, ...]:
    """The rounds of a judge: as planned, shorter, then the second judge."""
    own = (Round(first), Round(first, short=True))
    return (*own, Round(second)) if second else own


class ModelJudge:
    """Verdicts of a model, once its views are answered."""

    def __init__(self, verdicts: Mapping[str, Verdict]):
        self._verdicts = verdicts

    def judge(self, shown: View) -> Verdict:
        """The verdict on a view; one that was never asked is missing."""
        if not shown.count:  # no parts: nothing to ask
            return Verdict((), "ok", "")
        missing = Verdict(None, "missing_response", "")
        return self._verdicts.get(shown.key, missing)


@dataclass(frozen=True, slots=True)
class Recovery:
    """How many views there were, and how many had no levels after each round."""

    views: int
    unrated: tuple[int, ...]

    def shares(self) -> tuple[float, ...]:
        """Unrated share after each round; NaN-free: nothing asked is nothing unrated."""
        return tuple(n / self.views if self.views else 0.0 for n in self.unrated)


def answered(
    views: Iterable[View], prompts: Prompts, ways: Sequence[Round], ask: Ask
) -> tuple[dict[str, Verdict], Recovery]:
    """Ask all views, and what failed again by the next of ``ways``; view key -> verdict.

    ``ask`` is called once a round, with the requests of the views that have no levels yet. A view
    that no round answers keeps the status of the first.
    """
    waiting = {shown.key: shown for shown in views if shown.count}
    total = len(waiting)
    verdicts: dict[str, Verdict] = {}
    unrated = []
    for way in ways:
        requests = {
            key: way.model.request(prompts, shown, short=way.short)
            for key, shown in waiting.items()
        }
        responses = ask(list(requests.values())) if requests else {}
        for key, request in requests.items():
            verdict = _verdict(responses.get(request.key), waiting[key], way.judge)
            if verdict.levels is not None or key not in verdicts:
                verdicts[key] = verdict
        waiting = {k: v for k, v in waiting.items() if verdicts[k].levels is None}
        unrated.append(len(waiting))
    return verdicts, Recovery(total, tuple(unrated))


def _verdict(response: Response | None, shown: View, judge: str) -> Verdict:
    if response is None:
        return Verdict(None, "missing_response", judge)
    if response.reply.failure is not None or response.status in ("refused", "missing_response"):
        return Verdict(None, response.status, judge)
    finish = response.reply.finish_reason or "stop"
    parsed = parse_reply(response.reply.text, shown.criterion, shown.count, finish)
    repaired = parsed.levels is not None and response.status in USABLE and response.attempt > 1
    return Verdict(parsed.levels, "repaired" if repaired else parsed.status, judge)
