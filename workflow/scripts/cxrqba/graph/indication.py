"""The indication node and its answer, an observation of its own (paper Sec. D.1, E.1.3).

The answer's text comes from the indication pass; its tags are those of the observations that stem
from the sentences the pass names, as far as they are of the answer's sign.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from cxrqba.graph import sides
from cxrqba.graph.hierarchy import Note, natural
from cxrqba.graph.model import Indication, Observation
from cxrqba.graph.store import ANSWER_ID
from cxrqba.graph.tags import UNKNOWN_LEVEL, Mappings, decision_record
from cxrqba.graph.vocabulary import Vocabulary
from cxrqba.mapping.mentions import clean, texts
from cxrqba.schema import MODIFIER_TYPES

_CLAIMS = ("positive", "likely", "possible", "cannot_exclude", "negative", "unlikely")
"""Probability levels, that of the answer to an indication first."""


def indication_of(
    row: Mapping[str, Any] | None,
    observations: Mapping[str, Observation],
    sentences: Collection[str],
    note: Note,
) -> tuple[Indication | None, list[Observation]]:
    """The node and the observations related to it; ``sentences`` are ids that exist."""
    if row is None:
        return None, []
    if not clean(row["indication_summary"]):
        note("indication", "no_indication_summary", "the indication is left out: it asks nothing")
        return None, []
    named = {s for s in row["associated_sentence_ids"] or () if s}
    if not named.issubset(sentences):
        note("indication", "unknown_sentence", "names a sentence that does not exist; left out")
    sent_ids = sorted(named.intersection(sentences), key=natural)
    related = [o for o in observations.values() if not named.isdisjoint(o.sent_ids)]
    node = Indication(
        indication_summary=clean(row["indication_summary"]),
        patient_info=clean(row["patient_info"]) or None,
        indication=clean(row["indication"]) or None,
        evaluation=clean(row["evaluation"]) or None,
        associated_sentence_ids=sent_ids,
        associated_obs_ids=[o.obs_id for o in related],
    )
    return node, related


def answer_of(
    row: Mapping[str, Any],
    node: Indication,
    related: Sequence[Observation],
    mappings: Mappings,
    vocabulary: Vocabulary,
) -> Observation | None:
    """The observation OIND; None if the pass gives no answer."""
    sentence = clean(row["answer_sentence"]) or clean(row["answer_name"])
    if not sentence:
        return None
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
    return Observation(
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
        sent_ids=list(node.associated_sentence_ids),
        origin=texts([row["origin"]]),
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
    if len(found) == 1:
        return found.pop()
    return "bilateral" if found and found <= {"left", "right", "bilateral"} else sides.UNKNOWN
