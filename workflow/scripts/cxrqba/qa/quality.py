"""Extraction quality of answer parts and questions (paper Sec. D.3, Tab. 11): the worst counts.

A quality holds one rank per aspect, in the order of ``schema.EXTRACTION_QUALITY``: 0 is the worst
level. An aspect that does not apply has a rank above all, so that the worst is a plain minimum.
"""

from __future__ import annotations

from collections.abc import Iterable

from cxrqba.schema import EXTRACTION_QUALITY

Quality = tuple[int, ...]

NOT_APPLICABLE = 99
"""Rank of an aspect that does not apply."""
ASPECTS = tuple(EXTRACTION_QUALITY)
LEVELS = {aspect: tuple(levels) for aspect, levels in EXTRACTION_QUALITY.items()}
LOCALIZATION = "localization_quality"
NO_QUALITY: Quality = (NOT_APPLICABLE,) * len(ASPECTS)
NO_LOCALIZATION = LEVELS[LOCALIZATION].index("NO_LOCALIZATION")
_LOCALIZATION_AT = ASPECTS.index(LOCALIZATION)


def quality(**levels: str) -> Quality:
    """A quality from level names by aspect; aspects left out do not apply."""
    return tuple(
        LEVELS[aspect].index(levels[aspect]) if aspect in levels else NOT_APPLICABLE
        for aspect in ASPECTS
    )


def worst(qualities: Iterable[Quality]) -> Quality:
    """Worst rank per aspect."""
    result = NO_QUALITY
    for one in qualities:
        if one is not result:
            result = tuple(map(min, result, one))
    return result


def localized(of: Quality, rank: int) -> Quality:
    """``of`` with its localization no better than ``rank``."""
    at = _LOCALIZATION_AT
    return of if of[at] <= rank else (*of[:at], rank, *of[at + 1 :])


def level(aspect: str, rank: int) -> str | None:
    """Name of a rank; None where the aspect does not apply."""
    return None if rank == NOT_APPLICABLE else LEVELS[aspect][rank]
