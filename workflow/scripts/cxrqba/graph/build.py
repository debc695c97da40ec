"""One scene graph from what the passes extracted from one report (paper Sec. E.1.3).

Every raw row becomes an observation; the tree is repaired, lifted and merged; contradictions are
marked; where the whole report is accounted for, key findings nobody mentions are noted as absent;
boxes, region nodes, relations, the indication's answer and extraction quality follow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from cxrqba.graph.completeness import default_negatives, incomplete_reasons, named_elsewhere
from cxrqba.graph.contradictions import mark_contradictions
from cxrqba.graph.hierarchy import (
    Node,
    Note,
    kept_parents,
    lifted,
    merged,
    natural,
    numbered,
    parents_of,
    tree,
    worse_issue,
)
from cxrqba.graph.indication import answer_of, indication_of
from cxrqba.graph.localize import Localizer
from cxrqba.graph.model import Observation, SceneGraph
from cxrqba.graph.observe import NOTED, complete, is_blank, observation_of
from cxrqba.graph.quality import image_quality, study_quality
from cxrqba.graph.relations import (
    located_at,
    observation_relations,
    region_names,
    region_nodes,
    region_relations,
    sentence_relations,
)
from cxrqba.graph.tags import Mappings, is_outside
from cxrqba.graph.vocabulary import Vocabulary
from cxrqba.ledger import Ledger
from cxrqba.schema import REGION_BOXES

DISCARDED = "DISCARDED"


def _no_boxes() -> pl.DataFrame:
    return pl.DataFrame(schema=REGION_BOXES)


@dataclass(slots=True)
class StudyInput:
    """All rows of one study; ``boxes`` are rows of REGION_BOXES, ``images`` of IMAGES.

    ``failures`` say what of the passes failed, see :func:`completeness.incomplete_reasons`.
    """

    patient_id: str | None
    study_id: str
    sentences: Sequence[Mapping[str, Any]]
    observations: Sequence[Mapping[str, Any]]
    indication: Mapping[str, Any] | None = None
    images: Sequence[Mapping[str, Any]] = ()
    boxes: pl.DataFrame = field(default_factory=_no_boxes)
    non_observational: frozenset[str] = frozenset()
    failures: Sequence[str] = ()


def build_graph(
    study: StudyInput, mappings: Mappings, vocabulary: Vocabulary, ledger: Ledger
) -> SceneGraph:
    """The scene graph of one study; repairs and dropped observations go to ``ledger``."""

    def note(item_id: str, reason: str, detail: str) -> None:
        ledger.item(study.study_id, item_id, reason, detail)

    sentences = sorted(study.sentences, key=lambda s: natural(s["sent_id"]))
    sent_ids = frozenset(s["sent_id"] for s in sentences)
    rows = _unique_rows(study.observations, note)
    outside = [i for i, row in rows.items() if is_outside(row, mappings, vocabulary)]
    for raw_id in outside:
        note(raw_id, "outside_the_chest", "of a part of the body without a region; left out")
    accounted = study.non_observational.union(*(rows[i]["sent_ids"] or () for i in outside))
    roots, dropped = _nodes(rows, outside, sent_ids, mappings, vocabulary, note)
    observations = numbered(merged(lifted(roots)))
    mark_contradictions(observations, vocabulary, note)
    reasons = incomplete_reasons(
        sentences,
        observations.values(),
        accounted,
        study.failures,
        dropped,
        vocabulary,
    )
    if not reasons:
        elsewhere = named_elsewhere(sentences, vocabulary)
        for negative in default_negatives(list(observations.values()), vocabulary, elsewhere):
            observations[negative.obs_id] = negative
    indication, related = indication_of(study.indication, observations, sent_ids, note)
    answer: Observation | None = None
    if indication is not None and study.indication is not None:
        answer = answer_of(study.indication, indication, related, mappings, vocabulary)
    every = [*observations.values(), *([answer] if answer else [])]
    names = region_names(every, vocabulary)
    localizer = Localizer((i["image_id"] for i in study.images), study.boxes, names, vocabulary)
    for o in every:
        complete(o, localizer, vocabulary)
    regions = region_nodes(names, localizer, vocabulary)
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
        study_quality=study_quality(observations.values(), [DISCARDED] if dropped else []),
        study_img_localization_quality=image_quality(study.images, observations.values(), regions),
        is_complete=not reasons,
        incomplete_reasons=reasons,
    )


def _unique_rows(rows: Iterable[Mapping[str, Any]], note: Note) -> dict[str, Mapping[str, Any]]:
    """Raw rows by id in natural order; of rows with one id the first by content is kept."""
    by_id: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_id.setdefault(row["raw_id"] or "", []).append(row)
    for raw_id, same in by_id.items():
        for _ in same[1:]:
            note(raw_id, "duplicate_raw_id", "only one row is kept")
    ordered = sorted(by_id, key=lambda i: (natural(i), i))
    return {i: min(by_id[i], key=repr) if len(by_id[i]) > 1 else by_id[i][0] for i in ordered}


def _nodes(
    rows: Mapping[str, Mapping[str, Any]],
    outside: Collection[str],
    sentences: Collection[str],
    mappings: Mappings,
    vocabulary: Vocabulary,
    note: Note,
) -> tuple[list[Node], int]:
    """Top-level nodes and the number of discarded observations; those ``outside`` are left out."""
    dropped = [
        i
        for i, r in rows.items()
        if i not in outside and (r["issue_level"] == DISCARDED or is_blank(r))
    ]
    for raw_id in dropped:
        note(raw_id, "discarded_observation", "no text, or discarded by the extraction")
    parents = parents_of(rows, note)
    above = kept_parents(parents, frozenset((*dropped, *outside)), note)
    made: dict[str, Node] = {}
    for raw_id, parent in above.items():
        known = made[parent].observation if parent is not None else None
        observation = observation_of(rows[raw_id], mappings, vocabulary, known)
        for step in observation.origin:
            for start, reason in NOTED.items():
                if step.startswith(start):
                    note(raw_id, reason, step.removeprefix(start))
        _keep_evidence(observation, sentences, raw_id, note)
        made[raw_id] = Node(raw_id, observation)
    nodes = {i: made[i] for i in rows if i in made}
    return tree(nodes, parents, above, note), len(dropped)


def _keep_evidence(
    observation: Observation, sentences: Collection[str], raw_id: str, note: Note
) -> None:
    """Leave out evidence that is in no sentence of the report: what rests on none is doubtful."""
    o = observation
    kept = [i for i in o.sent_ids if i in sentences]
    o.spans = [s for s in o.spans if s["sent_id"] in sentences and _is_span(s["start"], s["end"])]
    if len(kept) < len(o.sent_ids):
        note(raw_id, "unknown_sentence", "names a sentence that does not exist; left out")
        worse_issue(o, "FIXABLE" if kept else "MOSTLY_INTERPRETABLE")
        o.sent_ids = kept


def _is_span(start: int | None, end: int | None) -> bool:
    return start is not None and end is not None and 0 <= start <= end
