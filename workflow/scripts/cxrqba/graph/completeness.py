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
NO_NEW = "no new"
"""The change that a denial of news has in ``changes.yaml``."""

_READ_TYPES = frozenset((*REPORTED_SECTION_TYPES, "ADDENDUM", "WET_READ"))
"""Section types that may describe the image: all must be read before silence means absence."""

NON_OBSERVATIONAL = "non_observational"
"""Ledger reason of the extraction for sentences that describe nothing."""

HARMLESS = frozenset(
    (
        NON_OBSERVATIONAL,
        "uncovered_sentence",  # found here anew
        "unknown_header",  # takes no sentence away
        "not_in_report",  # what a model invented is dropped; its sentence is looked at anew
        "passed_over",  # what a model passed over is read by the rules
        "section_refused",
        "repaired_sentence",
        "repaired_observation",  # repairs that may lose something lower the issue level
        "repaired_answer",
        "repaired_indication",
        "overruled_by_addendum",
        "contradicting_statements",
    )
)
"""Reasons of item rows of the extraction's ledgers after which a study may still be complete.

Any other item lost (a cluster, a part of a sentence, an answer) may have named anything.
"""


def incomplete_reasons(
    sentences: Iterable[Mapping[str, Any]],
    observations: Iterable[Observation],
    non_observational: frozenset[str],
    failures: Iterable[str],
    num_discarded: int,
    vocabulary: Vocabulary,
) -> list[str]:
    """Why "no" may not be said; empty for a complete study.

    ``non_observational`` are ids of sentences that extraction lists as describing nothing,
    ``failures`` what of the passes failed, as "failed_pass: extract_indication" or
    "partly_covered: S03".
    """
    observations = [o for o in observations if o.from_report]
    reasons = sorted(set(failures))
    reasons += uncovered(sentences, observations, non_observational)
    levels = {o.obs_quality["issue_level"] for o in observations}
    if num_discarded or "DISCARDED" in levels:
        reasons.append("discarded_observation")
    if "NON_INTERPRETABLE" in levels:
        reasons.append("non_interpretable_observation")
    if not any(_is_telling(o, vocabulary) for o in observations):
        reasons.append("no_positive_or_negative_observation")
    return reasons


def uncovered(
    sentences: Iterable[Mapping[str, Any]],
    observations: Iterable[Observation],
    non_observational: frozenset[str],
) -> list[str]:
    """Sentences that describe the image and yielded nothing, or that there are none."""
    sentences = list(sentences)
    covered = {i for o in observations for i in o.sent_ids} | non_observational
    reasons = [
        f"uncovered_sentence: {s['sent_id']}"
        for s in sentences
        if s["section_type"] in _READ_TYPES and not s["discarded"] and s["sent_id"] not in covered
    ]
    if not any(s["section_type"] in REPORTED_SECTION_TYPES for s in sentences):
        reasons.insert(0, "no_reported_sentence")
    return reasons


def _is_telling(observation: Observation, vocabulary: Vocabulary) -> bool:
    """Whether it asserts or denies something of the patient, not only how the film was taken.

    "Possible pneumonia" does neither.
    """
    o = observation
    if o.positiveness not in ("pos", "neg") or o.certainty == "uncertain":
        return False
    findings = vocabulary.reference.findings
    names = o.obs_entities
    return not names or any(findings[name].polarity != "technical" for name in names)


def is_denial(observation: Observation) -> bool:
    """Whether it says "no", be it with little doubt; "cannot be assessed" does not."""
    return observation.positiveness == "neg" and observation.certainty != "uncertain"


def is_of_news_only(changes: Iterable[str]) -> bool:
    """Whether a denial is of what is new only: "no new effusion" says nothing of an old one."""
    return NO_NEW in changes


def is_plain_denial(observation: Observation, vocabulary: Vocabulary) -> bool:
    """Whether it denies its findings altogether: surely, anywhere and of any kind.

    "No large effusion", "no new effusion", "no left effusion" or "no opacity at the bases" leave
    the finding and its relatives open.
    """
    o = observation
    if not is_denial(o) or o.certainty != "certain" or o.laterality in ("left", "right"):
        return False
    if any(o.modifiers.values()) or is_of_news_only(o.changes):
        return False
    explicit = set(o.region_names) - set(o.default_regions)
    usual = default_regions(tuple(o.obs_entities), "unknown", vocabulary)
    above = vocabulary.reference.region_ancestors
    return not explicit or all(explicit & {r, *above[r]} for r in usual)


def named_elsewhere(
    sentences: Iterable[Mapping[str, Any]], vocabulary: Vocabulary
) -> frozenset[str]:
    """Findings named where nothing is read: history, indication, comparison, advice, ...

    A line the request speaks of, or a nodule whose follow-up is advised, is not denied by silence.
    """
    names: set[str] = set()
    for s in sentences:
        if s["section_type"] not in REPORTED_SECTION_TYPES or s["discarded"]:
            names |= vocabulary.findings_in(s["sentence"] or "")
    return frozenset(names)


def default_negatives(
    observations: Sequence[Observation],
    vocabulary: Vocabulary,
    elsewhere: frozenset[str] = frozenset(),
) -> list[Observation]:
    """Negative observations (D01, ...) of key findings about which nothing is said.

    ``elsewhere`` are findings named outside of the sentences the observations come from.
    """
    reference = vocabulary.reference
    open_all = vocabulary.equivalents.open_all
    doubtful = set(elsewhere - open_all)
    denied: set[str] = set()
    unresolved: list[Observation] = []
    for o in observations:
        if is_plain_denial(o, vocabulary):
            denied.update(o.obs_entities)
            continue
        if is_denial(o):
            doubtful.update(e for e in o.obs_entities if e not in open_all)
            continue
        doubtful.update(o.obs_entities)
        if o.non_resolved_obs_entities or not o.obs_entities:
            unresolved.append(o)
    places = [_reach(o, vocabulary) for o in unresolved]
    found: list[Observation] = []
    for finding in map(reference.findings.__getitem__, reference.normality["silence_denies"]):
        if not vocabulary.relatives[finding.name].isdisjoint(doubtful):
            continue
        if denied.intersection((finding.name, *reference.finding_ancestors[finding.name])):
            continue
        regions = default_regions((finding.name,), "unknown", vocabulary)
        if any(place is None or place.intersection(regions) for place in places):
            continue
        found.append(_negative(f"D{len(found) + 1:02d}", finding.name, regions, vocabulary))
    return found


def _reach(observation: Observation, vocabulary: Vocabulary) -> frozenset[str] | None:
    """Regions an unresolved observation may concern; None: any."""
    if not observation.regions or observation.non_resolved_regions:
        return None
    return frozenset().union(*(vocabulary.region_relatives[r] for r in observation.region_names))


def _negative(
    obs_id: str, finding: str, regions: Iterable[str], vocabulary: Vocabulary
) -> Observation:
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
