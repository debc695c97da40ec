"""Findings as question generation sees them: what follows from what, and what goes together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cxrqba.qa.anatomy import Anatomy, Target
from cxrqba.reference.tables import Reference

NORMAL = "normal"
TECHNICAL = "technical"
_KINDS = {
    "finding": frozenset({"abnormal", "postsurgical", NORMAL}),
    "device": frozenset({"device"}),
    "acquisition": frozenset({TECHNICAL}),
}
"""Kind of observation -> polarities of findings."""


@dataclass(frozen=True, slots=True)
class Family:
    """What the reference says of the findings that one observation names."""

    entities: frozenset[str]  # known ones
    all: frozenset[str]  # with their ancestors
    kinds: frozenset[str]  # of finding, device, acquisition; empty where none is known
    only_normal: bool
    sided: bool


@dataclass(frozen=True, slots=True)
class FindingTags:
    """What the reference adds to findings: ancestors, categories, subcategories."""

    parents: tuple[str, ...]
    categories: tuple[str, ...]
    subcategories: tuple[str, ...]


@dataclass
class Findings:
    """Relations of the reference's findings; what is worked out once is kept."""

    reference: Reference
    anatomy: Anatomy
    correlated: dict[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        self._families: dict[tuple[str, ...], Family] = {}
        self._tags: dict[tuple[str, ...], FindingTags] = {}
        self._neighbours: dict[tuple[frozenset[str], tuple[str, ...]], frozenset[str]] = {}

    @cached_property
    def above(self) -> dict[str, frozenset[str]]:
        """Finding -> all ancestors."""
        return {n: frozenset(a) for n, a in self.reference.finding_ancestors.items()}

    @cached_property
    def below(self) -> dict[str, frozenset[str]]:
        """Finding -> all descendants."""
        return _inverse(self.above)

    @cached_property
    def suggests(self) -> dict[str, frozenset[str]]:
        """Finding -> findings it is indicative of."""
        return {n: frozenset(f.indicative_of) for n, f in self.reference.findings.items()}

    @cached_property
    def suggested_by(self) -> dict[str, frozenset[str]]:
        """Finding -> findings that are indicative of it."""
        return _inverse(self.suggests)

    @cached_property
    def correlated_with(self) -> dict[str, frozenset[str]]:
        """Finding -> findings that are correlated with it."""
        return {n: frozenset(self.correlated.get(n, ())) for n in self.above}

    @cached_property
    def correlated_from(self) -> dict[str, frozenset[str]]:
        """Finding -> findings that it is correlated with."""
        return _inverse(self.correlated_with)

    @cached_property
    def subcategory_members(self) -> dict[str, frozenset[str]]:
        """Subcategory -> its findings."""
        members: dict[str, set[str]] = {}
        for name, finding in self.reference.findings.items():
            for subcategory in finding.subcategories:
                members.setdefault(subcategory, set()).add(name)
        return {s: frozenset(m) for s, m in members.items()}

    @cached_property
    def subcategories_near(self) -> dict[str, frozenset[str]]:
        """Finding -> subcategories of what it is, may be more exactly, or suggests."""
        findings = self.reference.findings
        return {
            n: frozenset(
                s
                for near in (n, *self.below[n], *self.suggests[n])
                for s in findings[near].subcategories
            )
            for n in findings
        }

    @cached_property
    def default_reach(self) -> dict[str, frozenset[str]]:
        """Finding -> all regions that its default regions are part of or consist of."""
        return {
            n: frozenset().union(*(self.anatomy.both_sides[r] for r in f.default_regions))
            for n, f in self.reference.findings.items()
        }

    @cached_property
    def targets(self) -> dict[str, Target]:
        """Finding -> the target of its questions."""
        return {
            n: Target(tuple(f.default_regions), (n,), tuple(f.subcategories), True)
            for n, f in self.reference.findings.items()
        }

    def is_askable(self, finding: str) -> bool:
        """Whether D questions make sense: not for technical remarks nor for "no finding"."""
        return self.reference.findings[finding].polarity not in (NORMAL, TECHNICAL)

    def family(self, entities: tuple[str, ...]) -> Family:
        """The family of the findings that an observation names; unknown ones are left out."""
        found = self._families.get(entities)
        if found is None:
            found = self._families[entities] = self._family(entities)
        return found

    def _family(self, entities: tuple[str, ...]) -> Family:
        findings = self.reference.findings
        known = frozenset(e for e in entities if e in findings)
        everything = known.union(*(self._true_above(e) for e in known))
        polarities = {findings[e].polarity for e in everything}
        kinds = {
            kind  # sternotomy wires are a device and postsurgical changes at once
            for kind, of in _KINDS.items()
            if not of.isdisjoint(polarities)
        }
        return Family(
            entities=known,
            all=everything,
            kinds=frozenset(kinds),
            only_normal={findings[e].polarity for e in known} == {NORMAL},
            sided=any(findings[e].laterality == "sided" for e in known),
        )

    def _true_above(self, entity: str) -> frozenset[str]:
        """What else is true where ``entity`` is: a nipple shadow only looks like a nodule."""
        findings = self.reference.findings
        above = self.above[entity]
        if findings[entity].polarity != TECHNICAL:
            return above
        return frozenset(a for a in above if findings[a].polarity == TECHNICAL)

    def tags(self, entities: tuple[str, ...]) -> FindingTags:
        """Tags that follow from findings; unknown ones are left out."""
        found = self._tags.get(entities)
        if found is None:
            findings = self.reference.findings
            known = [e for e in entities if e in findings]
            parents = [p for e in known for p in self.reference.finding_ancestors[e]]
            found = self._tags[entities] = FindingTags(
                parents=tuple(dict.fromkeys(p for p in parents if p not in known)),
                categories=tuple(dict.fromkeys(c for e in known for c in findings[e].categories)),
                subcategories=tuple(
                    dict.fromkeys(s for e in known for s in findings[e].subcategories)
                ),
            )
        return found

    def neighbours(
        self, entities: frozenset[str], subcategories: tuple[str, ...]
    ) -> frozenset[str]:
        """Findings whose answers a positive observation of ``entities`` can touch in any way."""
        key = (entities, subcategories)
        found = self._neighbours.get(key)
        if found is None:
            related = (
                self.above, self.below, self.suggests, self.suggested_by,
                self.correlated_from,
            )  # fmt: skip
            found = self._neighbours[key] = entities.union(
                *(of[e] for of in related for e in entities),
                *(self.subcategory_members.get(s, ()) for s in subcategories),
            )
        return found


def _inverse(above: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    below: dict[str, set[str]] = {n: set() for n in above}
    for name, ancestors in above.items():
        for ancestor in ancestors:
            below[ancestor].add(name)
    return {n: frozenset(b) for n, b in below.items()}
