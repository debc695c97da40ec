"""One scene graph from what the passes extracted from one report (paper Sec. E.1.3).

Mapped tags, side and regions make an observation of each raw one; the tree is repaired, lifted and
merged; boxes, region nodes, relations, the indication's answer and extraction quality follow; and
where the whole report is accounted for, key findings nobody mentions are noted as absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from cxrqba.graph import sides
from cxrqba.graph.completeness import default_negatives, incomplete_reasons
from cxrqba.graph.hierarchy import (
    Node,
    kept_parents,
    lifted,
    merged,
    natural,
    numbered,
    parents_of,
    tree,
    worse_issue,
)
from cxrqba.graph.localize import ImageBoxes, boxes_by_image, localize, overall_level
from cxrqba.graph.model import Indication, Localization, Observation, RegionNode, SceneGraph
from cxrqba.graph.quality import (
    best_level,
    change_level,
    entity_level,
    region_level,
    sentence_name_level,
    worst_level,
    worst_levels,
)
from cxrqba.graph.relations import (
    located_at,
    observation_relations,
    region_names,
    region_nodes,
    region_relations,
    sentence_relations,
)
from cxrqba.graph.store import ANSWER_ID
from cxrqba.graph.tags import (
    UNKNOWN_LEVEL,
    Mappings,
    decision_record,
    denies,
    is_readable,
    level_of,
    resolve,
)
from cxrqba.graph.vocabulary import Vocabulary
from cxrqba.ledger import Ledger
from cxrqba.mapping.mentions import MAX_VALUES, clean, texts
from cxrqba.schema import EXTRACTION_QUALITY, MODIFIER_TYPES

DISCARDED = "DISCARDED"
_CLAIMS = ("positive", "likely", "possible", "cannot_exclude", "negative", "unlikely")
"""Probability levels, that of the answer to an indication first."""

_ASSERTING = ("positive", "likely")
"""Levels that a text which says "no" contradicts."""


@dataclass(slots=True)
class StudyInput:
    """All rows of one study; ``boxes`` are rows of REGION_BOXES, ``images`` of IMAGES."""

    patient_id: str | None
    study_id: str
    sentences: Sequence[Mapping[str, Any]]
    observations: Sequence[Mapping[str, Any]]
    indication: Mapping[str, Any] | None = None
    images: Sequence[Mapping[str, Any]] = ()
    boxes: Sequence[Mapping[str, Any]] = ()
    non_observational: frozenset[str] = frozenset()
    failed_passes: Sequence[str] = field(default_factory=list)


def build_graph(
    study: StudyInput, mappings: Mappings, vocabulary: Vocabulary, ledger: Ledger
) -> SceneGraph:
    """The scene graph of one study; repairs and dropped observations go to ``ledger``."""
    sentences = sorted(study.sentences, key=lambda s: natural(s["sent_id"]))
    boxes = boxes_by_image(study.boxes, (i["image_id"] for i in study.images))
    rows = _unique_rows(study, ledger)
    roots, dropped = _nodes(study.study_id, rows, mappings, vocabulary, ledger)
    observations = numbered(merged(lifted(roots)))
    known_sentences = {s["sent_id"] for s in sentences}
    for o in observations.values():
        o.sent_ids = [i for i in o.sent_ids if i in known_sentences]
    reasons = incomplete_reasons(
        sentences,
        observations.values(),
        study.non_observational,
        study.failed_passes,
        dropped,
        vocabulary,
    )
    if not reasons:
        for negative in default_negatives(list(observations.values()), vocabulary):
            observations[negative.obs_id] = negative
    for o in observations.values():
        _complete(o, boxes, vocabulary)
    indication, answer = _indication(study.indication, observations, mappings, vocabulary)
    if answer is not None:
        _complete(answer, boxes, vocabulary)
    names = region_names([*observations.values(), *([answer] if answer else [])], vocabulary)
    regions = region_nodes(names, boxes, vocabulary)
    return SceneGraph(
        patient_id=study.patient_id,
        study_id=study.study_id,
        sentences=[
            {k: s[k] for k in ("sent_id", "section", "section_type", "sentence")} for s in sentences
        ],
        observations=observations,
        regions=regions,
        indication=indication,
        answer_for_indication=answer,
        top_level_obs_ids=[i for i, o in observations.items() if o.child_level == 0],
        located_at_relations=located_at(observations.values(), vocabulary),
        obs_relations=observation_relations(observations),
        obs_sent_relations=sentence_relations(observations.values()),
        region_region_relations=region_relations(names, vocabulary),
        study_quality=_study_quality(observations.values(), dropped),
        study_img_localization_quality=_image_quality(study.images, observations.values(), regions),
        is_complete=not reasons,
        incomplete_reasons=reasons,
    )


# --- observations -------------------------------------------------------------------------------


def _unique_rows(study: StudyInput, ledger: Ledger) -> dict[str, Mapping[str, Any]]:
    """Raw rows by id in natural order; of rows with one id the first by content is kept."""
    rows: dict[str, Mapping[str, Any]] = {}
    ordered = sorted(study.observations, key=lambda r: (natural(r["raw_id"] or ""), repr(r)))
    for row in ordered:
        raw_id = row["raw_id"] or ""
        if raw_id in rows:
            ledger.item(study.study_id, raw_id, "duplicate_raw_id", "only one row is kept")
        else:
            rows[raw_id] = row
    return rows


def _nodes(
    study_id: str,
    rows: Mapping[str, Mapping[str, Any]],
    mappings: Mappings,
    vocabulary: Vocabulary,
    ledger: Ledger,
) -> tuple[list[Node], int]:
    """Top-level nodes and the number of discarded observations."""

    def note(raw_id: str, reason: str, detail: str) -> None:
        ledger.item(study_id, raw_id, reason, detail)

    dropped = [i for i, r in rows.items() if r["issue_level"] == DISCARDED or _is_blank(r)]
    for raw_id in dropped:
        note(raw_id, "discarded_observation", "no text, or discarded by the extraction")
    parents = parents_of(rows, note)
    above = kept_parents(parents, frozenset(dropped), note)
    made: dict[str, Node] = {}
    for raw_id, parent in above.items():
        known = made[parent].observation if parent is not None else None
        observation = observation_of(rows[raw_id], mappings, vocabulary, known)
        for step in observation.origin:
            for start, reason in _NOTED.items():
                if step.startswith(start):
                    note(raw_id, reason, step.removeprefix(start))
        made[raw_id] = Node(raw_id, observation)
    nodes = {i: made[i] for i in rows if i in made}
    return tree(nodes, parents, above, note), len(dropped)


_REMOVED, _CUT, _CONTRADICTED = "region_removed:", "cut:", "contradiction:"
_NOTED = {
    _REMOVED: "region_contradicts_side",
    _CUT: "too_many_values",
    _CONTRADICTED: "text_contradicts_probability",
}
"""Start of a step in an observation's origin -> reason in the ledger."""

