"""Strategy "region_abnormal": one anatomical region (paper Sec. E.2.2, Tab. 14)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cxrqba.graph.model import Observation
from cxrqba.qa.evidence import Item, Status, status
from cxrqba.qa.language import is_plural, spoken
from cxrqba.qa.sampling import sample, study_generator
from cxrqba.qa.strategies.case import Case, Study, Target, basis, classes
from cxrqba.qa.templates import Template, TemplateFile

WHOLE = "thorax"
"""The root of the regions: its findings are no context for a region."""


def cases(study: Study, template: Template, file: TemplateFile) -> list[Case]:
    """One case per region of the study's set."""
    mentioned = mentioned_regions(study)
    return [_case(study, region, region in mentioned) for region in region_set(study, mentioned)]


def mentioned_regions(study: Study) -> set[str]:
    """Regions named in the report."""
    return {r for i in study.evidence.items if i.obs.from_report for r in i.explicit}


def region_set(study: Study, mentioned: set[str]) -> list[str]:
    """Default regions, mentioned ones, their parents, and sampled ones; each group sorted."""
    context = study.context
    chosen = dict.fromkeys(context.key_regions)
    chosen.update(dict.fromkeys(sorted(mentioned)))
    chosen.update(dict.fromkeys(sorted({p for m in mentioned for p in context.region_above[m]})))
    random = study_generator(context.config.seed, study.evidence.graph.study_id)
    count = context.config.sampled_regions
    chosen.update(dict.fromkeys(sample(context.region_weights, chosen, count, random)))
    return list(chosen)


def _case(study: Study, region: str, mentioned: bool) -> Case:
    context = study.context
    here = [i for i in study.evidence.items if region in i.located]
    parents = context.region_above[region] - {WHOLE}
    around = [
        i
        for i in study.evidence.of("pos")
        if region not in i.located and not parents.isdisjoint(i.direct)
    ]
    opposite = context.opposite[region]
    other_side = [
        i
        for i in study.evidence.of("pos", "finding")
        if opposite in i.located and region not in i.located
    ]
    subsets: dict[str, Sequence[Observation]] = {
        **classes(here),
        "parent_region_pos": [i.obs for i in around if "finding" in i.kinds],
        "parent_region_device": [i.obs for i in around if "device" in i.kinds],
        "opposite_side_pos": [i.obs for i in other_side],
    }
    name = spoken(region)
    laterality = context.reference.regions[region].laterality
    return Case(
        variables={"region": region},
        subsets=subsets,
        basis=basis(here),
        status={kind: _status(study, region, here, kind) for kind in ("finding", "device")},
        fill={"region": name, "is_region": "are" if is_plural(name) else "is"},
        mentioned=mentioned,
        target=Target(
            regions=(region,),
            laterality=laterality if laterality in ("left", "right", "bilateral") else "unknown",
        ),
    )


def _status(study: Study, region: str, here: Sequence[Item], kind: str) -> Status:
    def of(polarity: str) -> list[Item]:
        return [i for i in here if i.polarity == polarity and not i.overridden and kind in i.kinds]

    return status(of("pos"), of("neg"), of("unclear"), _doubts(study, region, kind))


def _doubts(study: Study, region: str, kind: str) -> Iterator[str]:
    """Why the region may not be called normal, or free of devices."""
    evidence = study.evidence
    above = study.context.region_above[region]
    whole = study.context.region_with_above[region]
    overlapping = study.context.overlapping[region]
    for polarity in ("pos", "unclear", "unresolved"):
        for item in evidence.items:
            if item.polarity != polarity or item.overridden or kind not in item.kinds:
                continue
            if not item.direct:
                yield "positive_without_region"
            elif not above.isdisjoint(item.direct) and region not in item.located:
                yield "positive_in_larger_region"
            elif region not in item.located and not overlapping.isdisjoint(item.direct):
                yield "positive_in_overlapping_region"
            elif region in item.located and polarity == "unresolved":
                yield "unresolved_positive"
    if kind == "finding" and any(
        region in n.located or not whole.isdisjoint(n.direct) for n in evidence.open_notes
    ):
        yield "only_comparison_or_recommendation"
