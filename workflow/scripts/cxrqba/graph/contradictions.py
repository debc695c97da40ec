"""Statements of one report that contradict each other: both are kept, both say so.

A report may call one thing present and absent: FINDINGS against IMPRESSION, an addendum against
both. Which one holds is not for a program to say. Both observations name the other in ``origin``
and are rated MOSTLY_INTERPRETABLE (Tab. 11), so that no question about them is of the best grades.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cxrqba.graph.completeness import is_denial
from cxrqba.graph.hierarchy import Note, worse_issue
from cxrqba.graph.model import Observation
from cxrqba.graph.vocabulary import Vocabulary

REASON = "contradicting_statements"
MARK = "contradicts:"


def mark_contradictions(
    observations: Mapping[str, Observation], vocabulary: Vocabulary, note: Note
) -> None:
    """Mark every observation that another one of the report contradicts."""
    for one, other in _pairs(observations.values(), vocabulary):
        for o, opposite in ((one, other), (other, one)):
            o.origin.append(f"{MARK}{opposite.obs_id}")
            worse_issue(o, "MOSTLY_INTERPRETABLE")
        note(one.obs_id, REASON, f"{other.obs_id} denies what it asserts; both are kept")


def _pairs(
    observations: Iterable[Observation], vocabulary: Vocabulary
) -> Iterator[tuple[Observation, Observation]]:
    """(positive, negative) observations of one finding at one place."""
    denials: dict[str, list[Observation]] = {}
    observations = list(observations)
    for o in observations:
        if is_denial(o) and not o.changes:  # "no new opacity" denies no old one
            for name in o.obs_entities:
                denials.setdefault(name, []).append(o)
    for o in observations:
        if o.positiveness != "pos":
            continue
        opposed = {n.obs_id: n for e in o.obs_entities for n in denials.get(e, ())}
        for denial in opposed.values():
            if _concerns(denial, o, vocabulary):
                yield o, denial


def _concerns(denial: Observation, positive: Observation, vocabulary: Vocabulary) -> bool:
    """Whether what is denied includes what is asserted, in kind, side and place.

    "No large effusion" does not deny a small one, "no right effusion" none of unknown side.
    """
    if denial.laterality in ("left", "right") and positive.laterality not in (
        denial.laterality,
        "bilateral",
    ):
        return False
    for kind, values in denial.modifiers.items():
        if not set(values) <= set(positive.modifiers[kind]):
            return False
    denied = set(denial.region_names)
    asserted = positive.region_names
    return (
        not denied
        or not asserted
        or any(denied.intersection(_places(r, positive.laterality, vocabulary)) for r in asserted)
    )


def _places(region: str, laterality: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The region, all it is part of, and both its sides where the finding is on both."""
    entry = vocabulary.reference.regions[region]
    versions = (entry.left, entry.right) if laterality == "bilateral" else ()
    above = vocabulary.reference.region_ancestors[region]
    return (region, *above, *(v for v in versions if v))