_LEVEL_OF_CHILD = {"recommendation": "recommendation", "comparison only": "comparison_only"}
"""Child types that claim neither presence nor absence, whatever probability they come with."""


def _is_blank(row: Mapping[str, Any]) -> bool:
    texts = [row["name"], row["summary_sentence"], *(row["entities"] or ())]
    return not any(map(clean, texts))


def observation_of(
    raw: Mapping[str, Any],
    mappings: Mappings,
    vocabulary: Vocabulary,
    parent: Observation | None = None,
) -> Observation:
    """The observation of one row of RAW_OBSERVATIONS, not yet placed in the tree."""
    tags = resolve(raw, mappings)
    child_type = clean(raw["child_type"]) or None
    claimed = level_of(raw, vocabulary)
    claimed = _LEVEL_OF_CHILD.get(child_type or "", claimed)
    contradicted = claimed in _ASSERTING and denies(raw, vocabulary)
    level = vocabulary.reference.levels[UNKNOWN_LEVEL if contradicted else claimed]
    laterality = sides.laterality_of(raw, tags, vocabulary)
    if parent is not None and laterality == sides.UNKNOWN:
        laterality = sides.inherited(raw, tags, parent, level.name, vocabulary)
    wrong = sides.contradicting(tags.regions, laterality, vocabulary)
    regions = {r: d for r, d in tags.regions.items() if r not in wrong}
    regions = sides.split_or_merged(regions, laterality, vocabulary)
    if not sides.is_device(tags.entities, vocabulary):
        regions = sides.both_sides(regions, laterality, vocabulary)
    defaults = sides.default_regions(tags.entities, laterality, vocabulary)
    added = defaults
    if regions:
        added = sides.refined(regions, defaults, vocabulary)
    added = [r for r in added if r not in regions]
    regions |= {r: [] for r in added}
    name, summary = clean(raw["name"]), clean(raw["summary_sentence"])
    name = name or summary or ", ".join(texts(raw["entities"]))
    summary = summary or name
    change_sentence = clean(raw["change_sentence"]) or None
    change = change_level(change_sentence, len(tags.changes), tags.unresolved_changes, vocabulary)
    if change == "CHANGE_SENTENCE_REMOVED":
        change_sentence = None
    issue = raw["issue_level"]
    cut = _cut_fields(raw)
    observation = Observation(
        obs_id="",
        name=name,
        summary_sentence=summary,
        child_type=child_type,
        regions=[{"region": r, "distances": d} for r, d in regions.items()],
        non_resolved_regions=[
            {"region": r, "distances": d} for r, d in tags.unresolved_regions.items()
        ],
        laterality=laterality,
        default_regions=added,
        obs_entities=tags.entities,
        non_resolved_obs_entities=tags.unresolved_entities,
        probability=level.name,
        certainty=level.certainty,
        positiveness=level.positiveness,
        modifiers=tags.modifiers,
        changes=tags.changes,
        change_sentence=change_sentence,
        obs_quality={
            "change_quality": change,
            "issue_level": issue if issue in EXTRACTION_QUALITY["issue_level"] else "NO_ISSUES",
        },
        sent_ids=sorted({s for s in raw["sent_ids"] or () if s}, key=natural),
        spans=[dict(s) for s in islice(raw["spans"] or (), MAX_VALUES) if s],
        origin=[o for o in [clean(raw["origin"])] if o]
        + [f"{_REMOVED}{r}" for r in wrong]
        + [f"{_CUT}{f}" for f in cut]
        + [f"{_CONTRADICTED}{claimed}"] * contradicted,
        decisions=tags.decisions,
    )
    if not clean(raw["probability"]):
        worse_issue(observation, "IGNORABLE")
    elif contradicted or not is_readable(raw, vocabulary):
        worse_issue(observation, "MOSTLY_INTERPRETABLE")
    if cut:
        worse_issue(observation, "NON_INTERPRETABLE")  # what is cut may be present: no silence
    return observation


