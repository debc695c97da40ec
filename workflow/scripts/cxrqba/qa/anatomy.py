"""Regions as question generation sees them: what is part of what, and what may overlap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cxrqba.reference.tables import Reference, Region

SIDES = ("left", "right", "bilateral")

_SUBDIVIDED = ("left lung", "right lung", "left ribs", "right ribs")
"""Structures whose named parts overlap without one containing the other: zones and lobes."""
_APART = frozenset({"hilum", "vessel", "airway"})
"""Groups of regions below a lung that are no subdivision of its tissue."""
_BANDS = {
    "upper": ("apex", "apical", "upper"),
    "mid": ("mid", "middle", "lingula", "perihilar", "hilar"),
    "lower": ("lower", "base", "basal", "retrocardiac", "middle lobe", "lingula"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """The region, finding or subcategory asked for, as tags of template answers."""

    regions: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    subcategories: tuple[str, ...] = ()
    regions_are_defaults: bool = False
    laterality: str = "unknown"


NO_TARGET = Target()


@dataclass
class Anatomy:
    """Relations of the reference's regions; what is worked out once is kept."""

    reference: Reference

    def __post_init__(self) -> None:
        self._reaches: dict[tuple[frozenset[str], bool], frozenset[str]] = {}
        self._surroundings: dict[frozenset[str], frozenset[str]] = {}

    @cached_property
    def above(self) -> dict[str, frozenset[str]]:
        """Region -> all ancestors."""
        return {n: frozenset(a) for n, a in self.reference.region_ancestors.items()}

    @cached_property
    def with_above(self) -> dict[str, frozenset[str]]:
        """Region -> itself and the regions it is part of."""
        return {n: a | {n} for n, a in self.above.items()}

    @cached_property
    def both_sides(self) -> dict[str, frozenset[str]]:
        """Region -> itself, its left and right parts where bilateral, and what they are part of."""
        return {
            name: frozenset().union(*(self.with_above[r] for r in _sides(region)))
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
                if whole in self.above[n] and r.group not in _APART
            ]
            for a in parts:
                for b in parts:
                    related = a == b or a in self.above[b] or b in self.above[a]
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
    def targets(self) -> dict[str, Target]:
        """Region -> the target of its questions."""
        return {
            n: Target(regions=(n,), laterality=r.laterality if r.laterality in SIDES else "unknown")
            for n, r in self.reference.regions.items()
        }

    def reach(self, regions: frozenset[str], both_sides: bool) -> frozenset[str]:
        """Regions that a statement about ``regions`` surely concerns."""
        key = (regions, both_sides)
        found = self._reaches.get(key)
        if found is None:
            of = self.both_sides if both_sides else self.with_above
            found = self._reaches[key] = frozenset().union(*(of[r] for r in regions))
        return found

    def surroundings(self, regions: frozenset[str]) -> frozenset[str]:
        """Regions whose answers an observation at ``regions`` can touch in any way."""
        found = self._surroundings.get(regions)
        if found is None:
            reach = self.reach(regions, both_sides=True)
            found = self._surroundings[regions] = frozenset(
                name
                for name, above in self.with_above.items()
                if name in reach
                or self.opposite[name] in reach
                or not above.isdisjoint(regions)
                or not self.overlapping[name].isdisjoint(regions)
            )
        return found


def _sides(region: Region) -> tuple[str, ...]:
    """The region and, where it is a bilateral one, its left and right part."""
    if region.laterality != "bilateral":
        return (region.name,)
    return tuple(r for r in (region.name, region.left, region.right) if r)


def _bands(region: Region) -> set[str]:
    """Heights a region may reach; empty where its name tells none."""
    bands = {band for band, words in _BANDS.items() if any(w in region.name for w in words)}
    return bands | {"mid"} if "lobe" in region.name else bands
