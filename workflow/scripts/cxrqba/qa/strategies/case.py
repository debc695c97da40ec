"""What a strategy hands to the template engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from cxrqba.graph.model import Localization, Observation
from cxrqba.qa.context import QaContext
from cxrqba.qa.evidence import Evidence, Item, Status, asserted
from cxrqba.qa.templates import CLASSES


@dataclass(frozen=True, slots=True)
class Target:
    """The region, finding or subcategory asked for, as tags of template answers."""

    regions: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    subcategories: tuple[str, ...] = ()
    regions_are_defaults: bool = False
    laterality: str = "unknown"


@dataclass(frozen=True, slots=True)
class Inherited:
    """Tags, regions and boxes that a template answer takes from observations and target."""

    entities: list[str]
    parents: list[str]
    categories: list[str]
    subcategories: list[str]
    certainty: str
    modifiers: list[tuple[str, str]]
    regions: list[str]
    laterality: str
    localization: list[Localization]
    quality: dict[str, str]
    obs_ids: list[str]


@dataclass(slots=True)
class Case:
    """One question to ask for a value of the template's variable."""

    variables: Mapping[str, str]
    subsets: Mapping[str, Sequence[Observation]]
    status: Mapping[str, Status]  # by what the template is about: finding, device, any
    fill: Mapping[str, str] = field(default_factory=dict)
    holds: frozenset[str] = frozenset()  # located, graded
    mentioned: bool = True
    target: Target = Target()
    basis: Mapping[str, Sequence[Observation]] = field(default_factory=dict)
    """Subsets from which template answers inherit, where it is not the whole subset."""
    inherited: dict[tuple[tuple[str, ...], tuple[str, ...]], Inherited] = field(
        default_factory=dict
    )
    """What the engine has worked out already, by (tags, boxes) of a template answer."""


@dataclass
class Study:
    """Evidence of one study with the context: what every strategy works on."""

    evidence: Evidence
    context: QaContext

    @cached_property
    def no_denial(self) -> str:
        """Why no negative may be said at all; empty where it may.

        "No" and "normal" need a complete graph, and a report that states anything: one of
        comparisons and recommendations alone is never called normal.
        """
        if not self.evidence.graph.is_complete:
            return "incomplete_study"
        if any(i.obs.from_report and i.polarity in ("pos", "neg") for i in self.evidence.items):
            return ""
        return "no_positive_or_negative_statement"


def observations(items: Sequence[Item]) -> list[Observation]:
    """The observations behind items."""
    return [i.obs for i in items]


def basis(items: Sequence[Item]) -> dict[str, list[Observation]]:
    """What template answers inherit from: a firm positive is not mixed with a mere possibility."""
    positives = [i for i in items if i.polarity == "pos"]
    return {
        f"{kind}_pos": observations(asserted([i for i in positives if kind in i.kinds]))
        for kind in ("finding", "device")
    }


def classes(items: Sequence[Item]) -> dict[str, list[Observation]]:
    """Items by the classes that all strategies share."""
    subsets: dict[str, list[Observation]] = {name: [] for name in CLASSES}
    for item in items:
        if item.overridden:
            continue
        if item.polarity == "note":
            subsets["notes"].append(item.obs)
        elif "acquisition" in item.kinds:
            subsets["acquisition"].append(item.obs)
        for kind in ("finding", "device"):
            name = f"{kind}_{item.polarity}"
            if kind in item.kinds and name in subsets:
                subsets[name].append(item.obs)
    return subsets
