"""Questions in the shape of the release's JSON, with the boxes of their parts (paper Sec. D.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import polars as pl

from cxrqba.graph.model import Localization, SceneGraph
from cxrqba.graph.store import ANSWER_ID
from cxrqba.schema import EXTRACTION_QUALITY

_RANK = {a: {level: i for i, level in enumerate(ls)} for a, ls in EXTRACTION_QUALITY.items()}
_TAGS = (
    "text",
    "name_tag",
    "laterality",
    "regions",
    "obs_entities",
    "obs_entities_parents",
    "obs_categories",
    "obs_subcategories",
    "certainty",
    "positiveness",
)
Row = Mapping[str, Any]


def localization(part: Row, graph: SceneGraph) -> list[Localization]:
    """Boxes of an answer part (a row of ANSWERS) of the study of ``graph``, one entry an image."""
    nodes = {**graph.observations}
    if graph.answer_for_indication is not None:
        nodes[ANSWER_ID] = graph.answer_for_indication
    several = [nodes[o].localization for o in part["box_obs_ids"]]
    several += [graph.regions[r].localization for r in part["box_regions"] if r in graph.regions]
    return several[0] if len(several) == 1 else _merged(several)


def to_json(questions: pl.DataFrame, answers: pl.DataFrame, graph: SceneGraph) -> dict[str, Any]:
    """One study's rows of QUESTIONS and ANSWERS in the shape of ``s########.qa.json``.

    Localizations are objects by image id, modifiers pairs, sub-answers nest, and quality levels
    are integers from worst to best.
    """
    parts: dict[str, list[Row]] = {}
    for part in answers.iter_rows(named=True):
        parts.setdefault(part["question_id"], []).append(part)
    return {
        "patient_id": graph.patient_id,
        "study_id": graph.study_id,
        "questions": [
            _question(row, parts[row["question_id"]], graph)
            for row in questions.iter_rows(named=True)
        ],
    }


def _question(row: Row, parts: Sequence[Row], graph: SceneGraph) -> dict[str, Any]:
    rank = _RANK["localization_quality"]
    return {
        "question_id": row["question_id"],
        "question_type": row["question_type"],
        "question_strategy": row["question_strategy"],
        "variables": {v["name"]: v["value"] for v in row["variables"]},
        "obs_ids": list(dict.fromkeys(o for p in parts for o in p["obs_ids"])),
        "contains_report_answers": row["contains_report_answers"],
        "contains_template_answers": row["contains_template_answers"],
        "extraction_quality": _quality(row["extraction_quality"]),
        "question_img_localization_quality": {
            image["image_id"]: rank[image["localization_quality"]]
            for image in row["question_img_localization_quality"]
        },
        "question": row["question"],
        "answers": [_part(p, parts, graph) for p in parts if p["parent_answer_id"] is None],
        "question_quality": {},
    }


def _part(part: Row, parts: Sequence[Row], graph: SceneGraph) -> dict[str, Any]:
    return {
        "answer_id": part["answer_id"],
        "answer_type": part["answer_type"],
        "answer_level": part["answer_level"],
        **{name: part[name] for name in _TAGS},
        "modifiers": [[m["type"], m["value"]] for m in part["modifiers"]],
        "localization": {
            one.image_id: {
                **asdict(one),
                "localization_quality": _RANK["localization_quality"][one.localization_quality],
            }
            for one in localization(part, graph)
        },
        "sub_answers": [
            _part(p, parts, graph) for p in parts if p["parent_answer_id"] == part["answer_id"]
        ],
        "from_report": part["from_report"],
        "extraction_quality": _quality(part["extraction_quality"]),
        "answer_quality": {},
    }


def _quality(quality: Mapping[str, str | None]) -> dict[str, int]:
    return {aspect: _RANK[aspect][level] for aspect, level in quality.items() if level}


def _merged(localizations: Iterable[Sequence[Localization]]) -> list[Localization]:
    """Union of boxes per image, by image id; the worst quality counts."""
    by_image: dict[str, list[Localization]] = {}
    for one in (one for several in localizations for one in several):
        by_image.setdefault(one.image_id, []).append(one)
    return [_merged_image(image_id, by_image[image_id]) for image_id in sorted(by_image)]


def _merged_image(image_id: str, several: Sequence[Localization]) -> Localization:
    def united(name: str) -> list[str]:
        return list(dict.fromkeys(value for one in several for value in getattr(one, name)))

    boxes = dict.fromkeys(tuple(b) for one in several for b in one.bboxes)
    return Localization(
        image_id=image_id,
        bboxes=[list(b) for b in boxes],
        localization_reference_ids=united("localization_reference_ids"),
        instance_mask_ids=united("instance_mask_ids"),
        missing_localization=united("missing_localization"),
        is_fallback=any(one.is_fallback for one in several),
        localization_quality=min(
            (one.localization_quality for one in several),
            key=_RANK["localization_quality"].get,  # type: ignore[arg-type]
        ),
    )
