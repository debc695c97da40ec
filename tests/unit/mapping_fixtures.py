"""Mappers of the project's reference, and mentions to map."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from cxrqba.mapping.lexical import LexicalBackend
from cxrqba.mapping.mapper import Mapper
from cxrqba.reference.tables import Reference, load_reference
from cxrqba.schema import MENTIONS
from cxrqba.tables import frame

ROOT = Path(__file__).resolve().parents[2]


@lru_cache(maxsize=1)
def reference() -> Reference:
    """The project's reference definitions."""
    return load_reference(ROOT / "resources/reference")


@lru_cache(maxsize=1)
def lexical() -> Mapper:
    """The lexical mapper of the project's reference."""
    return Mapper(reference(), LexicalBackend())


def mapped(
    mapper: Mapper, kind: str, *texts: str, threshold: float = 0.5
) -> dict[str, dict[str, Any]]:
    """Rows of MAPPINGS by text."""
    mentions = frame([{"kind": kind, "text": t, "count": 1} for t in texts], MENTIONS)
    return {r["text"]: r for r in mapper.map(mentions, threshold).iter_rows(named=True)}
