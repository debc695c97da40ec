"""Strategy "finding": one finding or device (paper Sec. E.2.2, Tab. 15)."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from cxrqba.qa.context import QaContext
from cxrqba.qa.evidence import Item, Status, asserted, common_side, status
from cxrqba.qa.language import (
    finding_phrase,
    is_plural,
    listing,
    place,
    spoken,
    with_article,
)
from cxrqba.qa.model import Content
from cxrqba.qa.strategies.case import Case, Everything, Study, Subsets, classes, contents
from cxrqba.qa.templates import Template, TemplateFile

ONE_SIDE = ({"left"}, {"right"})
_NO_SIDE = ("bibasilar", "bilateral", "sided", " or ", " seen ")
"""Names that say the side themselves, or that an adjective does not fit."""


def cases(study: Study, template: Template, file: TemplateFile) -> list[Case]:
    """One case per finding, or per device, of the study's set."""
    findings = study.context.reference.findings
    devices = template.variable == "device"
    touched = _touched(study)
    return [
        study.case("finding", name, touched, _case)
        for name in study.findings
        if findings[name].is_device == devices
    ]


def _touched(study: Study) -> Container[str]:
    """Findings whose answers the observations can touch."""
    evidence, context = study.evidence, study.context
    if evidence.of["unresolved"]:
        return Everything()
    touched: set[str] = set()
    for item in evidence.items:
        touched |= item.family
        if item.polarity == "pos":
            touched |= context.findings.neighbours(item.entities, tuple(item.obs.obs_subcategories))
        else:
            touched.update(*(context.findings.below[e] for e in item.entities))
    return touched


def _case(study: Study, name: str) -> Case:
    context = study.context
    mine = _items(study, name)
    positives = [i for i in mine if i.polarity == "pos"]
    firm = asserted(positives)
    state = _status(study, name, mine, positives)
    return Case(
        value=name,
        subsets={**_classes(mine), **_related(study, name, positives)},
        status={"finding": state, "device": state},
        fill=_fill(name, firm, context) if firm else _plain_fill(name, context),
        holds=_holds(name, firm, context),
        mentioned=name in study.mentioned_findings,
        target=context.findings.targets[name],
        basis=dict.fromkeys(("finding_pos", "device_pos"), contents(firm)) if firm else {},
        is_plain=not firm,
    )


def _items(study: Study, name: str) -> list[Item]:
    """Items about the finding: also a reported denial of something broader speaks of it."""
    evidence = study.evidence
    broader = [
        i for above in study.context.findings.above[name] for i in evidence.denied.get(above, ())
    ]
    found = evidence.about.get(name, [])
    if not broader:
        return found
    return sorted({i.number: i for i in (*found, *broader)}.values(), key=lambda i: i.number)


def _classes(mine: Sequence[Item]) -> Subsets:
    """The classes; a device may be a kind of a finding: sternotomy wires are postsurgical."""
    if not mine:
        return {}
    by_polarity: dict[str, list[Content]] = {"pos": [], "neg": [], "unclear": []}
    for item in mine:
        if not item.overridden and item.polarity in by_polarity:
            by_polarity[item.polarity].append(item.content)
    both = {f"{k}_{p}": found for k in ("finding", "device") for p, found in by_polarity.items()}
    return {**classes(mine), **both}


def _status(study: Study, name: str, mine: Sequence[Item], positives: Sequence[Item]) -> Status:
    negatives = [i for i in mine if i.polarity == "neg" and not i.overridden and not i.qualified]
    unclear = [i for i in mine if i.polarity == "unclear"]
    return status(positives, negatives, unclear, _doubts(study, name, negatives))


