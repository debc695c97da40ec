"""Strategy "abnormal": the whole study, or one subcategory of it (paper Sec. E.2.2, Tab. 13)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from cxrqba.qa.anatomy import Target
from cxrqba.qa.evidence import Item, Status, status
from cxrqba.qa.language import is_plural
from cxrqba.qa.strategies.case import Case, Everything, Study, basis, classes
from cxrqba.qa.templates import Label, Template, TemplateFile, VariableList

KINDS = ("finding", "device")


def cases(study: Study, template: Template, file: TemplateFile) -> list[Case]:
    """The study as a whole, or one case per subcategory."""
    if template.variable is None:
        wanted = template.filter.subcategories if template.filter else None
        return [_study_case(study, wanted)]
    touched = _touched(study)

    def make(of: Study, subcategory: str) -> Case:
        label = file.labels.get(subcategory) or _plain_label(subcategory)
        return _subcategory_case(of, subcategory, label)

    values = _values(study, file.variables[template.variable])
    return [study.case("subcategory", value, touched, make) for value in values]


def _touched(study: Study) -> Container[str]:
    """Subcategories whose answers the observations can touch."""
    evidence, near = study.evidence, study.context.findings.subcategories_near
    if evidence.of["unresolved"]:
        return Everything()
    touched = set(evidence.in_subcategory)
    return touched.union(*(near[e] for i in evidence.of["pos"] for e in i.entities))


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


def _study_case(study: Study, subcategories: Sequence[str] | None) -> Case:
    items = study.evidence.items
    if subcategories is not None:
        wanted = set(subcategories)
        items = [i for i in items if not wanted.isdisjoint(i.obs.obs_subcategories)]
    return Case(
        value="",
        subsets=classes(items),
        basis=basis(items),
        status={
            "finding": _status(items, "finding", _study_doubts(study)),
            "any": _status(items, None, ()),
        },
        is_plain=True,
    )


def _subcategory_case(study: Study, subcategory: str, label: Label) -> Case:
    items = study.evidence.in_subcategory.get(subcategory, [])
    area = label.area or ""
    return Case(
        value=subcategory,
        subsets=classes(items),
        basis=basis(items),
        status={
            kind: _status(items, kind, _subcategory_doubts(study, items, subcategory, kind))
            for kind in KINDS
        },
        fill={
            "findings": label.findings,
            "area": area,
            "is_area": "are" if is_plural(area) else "is",
        },
        mentioned=any(i.obs.from_report for i in items),
        target=Target(regions=label.regions, subcategories=(subcategory,)),
        is_plain=True,
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
    if study.evidence.of["unresolved"]:
        yield "unresolved_positive"


def _subcategory_doubts(
    study: Study, items: Sequence[Item], subcategory: str, kind: str
) -> Iterator[str]:
    """Why nothing of this subcategory may be called absent."""
    evidence, context = study.evidence, study.context
    if any(subcategory in n.obs.obs_subcategories for n in evidence.open_notes):
        yield "only_comparison_or_recommendation"
    if any(kind in i.kinds for i in evidence.of["unresolved"]):
        yield "unresolved_positive"
    members = context.findings.subcategory_members.get(subcategory, frozenset())
    denied = {e for i in items if i.polarity == "neg" and not i.qualified for e in i.entities}
    for item in evidence.of["pos"]:
        for entity in item.entities:
            if not members.isdisjoint(context.findings.below[entity]):
                yield "broader_finding_positive"
            for suggested in context.findings.suggests[entity] & members:
                if suggested not in denied and denied.isdisjoint(context.findings.above[suggested]):
                    yield "suggested_by_other_finding"