def _cut_fields(raw: Mapping[str, Any]) -> list[str]:
    """Fields with more values than are read."""
    fields = ("entities", "regions", "modifiers", "changes")
    return [f for f in fields if len(raw[f] or ()) > MAX_VALUES]


def _complete(observation: Observation, boxes: ImageBoxes, vocabulary: Vocabulary) -> None:
    """Fill in what follows from entities and regions: parents, categories, boxes, quality."""
    reference = vocabulary.reference
    o = observation
    found = [reference.findings[e] for e in o.obs_entities]
    parents = (p for e in o.obs_entities for p in reference.finding_ancestors[e])
    o.obs_entities_parents = [p for p in dict.fromkeys(parents) if p not in o.obs_entities]
    o.obs_categories = list(dict.fromkeys(c for f in found for c in f.categories))
    o.obs_subcategories = list(dict.fromkeys(c for f in found for c in f.subcategories))
    o.localization = localize(_drawn(o, vocabulary), boxes, vocabulary)
    known = o.obs_quality
    o.obs_quality = {
        "region_quality": region_level(o),
        "entity_quality": entity_level(o),
        "sentence_name_quality": sentence_name_level(o.name, o.summary_sentence, vocabulary),
        "change_quality": known.get("change_quality", "NO_ISSUES"),
        "issue_level": known.get("issue_level", "NO_ISSUES"),
        "localization_quality": overall_level(o.localization),
    }


def _drawn(observation: Observation, vocabulary: Vocabulary) -> list[str]:
    """Regions whose boxes show the observation: a wide one is left out for a precise default."""
    above = vocabulary.reference.region_ancestors
    wide = {a for d in observation.default_regions for a in above[d]}
    return [
        r for r in observation.region_names if r not in wide or r in observation.default_regions
    ]


# --- indication ---------------------------------------------------------------------------------


