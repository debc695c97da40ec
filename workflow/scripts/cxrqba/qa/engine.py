"""The template engine (paper Sec. E.2.1): evidence -> cases -> questions with answer parts.

For each template: filter, run the strategy, choose the template answer by state, then turn the
named subsets into parts in the template's order. Observations keep their hierarchy. A question
that would need a negative which may not be said is skipped, with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from cxrqba.graph.model import Localization, Observation, SceneGraph
from cxrqba.qa.context import QaContext
from cxrqba.qa.evidence import gather, side_of_observations
from cxrqba.qa.language import sentence
from cxrqba.qa.model import Content, Part, Question, Skipped
from cxrqba.qa.quality import LOCALIZATION, NO_LOCALIZATION, worst, worst_level
from cxrqba.qa.sampling import choose
from cxrqba.qa.strategies import abnormal, finding, indication, region_abnormal
from cxrqba.qa.strategies.case import Case, Inherited, Study, Target
from cxrqba.qa.templates import TARGET, Sentence, Template, TemplateFile

STRATEGIES: dict[str, Callable[[Study, Template, TemplateFile], list[Case]]] = {
    "indication": indication.cases,
    "abnormal": abnormal.cases,
    "region_abnormal": region_abnormal.cases,
    "finding": finding.cases,
}
_CERTAINTIES = ("certain", "likely", "uncertain")
_NOTES = ("comparison only", "recommendation")


def generate(graph: SceneGraph, context: QaContext) -> tuple[list[Question], list[Skipped]]:
    """All questions of one study, and those that were not asked."""
    study = Study(gather(graph, context), context)
    contents = _Contents(study)
    questions: list[Question] = []
    skipped: list[Skipped] = []
    counts: dict[str, int] = {}
    for file in context.templates:
        cases: dict[tuple[object, ...], list[Case]] = {}
        for template in file.templates:
            if template.complete_only and not graph.is_complete:
                skipped.append(Skipped(graph.study_id, template.id, "incomplete_study"))
                continue
            key = (template.variable, template.filter)
            if key not in cases:
                cases[key] = STRATEGIES[file.strategy](study, template, file)
            if not cases[key]:
                reason = f"no_{template.variable or 'case'}"
                skipped.append(Skipped(graph.study_id, template.id, reason))
            for case in cases[key]:
                if not case.holds.issuperset(template.needs):
                    continue  # "how severe is the azygos lobe" is no question
                number = counts.get(template.id, 0) + 1
                question_id = f"{template.id}_{number:03d}"
                built = _build(template, file, case, study, contents, question_id)
                if isinstance(built, str):
                    skipped.append(Skipped(graph.study_id, template.id, built))
                else:
                    counts[template.id] = number
                    questions.append(built)
    return questions, skipped


def _build(
    template: Template,
    file: TemplateFile,
    case: Case,
    study: Study,
    contents: _Contents,
    question_id: str,
) -> Question | str:
    """One question, or the reason why it is not asked."""
    graph = study.evidence.graph
    known = case.status.get(template.about)
    state = known.state if known else "unknown"
    reason = known.reason if known else "no_state"
    if state == "unknown" and study.no_denial:
        reason = study.no_denial
    key = "\x1f".join((contents.seed, template.id, *case.variables.values()))
    entries: list[tuple[Content, str]] = []
    if template.answers:
        chosen = _fitting(template.answers, state, case)
        if chosen is None:
            return reason or ("indeterminate" if state == "unclear" else f"no_answer_if_{state}")
        if chosen.positiveness == "neg" and study.no_denial:
            return study.no_denial
        entries.append((contents.template(chosen, case, key), "main_answer"))
    refused = ""
    has_main = bool(entries)
    for rule in template.parts:
        subset = case.subsets[rule.subset]
        if state in rule.unless or not (subset or rule.fallback):
            continue
        if rule.reported_only:
            subset = [o for o in subset if o.from_report]
        found = contents.observations(subset)[: rule.limit]
        if found:
            if rule.prefix is not None:
                entries.append((contents.template(rule.prefix, case, key), rule.role))
            entries.extend([(c, rule.role) for c in found])
            has_main = has_main or rule.role == "main_answer"
        elif rule.fallback is not None and not has_main:
            if rule.fallback.positiveness == "neg" and study.no_denial:
                refused = study.no_denial
            elif _fitting((rule.fallback,), state, case) is None:
                refused = reason or f"no_answer_if_{state}"
            else:
                entries.append((contents.template(rule.fallback, case, key), rule.role))
                has_main = has_main or rule.role == "main_answer"
    if not has_main:
        return refused or "nothing_to_describe"
    return Question(
        patient_id=graph.patient_id,
        study_id=graph.study_id,
        question_id=question_id,
        question_type=template.id,
        question_strategy=file.strategy,
        variables=dict(case.variables),
        mentioned=case.mentioned,
        question=_filled(choose(template.questions, key), case.fill),
        parts=_hierarchy(entries, question_id, contents),
        images=contents.images,
    )


def _fitting(sentences: Sequence[Sentence], state: str, case: Case) -> Sentence | None:
    for candidate in sentences:
        if (not candidate.states or state in candidate.states) and case.holds.issuperset(
            candidate.needs
        ):
            return candidate
    return None


def _filled(text: str, fill: Mapping[str, str]) -> str:
    return sentence(text.format_map(fill) if "{" in text else text)


# --- hierarchy and identifiers -------------------------------------------------------------------


def _hierarchy(
    entries: Sequence[tuple[Content, str]], question_id: str, contents: _Contents
) -> list[Part]:
    """Parts depth-first: an observation stands below its nearest ancestor in the same answer.

    Each observation and each text occurs once, with the role it is given first. Recommendations
    and comparisons that belong to an observation follow its other sub-answers as related
    information.
    """
    if len(entries) == 1 and entries[0][0].template is not None:
        content, role = entries[0]
        return [Part(content, f"{question_id}.a01", None, role, 0)]
    roles: dict[int, tuple[Content, str]] = {}
    said: set[str] = set()
    notes: list[Content] = []
    for content, role in entries:
        if content.text not in said:
            said.add(content.text)
            roles[id(content)] = (content, role)
            if role != "related_information" and content.template is None:
                notes.extend(contents.notes_of(content))
    for note in notes:
        if note.text not in said:
            said.add(note.text)
            roles[id(note)] = (note, "related_information")
    by_obs = {c.obs_ids[0]: c for c, _ in roles.values() if c.template is None}
    roots: list[Content] = []
    children: dict[int, list[Content]] = {}
    for content, _ in roles.values():
        parent = contents.parent_of(content, by_obs) if content.template is None else None
        if parent is None:
            roots.append(content)
        else:
            children.setdefault(id(parent), []).append(content)
    parts: list[Part] = []
    # (content, answer id of its parent, level), the next one last
    waiting: list[tuple[Content, str | None, int]] = [(c, None, 0) for c in reversed(roots)]
    while waiting:
        content, parent_id, level = waiting.pop()
        answer_id = f"{question_id}.a{len(parts) + 1:02d}"
        parts.append(Part(content, answer_id, parent_id, roles[id(content)][1], level))
        below = children.get(id(content), ())
        waiting.extend((child, answer_id, level + 1) for child in reversed(below))
    return parts


# --- contents of parts ---------------------------------------------------------------------------


class _Contents:
    """Contents of the answer parts of one study; each observation's is built once."""

    def __init__(self, study: Study):
        self.study = study
        self.graph = study.evidence.graph
        self.images = [
            (i["image_id"], i["view"]) for i in self.graph.study_img_localization_quality
        ]
        self.seed = f"{study.context.config.seed}\x1f{self.graph.study_id}"
        self._findings = study.context.reference.findings
        self._above = study.context.reference.finding_ancestors
        self._observations: dict[str, Content | None] = {}
        self._qualities: dict[tuple[str, ...], dict[str, str]] = {}
        self._merged: dict[tuple[str, ...], list[Localization]] = {}
        self._parents = {
            r["child_observation_id"]: r["parent_observation_id"] for r in self.graph.obs_relations
        }
        self._notes: dict[str, list[str]] = {}
        for relation in self.graph.obs_relations:
            if relation["child_type"] in _NOTES:
                child = relation["child_observation_id"]
                self._notes.setdefault(relation["parent_observation_id"], []).append(child)

    def observation(self, obs: Observation) -> Content | None:
        """The content of an observation; None where it has no text at all."""
        if obs.obs_id not in self._observations:
            self._observations[obs.obs_id] = _observation_content(obs)
        return self._observations[obs.obs_id]

    def observations(self, several: Iterable[Observation]) -> list[Content]:
        """Contents of several observations, those without text left out."""
        known = self._observations
        found = []
        for obs in several:
            content = known[obs.obs_id] if obs.obs_id in known else self.observation(obs)
            if content is not None:
                found.append(content)
        return found

    def notes_of(self, content: Content) -> list[Content]:
        """Contents of the recommendations and comparisons below an observation."""
        children = self._notes.get(content.obs_ids[0])
        if children is None:
            return []
        observations = self.graph.observations
        return self.observations(observations[o] for o in children if o in observations)

    def parent_of(self, content: Content, among: Mapping[str, Content]) -> Content | None:
        """The nearest ancestor observation that is part of the same answer."""
        above = self._parents.get(content.obs_ids[0])
        seen: set[str] = set()
        while above is not None and above not in seen:
            if above in among:
                return among[above]
            seen.add(above)
            above = self._parents.get(above)
        return None

    def template(self, template: Sentence, case: Case, key: str) -> Content:
        """The content of a template sentence, with inherited tags, regions and boxes."""
        inheritance = (template.tags, template.boxes)
        if inheritance not in case.inherited:
            case.inherited[inheritance] = self._inherit(template, case)
        inherited = case.inherited[inheritance]
        return Content(
            text=_filled(choose(template.texts, key + template.id), case.fill),
            name_tag=template.name.format_map(case.fill),
            laterality=inherited.laterality,
            regions=inherited.regions,
            obs_entities=inherited.entities,
            obs_entities_parents=inherited.parents,
            obs_categories=inherited.categories,
            obs_subcategories=inherited.subcategories,
            certainty=template.certainty or inherited.certainty,
            positiveness=template.positiveness,
            modifiers=inherited.modifiers,
            localization=inherited.localization,
            from_report=False,
            extraction_quality=inherited.quality,
            obs_ids=inherited.obs_ids,
            template=template.id,
            is_localizable=bool(inherited.regions),
        )

    def _inherit(self, template: Sentence, case: Case) -> Inherited:
        tagging = _inherited(template.tags, case, first_only=False)
        boxing = _inherited(template.boxes, case, first_only=True)
        sources = list({o.obs_id: o for o in (*tagging, *boxing)}.values())
        target = case.target if TARGET in template.tags else Target()
        entities = _unique([*target.entities, *(e for o in tagging for e in o.obs_entities)])
        known = [e for e in entities if e in self._findings]
        quality = self._worst(sources)
        regions: Sequence[str] = ()
        laterality, localization = "unknown", list[Localization]()
        if boxing:
            regions = [r for o in boxing for r in o.region_names]
            laterality = side_of_observations(boxing)
            localization = self._merge(boxing)
        elif TARGET in template.boxes:
            regions, laterality = case.target.regions, case.target.laterality
            localization = self._merge_regions(regions)
            quality = worst((quality, _target_quality(case.target, localization)))
        return Inherited(
            entities=entities,
            parents=[
                p for p in _unique(a for e in known for a in self._above[e]) if p not in known
            ],
            categories=_unique(c for e in known for c in self._findings[e].categories),
            subcategories=_unique(
                [
                    *target.subcategories,
                    *(s for e in known for s in self._findings[e].subcategories),
                ]
            ),
            certainty=_strongest(sources),
            modifiers=_modifiers(boxing[0]) if len(boxing) == 1 and target.entities else [],
            regions=_unique(regions),
            laterality=laterality,
            localization=localization,
            quality=quality,
            obs_ids=[o.obs_id for o in sources],
        )

    def _worst(self, observations: Sequence[Observation]) -> dict[str, str]:
        if not observations:
            return {}
        key = tuple(o.obs_id for o in observations)
        if key not in self._qualities:
            self._qualities[key] = worst(o.obs_quality for o in observations)
        return self._qualities[key]

    def _merge(self, observations: Sequence[Observation]) -> list[Localization]:
        if len(observations) == 1:
            return observations[0].localization
        key = tuple(o.obs_id for o in observations)
        if key not in self._merged:
            self._merged[key] = merge([o.localization for o in observations])
        return self._merged[key]

    def _merge_regions(self, regions: Sequence[str]) -> list[Localization]:
        nodes = self.graph.regions
        if len(regions) == 1:
            return nodes[regions[0]].localization if regions[0] in nodes else []
        key = tuple(regions)
        if key not in self._merged:
            self._merged[key] = merge([nodes[r].localization for r in regions if r in nodes])
        return self._merged[key]


