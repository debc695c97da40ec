"""When "no" may be said: complete studies and their default negatives (paper Sec. E.1.3).

A study is complete if every sentence of its FINDINGS and IMPRESSION is accounted for. Only then is
the absence of a key finding inferred from silence, and only if nothing said is related to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cxrqba.graph.model import Observation
from cxrqba.graph.sides import default_regions
from cxrqba.graph.vocabulary import Vocabulary
from cxrqba.schema import MODIFIER_TYPES, REPORTED_SECTION_TYPES

NEGATIVE = "negative"

_READ_TYPES = frozenset((*REPORTED_SECTION_TYPES, "ADDENDUM", "WET_READ"))
"""Section types that may describe the image: all must be read before silence means absence."""


def incomplete_reasons(
    sentences: Iterable[Mapping[str, Any]],
    observations: Iterable[Observation],
    non_observational: frozenset[str],
    failed_passes: Iterable[str],
    num_discarded: int,
    vocabulary: Vocabulary,
) -> list[str]:
    """Why "no" may not be said; empty for a complete study.

    ``non_observational`` are ids of sentences that extraction lists as describing nothing.
    """
    sentences = list(sentences)
    observations = [o for o in observations if o.from_report]
    reasons = [f"failed_pass: {p}" for p in sorted(failed_passes)]
    reported = [s for s in sentences if s["section_type"] in REPORTED_SECTION_TYPES]
    if not reported:
        reasons.append("no_reported_sentence")
    telling = [s for s in sentences if s["section_type"] in _READ_TYPES]
    covered = {i for o in observations for i in o.sent_ids} | non_observational
    open_ids = [s["sent_id"] for s in telling if not s["discarded"]]
    reasons += [f"uncovered_sentence: {i}" for i in open_ids if i not in covered]
    if num_discarded:
        reasons.append("discarded_observation")
    levels = {o.obs_quality["issue_level"] for o in observations}
    if "DISCARDED" in levels and not num_discarded:
        reasons.append("discarded_observation")
    if "NON_INTERPRETABLE" in levels:
        reasons.append("non_interpretable_observation")
    if not any(_is_telling(o, vocabulary) for o in observations):
        reasons.append("no_positive_or_negative_observation")
    return reasons


def _is_telling(observation: Observation, vocabulary: Vocabulary) -> bool:
    """Whether it asserts or denies something of the patient, not only how the film was taken."""
    if not (observation.positiveness == "pos" or is_denial(observation)):
        return False
    findings = vocabulary.reference.findings
    names = observation.obs_entities
    return not names or any(findings[name].polarity != "technical" for name in names)


def is_denial(observation: Observation) -> bool:
    """Whether it says "no", be it with little doubt; "cannot be assessed" does not."""
    return observation.positiveness == "neg" and observation.certainty != "uncertain"


def is_plain_denial(observation: Observation, vocabulary: Vocabulary) -> bool:
    """Whether it denies its findings altogether: surely, anywhere and of any kind.

    "No large effusion", "no left effusion" or "no opacity at the bases" leave the finding and its
    relatives open.
    """
    o = observation
    if not is_denial(o) or o.certainty != "certain" or o.laterality in ("left", "right"):
        return False
    if any(o.modifiers.values()):
        return False
    explicit = set(o.region_names) - set(o.default_regions)
    usual = default_regions(o.obs_entities, "unknown", vocabulary)
    above = vocabulary.reference.region_ancestors
    return not explicit or all(explicit & {r, *above[r]} for r in usual)


def default_negatives(
    observations: Sequence[Observation], vocabulary: Vocabulary
) -> list[Observation]:
    """Negative observations (D01, ...) of key findings about which nothing is said."""
    reference = vocabulary.reference
    doubtful: set[str] = set()
    denied: set[str] = set()
    unresolved: list[Observation] = []
    for o in observations:
        if is_plain_denial(o, vocabulary):
            denied.update(o.obs_entities)
            continue
        doubtful.update(o.obs_entities)
        if is_denial(o):
            continue
        if o.non_resolved_obs_entities or not o.obs_entities:
            unresolved.append(o)
    places = [_reach(o, vocabulary) for o in unresolved]
    found: list[Observation] = []
    for finding in map(reference.findings.__getitem__, reference.normality["silence_denies"]):
        if vocabulary.relatives[finding.name] & doubtful:
            continue
        if denied.intersection((finding.name, *reference.finding_ancestors[finding.name])):
            continue
        regions = default_regions([finding.name], "unknown", vocabulary)
        if any(place is None or place.intersection(regions) for place in places):
            continue
        found.append(_negative(f"D{len(found) + 1:02d}", finding.name, regions, vocabulary))
    return found


def _reach(observation: Observation, vocabulary: Vocabulary) -> frozenset[str] | None:
    """Regions an unresolved observation may concern; None: any."""
    if not observation.regions or observation.non_resolved_regions:
        return None
    return frozenset().union(*(vocabulary.region_relatives[r] for r in observation.region_names))


def _negative(obs_id: str, finding: str, regions: list[str], vocabulary: Vocabulary) -> Observation:
    level = vocabulary.reference.levels[NEGATIVE]
    pairs = {vocabulary.reference.regions[r].laterality for r in regions}
    return Observation(
        obs_id=obs_id,
        name=f"No {finding}",
        summary_sentence=f"There is no evidence of {finding}.",
        regions=[{"region": r, "distances": []} for r in regions],
        laterality="bilateral" if pairs == {"bilateral"} else "unknown",
        default_regions=list(regions),
        obs_entities=[finding],
        probability=NEGATIVE,
        certainty=level.certainty,
        positiveness=level.positiveness,
        modifiers={t: [] for t in MODIFIER_TYPES},
        from_report=False,
        origin=["default_negative"],
    )
