"""Lists of phrases that are kept as they are written; a key that nothing reads is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cxrqba.reference.cells import check_keys, one_of, read_keyed
from cxrqba.reference.columns import (
    CHILD_PHRASE_KEYS,
    HEADER_KEYS,
    KEYWORD_KEYS,
    LATERALITY_KEYS,
    SECTION_KEYS,
)
from cxrqba.schema import SECTION_TYPES


def load_sections(path: Path) -> dict[str, Any]:
    """Headers with their section types, and phrases that describe nothing (``sections.yaml``)."""
    content = read_keyed(path, SECTION_KEYS)
    for group in content["headers"]:
        check_keys(group, HEADER_KEYS, f"{path}, headers")
    for kind in (*(g["type"] for g in content["headers"]), *content["misspellings"]):
        one_of(kind, SECTION_TYPES, str(path), "type")
    return content


def load_laterality(path: Path) -> dict[str, Any]:
    """Words that give a side, and names whose side word is none (``laterality.yaml``)."""
    content = read_keyed(path, LATERALITY_KEYS)
    check_keys(content["keywords"], KEYWORD_KEYS, f"{path}, keywords")
    check_keys(
        content["side_implying_regions"], ("left", "right"), f"{path}, side_implying_regions"
    )
    return content


def load_devices(path: Path) -> dict[str, Any]:
    """Phrases that open a child observation (``devices.yaml``)."""
    content = read_keyed(path, ("children",))
    check_keys(content["children"], ("phrases",), f"{path}, children")
    check_keys(content["children"]["phrases"], CHILD_PHRASE_KEYS, f"{path}, phrases")
    return content
