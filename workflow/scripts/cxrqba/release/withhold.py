"""What of a study's JSON quotes or rewords its report, taken out unless the user lets it leave.

Names of the reference definitions, template sentences, ids, boxes and qualities are no report text.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

_OF_OBSERVATION = ("name", "summary_sentence", "change_sentence")
_FREE_LISTS = ("non_resolved_regions", "non_resolved_obs_entities")
_OF_INDICATION = ("indication_summary", "patient_info", "indication", "evaluation")


def without_text(graph: Json, qa: Json) -> tuple[Json, Json]:
    """Copies of a scene graph and of its questions in which report text is null or empty."""
    indication = graph["indication"]
    if indication is not None:
        answer = indication["answer_for_indication"]
        indication = {
            **indication,
            **dict.fromkeys(_OF_INDICATION),
            "answer_for_indication": answer and _observation(answer),
        }
    bare = {
        **graph,
        "sentences": {i: {**s, "section": None, "sentence": None}
                      for i, s in graph["sentences"].items()},
        "observations": {i: _observation(o) for i, o in graph["observations"].items()},
        "indication": indication,
        "located_at_relations": [{**r, "distances": []} for r in graph["located_at_relations"]],
    }  # fmt: skip
    return bare, {**qa, "questions": [_question(q) for q in qa["questions"]]}


def _observation(observation: Json) -> Json:
    return {
        **observation,
        **dict.fromkeys(_OF_OBSERVATION),
        **{name: [] for name in _FREE_LISTS},
        "regions": [{**r, "distances": []} for r in observation["regions"]],
    }


def _question(question: Json) -> Json:
    kept = {**question, "answers": [_part(a) for a in question["answers"]]}
    if question["question_strategy"] == "indication":  # the question is the indication
        kept |= {"question": None, "variables": {}}
    return kept


def _part(part: Json) -> Json:
    kept = {**part, "sub_answers": [_part(a) for a in part["sub_answers"]]}
    return kept | {"text": None, "name_tag": None} if part["from_report"] else kept
