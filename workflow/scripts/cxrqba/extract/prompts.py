"""Prompts of the three passes: what a model is shown, static text first (paper Sec. E.1.2).

``resources/prompts/<pass>/`` holds instructions, few-shot examples and the JSON schema of the
answer. Instructions and examples are the same for all reports and come first, so that a server with
prefix caching computes them once; what is asked about comes last. Report text is framed, and cannot
close its own frame.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from cxrqba.config import AskingConfig
from cxrqba.errors import UserError
from cxrqba.extract.indication_records import IndicationRecord
from cxrqba.extract.observation_record import read_record
from cxrqba.extract.repair import Repairs
from cxrqba.extract.sentence_records import SentenceRecord
from cxrqba.llm.messages import Request, Sampling, chat

PASSES = ("sentences", "observations", "indication")
FEW_SHOT_LEAST = 4
_FRAME = "====="
_RULE = re.compile(r"={5,}")

Sentences = Mapping[str, str]
"""Sentence id -> text."""


class Example(BaseModel):
    """A few-shot example: what is shown and what is answered."""

    model_config = ConfigDict(extra="forbid")

    report: str | None = None
    sentences: dict[str, str] | None = None
    asking: dict[str, str] | None = None
    told: dict[str, str] | None = None
    reply: dict[str, Any]

    def shown(self) -> str:
        """The user turn."""
        if self.report is not None:
            return show_report(self.report)
        if self.sentences is not None:
            return show_sentences(self.sentences)
        return show_indication(self.asking or {}, self.told or {})


def show_report(report: str) -> str:
    """What the sentence pass is asked about."""
    return f"{_FRAME}\n{_data(report)}\n{_FRAME}"


def show_sentences(sentences: Sentences) -> str:
    """What the observation pass is asked about."""
    return "\n".join([_FRAME, *_lines(sentences), _FRAME])


def show_indication(asking: Sentences, told: Sentences) -> str:
    """What the indication pass is asked about."""
    lines = [_FRAME, "asking:", *_lines(asking), "telling:", *_lines(told), _FRAME]
    return "\n".join(lines)


def _lines(sentences: Sentences) -> list[str]:
    return [f"{key}: {_data(' '.join(text.split()))}" for key, text in sentences.items()]


def _data(text: str) -> str:
    return _RULE.sub("= = =", text.strip())


@dataclass(frozen=True)
class Prompt:
    """The static part of a pass and the schema of its answer."""

    system: str
    turns: Sequence[tuple[str, str]]
    shape: dict[str, Any]

    def ask(self, shown: str, asking: AskingConfig) -> Request:
        """The request about ``shown``."""
        return Request(
            messages=chat(self.system, self.turns, shown),
            model=asking.model or "",
            revision=asking.revision,
            sampling=Sampling(temperature=asking.temperature, max_tokens=asking.max_tokens),
            shape=self.shape,
            structured=asking.structured,
        )


def load_prompt(folder: str | Path, name: str) -> Prompt:
    """Read and check the prompt of a pass; :class:`UserError` names file and example."""
    at = Path(folder) / name
    path = at / "few_shot.json"
    raw = _json(path)
    if not isinstance(raw, list) or len(raw) < FEW_SHOT_LEAST:
        raise UserError(f"{path}: a list of at least {FEW_SHOT_LEAST} examples is expected")
    turns = []
    for number, one in enumerate(raw, start=1):
        try:
            example = Example.model_validate(one)
        except ValidationError as error:
            raise UserError(f"{path}, example {number}: {error.errors()[0]['msg']}") from None
        repairs = repairs_needed(name, example.reply)
        if repairs:
            raise UserError(f"{path}, example {number}: the reply needs {', '.join(repairs)}")
        turns.append((example.shown(), compact(example.reply)))
    return Prompt(_text(at / "system.txt"), turns, _json(at / "schema.json"))


def repairs_needed(name: str, reply: Mapping[str, Any]) -> list[str]:
    """Kinds of repair the parser's own models need for a reply; an example needs none."""
    repairs = Repairs()
    if name == "sentences":
        for record in reply["sentences"]:
            SentenceRecord.model_validate(record, context=repairs)
    elif name == "observations":
        waiting = list(reply["observations"])
        while waiting:
            _, children, _, _ = read_record(waiting.pop(), repairs)
            waiting += children
    else:
        record = IndicationRecord.model_validate(reply, context=repairs)
        if record.answer_for_indication is not None:
            read_record(record.answer_for_indication, repairs)
    return repairs.kinds


def compact(value: Any) -> str:
    """JSON without blanks: what the model shall imitate costs few tokens."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise UserError(
            f"{path}: no such file, or not UTF-8 text; it is part of a prompt"
        ) from None


def _json(path: Path) -> Any:
    try:
        return json.loads(_text(path))
    except ValueError:
        raise UserError(f"{path}: not valid JSON") from None
