"""Sentences that describe no observation: technique, comparison, advice, notification.

Only such sentences may yield nothing without making a study incomplete (paper Sec. D.1: "no" is
said only where every reported sentence is accounted for). The phrases stand in ``sections.yaml``.
"""

from __future__ import annotations

from cxrqba.extract.matcher import PhraseTable
from cxrqba.extract.words import words
from cxrqba.reference.tables import Reference

UNCOVERED = "uncovered_sentence"
NON_OBSERVATIONAL = "non_observational"


class Coverage:
    """Tells what kind of non-observational sentence a text is."""

    def __init__(self, reference: Reference):
        self._phrases = PhraseTable(
            (phrase, kind)
            for kind, phrases in reference.sections["non_observational"].items()
            for phrase in phrases
        )
        self._empty = frozenset(
            normal.norm for token in reference.sections["empty_words"] for normal in words(token)
        )

    def kind(self, sentence: str) -> str | None:
        """technique, comparison, recommendation, notification, empty; None if it is none."""
        tokens = words(sentence)
        if all(
            not w.norm[:1].isalpha() or w.norm in self._empty or w.text.startswith("_")
            for w in tokens
        ):
            return "empty"
        found = self._phrases.find(tokens)
        return str(found[0].value) if found else None
