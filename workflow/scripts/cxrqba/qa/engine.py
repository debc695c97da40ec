"""The template engine (paper Sec. E.2.1): evidence -> cases -> questions with answer parts.

For each template: filter, run the strategy, choose the template answer by state, then turn the
named subsets into parts in the template's order. Observations keep their hierarchy. A question
that would need a negative which may not be said is skipped, with its reason.

Which sentences and subsets an answer consists of (its plan) follows from the template, the state
and which subsets are empty; there are few such combinations, so each is worked out once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cxrqba.qa.contents import Contents, Draft
from cxrqba.qa.context import QaContext
from cxrqba.qa.evidence import gather
from cxrqba.qa.hierarchy import hierarchy
from cxrqba.qa.language import filled
from cxrqba.qa.model import Content, Part, Question, Skipped
from cxrqba.qa.sampling import Chooser, choose
from cxrqba.qa.source import StudyGraph
from cxrqba.qa.strategies import abnormal, finding, indication, region_abnormal
from cxrqba.qa.strategies.case import Case, Shape, Study
from cxrqba.qa.templates import PartRule, Sentence, Template, TemplateFile

STRATEGIES: dict[str, Callable[[Study, Template, TemplateFile], list[Case]]] = {
    "indication": indication.cases,
    "abnormal": abnormal.cases,
    "region_abnormal": region_abnormal.cases,
    "finding": finding.cases,
}

Plan = tuple[tuple[Sentence | PartRule, str], ...]
"""What is said in an answer, in order: template sentences and subsets, each with its role."""


@dataclass(frozen=True, slots=True)
class Blueprint:
    """The question about a thing that nothing in a study touches."""

    questions: tuple[str, ...]
    variables: Mapping[str, str]
    said: Sentence
    draft: Draft
    role: str


def generate(graph: StudyGraph, context: QaContext) -> tuple[list[Question], list[Skipped]]:
    """All questions of one study, and how many were not asked for which reason."""
    return _Generation(graph, context).run()


class _Generation:
    """Question generation for one study."""

    def __init__(self, graph: StudyGraph, context: QaContext):
        self.graph = graph
        self.context = context
        evidence = gather(graph, context)
        self.study = Study(evidence, context)
        self.contents = Contents(evidence, context)
        self.chooser = Chooser(context.config.seed, graph.study_id)
        self.questions: list[Question] = []
        self.skipped: Counter[tuple[str, str]] = Counter()

    def run(self) -> tuple[list[Question], list[Skipped]]:
        """Ask everything that can be asked."""
        for file in self.context.templates:
            known: dict[tuple[object, ...], list[Case]] = {}
            for template in file.templates:
                barred = self._barred(template)
                if barred:
                    self.skipped[template.id, barred] += 1
                    continue
                key = (template.variable, template.filter)
                if key not in known:
                    known[key] = STRATEGIES[file.strategy](self.study, template, file)
                self._ask_all(template, file, known[key])
        study_id = self.graph.study_id
        return self.questions, [Skipped(study_id, *k, n) for k, n in self.skipped.items()]

    def _barred(self, template: Template) -> str:
        """Why the study is not asked questions of this type; empty where it is."""
        if template.complete_only and not self.graph.is_complete:
            return "incomplete_study"
        if template.images_only and not self.graph.images:
            return "no_images"
        return ""

    def _ask_all(self, template: Template, file: TemplateFile, cases: Sequence[Case]) -> None:
        if not cases:
            self.skipped[template.id, f"no_{template.variable or 'case'}"] += 1
        number = 1
        needs, template_id = template.needs, template.id
        for case in cases:
            if needs and not case.holds.issuperset(needs):
                continue  # "how severe is the azygos lobe" is no question
            question_id = f"{template_id}_{number:03d}"
            if case.is_quiet:
                built = self._place(template, file, case, question_id)
            else:
                plan = self._plan(template, case)
                built = (
                    plan
                    if isinstance(plan, str)
                    else self._build(template, file, case, plan, question_id)
                )
            if isinstance(built, str):
                self.skipped[template_id, built] += 1
            else:
                number += 1
                self.questions.append(built)

    def _place(
        self, template: Template, file: TemplateFile, case: Case, question_id: str
    ) -> Question | str:
        """The question of a quiet case: its blueprint with this study's wordings and boxes."""
        name = (template.id, case.value, self.study.no_denial)
        blueprint = self.context.memory.blueprints.get(name)
        if blueprint is None:
            blueprint = self._blueprint(template, file, case)
            self.context.memory.blueprints[name] = blueprint
        if isinstance(blueprint, str):
            return blueprint
        key = self.chooser.key(template.id, case.value)
        draft = blueprint.draft
        content = self.contents.placed(draft, blueprint.said, choose(draft.texts, key))
        return Question(
            self.graph.patient_id,
            self.graph.study_id,
            question_id,
            template.id,
            file.strategy,
            blueprint.variables,
            case.mentioned,
            choose(blueprint.questions, key),
            [Part(content, f"{question_id}.a01", None, blueprint.role, 0)],
            content.quality,
            self.contents.image_quality((content,)),
        )

    def _blueprint(self, template: Template, file: TemplateFile, case: Case) -> Blueprint | str:
        plan = self._plan(template, case)
        if isinstance(plan, str):
            return plan
        ((said, role),) = plan  # without observations there is just one sentence to say
        assert isinstance(said, Sentence)
        return Blueprint(
            questions=tuple(filled(text, case.fill) for text in template.questions),
            variables=_variables(template, file, case),
            said=said,
            draft=self.contents.draft(said, case),
            role=role,
        )

    def _plan(self, template: Template, case: Case) -> Plan | str:
        """What is said, or the reason why the question is not asked."""
        known = case.status.get(template.about)
        state, reason = (known.state, known.reason) if known else ("unknown", "no_state")
        no_denial = self.study.no_denial
        if state == "unknown" and no_denial:
            reason = no_denial
        key = (template.id, state, reason, no_denial, case.shape)
        found = self.context.memory.plans.get(key)
        if found is None:
            found = self.context.memory.plans[key] = plan(
                template, case.shape, state, reason, no_denial
            )
        return found  # type: ignore[no-any-return]

    def _build(
        self, template: Template, file: TemplateFile, case: Case, plan: Plan, question_id: str
    ) -> Question:
        key = self.chooser.key(template.id, case.value)
        entries: list[tuple[Content, str]] = []
        for said, role in plan:
            if isinstance(said, Sentence):
                entries.append((self.contents.sentence(said, case, key), role))
            else:
                entries.extend([(content, role) for content in _chosen(said, case)])
        parts = hierarchy(entries, question_id, self.contents)
        contents = [p.content for p in parts]
        return Question(
            self.graph.patient_id,
            self.graph.study_id,
            question_id,
            template.id,
            file.strategy,
            _variables(template, file, case),
            case.mentioned,
            self._wording(template, case, key),
            parts,
            contents[0].quality if len(parts) == 1 else self.contents.worst(contents),
            self.contents.image_quality(contents),
        )

    def _wording(self, template: Template, case: Case, key: int) -> str:
        if not case.is_plain:
            return filled(choose(template.questions, key), case.fill)
        name = (template.id, case.value)
        texts = self.context.memory.wordings.get(name)
        if texts is None:
            texts = tuple(filled(text, case.fill) for text in template.questions)
            self.context.memory.wordings[name] = texts
        return choose(texts, key)


