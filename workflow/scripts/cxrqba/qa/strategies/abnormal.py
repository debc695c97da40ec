"""Strategy "abnormal": the whole study, or one subcategory of it (paper Sec. E.2.2, Tab. 13)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cxrqba.qa.evidence import Item, Status, status
from cxrqba.qa.language import is_plural
from cxrqba.qa.strategies.case import Case, Study, Target, basis, classes
from cxrqba.qa.templates import Label, Template, TemplateFile, VariableList


def cases(study: Study, template: Template, file: TemplateFile) -> list[Case]:
    """The study as a whole, or one case per subcategory."""
    if template.variable is None:
        wanted = template.filter.subcategories if template.filter else None
        return [_study_case(study, wanted)]
    subcategories = _values(study, file.variables[template.variable])
    return [
        _subcategory_case(study, s, template.variable, file.labels.get(s) or _plain_label(s))
        for s in subcategories
    ]


def _values(study: Study, variable: VariableList) -> list[str]:
    values = dict.fromkeys(variable.always)
    if variable.mentioned:
        found = {
            subcategory
            for item in study.evidence.items
            if variable.mentioned in item.kinds
            for entity in item.entities
            if (finding := study.context.reference.findings[entity])
            and (finding.polarity == "device") == (variable.mentioned == "device")
            and finding.polarity not in ("normal", "technical")
            for subcategory in finding.subcategories
        }
        values.update(dict.fromkeys(sorted(found.difference(variable.never))))
    return list(values)


def _plain_label(subcategory: str) -> Label:
    return Label(findings=f"findings of the kind {subcategory.lower()}")


def _within(items: Iterable[Item], subcategories: Sequence[str] | None) -> list[Item]:
    if subcategories is None:
        return list(items)
    wanted = set(subcategories)
    return [i for i in items if not wanted.isdisjoint(i.obs.obs_subcategories)]


def _study_case(study: Study, subcategories: Sequence[str] | None) -> Case:
    items = _within(study.evidence.items, subcategories)
    return Case(
        variables={},
        subsets=classes(items),
        basis=basis(items),
        status={
            "finding": _status(items, "finding", _study_doubts(study)),
            "any": _status(items, None, ()),
        },
    )


def _subcategory_case(study: Study, subcategory: str, variable: str, label: Label) -> Case:
    items = _within(study.evidence.items, (subcategory,))
    area = label.area or ""
    return Case(
        variables={"subcategory": subcategory},
        subsets=classes(items),
        basis=basis(items),
        status={
            kind: _status(items, kind, _subcategory_doubts(study, items, subcategory, kind))
            for kind in ("finding", "device")
        },
        fill={
            "findings": label.findings,
            "area": area,
            "is_area": "are" if is_plural(area) else "is",
        },
        mentioned=any(i.obs.from_report for i in items),
        target=Target(regions=label.regions, subcategories=(subcategory,)),
    )


def _status(items: Sequence[Item], kind: str | None, doubts: Iterable[str]) -> Status:
    def of(polarity: str) -> list[Item]:
        return [
            i
            for i in items
            if i.polarity == polarity and not i.overridden and (kind is None or kind in i.kinds)
        ]

    return status(of("pos"), of("neg"), of("unclear"), doubts)


def _study_doubts(study: Study) -> Iterator[str]:
    if study.evidence.open_notes:
        yield "only_comparison_or_recommendation"
    if study.evidence.of("unresolved"):
        yield "unresolved_positive"


def _subcategory_doubts(
    study: Study, items: Sequence[Item], subcategory: str, kind: str
) -> Iterator[str]:
    """Why nothing of this subcategory may be called absent."""
    evidence, context = study.evidence, study.context
    if any(subcategory in n.obs.obs_subcategories for n in evidence.open_notes):
        yield "only_comparison_or_recommendation"
    if evidence.of("unresolved", kind):
        yield "unresolved_positive"
    members = context.subcategory_members.get(subcategory, frozenset())
    denied = {e for i in items if i.polarity == "neg" and not i.qualified for e in i.entities}
    for item in evidence.of("pos"):
        for entity in item.entities:
            if not members.isdisjoint(context.finding_below[entity]):
                yield "broader_finding_positive"
            for suggested in context.suggests[entity] & members:
                if suggested not in denied and denied.isdisjoint(context.finding_above[suggested]):
                    yield "suggested_by_other_finding"
