"""What the observations of a study say, as evidence for answers (paper Sec. E.2.2).

Each observation is classified once: finding, device or acquisition; positive, negative,
indeterminate, of unknown kind, or a mere comparison or recommendation; and where it lies. From
this the strategies derive states. The rules are cautious, for a lost negation or a wrong side
harms: a negative needs a statement or a complete study with nothing that could speak against it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from cxrqba.graph.model import Observation, SceneGraph
from cxrqba.qa.context import QaContext

Polarity = Literal["pos", "neg", "unclear", "unresolved", "note"]
StateOrUnknown = Literal[
    "present", "likely", "possible", "unclear", "unlikely", "absent", "unknown"
]

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

    obs: Observation
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

    @property
    def obs_id(self) -> str:
        """Identifier of the observation."""
        return self.obs.obs_id


@dataclass(slots=True)
class Evidence:
    """All items of a study, in report order."""

    graph: SceneGraph
    items: list[Item]
    by_id: dict[str, Item] = field(default_factory=dict)
    open_notes: list[Item] = field(default_factory=list)
    """Comparisons and recommendations about findings on which nothing else is said."""

    def of(self, polarity: Polarity, kind: str | None = None) -> list[Item]:
        """Items of a polarity and kind; negatives that are overridden are left out."""
        return [
            i
            for i in self.items
            if i.polarity == polarity and not i.overridden and (kind is None or kind in i.kinds)
        ]


def gather(graph: SceneGraph, context: QaContext) -> Evidence:
    """Classify the observations of ``graph``."""
    items = [_item(obs, context) for _, obs in sorted(graph.observations.items())]
    _resolve_contradictions(items)
    return Evidence(
        graph=graph,
        items=items,
        by_id={i.obs_id: i for i in items},
        open_notes=_open_notes(items, context),
    )


def _item(obs: Observation, context: QaContext) -> Item:
    findings = context.reference.findings
    known = [e for e in obs.obs_entities if e in findings]
    polarities = {findings[e].polarity for e in known}
    polarity = _polarity(obs, polarities)
    family = frozenset(known).union(*(_above(e, context) for e in known))
    direct = frozenset(
        r for r in (*obs.region_names, *obs.default_regions) if r in context.reference.regions
    )
    side_known = obs.laterality in ("bilateral", "likely bilateral")
    sided = any(findings[e].laterality == "sided" for e in known)
    # "pleural effusion" without a side lies in one pleural space or the other, not surely in both
    both = polarity == "neg" or side_known or not sided
    reach = context.region_both_sides if both else context.region_with_above
    return Item(
        obs=obs,
        polarity=polarity,
        kinds=_kinds(obs, {findings[e].polarity for e in family}),
        uncertain=obs.certainty == "uncertain",
        entities=frozenset(known),
        family=family,
        direct=direct,
        explicit=direct.difference(obs.default_regions),
        located=frozenset().union(*(reach[r] for r in direct)),
        qualified=polarity == "neg" and _is_qualified(obs),
    )


def _polarity(obs: Observation, polarities: set[str]) -> Polarity:
    if obs.positiveness not in ("pos", "neg"):
        return "note"
    if obs.positiveness == "neg":
        if polarities == {"normal"}:  # "not normal" names no finding
            return "unresolved"
        return "unclear" if obs.certainty == "uncertain" else "neg"
    if polarities == {"normal"}:  # "no finding" is present: a negative statement
        return "neg"
    return "pos" if polarities else "unresolved"


def _above(entity: str, context: QaContext) -> frozenset[str]:
    """What else is true where ``entity`` is: a nipple shadow is no nodule, only looks like one."""
    findings = context.reference.findings
    above = context.finding_above[entity]
    if findings[entity].polarity != "technical":
        return above
    return frozenset(a for a in above if findings[a].polarity == "technical")


def _kinds(obs: Observation, of_family: set[str]) -> frozenset[str]:
    """Sternotomy wires are a device and postsurgical changes at once: the hierarchy counts."""
    kinds = set()
    if of_family & {"abnormal", "postsurgical", "normal"}:
        kinds.add("finding")
    if "device" in of_family:
        kinds.add("device")
    if "technical" in of_family:
        kinds.add("acquisition")
    if not kinds:
        devices = {"DEVICE", "TUBES_AND_LINES"} & set(obs.obs_categories)
        kinds.add("device" if devices else "finding")
    return frozenset(kinds)


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
        and any(e not in known and denied.isdisjoint(context.finding_above[e]) for e in i.entities)
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


def side_of_observations(observations: Sequence[Observation]) -> str:
    """The side that all observations together have: left, right, bilateral or unknown."""
    sides = {o.laterality for o in observations}
    if not sides or sides - {"left", "right", "bilateral"}:
        return "unknown"
    return sides.pop() if len(sides) == 1 else "bilateral"
