"""Strategy "region_abnormal": one anatomical region (paper Sec. E.2.2, Tab. 14)."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from cxrqba.qa.evidence import Item, Polarity, Status, status
from cxrqba.qa.language import is_plural, spoken
from cxrqba.qa.strategies.case import Case, Everything, Study, Subsets, basis, classes, contents
from cxrqba.qa.templates import Template, TemplateFile

SUSPECT: tuple[Polarity, ...] = ("pos", "unclear", "unresolved")
"""Polarities that speak against calling a region normal."""
WHOLE = "thorax"
"""The root of the regions: its findings are no context for a region."""


def cases(study: Study, template: Template, file: TemplateFile) -> list[Case]:
    """One case per region of the study's set."""
    touched = _touched(study)
    return [study.case("region", region, touched, _case) for region in study.regions]


def _touched(study: Study) -> Container[str]:
    """Regions whose answers the observations can touch."""
    evidence = study.evidence
    touched = set(evidence.at)
    suspects = [i for p in SUSPECT for i in evidence.of[p]]
    if any(not i.direct for i in suspects):
        return Everything()
    return touched.union(
        *(study.context.anatomy.surroundings(i.direct) for i in (*suspects, *evidence.open_notes))
    )


def _case(study: Study, region: str) -> Case:
    context = study.context
    here = study.evidence.at.get(region, [])
    name = spoken(region)
    return Case(
        value=region,
        subsets={**classes(here), **_around(study, region)},
        basis=basis(here),
        status={kind: _status(study, region, here, kind) for kind in ("finding", "device")},
        fill={"region": name, "is_region": "are" if is_plural(name) else "is"},
        mentioned=region in study.mentioned_regions,
        target=context.anatomy.targets[region],
        is_plain=True,
    )


def _around(study: Study, region: str) -> Subsets:
    """Positives of the regions that this one is part of, and of the other side."""
    positives = [i for i in study.evidence.of["pos"] if region not in i.located]
    if not positives:
        return {}
    parents = study.context.anatomy.above[region] - {WHOLE}
    opposite = study.context.anatomy.opposite[region]
    larger = [i for i in positives if not parents.isdisjoint(i.direct)]
    return {
        "parent_region_pos": contents([i for i in larger if "finding" in i.kinds]),
        "parent_region_device": contents([i for i in larger if "device" in i.kinds]),
        "opposite_side_pos": contents(
            [i for i in positives if opposite in i.located and "finding" in i.kinds]
        ),
    }


def _status(study: Study, region: str, here: Sequence[Item], kind: str) -> Status:
    def of(polarity: str) -> list[Item]:
        return [i for i in here if i.polarity == polarity and not i.overridden and kind in i.kinds]

    return status(of("pos"), of("neg"), of("unclear"), _doubts(study, region, kind))


def _doubts(study: Study, region: str, kind: str) -> Iterator[str]:
    """Why the region may not be called normal, or free of devices."""
    evidence = study.evidence
    above = study.context.anatomy.above[region]
    overlapping = study.context.anatomy.overlapping[region]
    for polarity in SUSPECT:
        for item in evidence.of[polarity]:
            if kind not in item.kinds:
                continue
            if not item.direct:
                yield "positive_without_region"
            elif region in item.located:
                if polarity == "unresolved":
                    yield "unresolved_positive"
            elif not above.isdisjoint(item.direct):
                yield "positive_in_larger_region"
            elif not overlapping.isdisjoint(item.direct):
                yield "positive_in_overlapping_region"
    if kind == "finding" and evidence.open_notes:
        whole = study.context.anatomy.with_above[region]
        if any(region in n.located or not whole.isdisjoint(n.direct) for n in evidence.open_notes):
            yield "only_comparison_or_recommendation"
