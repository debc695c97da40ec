"""The baseline every extractor must beat: keywords with a simple negation window.

A class is positive if a sentence outside indication, history and technique names one of its
findings and no negation word stands among the twelve words before it or right behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from cxrqba.reference.tables import Reference

WINDOW = 12
_SKIPPED = re.compile(
    r"^[ \t]*(?:indication|history|clinical|reason|examination|exam|technique|comparison)[^:\n]*:"
    r".*?(?=^[ \t]*[A-Za-z][A-Za-z /,&-]+:|\Z)",
    re.I | re.M | re.S,
)
_SENTENCE = re.compile(r"(?<=[.;?!])\s+|\n\s*\n|\bbut\b|\bhowever\b")
_NEGATION = re.compile(r"\b(?:no|not|without|free of|clear of|negative for|absence of|nor)\b")
_NEGATED_AFTER = re.compile(
    r"^\W*(?:\w+ ){0,2}(?:(?:is|are|was|were) (?:not|no longer|absent)|(?:has|have) resolved)\b"
)


class KeywordBaseline:
    """Labels a report by the names and synonyms of each class's findings."""

    def __init__(self, reference: Reference, classes: Mapping[str, Iterable[str]]):
        self._patterns = {
            name: _pattern(
                phrase
                for finding in findings
                for phrase in (finding, *reference.findings[finding].synonyms)
            )
            for name, findings in classes.items()
        }

    def labels(self, report: str | None) -> dict[str, bool]:
        """Class -> whether a sentence states it; all false without a report."""
        text = _SKIPPED.sub("", report or "")
        sentences = [" ".join(s.lower().split()) for s in _SENTENCE.split(text) if s.strip()]
        return {
            name: any(_stated(pattern, s) for s in sentences)
            for name, pattern in self._patterns.items()
        }


def _pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    ordered = sorted({p.lower() for p in phrases}, key=lambda p: (-len(p), p))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, ordered))})(?:s|es)?\b")


def _stated(pattern: re.Pattern[str], sentence: str) -> bool:
    for match in pattern.finditer(sentence):
        before = " ".join(sentence[: match.start()].split()[-WINDOW:])
        if not _NEGATION.search(before) and not _NEGATED_AFTER.match(sentence[match.end() :]):
            return True
    return False
