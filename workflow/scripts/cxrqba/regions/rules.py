"""The grammar of localisation rules (paper Sec. E.1.1, ``rule`` column of regions.csv).

A rule says how the boxes of a region are derived::

    rule     = "cxas(" structure ")" | "imagenome(" structure ")" | compound
    compound = ("bilateral" | "superbox" | "intersection" | "union") "(" operand {";" operand} ")"
    operand  = region name | compound

``bilateral`` keeps two boxes unfused, ``superbox`` is the one box around its operands,
``intersection`` and ``union`` work on masks where all operands have one, else on boxes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from cxrqba.errors import UserError, nearest

COMPOUNDS = ("bilateral", "superbox", "intersection", "union")
SOURCES = ("cxas", "imagenome")


@dataclass(frozen=True, slots=True)
class Found:
    """A structure that a backend or data source names: ``kind`` is cxas or imagenome."""

    kind: str
    structure: str


@dataclass(frozen=True, slots=True)
class Named:
    """Another region, by name."""

    region: str


@dataclass(frozen=True, slots=True)
class Compound:
    """An operation on two or more operands (one is allowed: ``superbox(left ribs)``)."""

    kind: str
    operands: tuple[Rule, ...]


Rule = Found | Named | Compound


@lru_cache(maxsize=1024)
def parse_rule(text: str) -> Rule | None:
    """Parse one rule; ``none`` gives None. :class:`UserError` names what is wrong in it."""
    text = text.strip()
    if text == "none":
        return None
    rule = _parse(text, text)
    if isinstance(rule, Named):
        raise UserError(f"rule '{text}': expected cxas(..), imagenome(..), {', '.join(COMPOUNDS)}")
    return rule


def referenced_regions(rule: Rule | None) -> tuple[str, ...]:
    """Names of the regions that ``rule`` uses, in order."""
    if isinstance(rule, Named):
        return (rule.region,)
    if isinstance(rule, Compound):
        return tuple(name for operand in rule.operands for name in referenced_regions(operand))
    return ()


def _parse(text: str, whole: str) -> Rule:
    kind, bracket, rest = text.partition("(")
    if not bracket:
        if not text or ")" in text:
            raise UserError(f"rule '{whole}': a name is missing or a bracket is not opened")
        return Named(text)
    if not rest.endswith(")"):
        raise UserError(f"rule '{whole}': a bracket is not closed")
    kind, inner = kind.strip(), rest[:-1]
    if kind in SOURCES:
        if not inner.strip() or set(inner) & set("();"):
            raise UserError(f"rule '{whole}': {kind}(..) takes exactly one structure name")
        return Found(kind, inner.strip())
    if kind not in COMPOUNDS:
        raise UserError(f"rule '{whole}': unknown '{kind}'{nearest(kind, COMPOUNDS + SOURCES)}")
    operands = tuple(_parse(part.strip(), whole) for part in _split(inner, whole))
    if kind == "bilateral" and len(operands) != 2:
        raise UserError(f"rule '{whole}': bilateral(..) takes two operands, left;right")
    return Compound(kind, operands)


def _split(text: str, whole: str) -> list[str]:
    """Split at the semicolons outside all brackets."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            raise UserError(f"rule '{whole}': a bracket is not opened")
        if character == ";" and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    if depth:
        raise UserError(f"rule '{whole}': a bracket is not closed")
    return [*parts, text[start:]]