def _target_quality(target: Target, localization: Sequence[Localization]) -> dict[str, str]:
    defaults = target.regions_are_defaults
    quality = {
        "region_quality": "DEFAULT_REGIONS_ONLY" if defaults else "RESOLVED_REGIONS_ONLY",
        LOCALIZATION: NO_LOCALIZATION,
    }
    if target.entities:
        quality["entity_quality"] = "RESOLVED_ENTITIES_ONLY"
    levels = [lo.localization_quality for lo in localization if lo.bboxes]
    if levels:
        quality[LOCALIZATION] = worst_level(levels)
    return quality


def _observation_content(obs: Observation) -> Content | None:
    text = sentence(obs.summary_sentence or "") or sentence(obs.name or "")
    if not text:
        return None
    return Content(
        text=text,
        name_tag=obs.name or text,
        laterality=obs.laterality,
        regions=obs.region_names,
        obs_entities=obs.obs_entities,
        obs_entities_parents=obs.obs_entities_parents,
        obs_categories=obs.obs_categories,
        obs_subcategories=obs.obs_subcategories,
        certainty=obs.certainty,
        positiveness=obs.positiveness,
        modifiers=_modifiers(obs),
        localization=obs.localization,
        from_report=obs.from_report,
        extraction_quality=worst((obs.obs_quality,)),
        obs_ids=[obs.obs_id],
        template=None,
        is_localizable=True,
    )


