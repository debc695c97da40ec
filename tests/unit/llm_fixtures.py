"""A faulty OpenAI-compatible server, and a stand-in for vllm with its interface."""

from __future__ import annotations

import json
import sys
import threading
import time
import types
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cxrqba.llm.messages import Reply, Request, Sampling, chat

SHAPE: dict[str, Any] = {
    "type": "object",
    "required": ["items"],
    "properties": {"items": {"type": "array", "items": {"type": "object"}}},
}
GOOD = '{"items": []}'


def request(text: str = "Lungs are clear.", **changes: Any) -> Request:
    messages = chat("Answer in JSON.", [("a", GOOD)], text)
    return Request(messages=messages, model="tiny", shape=SHAPE, **changes)


class FakeServer:
    """Answers by ``faults``: the last message names one, else GOOD. ``seen`` counts messages."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.models: list[str] | None = ["tiny"]
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                data = [{"id": m} for m in outer.models or []]
                self.send(200 if outer.models is not None else 404, json.dumps({"data": data}))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer._lock:
                    outer._now += 1
                    outer.most_at_once = max(outer.most_at_once, outer._now)
                    outer.bodies.append(body)
                    fault = body["messages"][-1]["content"]
                    outer.seen[fault] += 1
                try:
                    outer.answer(self, fault, body)
                except OSError:
                    pass  # the client gave up
                finally:
                    with outer._lock:
                        outer._now -= 1

            def send(self, status: int, text: str, length: int | None = None) -> None:
                data = text.encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data) if length is None else length))
                self.end_headers()
                self.wfile.write(data)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def answer(self, handler: Any, fault: str, body: dict[str, Any]) -> None:
        if fault.startswith("http"):
            handler.send(int(fault[4:7]), "{}")
        elif fault == "once 500" and self.seen[fault] == 1:
            handler.send(500, "{}")
        elif fault == "hang":
            time.sleep(3)
        elif fault == "drip":
            handler.send(200, "", 1_000)
            for _ in range(30):
                handler.wfile.write(b" ")
                handler.wfile.flush()
                time.sleep(0.1)
        elif fault == "half json":
            handler.send(200, '{"choices": [{"mess')
        elif fault == "no choices":
            handler.send(200, '{"choices": []}')
        elif fault == "closes":
            handler.send(200, '{"choices"', 500)
        elif fault == "slow":
            time.sleep(0.05)
            handler.send(200, _body(GOOD))
        elif fault == "filter":
            handler.send(200, _body("", "content_filter"))
        elif fault == "prose":
            handler.send(200, _body("The lungs are clear."))
        elif fault == "cut":
            done = body["max_tokens"] > 1024
            handler.send(200, _body(GOOD if done else GOOD[:8], "stop" if done else "length"))
        else:
            handler.send(200, _body(GOOD))

    def __enter__(self) -> FakeServer:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _body(text: str, reason: str = "stop") -> str:
    choice = {"message": {"content": text}, "finish_reason": reason}
    usage = {
        "prompt_tokens": 30,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 16},
    }
    return json.dumps({"choices": [choice], "usage": usage})


@contextmanager
def fake_vllm(answer: Any = lambda conversation: GOOD) -> Iterator[types.ModuleType]:
    """A module ``vllm`` with the calls we make; a conversation of 'too long' is refused."""
    module = types.ModuleType("vllm")
    params = types.ModuleType("vllm.sampling_params")
    module.started = []  # type: ignore[attr-defined]

    class LLM:
        def __init__(self, model: str, **options: Any):
            if model == "broken":
                raise RuntimeError("no such folder")
            module.started.append((model, options))  # type: ignore[attr-defined]

        def chat(
            self, conversations: list[Any], sampling_params: list[Any], use_tqdm: bool
        ) -> list[Any]:
            assert len(conversations) == len(sampling_params)
            if any(c[-1]["content"] == "too long" for c in conversations):
                raise ValueError("prompt is longer than the model")
            if any(c[-1]["content"] == "dies" for c in conversations):
                raise RuntimeError("engine is dead")
            return [_output(answer(c)) for c in conversations]

    module.LLM = LLM  # type: ignore[attr-defined]
    module.SamplingParams = lambda **keys: types.SimpleNamespace(**keys)  # type: ignore[attr-defined]
    params.StructuredOutputsParams = lambda **keys: types.SimpleNamespace(**keys)  # type: ignore[attr-defined]
    before = {name: sys.modules.get(name) for name in ("vllm", "vllm.sampling_params")}
    sys.modules.update({"vllm": module, "vllm.sampling_params": params})
    try:
        yield module
    finally:
        for name, old in before.items():
            if old is None:
                del sys.modules[name]
            else:
                sys.modules[name] = old


def _output(text: str) -> Any:
    answer = types.SimpleNamespace(text=text, finish_reason="stop", token_ids=[1, 2])
    return types.SimpleNamespace(outputs=[answer], prompt_token_ids=[1] * 9, num_cached_tokens=0)


class Counting:
    """A backend that counts what it is asked and answers by a function of the last message."""

    name = "counting"

    def __init__(self, answer: Any = lambda text: GOOD):
        self.asked: list[Request] = []
        self.made = 0
        self._answer = answer

    def __call__(self) -> Counting:
        self.made += 1
        return self

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        for index, asked in enumerate(requests):
            self.asked.append(asked)
            found = self._answer(asked.messages[-1].content)
            yield index, found if isinstance(found, Reply) else Reply(text=found)

    def close(self) -> None:
        pass


__all__ = ["GOOD", "SHAPE", "Counting", "FakeServer", "Sampling", "fake_vllm", "request"]
