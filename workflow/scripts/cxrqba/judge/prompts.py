"""Prompts of the judge: what each criterion is shown, static text first (paper Sec. E.3, E.4.2).

A criterion sees exactly its view (Tab. 12): entailment and completeness the report, the question
and the parts; relevance question and parts; the clarities the question or the parts alone. Tags,
identifiers and the graph are out of reach: a view holds texts and nothing else.

A request is the instructions and examples of all criteria that share a view, then the report, the
question, the parts, and last the criterion asked for. So all that comes before the question is the
same for every question of a study, and a server with prefix caching computes it once.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from cxrqba.errors import UserError
from cxrqba.judge.replies import CODES, MODELS, Reply, expected_codes

Message = dict[str, str]
"""``{"role": ..., "content": ...}`` as chat endpoints take it."""

SEES: dict[str, tuple[str, ...]] = {
    "entailment": ("report", "question", "parts"),
    "completeness": ("report", "question", "parts"),
    "relevance": ("question", "parts"),
    "question_clarity": ("question",),
    "answer_clarity": ("parts",),
}
"""criterion -> what it is shown (Tab. 12)."""
NAMES = {criterion: criterion.replace("_", " ") for criterion in SEES}
FEW_SHOT_LEAST = 4
_LINE = "====="
_RULE = re.compile(r"={5,}")


@dataclass(frozen=True, slots=True)
class View:
    """What one request is about; fields the criterion does not see are empty."""

    criterion: str
    report: str
    question: str
    parts: tuple[str, ...]

    @property
    def key(self) -> str:
        """32 hex digits over the texts and the criterion: equal views are asked once."""
        texts = [self.criterion, self.report, self.question, *self.parts]
        return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:32]

    @property
    def count(self) -> int:
        """How many codes a reply holds."""
        return expected_codes(self.criterion, self.parts)


def view(criterion: str, report: str, question: str, parts: Sequence[str]) -> View:
    """The view of a criterion: what it may not see is dropped here."""
    sees = SEES[criterion]
    return View(
        criterion,
        report if "report" in sees else "",
        question if "question" in sees else "",
        tuple(parts) if "parts" in sees else (),
    )


class Example(BaseModel):
    """A few-shot example of ``few_shot.json``; texts the criterion does not see are absent."""

    model_config = ConfigDict(extra="forbid", strict=True)

    report: str = ""
    question: str = ""
    parts: list[str] = []
    reply: Reply


@dataclass(frozen=True)
class Prompts:
    """The judge's prompts, loaded and checked."""

    head: str
    instructions: Mapping[str, str]
    examples: Mapping[str, Sequence[Example]]

    def static(self, criterion: str) -> list[Message]:
        """System message and examples of all criteria that share the view of ``criterion``."""
        shared = [c for c in SEES if SEES[c] == SEES[criterion]]
        system = "\n\n".join([self.head, *(self.instructions[c] for c in shared)])
        messages = [{"role": "system", "content": system}]
        for name in shared:
            for example in self.examples[name]:
                shown = view(name, example.report, example.question, example.parts)
                messages += [
                    {"role": "user", "content": _content(shown)},
                    {"role": "assistant", "content": example.reply.model_dump_json()},
                ]
        return messages

    def render(self, shown: View) -> list[Message]:
        """The whole request of a view."""
        last = {"role": "user", "content": _content(shown)}
        return [*self.static(shown.criterion), last]

    def render_short(self, shown: View) -> list[Message]:
        """The request in a shorter form, for a second try: the criterion's own text alone."""
        system = f"{self.head}\n\n{self.instructions[shown.criterion]}"
        return [
            {"role": "system", "content": system},
            {"role": "user", "content": _content(shown)},
        ]


def load_prompts(folder: str | Path) -> Prompts:
    """Read ``judge/system.txt`` and each ``judge_<criterion>/{system.txt,few_shot.json}``.

    Examples are checked with the model that parses replies; :class:`UserError` names the file.
    """
    folder = Path(folder)
    own = {c: folder / f"judge_{c}" for c in CODES}
    return Prompts(
        _text(folder / "judge" / "system.txt"),
        {c: _text(path / "system.txt") for c, path in own.items()},
        {c: _examples(path / "few_shot.json", c) for c, path in own.items()},
    )


def _content(shown: View) -> str:
    lines = []
    if shown.report:
        lines += [f"{_LINE} report", _data(shown.report), _LINE]
    if shown.question:
        lines.append(f"Question: {_one_line(shown.question)}")
    lines += [f"Part {n}: {_one_line(p)}" for n, p in enumerate(shown.parts, start=1)]
    if "parts" in SEES[shown.criterion] and not shown.parts:
        lines.append("(the answer has no parts)")
    return "\n".join([*lines, f"CRITERION {NAMES[shown.criterion]}"])


def _data(text: str) -> str:
    """A report that cannot close its own frame."""
    return _RULE.sub("= = =", text.strip())


def _one_line(text: str) -> str:
    return _RULE.sub("= = =", " ".join(text.split()))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise UserError(
            f"{path}: no such file, or not UTF-8 text; it belongs to the prompts"
        ) from None


def _examples(path: Path, criterion: str) -> list[Example]:
    try:
        found = json.loads(_text(path))
    except ValueError:
        raise UserError(f"{path}: not valid JSON") from None
    if not isinstance(found, list) or len(found) < FEW_SHOT_LEAST:
        raise UserError(f"{path}: a list of at least {FEW_SHOT_LEAST} examples is expected")
    examples = []
    for number, raw in enumerate(found, start=1):
        where = f"{path}, example {number}"
        try:
            example = Example.model_validate(raw)
            MODELS[criterion].model_validate(raw["reply"])
        except (ValidationError, TypeError) as error:
            detail = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "no object"
            raise UserError(f"{where}: {detail}") from None
        shown = {k for k in ("report", "question", "parts") if getattr(example, k)}
        if shown != set(SEES[criterion]):
            raise UserError(f"{where}: {criterion} is shown {', '.join(SEES[criterion])}")
        if len(example.reply.codes) != expected_codes(criterion, example.parts):
            raise UserError(f"{where}: one code a part, or one in all, is expected")
        examples.append(example)
    return examples
