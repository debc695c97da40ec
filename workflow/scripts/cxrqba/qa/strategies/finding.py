"""Strategy "finding": one finding or device (paper Sec. E.2.2, Tab. 15)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cxrqba.graph.model import Observation
from cxrqba.qa.context import QaContext
from cxrqba.qa.evidence import Item, asserted, side_of_observations, status
from cxrqba.qa.language import (
    finding_phrase,
    is_plural,
    listing,
    place,
    spoken,
    with_article,
)
from cxrqba.qa.sampling import sample, study_generator
from cxrqba.qa.strategies.case import Case, Study, Target, classes, observations
from cxrqba.qa.templates import Template, TemplateFile

_NO_SIDE = ("bibasilar", "bilateral", "sided", " or ", " seen ")
"""Names that say the side themselves, or that an adjective does not fit."""


def cases(study: Study, template: Template, file: TemplateFile) -> list[Case]:
    """One case per finding, or per device, of the study's set."""
    findings = study.context.reference.findings
    mentioned = {e for i in study.evidence.items if i.obs.from_report for e in i.entities}
    return [
        _case(study, name, name in mentioned)
        for name in finding_set(study, mentioned)
        if findings[name].is_device == (template.variable == "device")
    ]


def finding_set(study: Study, mentioned: set[str]) -> list[str]:
    """Default findings, mentioned ones, their parents, and sampled ones; each group sorted."""
    context = study.context
    chosen = dict.fromkeys(context.key_findings)
    chosen.update(dict.fromkeys(sorted(mentioned)))
    chosen.update(dict.fromkeys(sorted({p for m in mentioned for p in context.finding_above[m]})))
    random = study_generator(context.config.seed, f"{study.evidence.graph.study_id}:findings")
    count = context.config.sampled_findings
    chosen.update(dict.fromkeys(sample(context.finding_weights, chosen, count, random)))
    return [name for name in chosen if context.is_askable(name)]


def _case(study: Study, name: str, mentioned: bool) -> Case:
    context, evidence = study.context, study.evidence
    above = context.finding_above[name]
    mine = [
        i
        for i in evidence.items
        if name in (i.entities if i.polarity == "neg" else i.family)
        or (i.polarity == "neg" and i.obs.from_report and not above.isdisjoint(i.entities))
    ]
    positives = [i for i in mine if i.polarity == "pos"]
    negatives = [i for i in mine if i.polarity == "neg" and not i.overridden and not i.qualified]
    unclear = [i for i in mine if i.polarity == "unclear"]
    state = status(positives, negatives, unclear, _doubts(study, name, negatives))
    firm = asserted(positives)
    subsets: dict[str, Sequence[Observation]] = {
        **classes(mine),
        # a device may be a kind of the finding: sternotomy wires are postsurgical changes
        **{
            f"{kind}_{polarity}": [
                i.obs for i in mine if i.polarity == polarity and not i.overridden
            ]
            for kind in ("finding", "device")
            for polarity in ("pos", "neg", "unclear")
        },
        **_related(study, name, positives),
    }
    return Case(
        variables={"device" if context.reference.findings[name].is_device else "finding": name},
        subsets=subsets,
        status={"finding": state, "device": state},
        fill=_fill(name, firm, context),
        holds=_holds(name, firm, context),
        mentioned=mentioned,
        target=_target(name, context),
        basis={"finding_pos": observations(firm), "device_pos": observations(firm)},
    )


def _target(name: str, context: QaContext) -> Target:
    finding = context.reference.findings[name]
    return Target(
        regions=finding.default_regions,
        entities=(name,),
        subcategories=finding.subcategories,
        regions_are_defaults=True,
    )


def _doubts(study: Study, name: str, negatives: Sequence[Item]) -> Iterator[str]:
    """Why the finding may not be called absent although nothing says it is there."""
    context, evidence = study.context, study.evidence
    finding = context.reference.findings[name]
    above = context.finding_above[name]
    for note in evidence.open_notes:
        if name in note.family or not above.isdisjoint(note.entities):
            yield "only_comparison_or_recommendation"
    if negatives:
        sides = {i.obs.laterality for i in negatives}
        if finding.laterality == "sided" and sides in ({"left"}, {"right"}):
            yield "denied_on_one_side"
        return
    for item in evidence.items:
        if item.polarity == "neg" and name in item.family:
            yield "qualified_negative" if name in item.entities else "narrower_finding_denied"
    defaults = frozenset().union(*(context.region_both_sides[r] for r in finding.default_regions))
    for item in evidence.items:
        if item.polarity == "pos":
            if not above.isdisjoint(item.entities):
                yield "broader_finding_positive"
            if any(name in context.finding_above[e] for e in item.entities):
                yield "technical_finding_positive"
            if any(name in context.suggests[e] for e in item.entities):
                yield "suggested_by_other_finding"
        elif item.polarity == "unresolved" and (
            not item.direct or not defaults.isdisjoint(item.located)
        ):
            yield "unresolved_positive"


def _related(
    study: Study, name: str, positives: Sequence[Item]
) -> dict[str, Sequence[Observation]]:
    """Positive observations of other findings that give context."""
    context = study.context
    finding = context.reference.findings[name]
    others = [i for i in study.evidence.of("pos") if name not in i.family]
    above = context.finding_above[name]
    subcategories = set(finding.subcategories)
    correlated = set(context.correlated.get(name, ()))
    suggested = context.suggests[name]
    places = frozenset().union(*(i.explicit for i in positives))

    def having(names: set[str] | frozenset[str]) -> list[Observation]:
        return [i.obs for i in others if not names.isdisjoint(i.entities)] if names else []

    return {
        "parent_findings": having(above),
        "same_subcategory": [
            i.obs for i in others if not subcategories.isdisjoint(i.obs.obs_subcategories)
        ],
        "correlated": having(correlated),
        "indications": having(suggested),
        "indicative": [
            i.obs for i in others if any(name in context.suggests[e] for e in i.entities)
        ],
        "same_region": [i.obs for i in others if not places.isdisjoint(i.explicit)],
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


def _detail(name: str, firm: Sequence[Item], context: QaContext) -> str:
    """The finding with severity and side where they are the same for all observations."""
    side: str | None = None
    if context.reference.findings[name].laterality == "sided" and not any(
        word in name for word in _NO_SIDE
    ):
        known = side_of_observations(observations(firm))
        side = known if known != "unknown" else None
    exact = len(firm) == 1 and name in firm[0].entities
    severities = _severities(name, firm) if exact else []
    return finding_phrase(name, side, severities[0] if len(severities) == 1 else None)


def _places(firm: Sequence[Item], context: QaContext) -> list[str]:
    """Phrases for the most specific regions, in the order they are given."""
    given: dict[str, list[str]] = {}
    for item in firm:
        for entry in item.obs.regions:
            if entry["region"] in item.explicit:
                given.setdefault(entry["region"], []).extend(entry.get("distances") or ())
    covered = {a for r in given for a in context.region_above[r]}
    return [place(r, d) for r, d in given.items() if d or r not in covered]