def _doubts(study: Study, name: str, negatives: Sequence[Item]) -> Iterator[str]:
    """Why the finding may not be called absent although nothing says it is there."""
    context, evidence = study.context, study.evidence
    above = context.findings.above[name]
    for note in evidence.open_notes:
        if name in note.family or not above.isdisjoint(note.entities):
            yield "only_comparison_or_recommendation"
    if negatives:
        sides = {i.obs.laterality for i in negatives}
        if context.reference.findings[name].laterality == "sided" and sides in ONE_SIDE:
            yield "denied_on_one_side"
        return
    for item in evidence.items:
        if item.polarity == "neg" and name in item.family:
            yield "qualified_negative" if name in item.entities else "narrower_finding_denied"
    for item in evidence.of["pos"]:
        if not above.isdisjoint(item.entities):
            yield "broader_finding_positive"
        if any(name in context.findings.above[e] for e in item.entities):
            yield "technical_finding_positive"
        if not context.findings.suggested_by[name].isdisjoint(item.entities):
            yield "suggested_by_other_finding"
    for item in evidence.of["unresolved"]:
        if not item.direct or not context.findings.default_reach[name].isdisjoint(item.located):
            yield "unresolved_positive"


def _related(study: Study, name: str, positives: Sequence[Item]) -> Subsets:
    """Positive observations of other findings that give context."""
    context = study.context
    others = [i for i in study.evidence.of["pos"] if name not in i.family]
    if not others:
        return {}
    subcategories = context.reference.findings[name].subcategories
    places = frozenset().union(*(i.explicit for i in positives)) if positives else frozenset()

    def having(names: frozenset[str]) -> list[Content]:
        return [i.content for i in others if not names.isdisjoint(i.entities)] if names else []

    return {
        "parent_findings": having(context.findings.above[name]),
        "same_subcategory": [
            i.content for i in others if any(s in i.obs.obs_subcategories for s in subcategories)
        ],
        "correlated": having(context.findings.correlated_with[name]),
        "indications": having(context.findings.suggests[name]),
        "indicative": having(context.findings.suggested_by[name]),
        "same_region": [i.content for i in others if not places.isdisjoint(i.explicit)],
    }


def _holds(name: str, firm: Sequence[Item], context: QaContext) -> frozenset[str]:
    finding = context.reference.findings[name]
    holds = set()
    if finding.laterality != "none":
        holds.add("localizable")
    if "severity" in finding.modifiers:
        holds.add("gradable")
    if any(i.explicit for i in firm):
        holds.add("located")
    if _severities(name, firm):
        holds.add("graded")
    return frozenset(holds)


def _severities(name: str, firm: Sequence[Item]) -> list[str]:
    """Severities said of the finding itself, not of another one in the same observation."""
    return list(
        dict.fromkeys(
            value for i in firm if name in i.family for value in i.obs.modifiers.get("severity", ())
        )
    )


def _fill(name: str, firm: Sequence[Item], context: QaContext) -> dict[str, str]:
    noun = spoken(name)
    is_are = "are" if is_plural(noun) else "is"
    detail = _detail(name, firm, context)
    return {
        "finding": noun,
        "a_finding": with_article(noun),
        "is_finding": is_are,
        "is_there": f"{is_are} there",
        "there_is": f"there {is_are}",
        "detail": detail,
        "there_is_detail": f"there {'are' if is_plural(detail) else 'is'} {detail}",
        "places": listing(_places(firm, context)),
        "severity": listing(_severities(name, firm)),
    }


def _plain_fill(name: str, context: QaContext) -> dict[str, str]:
    found = context.memory.words.get(name)
    if found is None:
        found = context.memory.words[name] = _fill(name, (), context)
    return found


def _detail(name: str, firm: Sequence[Item], context: QaContext) -> str:
    """The finding with severity and side where they are the same for all observations."""
    side: str | None = None
    if context.reference.findings[name].laterality == "sided" and not any(
        word in name for word in _NO_SIDE
    ):
        known = common_side(i.obs.laterality for i in firm)
        side = known if known != "unknown" else None
    exact = len(firm) == 1 and name in firm[0].entities
    severities = _severities(name, firm) if exact else []
    return finding_phrase(name, side, severities[0] if len(severities) == 1 else None)


def _places(firm: Sequence[Item], context: QaContext) -> list[str]:
    """Phrases for the most specific regions, in the order they are given."""
    given: dict[str, list[str]] = {}
    for item in firm:
        for region, distances in item.obs.regions:
            if region in item.explicit:
                given.setdefault(region, []).extend(distances)
    covered = {a for r in given for a in context.anatomy.above[r]}
    return [place(r, d) for r, d in given.items() if d or r not in covered]
