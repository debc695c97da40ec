"""The parts of an indication: patient, reason and what should be evaluated (paper Sec. D.1).

Only what is written is given; how the parts become a question is the matter of
:mod:`cxrqba.extract.indication_question`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_AGE = r"(?:\d{1,3}|_+|X{2,}|\[\*\*[^\]]*\*\*\])"
_PATIENT = re.compile(
    rf"(?:(?:this is an?|an?|the patient is an?|patient is an?)\s+)?"
    rf"(?:{_AGE}[\s-]*(?:years?|yrs?|y|months?|mo|days?|weeks?)?[\s/.-]*(?:old|o\b)?[\s,-]*"
    rf"(?:(?:gentleman|man|woman|lady|male|female|boy|girl|patient|infant|[mf])\b)"
    rf"|{_AGE}[\s-]*(?:years?|yrs?|y|months?|mo|days?|weeks?)[\s/.-]*(?:old|o)\b"
    rf"|(?:elderly|adult|young)?\s*(?:gentleman|woman|lady|man|female|male|infant|boy|girl)\b)",
    re.I,
)
_ASKING = (
    r"(?:please\s+)?(?:evaluated?|evaluation|eval|assessment|assess|check|looking|look|survey|screen)"
    r"(?:\s+(?:for|of))?|rule[\s-]*out|r/o|question\s+of|query|concern(?:ing)?\s+for|to\s+exclude|"
    r"exclude|any\s+evidence\s+of|interval\s+change|confirm|verify"
)
_ASKED = re.compile(rf"//|\?(?=\s*\w)|(?<![\w-])(?:{_ASKING})(?!\w)", re.I)
_OBJECT = re.compile(
    r"^(?:(?:please|evaluated?|evaluation|eval|assessment|assess|check|looking|look|screen|survey|"
    r"rule[\s-]*out|r/o|question\s+of|query|concern(?:ing)?\s+for|to|exclude|for|of|any|evidence|"
    r"confirm|verify|is\s+there|are\s+there)(?!\w)\s*|[?:,/-]+\s*)+",
    re.I,
)
_PURPOSE = re.compile(r"\b(?:pre-?op\w*|transplant|surgical|medical|annual)\s*$", re.I)
"""What makes "evaluation for" a purpose and not a request ("pre-op evaluation for ...")."""
_JOINER = re.compile(
    r"^(?:[\s,.;:/-]+|patient\b|pt\b|(?:who\s+)?(?:presents?|presenting)\s+with\b|with\b|w/(?!o)|"
    r"has\b|and\b|who\b|is\b)+",
    re.I,
)
_LABEL = re.compile(
    r"^\s*(?:clinical\s+)?(?:indications?|history|information|hx|reason\s+for\s+(?:this\s+)?exam\w*)"
    r"\s*:\s*",
    re.I,
)
_QUESTION = re.compile(r"(?:^|[.;,]\s+|\s{2,})([^.;?]+)\?\s*$")
_LOOSE = " .,;:/-"


@dataclass(frozen=True, slots=True)
class Request:
    """Parts of an indication, as written; None where the text has none."""

    patient_info: str | None
    indication: str | None
    evaluation: str | None


def parse_request(text: str) -> Request:
    """Split an indication into patient, indication and what should be evaluated."""
    text = _LABEL.sub("", " ".join(text.split())).strip(" .,;:")
    patient, rest = _patient(text)
    evaluation, rest = _evaluation(rest)
    reason = _JOINER.sub("", rest.strip()).strip(_LOOSE + "?")
    reason = re.sub(r"\s*(?:,|\band|\bto|\bfor|\bplease)$", "", reason, flags=re.I).strip(_LOOSE)
    return Request(patient or None, reason or None, evaluation)


def _patient(text: str) -> tuple[str | None, str]:
    """The patient near the beginning of the text, and the text without."""
    match = _PATIENT.search(text)
    if match is None or not match.group().strip() or match.start() > 25:
        return None, text
    opening = r"^(?:this is|the patient is|patient is)?\s*(?:an?\s+)?(?:_+\s*)?"
    patient = re.sub(opening, "", match.group().strip(), flags=re.I)
    return patient.strip(" ,.-"), text[: match.start()] + " " + text[match.end() :]


def _evaluation(text: str) -> tuple[str | None, str]:
    """What is asked for, and the text without; the last request counts ("// s/p X, eval for Y")."""
    asked = [
        m
        for m in _ASKED.finditer(text)
        if _OBJECT.sub("", text[m.start() :]).strip(_LOOSE)
        and not _PURPOSE.search(text[: m.start()])
    ]
    if asked:
        before = text[: asked[0].start()]
        last = asked[-1]
        between = text[asked[0].end() : last.start()] if len(asked) > 1 else ""
        told = _OBJECT.sub("", text[last.start() :]).strip(_LOOSE + "?")
        if re.match(r"interval\s+change", text[last.start() :], flags=re.I):
            told = text[last.start() :].strip(_LOOSE + "?")
        between = between.strip(_LOOSE)
        return told or None, f"{before.rstrip(_LOOSE)}, {between}" if between else before
    question = _QUESTION.search(text)
    if question is not None and question.group(1).strip() != text.strip(" ?"):
        return question.group(1).strip(_LOOSE), text[: question.start()]
    return None, text
