"""Scene graphs written by hand: what question generation is tested on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.config import QaConfig
from cxrqba.graph.model import Indication, Localization, Observation, RegionNode, SceneGraph
from cxrqba.graph.store import to_tables
from cxrqba.qa.context import QaContext, build_context
from cxrqba.qa.engine import generate
from cxrqba.qa.model import Question, Skipped
from cxrqba.qa.source import StudyGraph, read_studies
from cxrqba.qa.templates import TemplateFile, load_templates
from cxrqba.reference.tables import Reference, load_reference
from cxrqba.schema import STATISTICS
from cxrqba.tables import frame

ROOT = Path(__file__).resolve().parents[2]
FRONTAL, LATERAL = "image-f", "image-l"
GOOD = {
    "region_quality": "RESOLVED_REGIONS_ONLY",
    "entity_quality": "RESOLVED_ENTITIES_ONLY",
    "sentence_name_quality": "NO_ISSUES",
    "change_quality": "NO_ISSUES",
    "issue_level": "NO_ISSUES",
    "localization_quality": "BBOX_LOCALIZATION",
}


@lru_cache(maxsize=1)
def reference() -> Reference:
    """The project's reference definitions."""
    return load_reference(ROOT / "resources/reference")


def statistics(rows: Iterable[tuple[str, str, int, int]] = ()) -> pl.DataFrame:
    """A statistics table."""
    return frame(
        (dict(zip(("kind", "name", "positive", "negative"), r, strict=True)) for r in rows),
        STATISTICS,
    )


STATISTICS_ROWS = (
    ("finding", "pleural effusion", 40, 60),
    ("finding", "atelectasis", 50, 5),
    ("finding", "rib fracture", 9, 3),
    ("finding", "osteopenia", 8, 0),
    ("finding", "hiatal hernia", 6, 0),
    ("finding", "scoliosis", 5, 0),
    ("finding", "tracheostomy tube", 5, 0),
    ("finding_pair", "atelectasis|pleural effusion", 30, 0),
    ("region", "left lower lung zone", 30, 4),
    ("region", "right upper lung zone", 20, 2),
    ("region", "left clavicle", 5, 1),
    ("region", "aortic arch", 15, 1),
    ("region", "right lower lobe", 12, 1),
)


MORE = {
    "finding": ("atelectasis", "consolidation", "pneumonia", "hiatal hernia", "endotracheal tube"),
    "region_abnormal": ("left hilum", "right hilum", "left costophrenic angle", "ribs"),
}


def asking_more(files: Sequence[TemplateFile]) -> tuple[TemplateFile, ...]:
    """Templates that ask every study more, so that what nobody mentions can be tested."""
    return tuple(
        f.model_copy(update={"always": (*f.always, *MORE.get(f.strategy, ()))}) for f in files
    )


@lru_cache(maxsize=8)
def context(seed: int = 0, with_statistics: bool = True) -> QaContext:
    """The context of the project's templates and invented statistics."""
    return build_context(
        reference(),
        asking_more(load_templates(ROOT / "resources/templates")),
        statistics(STATISTICS_ROWS if with_statistics else ()),
        QaConfig(seed=seed),
    )


def boxes_of(regions: Sequence[str]) -> list[Localization]:
    """One box a region on the frontal image, at a place that depends on the name alone."""
    boxes = []
    for name in regions:
        x = float(sum(map(ord, name)) % 300)
        boxes.append([x, 50.0, x + 100.0, 200.0])
    if not boxes:
        return []
    return [
        Localization(FRONTAL, boxes, list(regions), [], [], False, "BBOX_LOCALIZATION"),
        Localization(LATERAL, [], [], [], list(regions), False, "NO_LOCALIZATION"),
    ]


def observation(
    obs_id: str,
    sentence: str,
    entities: Sequence[str] = (),
    regions: Sequence[str] = (),
    **values: Any,
) -> Observation:
    """An observation; parents and subcategories follow from the entities."""
    findings = reference().findings
    known = [findings[e] for e in entities if e in findings]
    probability = values.pop("probability", "positive")
    level = reference().levels[probability]
    distances = values.pop("distances", {})
    return Observation(
        obs_id=obs_id,
        name=sentence.rstrip("."),
        summary_sentence=sentence,
        regions=[{"region": r, "distances": list(distances.get(r, []))} for r in regions],
        obs_entities=list(entities),
        obs_entities_parents=[p for e in known for p in reference().finding_ancestors[e.name]],
        obs_categories=list(dict.fromkeys(c for e in known for c in e.categories)),
        obs_subcategories=list(dict.fromkeys(s for e in known for s in e.subcategories)),
        probability=probability,
        certainty=level.certainty,
        positiveness=level.positiveness,
        obs_quality=values.pop("obs_quality", dict(GOOD)),
        localization=values.pop("localization", boxes_of(regions)),
        **values,
    )


