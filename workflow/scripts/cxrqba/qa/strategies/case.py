"""What a strategy hands to the template engine."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cxrqba.qa.anatomy import NO_TARGET, Target
from cxrqba.qa.context import QaContext
from cxrqba.qa.evidence import Evidence, Item, Status, asserted
from cxrqba.qa.model import Content
from cxrqba.qa.sampling import study_generator

Subsets = Mapping[str, Sequence[Content]]


Shape = tuple[frozenset[str], frozenset[str], frozenset[str]]
"""What an answer's plan depends on beside the state: properties that hold, subsets that are not
empty, and those of them with observations from the report."""


@dataclass(slots=True)
class Case:
    """One question to ask for a value of the template's variable."""

    value: str  # of the variable; empty where there is none
    subsets: Subsets  # those that are not empty, once the case is made
    status: Mapping[str, Status]  # by what the template is about: finding, device, any
    fill: Mapping[str, str] = field(default_factory=dict)
    holds: frozenset[str] = frozenset()  # located, graded
    mentioned: bool = True
    target: Target = NO_TARGET
    basis: Subsets = field(default_factory=dict)
    """Subsets from which template answers inherit, where it is not the whole subset."""
    is_plain: bool = False
    """Whether ``fill``, ``holds`` and ``target`` follow from the value alone, in any study."""
    is_quiet: bool = False
    """Whether nothing in the study touches the value: the whole case follows from it alone."""
    shape: Shape = field(init=False)
    inherited: dict[tuple[tuple[str, ...], tuple[str, ...]], Any] = field(default_factory=dict)
    """What template answers inherit, by (tags, boxes), once worked out (``qa.contents``)."""

    def __post_init__(self) -> None:
        """Observations without any text cannot be told."""
        told = {name: [c for c in found if c.text] for name, found in self.subsets.items()}
        self.subsets = {name: found for name, found in told.items() if found}
        reported = {n for n, found in self.subsets.items() if any(c.from_report for c in found)}
        self.shape = (self.holds, frozenset(self.subsets), frozenset(reported))


MakeCase = Callable[["Study", str], Case]


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

    def case(self, kind: str, value: str, touched: Container[str], make: MakeCase) -> Case:
        """The case of a value; what nothing in the study touches is the same in every study."""
        if value in touched:
            return make(self, value)
        key = (kind, value)
        found = self.context.memory.cases.get(key)
        if found is None:
            found = self.context.memory.cases[key] = make(self, value)
            found.is_quiet = True
        return found  # type: ignore[no-any-return]

    @cached_property
    def mentioned_regions(self) -> set[str]:
        """Regions named in the report."""
        return {r for i in self.evidence.items if i.obs.from_report for r in i.explicit}

    @cached_property
    def mentioned_findings(self) -> set[str]:
        """Findings and devices named in the report."""
        return {e for i in self.evidence.items if i.obs.from_report for e in i.entities}

    @cached_property
    def regions(self) -> list[str]:
        """Default regions, mentioned ones, their parents, and sampled ones; each group sorted."""
        context, mentioned = self.context, self.mentioned_regions
        chosen = dict.fromkeys(context.always("region_abnormal"))
        chosen.update(dict.fromkeys(sorted(mentioned)))
        parents = {p for m in mentioned for p in context.anatomy.above[m]}
        chosen.update(dict.fromkeys(sorted(parents)))
        random = study_generator(context.config.seed, self.evidence.graph.study_id)
        count = context.config.sampled_regions
        chosen.update(dict.fromkeys(context.region_sampler.draw(chosen, count, random)))
        return list(chosen)

    @cached_property
    def findings(self) -> list[str]:
        """Default findings and devices, mentioned ones, their parents, and sampled ones."""
        context, mentioned = self.context, self.mentioned_findings
        chosen = dict.fromkeys(context.always("finding"))
        chosen.update(dict.fromkeys(sorted(mentioned)))
        parents = {p for m in mentioned for p in context.findings.above[m]}
        chosen.update(dict.fromkeys(sorted(parents)))
        study_id = self.evidence.graph.study_id
        random = study_generator(context.config.seed, f"{study_id}:findings")
        count = context.config.sampled_findings
        chosen.update(dict.fromkeys(context.finding_sampler.draw(chosen, count, random)))
        return [name for name in chosen if context.findings.is_askable(name)]


def contents(items: Sequence[Item]) -> list[Content]:
    """Items as answer parts."""
    return [i.content for i in items]


class Everything:
    """Contains all values: an observation of unknown kind or place can touch any of them."""

    def __contains__(self, value: object) -> bool:
        return True


def basis(items: Sequence[Item]) -> dict[str, list[Content]]:
    """What template answers inherit from: a firm positive is not mixed with a mere possibility."""
    found = {}
    for kind in ("finding", "device"):
        positives = [i for i in items if i.polarity == "pos" and kind in i.kinds]
        if positives:
            found[f"{kind}_pos"] = contents(asserted(positives))
    return found


def classes(items: Sequence[Item]) -> dict[str, list[Content]]:
    """Items by the classes that all strategies share."""
    subsets: dict[str, list[Content]] = {}
    for item in items:
        if item.overridden:
            continue
        if item.polarity == "note":
            subsets.setdefault("notes", []).append(item.content)
            continue
        if "acquisition" in item.kinds:
            subsets.setdefault("acquisition", []).append(item.content)
        for kind in ("finding", "device"):
            if kind in item.kinds:
                subsets.setdefault(f"{kind}_{item.polarity}", []).append(item.content)
    return subsets