def _inherited(names: Sequence[str], case: Case, *, first_only: bool) -> list[Observation]:
    """Observations of the named subsets; ``first_only``: of the first that is not empty."""
    found: list[Observation] = []
    for name in names:
        if name == TARGET:
            continue
        found.extend(case.basis.get(name, case.subsets[name]))
        if found and first_only:
            break
    return found


def _strongest(observations: Sequence[Observation]) -> str:
    stated = {o.certainty for o in observations}
    return next((c for c in _CERTAINTIES if c in stated), "certain")


def _modifiers(obs: Observation) -> list[tuple[str, str]]:
    return [(kind, value) for kind, values in obs.modifiers.items() for value in values or ()]


def _unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def merge(localizations: Iterable[Sequence[Localization]]) -> list[Localization]:
    """Union of boxes per image, by image id; the worst quality counts."""
    by_image: dict[str, list[Localization]] = {}
    for several in localizations:
        for one in several:
            by_image.setdefault(one.image_id, []).append(one)
    return [_merge_image(image_id, by_image[image_id]) for image_id in sorted(by_image)]


def _merge_image(image_id: str, several: Sequence[Localization]) -> Localization:
    boxes = dict.fromkeys(tuple(b) for one in several for b in one.bboxes)
    return Localization(
        image_id=image_id,
        bboxes=[list(b) for b in boxes],
        localization_reference_ids=_unique(
            r for one in several for r in one.localization_reference_ids
        ),
        instance_mask_ids=_unique(m for one in several for m in one.instance_mask_ids),
        missing_localization=_unique(r for one in several for r in one.missing_localization),
        is_fallback=any(one.is_fallback for one in several),
        localization_quality=worst_level(one.localization_quality for one in several),
    )