def graph(
    observations: Sequence[Observation],
    *,
    study_id: str = "s50000001",
    complete: bool = True,
    indication: str | None = None,
    answer: Observation | None = None,
    associated: Sequence[str] = (),
) -> SceneGraph:
    """A scene graph around observations; a child's id is its parent's with ".NN"."""
    by_id = {o.obs_id: o for o in observations}
    relations = []
    for obs in observations:
        parent = obs.obs_id.rpartition(".")[0]
        if parent in by_id:
            obs.child_level = obs.obs_id.count(".")
            obs.child_type = obs.child_type or "regional distinction"
            relations.append(
                {
                    "parent_observation_id": parent,
                    "child_observation_id": obs.obs_id,
                    "child_type": obs.child_type,
                }
            )
    known = reference().regions
    regions = dict.fromkeys(n for n, r in known.items() if r.key_region)
    regions.update(dict.fromkeys(r for o in observations for r in o.region_names if r in known))
    return SceneGraph(
        patient_id="p10000001",
        study_id=study_id,
        sentences=[],
        observations=by_id,
        regions={
            n: RegionNode(n, known[n].laterality, boxes_of([n]), "BBOX_LOCALIZATION")
            for n in regions
        },
        indication=Indication(indication, None, None, None, [], list(associated))
        if indication
        else None,
        answer_for_indication=answer,
        top_level_obs_ids=[o for o in by_id if "." not in o],
        located_at_relations=[],
        obs_relations=relations,
        obs_sent_relations=[],
        region_region_relations=[],
        study_quality=dict(GOOD),
        study_img_localization_quality=[
            {"image_id": FRONTAL, "view": "frontal", "localization_quality": "BBOX_LOCALIZATION"},
            {"image_id": LATERAL, "view": "lateral", "localization_quality": "NO_LOCALIZATION"},
        ],
        is_complete=complete,
        incomplete_reasons=[] if complete else ["uncovered_sentence"],
    )


def ask(study: SceneGraph, ctx: QaContext | None = None) -> tuple[list[Question], list[Skipped]]:
    """All questions of a study."""
    return generate(lean(study), ctx or context())


def lean(study: SceneGraph) -> StudyGraph:
    """A scene graph as question generation reads it from the tables."""
    return next(read_studies(*to_tables([study])))


def find(questions: Iterable[Question], question_type: str, value: str | None = None) -> Question:
    """The question of a type (and value of its variable); fails if there is not exactly one."""
    found = [
        q
        for q in questions
        if q.question_type == question_type and (value is None or value in q.variables.values())
    ]
    assert len(found) == 1, f"{len(found)} questions {question_type} {value}"
    return found[0]


def main_text(question: Question) -> str:
    """The text of the first main answer."""
    return next(p.content.text for p in question.parts if p.answer_type == "main_answer")


def texts(question: Question, role: str | None = None) -> list[str]:
    """Texts of the parts, of one role or all."""
    return [p.content.text for p in question.parts if role in (None, p.answer_type)]


def rich_graph(study_id: str = "s50000001", **values: Any) -> SceneGraph:
    """A study with positives of both sides, hedges, negatives, devices, children and notes."""
    return graph(
        [
            observation(
                "O01",
                "There is a small left pleural effusion.",
                ["pleural effusion"],
                ["left pleural space"],
                laterality="left",
                modifiers={"severity": ["small"]},
            ),
            observation(
                "O01.01",
                "Adjacent atelectasis at the left lung base.",
                ["atelectasis"],
                ["left lung base"],
                laterality="left",
                child_type="associated with",
            ),
            observation(
                "O01.02",
                "Follow-up radiograph is recommended.",
                [],
                [],
                probability="recommendation",
                child_type="recommendation",
            ),
            observation(
                "O02",
                "Possible early pneumonia in the right lower lobe.",
                ["pneumonia"],
                ["right lower lobe"],
                laterality="right",
                probability="possible",
            ),
            observation(
                "O03",
                "No pneumothorax.",
                ["pneumothorax"],
                ["pleural spaces"],
                probability="negative",
            ),
            observation(
                "O04", "Heart size is normal.", ["cardiomegaly"], ["heart"], probability="negative"
            ),
            observation(
                "O05",
                "The endotracheal tube ends 4 cm above the carina.",
                ["endotracheal tube"],
                ["carina"],
                distances={"carina": ["4 cm above"]},
            ),
            observation(
                "D01",
                "No fracture.",
                ["fracture"],
                ["bony thorax"],
                probability="negative",
                from_report=False,
            ),
        ],
        study_id=study_id,
        indication="Is there pneumonia in this patient with cough?",
        answer=observation(
            "OIND",
            "Possible early pneumonia in the right lower lobe.",
            ["pneumonia"],
            ["right lower lobe"],
            laterality="right",
            probability="possible",
        ),
        associated=["O02"],
        **values,
    )
