"""Kinds of questions and answers, told by their wording alone."""

from __future__ import annotations

import re
from functools import lru_cache

_YES = re.compile(r"^\s*yes\b", re.I)
_NO = re.compile(r"^\s*no\s*(?:[.,]|$)", re.I)
_MAYBE = re.compile(r"^\s*(?:possibly|maybe|perhaps|uncertain)\b", re.I)
YES_NO_QUESTION = re.compile(
    r"^\s*(?:is|are|was|were|does|do|did|has|have|can|could|any)\b|\bis there\b|\bare there\b", re.I
)
ASKING = re.compile(r"^\s*(?:what|where|which|how)\b", re.I)
WHERE = re.compile(r"\b(?:where|location|located|position)\b", re.I)
HOW_SEVERE = re.compile(r"\bhow (?:severe|large|big|marked)\b|\bseverity\b", re.I)
SEVERITY_ANSWER = re.compile(
    r"\b(?:mild|moderate|severe|small|large|minimal|trace|tiny|massive|marked|slight|severity)\w*",
    re.I,
)
TECHNICAL = re.compile(
    r"\b(?:artifacts?|artefacts?|acquisition|acquired|projection|technique|technical|quality"
    r"|positioning|exposure|rotation)\b",
    re.I,
)
CHEST = re.compile(
    r"\b(?:chest|lungs?|radiograph\w*|x ?-?rays?|study|image|images|film|thora\w+|pulmon\w+"
    r"|cardi\w+|findings?|abnormal\w*|normal|devices?|lines?|tubes?|catheters?|view|pleur\w+|imaging)\b",
    re.I,
)
ADVICE = re.compile(r"\brecommend|\bfollow ?-?up\b|\bcorrelat|\badvised\b", re.I)
NEEDS_OTHER_DATA = re.compile(
    r"\b(?:interval change|changed? since|compared (?:to|with)"
    r"|prior (?:study|exam\w*|radiograph\w*)|previous (?:study|exam\w*|radiograph\w*)"
    r"|how old|what medication|which medication|tomorrow"
    r"|what is the (?:patient'?s? )?(?:name|age|date)|blood pressure|laborator\w+)\b",
    re.I,
)
GENERAL = re.compile(
    r"\b(?:not (?:further )?(?:described|specified|mentioned|reported|stated|available)"
    r"|no (?:further|other|specific|additional) (?:\w+ )?"
    r"(?:details?|findings?|information|observations?)"
    r"|(?:should|must) be (?:interpreted|correlated)|no observations?)\b",
    re.I,
)


@lru_cache(maxsize=100_000)
def matches(pattern: re.Pattern[str], text: str) -> bool:
    """Whether ``pattern`` occurs in ``text``; the same few texts come up again and again."""
    return pattern.search(text) is not None


@lru_cache(maxsize=100_000)
def lead(text: str) -> str | None:
    """The answer word a text opens with: yes, no, possibly, or none."""
    for word, pattern in (("yes", _YES), ("no", _NO), ("possibly", _MAYBE)):
        if pattern.match(text):
            return word
    return None
