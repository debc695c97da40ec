"""What a model replies for a criterion: short codes, one a part or one in all (Sec. E.3, Tab. 12).

Codes stand for the levels of Tab. 12 and are what the prompts explain; a reply is
``{"codes": ["M", "I"]}``. The same model checks the few-shot examples of the prompts and gives the
schema for structured output. Models add prose, fences and words; where the codes are there and
unambiguous they are taken, with the status ``repaired``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model, field_validator

from cxrqba.schema import PART_CRITERIA

CODES: dict[str, dict[str, str]] = {
    "entailment": {
        "M": "ALIGNED_MENTIONED",
        "I": "ALIGNED_INFERABLE",
        "N": "ALIGNED_NEGATIVE_NOT_MENTIONED",
        "G": "ALIGNED_GENERAL_STATEMENT",
        "U": "NON_ALIGNED_NON_INFERABLE",
        "W": "NON_ALIGNED_MISLEADING",
        "C": "NON_ALIGNED_CONTRADICTING",
    },
    "relevance": {
        "M": "RELEVANT_MAIN_ANSWER",
        "R": "RELATED_INFO",
        "D": "REDUNDANT_INFO",
        "O": "IRRELEVANT_INFO",
    },
    "completeness": {
        "F": "FULLY_COMPLETE",
        "D": "DETAILS_MISSING",
        "A": "NOT_ANSWERED",
        "I": "INCOMPLETE_NON_MISLEADING",
        "X": "INCOMPLETE_MISLEADING",
    },
    "question_clarity": {
        "O": "OPTIMAL",
        "S": "UNUSUAL_SENTENCE_STRUCTURE",
        "G": "GRAMMATICAL_ERRORS",
        "U": "UNCLEAR_QUESTION",
        "X": "UNRELATED_TO_CHEST_XRAY",
        "N": "UNANSWERABLE",
    },
    "answer_clarity": {
        "O": "OPTIMAL",
        "S": "UNUSUAL_SENTENCE_STRUCTURE",
        "G": "GRAMMATICAL_ERRORS",
        "U": "UNCLEAR_ANSWER",
        "N": "NOT_UNDERSTANDABLE",
    },
}
"""criterion -> code -> level of Tab. 12."""

MAX_REPLY = 4_000
"""Characters of a reply that are looked at; codes of the longest answers need a tenth of it."""
_OBJECT = re.compile(r"\{[^{}]*\}")


class Reply(BaseModel):
    """Base of the replies to the five criteria."""

    model_config = ConfigDict(extra="forbid", strict=True)

    codes: list[str]


def _reply_model(criterion: str) -> type[Reply]:
    known = CODES[criterion]

    def check(value: list[str]) -> list[str]:
        unknown = [v for v in value if v not in known]
        if unknown:
            raise ValueError(f"no code of {criterion}: {unknown[0][:20]!r}")
        return value

    return create_model(
        f"{criterion.title().replace('_', '')}Reply",
        __base__=Reply,
        __validators__={"known": field_validator("codes")(check)},
    )


MODELS: dict[str, type[Reply]] = {criterion: _reply_model(criterion) for criterion in CODES}
"""criterion -> the pydantic model of its reply."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """Levels in the order of the parts, or None; status as every model call has it."""

    levels: tuple[str, ...] | None
    status: str  # ok, repaired, truncated, invalid_json, schema_error


def expected_codes(criterion: str, parts: Sequence[str]) -> int:
    """How many codes a reply holds."""
    return len(parts) if criterion in PART_CRITERIA else 1


def reply_schema(criterion: str, count: int) -> dict[str, Any]:
    """JSON schema of a reply with ``count`` codes: arrays are bounded, strings one letter."""
    return {
        "type": "object",
        "properties": {
            "codes": {
                "type": "array",
                "items": {"type": "string", "enum": list(CODES[criterion])},
                "minItems": count,
                "maxItems": count,
            }
        },
        "required": ["codes"],
        "additionalProperties": False,
    }


def parse_reply(text: str, criterion: str, count: int, finish_reason: str = "stop") -> Parsed:
    """Levels of a reply that should hold ``count`` codes; never raises, whatever the text is.

    ``ok``: exactly the JSON asked for. ``repaired``: it stands in prose or a fence, codes are in
    lower case or spelled out as levels. A wrong number of codes is ``schema_error``: parts must not
    be guessed.
    """
    text = text[:MAX_REPLY]
    content, clean = _json(text)
    if content is None:
        return Parsed(None, "truncated" if finish_reason == "length" else "invalid_json")
    codes, exact = _codes(content, criterion)
    if codes is None or len(codes) != count:
        return Parsed(None, "truncated" if finish_reason == "length" else "schema_error")
    levels = tuple(CODES[criterion][c] for c in codes)
    return Parsed(levels, "ok" if clean and exact else "repaired")


def _json(text: str) -> tuple[Any, bool]:
    """(content, whether the text is nothing else); an object twice over must say the same."""
    try:
        return _loads(text), True
    except ValueError:
        pass
    found = []
    for match in _OBJECT.finditer(text):
        try:
            found.append(_loads(match.group()))
        except ValueError:
            continue
    distinct = {json.dumps(f, sort_keys=True) for f in found}
    return (found[0], False) if len(distinct) == 1 else (None, False)


def _loads(text: str) -> Any:
    """JSON without NaN and without keys that occur twice; RecursionError counts as invalid."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _codes(content: Any, criterion: str) -> tuple[list[str] | None, bool]:
    """(codes, whether they came exactly as asked for)."""
    try:
        return MODELS[criterion].model_validate(content).codes, True
    except ValidationError:
        pass
    given = content.get("codes") if isinstance(content, dict) else None
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, list):
        return None, False
    spelled = {level.lower(): code for code, level in CODES[criterion].items()}
    spelled |= {code.lower(): code for code in CODES[criterion]}
    found = [spelled.get(str(g).strip().lower().replace(" ", "_")) for g in given]
    return (None if None in found else [f for f in found if f is not None]), False


def codes_of(levels: Sequence[str], criterion: str) -> str:
    """The reply that says ``levels``, as a model is asked to write it."""
    code = {level: c for c, level in CODES[criterion].items()}
    return json.dumps({"codes": [code[level] for level in levels]})
