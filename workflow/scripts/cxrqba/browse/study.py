"""One study as plain values that a page shows (paper Sec. D.1, D.2).

Report text with evidence, films with boxes, the graph, and questions whose answer parts lead back
to observations and so to sentences. Parts of a study that say the same are stored once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cxrqba.browse.films import thumbnail
from cxrqba.browse.gather import Row, StudyRows
from cxrqba.browse.shown import pieces, visible
from cxrqba.graph.model import Localization, Observation, SceneGraph

Boxes = dict[int, list[list[float]]]
"""Number of a film of the study -> boxes in its original pixels."""

SIDE = 640
"""Pixels of the longer side of a film as shown."""


def study_data(rows: StudyRows, side: int = SIDE) -> dict[str, Any]:
    """Everything a page shows of one study; all texts are made visible."""
    study = rows.study
    films = [_film(image, side) for image in rows.images]
    number = {image["image_id"]: i for i, image in enumerate(rows.images)}
    values = {
        "id": study["study_id"],
        "about": _about(study),
        "complete": rows.graph.is_complete if rows.graph else None,
        "reasons": rows.graph.incomplete_reasons if rows.graph else [],
        "films": films,
        "regions": _regions(rows.boxes, number),
        "wider": {r["region"]: r["reference_region"] for r in rows.boxes if r["is_fallback"]},
        "observations": _observations(rows.graph, number),
        "top": rows.graph.top_level_obs_ids if rows.graph else [],
        "indication": _indication(rows.graph),
        **_questions(rows),
    }
    return {key: _shown(value) for key, value in values.items()} | {"pieces": _report(rows)}


def _about(study: Row) -> list[list[str]]:
    names = {
        "patient_id": "patient",
        "split": "split",
        "study_date": "date",
        "procedure": "procedure",
    }
    return [[label, str(study[name])] for name, label in names.items() if study[name]]


def _shown(value: Any) -> Any:
    """``value`` with all hidden characters of its texts made visible; data addresses hold none."""
    if isinstance(value, str):
        return value if value.isascii() and value.isprintable() else visible(value)
    if isinstance(value, Mapping):
        return {key: _shown(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(one) for one in value]
    return value


def _report(rows: StudyRows) -> list[list[Any]]:
    """(text, sentence, obs_ids) of each piece."""
    report = rows.study["report"] or ""
    sentences = [(s["sent_id"], s["start"], s["end"]) for s in rows.sentences]
    nodes = _nodes(rows.graph)
    spans = [(o.obs_id, s["start"], s["end"]) for o in nodes for s in o.spans]
    return [[p.text, p.sentence, p.evidence] for p in pieces(report, sentences, spans)]


def _nodes(graph: SceneGraph | None) -> list[Observation]:
    if graph is None:
        return []
    answer = graph.answer_for_indication
    return [*graph.observations.values(), *([answer] if answer else [])]


def _film(image: Row, side: int) -> dict[str, Any]:
    shown = thumbnail(Path(image["path"]), side)
    return {
        "id": image["image_id"],
        "view": image["view_position"] or image["view"],
        "uri": shown.uri,
        "width": shown.width,
        "height": shown.height,
        "note": shown.note,
    }


def _regions(boxes: Iterable[Row], number: Mapping[str, int]) -> dict[str, Boxes]:
    found: dict[str, Boxes] = {}
    for row in boxes:
        if row["image_id"] in number:
            found.setdefault(row["region"], {})[number[row["image_id"]]] = _rounded(row["bboxes"])
    return {region: found[region] for region in sorted(found)}


def _rounded(boxes: Iterable[Sequence[float]]) -> list[list[float]]:
    return [[round(c, 1) for c in box] for box in boxes]


def _boxes(localization: Iterable[Localization], number: Mapping[str, int]) -> Boxes:
    return {
        number[one.image_id]: _rounded(one.bboxes)
        for one in localization
        if one.bboxes and one.image_id in number
    }


def _observations(graph: SceneGraph | None, number: Mapping[str, int]) -> dict[str, Any]:
    children: dict[str, list[str]] = {}
    for relation in graph.obs_relations if graph else ():
        children.setdefault(relation["parent_observation_id"], []).append(
            relation["child_observation_id"]
        )
    return {
        node.obs_id: {
            "name": node.name,
            "kind": node.child_type,
            "sign": node.positiveness,
            "certainty": node.certainty,
            "side": node.laterality,
            "findings": node.obs_entities,
            "unresolved": node.non_resolved_obs_entities,
            "regions": [_place(r) for r in node.regions],
            "modifiers": [v for values in node.modifiers.values() for v in values],
            "changes": node.changes,
            "added": not node.from_report,
            "sentences": node.sent_ids,
            "boxes": _boxes(node.localization, number),
            "fallback": any(one.is_fallback for one in node.localization if one.bboxes),
            "children": children.get(node.obs_id, []),
        }
        for node in _nodes(graph)
    }


def _place(region: Mapping[str, Any]) -> str:
    distances = region["distances"] or []
    return f"{region['region']} ({', '.join(distances)})" if distances else region["region"]


def _indication(graph: SceneGraph | None) -> dict[str, Any] | None:
    node = graph.indication if graph else None
    if node is None:
        return None
    return {
        "text": node.indication_summary,
        "sentences": node.associated_sentence_ids,
        "observations": node.associated_obs_ids,
    }


_CONTENT = {
    "text": "text",
    "positiveness": "sign",
    "certainty": "certainty",
    "laterality": "side",
    "obs_entities": "findings",
    "regions": "regions",
    "from_report": "stated",
    "obs_ids": "observations",
    "box_obs_ids": "boxes",
    "box_regions": "places",
}
"""Column of ANSWERS -> key of a content on the page."""


def _questions(rows: StudyRows) -> dict[str, Any]:
    """Questions, and the distinct contents their parts refer to by number."""
    contents: dict[str, int] = {}
    values: list[dict[str, Any]] = []
    parts: dict[str, list[list[Any]]] = {}
    grades = {(r["question_id"], r["answer_id"]): r for r in rows.rated_answers}
    for answer in rows.answers:
        content = {key: answer[column] for column, key in _CONTENT.items()}
        place = contents.setdefault(repr(content), len(contents))
        if place == len(values):
            values.append(content)
        grade = grades.get((answer["question_id"], answer["answer_id"]), {})
        parts.setdefault(answer["question_id"], []).append(
            [place, answer["answer_level"], answer["answer_type"], grade.get("rating"),
             grade.get("limiting_aspect")]
        )  # fmt: skip
    rated = {r["question_id"]: r for r in rows.rated}
    questions = [
        {
            "id": question["question_id"],
            "type": question["question_type"],
            "strategy": question["question_strategy"],
            "text": question["question"],
            "grade": rated.get(question["question_id"], {}).get("rating"),
            "limit": rated.get(question["question_id"], {}).get("limiting_aspect"),
            "parts": parts.get(question["question_id"], []),
        }
        for question in rows.questions
    ]
    return {"contents": values, "questions": questions}
