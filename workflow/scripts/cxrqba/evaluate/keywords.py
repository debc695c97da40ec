"""The baseline every extractor must beat: keywords with a simple negation window.

A class is positive if a sentence outside indication, history and technique names one of its
findings (in singular or plural) and no negation word stands among the twelve words before it or
right behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from cxrqba.extract.words import words
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
        self._classes = list(classes)
        self._phrases: dict[str, dict[tuple[str, ...], set[str]]] = {}
        for name, findings in classes.items():
            for finding in findings:
                for phrase in (finding, *reference.findings[finding].synonyms):
                    norms = tuple(w.norm for w in words(phrase) if w.norm[0].isalnum())
                    named = self._phrases.setdefault(norms[0], {})
                    named.setdefault(norms, set()).add(name)

    def labels(self, report: str | None) -> dict[str, bool]:
        """Class -> whether a sentence states it; all false without a report."""
        found: set[str] = set()
        for sentence in _SENTENCE.split(_SKIPPED.sub("", report or "")):
            found |= self._stated(sentence)
        return {name: name in found for name in self._classes}

    def _stated(self, sentence: str) -> set[str]:
        found = [w for w in words(sentence) if w.norm[0].isalnum()]
        norms = [w.norm for w in found]
        stated: set[str] = set()
        for first, norm in enumerate(norms):
            for phrase, classes in self._phrases.get(norm, {}).items():
                last = first + len(phrase)
                if classes <= stated or tuple(norms[first:last]) != phrase:
                    continue
                before = " ".join(w.text.lower() for w in found[max(0, first - WINDOW) : first])
                after = " ".join(w.text.lower() for w in found[last:])
                if not _NEGATION.search(before) and not _NEGATED_AFTER.match(after):
                    stated |= classes
        return stated
