"""What question generation knows beyond one study: reference, templates, corpus statistics.

Built once a shard. Hierarchies become sets, names become phrases, and the statistics over all
graphs become sampling weights and correlated findings (paper Sec. E.2.2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from cxrqba.config import QaConfig
from cxrqba.errors import UserError, nearest
from cxrqba.qa.templates import TemplateFile
from cxrqba.reference.tables import Reference, Region

NORMAL = "normal"
TECHNICAL = "technical"
MIN_TOGETHER = 2
"""Findings seen together in fewer observations of the corpus are not called correlated."""
MAX_CORRELATED = 5

_SUBDIVIDED = ("left lung", "right lung", "left ribs", "right ribs")
"""Structures whose named parts overlap without one containing the other: zones and lobes."""
_APART = frozenset({"hilum", "vessel", "airway"})
"""Groups of regions below a lung that are no subdivision of its tissue."""
_BANDS = {
    "upper": ("apex", "apical", "upper"),
    "mid": ("mid", "middle", "lingula", "perihilar", "hilar"),
    "lower": ("lower", "base", "basal", "retrocardiac", "middle lobe", "lingula"),
}


@dataclass(frozen=True)
class QaContext:
    """Read-only knowledge for all studies of a shard."""

    reference: Reference
    templates: tuple[TemplateFile, ...]
    config: QaConfig
    region_weights: dict[str, float]
    finding_weights: dict[str, float]
    correlated: dict[str, tuple[str, ...]]

    @cached_property
    def finding_above(self) -> dict[str, frozenset[str]]:
        """Finding -> all ancestors."""
        return {n: frozenset(a) for n, a in self.reference.finding_ancestors.items()}

    @cached_property
    def finding_below(self) -> dict[str, frozenset[str]]:
        """Finding -> all descendants."""
        return _inverse(self.finding_above)

    @cached_property
    def region_above(self) -> dict[str, frozenset[str]]:
        """Region -> all ancestors."""
        return {n: frozenset(a) for n, a in self.reference.region_ancestors.items()}

    @cached_property
    def region_with_above(self) -> dict[str, frozenset[str]]:
        """Region -> itself and the regions it is part of."""
        return {n: a | {n} for n, a in self.region_above.items()}

    @cached_property
    def region_both_sides(self) -> dict[str, frozenset[str]]:
        """Region -> itself, its left and right parts where bilateral, and what they are part of."""
        return {
            name: frozenset().union(*(self.region_with_above[r] for r in _sides(region)))
            for name, region in self.reference.regions.items()
        }

    @cached_property
    def opposite(self) -> dict[str, str | None]:
        """Region -> the same region of the other side."""
        regions = self.reference.regions
        return {n: {"left": r.right, "right": r.left}.get(r.laterality) for n, r in regions.items()}

    @cached_property
    def overlapping(self) -> dict[str, frozenset[str]]:
        """Region -> regions that share tissue with it although neither contains the other.

        A finding of the left lung base may or may not lie in the left lower lobe: neither "yes"
        nor "no" follows for the lobe. Upper, middle and lower parts are known to be apart; lobes
        reach into the middle.
        """
        found: dict[str, set[str]] = {n: set() for n in self.reference.regions}
        for whole in _SUBDIVIDED:
            parts = [
                n
                for n, r in self.reference.regions.items()
                if whole in self.region_above[n] and r.group not in _APART
            ]
            for a in parts:
                for b in parts:
                    related = a == b or a in self.region_above[b] or b in self.region_above[a]
                    if not related and self._may_share(a, b):
                        found[a].add(b)
        return {n: frozenset(f) for n, f in found.items()}

    def _may_share(self, a: str, b: str) -> bool:
        first, second = self.reference.regions[a], self.reference.regions[b]
        if first.group == second.group and first.group in ("rib (single)", "lung lobe"):
            return False
        bands_a, bands_b = _bands(first), _bands(second)
        return not bands_a or not bands_b or bool(bands_a & bands_b)

    @cached_property
    def suggests(self) -> dict[str, frozenset[str]]:
        """Finding -> findings it is indicative of."""
        return {n: frozenset(f.indicative_of) for n, f in self.reference.findings.items()}

    @cached_property
    def subcategory_members(self) -> dict[str, frozenset[str]]:
        """Subcategory -> its findings."""
        members: dict[str, set[str]] = {}
        for name, finding in self.reference.findings.items():
            for subcategory in finding.subcategories:
                members.setdefault(subcategory, set()).add(name)
        return {s: frozenset(m) for s, m in members.items()}

    @cached_property
    def key_regions(self) -> tuple[str, ...]:
        """Regions asked for in every study."""
        return tuple(n for n, r in self.reference.regions.items() if r.key_region)

    @cached_property
    def key_findings(self) -> tuple[str, ...]:
        """Findings and devices asked for in every study."""
        return tuple(n for n, f in self.reference.findings.items() if f.key_finding)

    def is_askable(self, finding: str) -> bool:
        """Whether D questions make sense: not for technical remarks nor for "no finding"."""
        return self.reference.findings[finding].polarity not in (NORMAL, TECHNICAL)


def build_context(
    reference: Reference,
    templates: tuple[TemplateFile, ...],
    statistics: pl.DataFrame,
    config: QaConfig,
) -> QaContext:
    """Prepare the context; ``statistics`` has the columns of ``schema.STATISTICS``."""
    _check_labels(templates, reference)
    counts: dict[str, dict[str, tuple[int, int]]] = {"region": {}, "finding": {}}
    pairs: dict[tuple[str, str], int] = {}
    for kind, name, positive, negative in statistics.select(
        "kind", "name", "positive", "negative"
    ).iter_rows():
        if kind == "finding_pair":
            first, second = name.split("|", 1)
            pairs[first, second] = positive
        elif kind in counts:
            counts[kind][name] = (positive or 0, negative or 0)
    findings = {
        n: c
        for n, c in counts["finding"].items()
        if n in reference.findings and reference.findings[n].polarity not in (NORMAL, TECHNICAL)
    }
    regions = {n: c for n, c in counts["region"].items() if n in reference.regions}
    return QaContext(
        reference=reference,
        templates=templates,
        config=config,
        region_weights=_weights(regions),
        finding_weights=_weights(findings),
        correlated=_correlated(pairs, findings, reference),
    )


def _weights(counts: dict[str, tuple[int, int]]) -> dict[str, float]:
    """Sampling weights by name: the more positive and the fewer negative mentions, the more."""
    return {n: p / (1 + neg) for n, (p, neg) in sorted(counts.items()) if p > 0}


def _correlated(
    pairs: dict[tuple[str, str], int],
    counts: dict[str, tuple[int, int]],
    reference: Reference,
) -> dict[str, tuple[str, ...]]:
    """Finding -> findings positive together with it more than expected, strongest first.

    Strength is the cosine of the two indicator vectors, n(ab) / sqrt(n(a) n(b)). Relatives of the
    hierarchy are left out: they are other subsets.
    """
    above = reference.finding_ancestors
    strengths: dict[str, list[tuple[float, str]]] = {}
    for (a, b), together in pairs.items():
        if together < MIN_TOGETHER or a not in counts or b not in counts or a == b:
            continue
        if a in above[b] or b in above[a]:
            continue
        expected = math.sqrt(max(counts[a][0], 1) * max(counts[b][0], 1))
        strengths.setdefault(a, []).append((-together / expected, b))
        strengths.setdefault(b, []).append((-together / expected, a))
    return {
        name: tuple(dict.fromkeys(n for _, n in sorted(found)))[:MAX_CORRELATED]
        for name, found in strengths.items()
    }


def _sides(region: Region) -> tuple[str, ...]:
    """The region and, where it is a bilateral one, its left and right part."""
    if region.laterality != "bilateral":
        return (region.name,)
    return tuple(r for r in (region.name, region.left, region.right) if r)


def _bands(region: Region) -> set[str]:
    """Heights a region may reach; empty where its name tells none."""
    bands = {band for band, words in _BANDS.items() if any(w in region.name for w in words)}
    return bands | {"mid"} if "lobe" in region.name else bands


def _check_labels(templates: tuple[TemplateFile, ...], reference: Reference) -> None:
    subcategories = {s for f in reference.findings.values() for s in f.subcategories}
    where = "templates"
    for file in templates:
        listed = {s for v in file.variables.values() for s in (*v.always, *v.never)}
        for name in sorted(listed | set(file.labels)):
            if name not in subcategories:
                hint = nearest(name, subcategories)
                raise UserError(f"{where}, {file.strategy}: no subcategory '{name}'{hint}")
        for name, label in file.labels.items():
            for region in label.regions:
                if region not in reference.regions:
                    hint = nearest(region, reference.regions)
                    raise UserError(f"{where}, {file.strategy}, {name}: no region '{region}'{hint}")


def _inverse(above: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    below: dict[str, set[str]] = {n: set() for n in above}
    for name, ancestors in above.items():
        for ancestor in ancestors:
            below[ancestor].add(name)
    return {n: frozenset(b) for n, b in below.items()}
