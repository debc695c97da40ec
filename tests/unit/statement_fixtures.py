"""Invented sentences as sets of short statements, for tests of the rules extraction.

``+`` present, ``?`` likely or possible, ``-`` absent, ``-?`` unlikely, ``~`` not assessed,
``=`` only compared, ``!`` advised; then the finding and ``@`` with its sides:
``+pleural effusion@L``.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from cxrqba.extract.drafts import sides_of, with_children
from cxrqba.extract.observations import ObservationExtractor
from cxrqba.reference.tables import load_reference

REFERENCE = Path(__file__).resolve().parents[2] / "resources" / "reference"
SIGNS = {
    "positive": "+",
    "likely": "?",
    "possible": "?",
    "cannot_exclude": "?",
    "unlikely": "-?",
    "negative": "-",
    "indeterminate": "~",
    "comparison_only": "=",
    "recommendation": "!",
}


@lru_cache(maxsize=1)
def extractor() -> ObservationExtractor:
    """The rules extractor with the project's reference definitions."""
    return ObservationExtractor(load_reference(REFERENCE))


def statements(text: str) -> set[str]:
    """What one sentence says."""
    found = set()
    for draft in with_children(extractor().read_sentence("S1", text, 0)):
        sides = "".join(sorted(side[0].upper() for side in sides_of(draft.side_text)))
        for finding in draft.key or ("",):
            found.add(SIGNS[draft.level] + finding + (f"@{sides}" if sides else ""))
    return found


def mirrored(text: str) -> str:
    """``text`` with left and right exchanged."""
    for one, other in (("left", "right"), ("Left", "Right")):
        text = text.replace(one, "\0").replace(other, one).replace("\0", other)
    return text


def mirrored_statements(found: set[str]) -> set[str]:
    """Statements of :func:`statements` with the sides exchanged."""
    swap = {"@L": "@R", "@R": "@L"}
    return {s[:-2] + swap[s[-2:]] if s[-2:] in swap else s for s in found}