def _indication(
    row: Mapping[str, Any] | None,
    observations: Mapping[str, Observation],
    mappings: Mappings,
    vocabulary: Vocabulary,
) -> tuple[Indication | None, Observation | None]:
    """The indication node and its answer, whose tags are those of the associated observations."""
    if row is None or not clean(row["indication_summary"]):
        return None, None
    sent_ids = sorted({s for s in row["associated_sentence_ids"] or () if s}, key=natural)
    related = [o for o in observations.values() if set(sent_ids).intersection(o.sent_ids)]
    node = Indication(
        indication_summary=clean(row["indication_summary"]),
        patient_info=clean(row["patient_info"]) or None,
        indication=clean(row["indication"]) or None,
        evaluation=clean(row["evaluation"]) or None,
        associated_sentence_ids=sent_ids,
        associated_obs_ids=[o.obs_id for o in related],
    )
    sentence = clean(row["answer_sentence"]) or clean(row["answer_name"])
    if not sentence:
        return node, None
    level = vocabulary.reference.levels[_claim(related)]
    telling = [
        o
        for o in related
        if o.positiveness == level.positiveness
        and (o.certainty == "uncertain") == (level.certainty == "uncertain")
    ]
    regions: dict[str, list[str]] = {}
    for o in telling:
        for r in o.regions:
            known = regions.setdefault(r["region"], [])
            known += [d for d in r["distances"] if d not in known]
    explicit = {r for o in telling for r in o.region_names if r not in o.default_regions}
    name = clean(row["answer_name"]) or sentence
    decided = (mappings.get(("name", name)), mappings.get(("summary", sentence)))
    return node, Observation(
        obs_id=ANSWER_ID,
        name=name,
        summary_sentence=sentence,
        regions=[{"region": r, "distances": d} for r, d in regions.items()],
        laterality=_side_of(telling),
        default_regions=[r for r in regions if r not in explicit],
        obs_entities=list(dict.fromkeys(e for o in telling for e in o.obs_entities)),
        non_resolved_obs_entities=list(
            dict.fromkeys(e for o in telling for e in o.non_resolved_obs_entities)
        ),
        probability=level.name,
        certainty=level.certainty,
        positiveness=level.positiveness,
        modifiers={
            t: list(dict.fromkeys(v for o in telling for v in o.modifiers[t]))
            for t in MODIFIER_TYPES
        },
        changes=list(dict.fromkeys(c for o in telling for c in o.changes)),
        sent_ids=sent_ids,
        origin=[o for o in [clean(row["origin"])] if o],
        decisions=[decision_record(d) for d in decided if d is not None],
    )


def _claim(related: Sequence[Observation]) -> str:
    """Level of the answer: the surest positive, else the surest negative, else undecided.

    A negative beside something that could not be assessed is no answer "no".
    """
    levels = {o.probability for o in related}
    if UNKNOWN_LEVEL in levels:
        levels -= {"negative", "unlikely"}
    for level in (*_CLAIMS, UNKNOWN_LEVEL, "comparison_only", "recommendation"):
        if level in levels:
            return level
    return UNKNOWN_LEVEL


def _side_of(observations: Sequence[Observation]) -> str:
    found = {o.laterality for o in observations}
    if not found or found - {"left", "right", "bilateral"}:
        return found.pop() if len(found) == 1 else sides.UNKNOWN
    return found.pop() if len(found) == 1 else "bilateral"


# --- quality ------------------------------------------------------------------------------------


def _study_quality(observations: Iterable[Observation], dropped: int) -> dict[str, str]:
    qualities = [o.obs_quality for o in observations if o.from_report]
    if dropped:
        qualities.append({"issue_level": DISCARDED})
    return worst_levels(qualities)


def _image_quality(
    images: Sequence[Mapping[str, Any]],
    observations: Iterable[Observation],
    regions: Mapping[str, RegionNode],
) -> list[dict[str, str]]:
    """Per image the worst level over observations, or the best over regions if there is none."""
    of_observations: dict[str, list[str]] = {}
    of_regions: dict[str, list[str]] = {}
    for o in observations:
        if o.from_report:
            _collect(o.localization, of_observations)
    for node in regions.values():
        _collect(node.localization, of_regions)
    aspect = "localization_quality"
    result = []
    for image in sorted(images, key=lambda i: str(i["image_id"])):
        image_id = image["image_id"]
        levels = of_observations.get(image_id)
        best = best_level(aspect, of_regions.get(image_id, ["NO_LOCALIZATION"]))
        level = worst_level(aspect, levels) if levels else best
        result.append({"image_id": image_id, "view": image["view"], aspect: level})
    return result


def _collect(localizations: Iterable[Localization], levels: dict[str, list[str]]) -> None:
    for one in localizations:
        levels.setdefault(one.image_id, []).append(one.localization_quality)
