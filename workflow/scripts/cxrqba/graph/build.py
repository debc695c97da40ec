"""One scene graph from what the passes extracted from one report (paper Sec. E.1.3).

Mapped tags, side and regions make an observation of each raw one; the tree is repaired, lifted and
merged; boxes, region nodes, relations, the indication's answer and extraction quality follow; and
where the whole report is accounted for, key findings nobody mentions are noted as absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cxrqba.graph import sides
from cxrqba.graph.completeness import default_negatives, incomplete_reasons
from cxrqba.graph.hierarchy import (
    Node,
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
from cxrqba.graph.tags import Mappings, decision_record, level_of, resolve
from cxrqba.graph.vocabulary import Vocabulary
from cxrqba.ledger import Ledger
from cxrqba.mapping.mentions import clean
from cxrqba.schema import EXTRACTION_QUALITY, MODIFIER_TYPES

DISCARDED = "DISCARDED"
_CLAIMS = ("positive", "likely", "possible", "cannot_exclude", "negative", "unlikely")
"""Probability levels, that of the answer to an indication first."""


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

    parents = parents_of(rows, note)
    nodes: dict[str, Node] = {}
    dropped = 0
    for raw_id, row in rows.items():
        if row["issue_level"] == DISCARDED or _is_blank(row):
            note(raw_id, "discarded_observation", "no text, or discarded by the extraction")
            dropped += 1
            continue
        observation = observation_of(row, mappings, vocabulary)
        for step in observation.origin:
            if step.startswith(_REMOVED):
                note(raw_id, "region_contradicts_side", step.removeprefix(_REMOVED))
        nodes[raw_id] = Node(raw_id, observation)
    return tree(nodes, parents, note), dropped


_REMOVED = "region_removed:"


def _is_blank(row: Mapping[str, Any]) -> bool:
    texts = [row["name"], row["summary_sentence"], *(row["entities"] or ())]
    return not any(map(clean, texts))


def observation_of(
    raw: Mapping[str, Any], mappings: Mappings, vocabulary: Vocabulary
) -> Observation:
    """The observation of one row of RAW_OBSERVATIONS, not yet placed in the tree."""
    tags = resolve(raw, mappings)
    level = vocabulary.reference.levels[level_of(raw, vocabulary)]
    laterality = sides.laterality_of(raw, tags.entities, tags.regions, vocabulary)
    wrong = sides.contradicting(tags.regions, laterality, vocabulary)
    regions = {r: d for r, d in tags.regions.items() if r not in wrong}
    regions = sides.split_or_merged(regions, laterality, vocabulary)
    defaults = sides.default_regions(tags.entities, laterality, vocabulary)
    added = defaults
    if regions:
        added = sides.refined(regions, defaults, vocabulary)
    added = [r for r in added if r not in regions]
    regions |= {r: [] for r in added}
    name, summary = clean(raw["name"]), clean(raw["summary_sentence"])
    name = name or summary or ", ".join(map(clean, raw["entities"] or ()))
    summary = summary or name
    change_sentence = clean(raw["change_sentence"]) or None
    change = change_level(change_sentence, len(tags.changes), tags.unresolved_changes, vocabulary)
    if change == "CHANGE_SENTENCE_REMOVED":
        change_sentence = None
    issue = raw["issue_level"]
    observation = Observation(
        obs_id="",
        name=name,
        summary_sentence=summary,
        child_type=clean(raw["child_type"]) or None,
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
        spans=[dict(s) for s in raw["spans"] or () if s],
        origin=[o for o in [clean(raw["origin"])] if o] + [f"{_REMOVED}{r}" for r in wrong],
        decisions=tags.decisions,
    )
    if not clean(raw["probability"]):
        worse_issue(observation, "IGNORABLE")
    return observation


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
    telling = [o for o in related if o.positiveness == level.positiveness]
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
    """Level of the answer: the surest positive, else the surest negative, else undecided."""
    levels = {o.probability for o in related}
    for level in (*_CLAIMS, "comparison_only", "recommendation"):
        if level in levels:
            return level
    return "indeterminate"


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