def _variables(template: Template, file: TemplateFile, case: Case) -> Mapping[str, str]:
    if not case.value or template.variable is None:
        return {}
    return {"subcategory" if template.variable in file.variables else template.variable: case.value}


def _chosen(rule: PartRule, case: Case) -> Sequence[Content]:
    found = case.subsets[rule.subset]
    if rule.reported_only:
        found = [c for c in found if c.from_report]
    return found[: rule.limit]


def plan(template: Template, shape: Shape, state: str, reason: str, no_denial: str) -> Plan | str:
    """What is said, or why nothing can be: no main answer, or one that denies too much.

    ``reason`` says why the state is unknown, ``no_denial`` why nothing may be denied of the study.
    """
    holds, filled_subsets, reported_subsets = shape
    said: list[tuple[Sentence | PartRule, str]] = []
    if template.answers:
        chosen = _fitting(template.answers, state, holds)
        if chosen is None:
            return reason or ("indeterminate" if state == "unclear" else f"no_answer_if_{state}")
        if chosen.positiveness == "neg" and no_denial:
            return no_denial
        said.append((chosen, "main_answer"))
    refused = ""
    has_main = bool(said)
    for rule in template.parts:
        if state in rule.unless:
            continue
        if rule.subset in (reported_subsets if rule.reported_only else filled_subsets):
            if rule.prefix is not None:
                said.append((rule.prefix, rule.role))
            said.append((rule, rule.role))
            has_main = has_main or rule.role == "main_answer"
        elif rule.fallback is not None and not has_main:
            if rule.fallback.positiveness == "neg" and no_denial:
                refused = no_denial
            elif _fitting((rule.fallback,), state, holds) is None:
                refused = reason or f"no_answer_if_{state}"
            else:
                said.append((rule.fallback, rule.role))
                has_main = has_main or rule.role == "main_answer"
    return tuple(said) if has_main else refused or "nothing_to_describe"


def _fitting(sentences: Sequence[Sentence], state: str, holds: frozenset[str]) -> Sentence | None:
    for candidate in sentences:
        if (not candidate.states or state in candidate.states) and holds.issuperset(
            candidate.needs
        ):
            return candidate
    return None
