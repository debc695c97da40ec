"""Reference tags and their synonyms as candidates for free values (paper Sec. E.1.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cxrqba.mapping.normal import Normaliser
from cxrqba.reference.tables import Reference

TARGETS = {
    "entity": "finding",
    "entity_region": "finding",
    "summary": "finding",
    "name": "finding",
    "region": "region",
    "modifier": "modifier",
    "change": "change",
}
"""Kind of mention -> kind of reference tag it is compared with."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name or synonym of a reference tag in normal form."""

    reference: str
    kind: str | None  # modifier type
    normal: str
    named: str = ""
    """Normal form of the tag's name: what a synonym means when the synonym does not say it."""
    only_exact: bool = False
    """Never guessed by likeness: "no finding" would deny whatever it is mistaken for."""
    has_sides: bool = False
    """A region with a left and a right version: one that names a side is not meant by it."""


@dataclass(frozen=True, slots=True)
class _Tag:
    name: str
    kind: str | None
    synonyms: Sequence[str]
    only_exact: bool = False
    has_sides: bool = False


def candidates(reference: Reference, normalise: Normaliser) -> dict[str, list[Candidate]]:
    """Candidates by kind of tag; names before synonyms, then in table order."""
    findings = sorted(reference.findings.values(), key=lambda f: f.tier)
    tags = {
        "finding": [
            _Tag(f.name, None, f.synonyms, only_exact=f.polarity == "normal") for f in findings
        ],
        "region": [
            _Tag(r.name, None, r.synonyms, has_sides=bool(r.left or r.right) and not _sided(r.name))
            for r in reference.regions.values()
        ],
        "modifier": [_Tag(v.name, v.kind, v.synonyms) for v in reference.modifiers],
        "change": [_Tag(v.name, None, v.synonyms) for v in reference.changes],
    }
    return {kind: _candidates(found, normalise) for kind, found in tags.items()}


def _sided(name: str) -> bool:
    return not {"left", "right"}.isdisjoint(name.split())


def _candidates(tags: Iterable[_Tag], normalise: Normaliser) -> list[Candidate]:
    tags = list(tags)
    found: dict[tuple[str, str | None, str], Candidate] = {}
    for is_name in (True, False):
        for tag in tags:
            named = normalise.plain(tag.name)
            for text in (tag.name,) if is_name else tag.synonyms:
                for normal in (normalise.plain(text), normalise.expanded(text)):
                    key = (tag.name, tag.kind, normal)
                    if normal and key not in found:
                        found[key] = Candidate(
                            tag.name, tag.kind, normal, named, tag.only_exact, tag.has_sides
                        )
    return list(found.values())
