"""Extraction quality of answer parts and questions (paper Sec. D.3, Tab. 11): the worst counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cxrqba.schema import EXTRACTION_QUALITY

_RANK = {
    aspect: {level: i for i, level in enumerate(levels)}
    for aspect, levels in EXTRACTION_QUALITY.items()
}
LOCALIZATION = "localization_quality"
NO_LOCALIZATION = "NO_LOCALIZATION"


def worst(qualities: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Worst level per aspect; aspects that nothing has are absent."""
    result: dict[str, str] = {}
    for quality in qualities:
        for aspect, level in quality.items():
            if level is None:
                continue
            known = result.get(aspect)
            if known is None or _RANK[aspect][level] < _RANK[aspect][known]:
                result[aspect] = level
    return {aspect: result[aspect] for aspect in EXTRACTION_QUALITY if aspect in result}


def worst_level(levels: Iterable[str], aspect: str = LOCALIZATION) -> str:
    """Worst of some levels of one aspect; ``levels`` must not be empty."""
    return min(levels, key=_RANK[aspect].__getitem__)
