"""vLLM inside this process: ``LLM.chat`` over sub-batches (paper Sec. E.1.2).

The library is imported with the first question, never before: the base installation has no torch.
Structured output is a switch of each request and no guarantee: white space is forbidden on the
engine, since forbidding it in a request has no effect.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

from cxrqba.errors import UserError
from cxrqba.llm.messages import Reply, Request


class VllmBackend:
    """One engine for all requests; ``options`` go to ``vllm.LLM`` as they are."""

    name = "vllm"

    def __init__(self, folder: str, options: dict[str, Any] | None = None):
        self._folder = folder
        self._options = options or {}
        self._vllm: Any = None
        self._engine: Any = None

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Replies of one sub-batch; a request the engine refuses does not take others with it."""
        if not requests:
            return
        self._start()
        try:
            yield from enumerate(self._chat(requests))
            return
        except ValueError as error:
            refused = error
        if len(requests) == 1:
            yield 0, Reply(failure=type(refused).__name__, permanent=True)
            return
        for index, request in enumerate(requests):
            for _, reply in self.ask([request]):
                yield index, reply

    def close(self) -> None:
        """Let go of the engine."""
        self._engine = None

    def _start(self) -> None:
        if self._engine is not None:
            return
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        try:
            self._vllm = importlib.import_module("vllm")
        except ImportError as error:
            raise UserError(
                f"llm.backend vllm: {error}; install vllm into the environment of this rule, or "
                "choose backend endpoint"
            ) from None
        whitespace = {"backend": "guidance", "disable_any_whitespace": True}
        options = {"enable_prefix_caching": True, "structured_outputs_config": whitespace}
        try:
            self._engine = self._vllm.LLM(model=self._folder, **{**options, **self._options})
        except Exception as error:
            raise UserError(
                f"llm.model: vLLM cannot start with '{self._folder}' ({type(error).__name__}); "
                "see its messages above"
            ) from None

    def _chat(self, requests: Sequence[Request]) -> list[Reply]:
        conversations = [[m.model_dump() for m in request.messages] for request in requests]
        try:
            outputs = self._engine.chat(
                conversations,
                sampling_params=[self._sampling(request) for request in requests],
                use_tqdm=False,
            )
        except ValueError:
            raise
        except Exception as error:
            raise UserError(
                f"vLLM stopped ({type(error).__name__}); run again: what was answered is kept"
            ) from None
        return [_reply(output) for output in outputs]

    def _sampling(self, request: Request) -> Any:
        structured = None
        if request.structured and request.shape is not None:
            module = importlib.import_module("vllm.sampling_params")
            structured = module.StructuredOutputsParams(json=request.shape)
        return self._vllm.SamplingParams(
            **request.sampling.model_dump(), structured_outputs=structured
        )


def _reply(output: Any) -> Reply:
    answer = output.outputs[0]
    return Reply(
        text=answer.text,
        finish_reason=answer.finish_reason,
        prompt_tokens=len(output.prompt_token_ids or ()),
        cached_tokens=output.num_cached_tokens,
        output_tokens=len(answer.token_ids),
    )
