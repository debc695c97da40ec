"""A site's standard phrases for a normal study, read as the plain sentences they stand for.

Some hospitals write "NORMAL CHEST TEMPLATE A" for a list of denials; ``site.normal_phrases`` says
what such a phrase means. What is read from it keeps the phrase as its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SitePhrase:
    """A phrase at [start, end) of a sentence and the sentences it stands for."""

    start: int
    end: int
    meant: tuple[str, ...]


class SitePhrases:
    """The phrases of one site."""

    def __init__(self, phrases: Mapping[str, Sequence[str]]):
        self._meant = [
            (re.compile(rf"(?<!\w){_spaced(phrase)}(?!\w)", re.IGNORECASE), tuple(meant))
            for phrase, meant in sorted(phrases.items(), key=lambda p: (-len(p[0]), p[0]))
        ]

    def find(self, sentence: str) -> list[SitePhrase]:
        """Phrases that stand in a sentence, longest first; they do not overlap."""
        found: list[SitePhrase] = []
        for pattern, meant in self._meant:
            for match in pattern.finditer(sentence):
                if all(match.end() <= f.start or f.end <= match.start() for f in found):
                    found.append(SitePhrase(match.start(), match.end(), meant))
        return found


def without(sentence: str, phrases: Sequence[SitePhrase]) -> str:
    """The sentence with blanks for the phrases, of the same length."""
    for phrase in phrases:
        blank = " " * (phrase.end - phrase.start)
        sentence = sentence[: phrase.start] + blank + sentence[phrase.end :]
    return sentence


def _spaced(phrase: str) -> str:
    return r"\s+".join(re.escape(part) for part in phrase.split())
