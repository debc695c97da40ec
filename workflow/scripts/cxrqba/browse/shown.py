"""Report text as a page shows it: cut where sentences and evidence begin and end, marks visible."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_PLAIN = {"\n", "\t"}
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories of what a browser would not show, or would obey: direction marks, controls."""


@dataclass(frozen=True)
class Piece:
    """Characters of a report that belong to one sentence and to the same observations."""

    text: str
    sentence: str | None
    evidence: list[str] = field(default_factory=list)  # obs_ids whose spans hold these characters


def visible(text: str) -> str:
    """``text`` with each hidden character as its number, such as ``‹U+202E›``.

    A direction mark would otherwise turn what is shown around: "no effusion" could read as its
    contrary. Line ends become plain ones.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(
        f"‹U+{ord(c):04X}›" if c not in _PLAIN and unicodedata.category(c) in _HIDDEN else c
        for c in text
    )


def pieces(
    report: str,
    sentences: Sequence[tuple[str, int, int]],
    spans: Sequence[tuple[str, int, int]],
) -> list[Piece]:
    """``report`` cut at each boundary; joined again, the pieces are the report.

    ``sentences`` are (sent_id, start, end), ``spans`` (obs_id, start, end); both ``[start, end)``
    in characters of ``report``.
    """
    cuts = {0, len(report)}
    for _, start, end in (*sentences, *spans):
        cuts |= {min(start, len(report)), min(end, len(report))}
    places = sorted(cuts)
    result = []
    for start, end in pairwise(places):
        inside = [s for s, a, b in sentences if a <= start and end <= b]
        evidence = dict.fromkeys(o for o, a, b in spans if a <= start and end <= b)
        result.append(
            Piece(visible(report[start:end]), inside[0] if inside else None, list(evidence))
        )
    return result
