"""What the judge knows of findings and regions: the hierarchies of ``resources/judge``."""

from __future__ import annotations

from cxrqba.judge.vocabulary import Vocabulary, ancestors
from cxrqba.judge.words import zones_of


class Knowledge:
    """Relatives of findings and regions as sets, by name."""

    def __init__(self, vocabulary: Vocabulary):
        self.findings = vocabulary.findings
        self.regions = vocabulary.regions
        self.groups = {n: frozenset(f.groups) for n, f in self.findings.items()}
        self.ancestors = ancestors({n: f.parents for n, f in self.findings.items()})
        self.descendants = _inverse(self.ancestors)
        self.below = {n: d | {n} for n, d in self.descendants.items()}
        """finding -> itself and all narrower ones"""
        self.members = {
            g: frozenset(n for n, own in self.groups.items() if g in own) for g in vocabulary.groups
        }
        above = ancestors({n: r.parents for n, r in self.regions.items()})
        self.region_below = {n: s | {n} for n, s in _inverse(above).items()}
        """region -> itself and all within it"""
        self.region_family = {n: self.region_below[n] | above[n] for n in self.regions}
        self.defaults = {n: frozenset(f.regions) for n, f in self.findings.items()}
        self.home = {n: next(iter(f.regions), None) for n, f in self.findings.items()}
        """finding -> the region it is first expected in"""
        self.default_family = {
            n: frozenset(r for d in regions for r in self.region_family[d])
            for n, regions in self.defaults.items()
        }
        self.usual_zones = {
            n: frozenset(z for r in regions for z in zones_of(r.split()))
            for n, regions in self.defaults.items()
        }
        self.linked = self._linked()
        """finding -> findings that go with it, said from either side"""
        self.normal_whole = frozenset(n for n, r in self.regions.items() if r.denies)
        """regions whose normality denies a finding without naming its place"""
        self.normal_means = self._denied_by_normality()
        """region -> findings that "the region is normal" denies"""

    def _linked(self) -> dict[str, frozenset[str]]:
        linked: dict[str, set[str]] = {name: set() for name in self.findings}
        for name, finding in self.findings.items():
            for other in finding.links:
                linked[name].add(other)
                linked[other].add(name)
        return {name: frozenset(others) for name, others in linked.items()}

    def _denied_by_normality(self) -> dict[str, frozenset[str]]:
        means: dict[str, set[str]] = {}
        for name, region in self.regions.items():
            denied = set(region.denies)
            denied |= {d for f in region.denies for d in self.descendants[f]}
            for below in self.region_below[name] if denied else ():
                means.setdefault(below, set()).update(denied)
        return {region: frozenset(found) for region, found in means.items()}


def _inverse(above: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    below: dict[str, set[str]] = {name: set() for name in above}
    for name, wider in above.items():
        for ancestor in wider:
            below[ancestor].add(name)
    return {name: frozenset(found) for name, found in below.items()}
