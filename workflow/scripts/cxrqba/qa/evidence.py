"""What the observations of a study say, as evidence for answers (paper Sec. E.2.2).

Each observation is classified once: finding, device or acquisition; positive, negative,
indeterminate, of unknown kind, or a mere comparison or recommendation; and where it lies. From
this the strategies derive states. The rules are cautious, for a lost negation or a wrong side
harms: a negative needs a statement or a complete study with nothing that could speak against it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from cxrqba.qa.context import QaContext
from cxrqba.qa.findings import Family
from cxrqba.qa.model import Content, observation_content
from cxrqba.qa.source import Observation, StudyGraph

Polarity = Literal["pos", "neg", "unclear", "unresolved", "note"]
StateOrUnknown = Literal[
    "present", "likely", "possible", "unclear", "unlikely", "absent", "unknown"
]

POLARITIES: tuple[Polarity, ...] = ("pos", "neg", "unclear", "unresolved", "note")
FINDING = frozenset({"finding"})
DEVICE = frozenset({"device"})

_FURTHER = re.compile(r"\b(?:new|worse\w*|increas\w*|progress\w*)\b", re.I)
"""Changes that limit a negative: "no new consolidation" says nothing about an old one."""


@dataclass(frozen=True, slots=True)
class Status:
    """What is known about the thing asked for; ``reason`` says why it is unknown."""

    state: StateOrUnknown
    reason: str = ""


@dataclass(slots=True, eq=False)
class Item:
    """One observation, classified."""

    number: int  # in report order
    obs: Observation
    content: Content  # as an answer part
    polarity: Polarity
    kinds: frozenset[str]  # of finding, device, acquisition
    uncertain: bool  # a positive that is only possible, or contradicted elsewhere
    entities: frozenset[str]
    family: frozenset[str]  # entities and their ancestors
    direct: frozenset[str]  # regions as given, defaults included
    explicit: frozenset[str]  # regions as given, without defaults
    located: frozenset[str]  # regions the observation surely concerns
    qualified: bool = False  # a negative of a degree or of something new only
    overridden: bool = False  # a negative beside a positive of the same thing and place


@dataclass
class Evidence:
    """All items of a study, in report order, and where to find those about one thing."""

    graph: StudyGraph
    items: list[Item]
    open_notes: list[Item]
    """Comparisons and recommendations about findings on which nothing else is said."""

    @cached_property
    def by_id(self) -> dict[str, Item]:
        """Observation id -> item."""
        return {i.obs.obs_id: i for i in self.items}

    @cached_property
    def of(self) -> dict[Polarity, list[Item]]:
        """Items by polarity; negatives that are overridden are left out."""
        found: dict[Polarity, list[Item]] = {p: [] for p in POLARITIES}
        for item in self.items:
            if not item.overridden:
                found[item.polarity].append(item)
        return found

    @cached_property
    def at(self) -> dict[str, list[Item]]:
        """Region -> items that surely concern it."""
        return _grouped((region, i) for i in self.items for region in i.located)

    @cached_property
    def about(self) -> dict[str, list[Item]]:
        """Finding -> items that assert it, or something more specific, or deny just it."""
        return _grouped(
            (name, i)
            for i in self.items
            for name in (i.entities if i.polarity == "neg" else i.family)
        )

    @cached_property
    def denied(self) -> dict[str, list[Item]]:
        """Finding -> reported items that deny it."""
        return _grouped(
            (name, i)
            for i in self.items
            if i.polarity == "neg" and i.obs.from_report
            for name in i.entities
        )

    @cached_property
    def in_subcategory(self) -> dict[str, list[Item]]:
        """Subcategory -> items."""
        return _grouped((s, i) for i in self.items for s in i.obs.obs_subcategories)


def _grouped(pairs: Iterable[tuple[str, Item]]) -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = {}
    for name, item in pairs:
        found.setdefault(name, []).append(item)
    return found


def gather(graph: StudyGraph, context: QaContext) -> Evidence:
    """Classify the observations of ``graph``."""
    observations = sorted(graph.observations.items())
    items = [_item(number, obs, context) for number, (_, obs) in enumerate(observations)]
    _resolve_contradictions(items)
    return Evidence(graph, items, _open_notes(items, context))


def _item(number: int, obs: Observation, context: QaContext) -> Item:
    family = context.findings.family(tuple(obs.obs_entities))
    polarity = _polarity(obs, family)
    known_regions = context.reference.regions
    explicit = frozenset(r for r, _ in obs.regions if r in known_regions)
    defaults = frozenset(obs.default_regions)
    direct = explicit | defaults.intersection(known_regions)
    side_known = obs.laterality in ("bilateral", "likely bilateral")
    # "pleural effusion" without a side lies in one pleural space or the other, not surely in both
    both = polarity == "neg" or side_known or not family.sided
    return Item(
        number=number,
        obs=obs,
        content=observation_content(obs),
        polarity=polarity,
        kinds=_kinds(obs, family),
        uncertain=obs.certainty == "uncertain",
        entities=family.entities,
        family=family.all,
        direct=direct,
        explicit=explicit - defaults,
        located=context.anatomy.reach(direct, both),
        qualified=polarity == "neg" and _is_qualified(obs),
    )


def _polarity(obs: Observation, family: Family) -> Polarity:
    if obs.positiveness not in ("pos", "neg"):
        return "note"
    if obs.positiveness == "neg":
        if family.only_normal:  # "not normal" names no finding
            return "unresolved"
        return "unclear" if obs.certainty == "uncertain" else "neg"
    if family.only_normal:  # "no finding" is present: a negative statement
        return "neg"
    return "pos" if family.entities else "unresolved"


def _kinds(obs: Observation, family: Family) -> frozenset[str]:
    if family.kinds:
        return family.kinds
    devices = {"DEVICE", "TUBES_AND_LINES"} & set(obs.obs_categories)
    return DEVICE if devices else FINDING


def _is_qualified(obs: Observation) -> bool:
    """Whether a negative denies only a degree or something new: "no large effusion"."""
    if not obs.from_report:
        return False
    modifiers = obs.modifiers
    if modifiers.get("severity") or modifiers.get("temporal"):
        return True
    return any(_FURTHER.search(change) for change in obs.changes)


def _resolve_contradictions(items: Sequence[Item]) -> None:
    """Positive and negative of the same finding in the same place cannot both be told.

    The negative is dropped. If it denies exactly the finding, the positive is only possible; if it
    denies a broader one ("the lungs are clear" beside an atelectasis), the specific one stands.
    """
    positives = [i for i in items if i.polarity == "pos"]
    for negative in items:
        if negative.polarity != "neg" or negative.qualified:
            continue
        for positive in positives:
            if negative.entities.isdisjoint(positive.family) or not _overlap(negative, positive):
                continue
            negative.overridden = True
            if not negative.entities.isdisjoint(positive.entities):
                positive.uncertain = True


def _overlap(a: Item, b: Item) -> bool:
    if not a.direct or not b.direct:
        return True
    return not (a.located.isdisjoint(b.direct) and b.located.isdisjoint(a.direct))


def _open_notes(items: Sequence[Item], context: QaContext) -> list[Item]:
    said = [i for i in items if i.polarity in ("pos", "neg", "unclear")]
    known: set[str] = set()
    denied: set[str] = set()
    for item in said:
        known |= item.family
        if item.polarity == "neg":
            denied |= item.entities
    return [
        i
        for i in items
        if i.polarity == "note"
        and "finding" in i.kinds
        and any(e not in known and denied.isdisjoint(context.findings.above[e]) for e in i.entities)
    ]


def asserted(positives: Sequence[Item]) -> list[Item]:
    """The positives that are more than possible; all of them if none is."""
    firm = [i for i in positives if not i.uncertain]
    return firm or list(positives)


def status(
    positives: Sequence[Item],
    negatives: Sequence[Item],
    unclear: Sequence[Item],
    doubts: Iterable[str],
) -> Status:
    """The state that follows from items about one thing.

    ``doubts`` are reasons that speak against a negative; they are looked at only where it matters.
    """
    if positives:
        firm = [i for i in positives if not i.uncertain]
        if any(i.obs.certainty == "certain" for i in firm):
            return Status("present")
        return Status("likely" if firm else "possible")
    if unclear:
        return Status("unclear")
    for reason in doubts:
        return Status("unknown", reason)
    if negatives and all(i.obs.certainty == "likely" for i in negatives):
        return Status("unlikely")
    return Status("absent")


def common_side(sides: Iterable[str]) -> str:
    """The side that several observations together have: left, right, bilateral or unknown."""
    found = set(sides)
    if not found or found - {"left", "right", "bilateral"}:
        return "unknown"
    return found.pop() if len(found) == 1 else "bilateral"
