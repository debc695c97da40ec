"""De-identified words: tokens a hospital writes where names, dates and places were removed.

A token is literal (``___``, ``XXXX``) or has an ellipsis for what it encloses (``[**...**]``). Read
as text, the content of a bracket would end sentences, open sections and name sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cxrqba.reports.sentences import plain_layout

ELLIPSIS = re.compile(r"\.\.\.|\u2026")
MAX_ENCLOSED = 100
"""Characters between the brackets of one token: an unclosed bracket hides no report."""

_FILLER = re.compile(r"[_X]+")


@dataclass(frozen=True, slots=True)
class Deidentified:
    """The tokens of one site."""

    pattern: re.Pattern[str]

    @classmethod
    def of(cls, tokens: Iterable[str]) -> Deidentified:
        """Tokens as in ``site.deid_tokens``; the longest is tried first."""
        ordered = sorted(tokens, key=lambda token: (-len(token), token))
        return cls(re.compile("|".join(_pattern(token) for token in ordered) or r"(?!)"))

    def removed(self, text: str) -> str:
        """``text`` without tokens."""
        return self.pattern.sub("", text)

    def masked(self, text: str) -> str:
        """``text`` of the same length in which every token reads as ``___`` or ``XXXX`` do.

        Markup and unusual white space are plain white space.
        """
        return plain_layout(self.pattern.sub(_mask, text))


def _pattern(token: str) -> str:
    opening, *closing = ELLIPSIS.split(token, maxsplit=1)
    if not closing:
        return re.escape(token)
    return rf"{re.escape(opening)}[^\n]{{0,{MAX_ENCLOSED}}}?{re.escape(closing[0])}"


def _mask(match: re.Match[str]) -> str:
    return match[0] if _FILLER.fullmatch(match[0]) else "X" * len(match[0])
