"""What the judge knows of findings and regions: the hierarchies of ``resources/reference``."""

from __future__ import annotations

from cxrqba.judge.text import WHOLE, zones_of
from cxrqba.reference.tables import Reference

_CALM = frozenset({"normal", "unremarkable", "clear", "sharp", "intact", "midline"})
"""Predicates of ``normality.yaml`` that call a structure free of disease, not merely expanded."""


class Knowledge:
    """Relatives of findings and regions as sets, by name."""

    def __init__(self, reference: Reference):
        self.findings = reference.findings
        self.regions = reference.regions
        self.ancestors = {n: frozenset(a) for n, a in reference.finding_ancestors.items()}
        self.descendants = _inverse(self.ancestors)
        above = {n: frozenset(a) for n, a in reference.region_ancestors.items()}
        self.region_below = {n: s | {n} for n, s in _inverse(above).items()}
        """region -> itself and all within it"""
        self.region_family = {n: self.region_below[n] | above[n] for n in self.regions}
        self.opposite = {
            n: r.right or r.left
            for n, r in self.regions.items()
            if r.laterality in ("left", "right") and (r.right or r.left)
        }
        """one-sided region -> the same region of the other side"""
        self.defaults = {n: frozenset(f.default_regions) for n, f in self.findings.items()}
        self.home = {n: next(iter(f.default_regions), None) for n, f in self.findings.items()}
        """finding -> the region it is first expected in"""
        self.default_family = {
            n: frozenset(r for d in regions for r in self.region_family[d])
            for n, regions in self.defaults.items()
        }
        self.usual_zones = {
            n: frozenset(z for r in regions for z in zones_of(r))
            for n, regions in self.defaults.items()
        }
        self.normal_whole: set[str] = set()
        """regions whose normality denies a finding without naming its place"""
        self.normal_means = self._denied_by_normality(reference)
        """region -> findings that "the region is normal" denies"""

    def _denied_by_normality(self, reference: Reference) -> dict[str, frozenset[str]]:
        means: dict[str, set[str]] = {}
        for structure in reference.structures:
            if not _CALM.intersection(structure.predicates) or structure.region == WHOLE:
                continue
            denied = set(structure.negates)
            denied |= {d for f in structure.negates for d in self.descendants[f]}
            node = self.regions[structure.region]
            self.normal_whole.update(r for r in (node.name, node.left, node.right) if r)
            for below in self.region_below[node.name]:
                means.setdefault(below, set()).update(denied)
        return {region: frozenset(found) for region, found in means.items()}


def _inverse(ancestors: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    below: dict[str, set[str]] = {name: set() for name in ancestors}
    for name, above in ancestors.items():
        for ancestor in above:
            below[ancestor].add(name)
    return {name: frozenset(found) for name, found in below.items()}
