"""Reference tags of one raw observation, from the mapping decisions (paper Sec. E.1.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from cxrqba.graph.vocabulary import Vocabulary, normal, spaced
from cxrqba.mapping.compatible import OUTSIDE
from cxrqba.mapping.mentions import clean, pair, texts
from cxrqba.schema import CERTAINTIES, MODIFIER_TYPES

FILL_SCORE = 0.9
"""A pair, a name or a summary stands for a finding only if it is nearly the finding's words."""

UNKNOWN_LEVEL = "indeterminate"
"""Level of a probability that no cue explains: neither presence nor absence is claimed."""

_OPENING = frozenset(("there", "is", "are", "be", "was", "were"))
_DENYING = frozenset(("no", "without"))
_DENIAL = re.compile(rf"\b(?:{'|'.join(sorted(_DENYING))})\b", re.IGNORECASE)

Decision = Mapping[str, Any]
Mappings = Mapping[tuple[str, str], Decision]
"""(kind, text) -> row of MAPPINGS."""


def mappings_by_text(table: pl.DataFrame) -> Mappings:
    """MAPPINGS rows by kind and text."""
    return {(r["kind"], r["text"]): r for r in table.iter_rows(named=True)}


@dataclass(slots=True)
class Tags:
    """Resolved and unresolved values of one observation."""

    entities: list[str] = field(default_factory=list)
    unresolved_entities: list[str] = field(default_factory=list)
    regions: dict[str, list[str]] = field(default_factory=dict)  # name -> distances
    unresolved_regions: dict[str, list[str]] = field(default_factory=dict)
    region_of: dict[str, str | None] = field(default_factory=dict)  # as written -> name
    modifiers: dict[str, list[str]] = field(default_factory=dict)
    changes: list[str] = field(default_factory=list)
    unresolved_changes: int = 0
    decisions: list[dict[str, Any]] = field(default_factory=list)


def resolve(raw: Mapping[str, Any], mappings: Mappings) -> Tags:
    """Tags of a row of RAW_OBSERVATIONS.

    Unresolved findings and regions are kept; unresolved modifiers and changes are discarded, but
    their decisions stay.
    """
    tags = Tags(modifiers={t: [] for t in MODIFIER_TYPES})
    region_texts = _resolve_regions(raw, mappings, tags)
    _resolve_entities(raw, region_texts, mappings, tags)
    for text in texts(m["value"] for m in raw["modifiers"] or () if m):
        found = _decide("modifier", text, mappings, tags)
        kind = found["reference_type"] if found else None
        if found and found["reference"] and kind in tags.modifiers:
            _add(tags.modifiers[kind], found["reference"])
    for text in texts(raw["changes"]):
        found = _decide("change", text, mappings, tags)
        if found and found["reference"]:
            _add(tags.changes, found["reference"])
        else:
            tags.unresolved_changes += 1
    return tags


def is_outside(raw: Mapping[str, Any], mappings: Mappings, vocabulary: Vocabulary) -> bool:
    """Whether a row of RAW_OBSERVATIONS is of a part of the body that the reference leaves out.

    "Fracture" at the "left knee" is no fracture of the chest. A device may enter anywhere.
    """
    entities = [mappings.get(("entity", t)) for t in texts(raw["entities"])]
    if entities and all(d is not None and d["method"] == OUTSIDE for d in entities):
        return True
    places = [
        mappings.get(("region", t)) for t in texts(r["region"] for r in raw["regions"] or () if r)
    ]
    if any(d and d["reference"] for d in places):
        return False
    findings = vocabulary.reference.findings
    named = [findings[d["reference"]] for d in entities if d and d["reference"]]
    return any(d and d["method"] == OUTSIDE for d in places) and not any(f.is_device for f in named)


def _resolve_regions(raw: Mapping[str, Any], mappings: Mappings, tags: Tags) -> list[str]:
    named = [r for r in raw["regions"] or () if r]
    places: dict[str, dict[str, None]] = {t: {} for t in texts(r["region"] for r in named)}
    for region in named:
        if (text := clean(region["region"])) in places:
            places[text].update(dict.fromkeys(texts(region["distances"])))
    for text, said in places.items():
        distances = texts(said)
        found = _decide("region", text, mappings, tags)
        if found and found["reference"]:
            known = tags.regions.setdefault(found["reference"], [])
            known += [d for d in distances if d not in known]
        else:
            tags.unresolved_regions[text] = distances
        tags.region_of[text] = found["reference"] if found else None
    return list(places)


def _resolve_entities(
    raw: Mapping[str, Any], region_texts: list[str], mappings: Mappings, tags: Tags
) -> None:
    """An exact pair (entity, region) wins, then an exact entity, then the better of the two.

    "Emphysema" in the soft tissues is subcutaneous emphysema, though "emphysema" alone has a name
    of its own. Summary and name only fill in where nothing of the observation is resolved.
    """
    resolved: dict[str, None] = {}
    unresolved: dict[str, None] = {}
    for text in texts(raw["entities"]):
        best = _decide("entity", text, mappings, tags)
        for region in region_texts:
            paired = mappings.get(("entity_region", pair(text, region)))
            if _is_near(paired) and _rank(paired) > _rank(best):
                best = paired
        if best and best["kind"] == "entity_region":
            _note(best, tags)
        if best and best["reference"]:
            resolved[best["reference"]] = None
        else:
            unresolved[text] = None
    tags.entities, tags.unresolved_entities = list(resolved), list(unresolved)
    if resolved or not unresolved:
        return
    for kind, text in (("name", raw["name"]), ("summary", raw["summary_sentence"])):
        found = mappings.get((kind, clean(text)))
        if found and _is_near(found):
            _note(found, tags)
            tags.entities.append(found["reference"])
            return


def _is_near(decision: Decision | None) -> bool:
    return decision is not None and bool(decision["reference"]) and decision["score"] >= FILL_SCORE


def _rank(decision: Decision | None) -> tuple[bool, bool, float]:
    """What decides between entity and pair: whether exact, whether a pair, the score."""
    if decision is None or not decision["reference"]:
        return False, False, -1.0
    exact = decision["method"] == "exact"
    return exact, exact and decision["kind"] == "entity_region", decision["score"]


def _decide(kind: str, text: str, mappings: Mappings, tags: Tags) -> Decision | None:
    found = mappings.get((kind, text))
    if found is not None:
        _note(found, tags)
    return found


def _note(found: Decision, tags: Tags) -> None:
    tags.decisions.append(decision_record(found))


def decision_record(found: Decision) -> dict[str, Any]:
    """A row of MAPPINGS as an observation keeps it."""
    return {k: found[k] for k in ("kind", "text", "reference", "score", "runner_up", "method")}


def denies(raw: Mapping[str, Any], vocabulary: Vocabulary) -> bool:
    """Whether the name or the summary says "no ..." of the finding ("no change" says nothing)."""
    for text in (raw["name"], raw["summary_sentence"]):
        if not _DENIAL.search(text or ""):
            continue
        plain = vocabulary.changes.removed(normal(clean(text))).split()
        while plain and plain[0] in _OPENING:
            plain.pop(0)
        if plain and plain[0] in _DENYING:
            return True
    return False


def level_of(raw: Mapping[str, Any], vocabulary: Vocabulary) -> str:
    """Probability level of a raw observation, from the levels and the cue table, never by likeness.

    A value that is neither, or whose cues disagree on presence, is ``indeterminate``.
    """
    return read_level(raw, vocabulary) or UNKNOWN_LEVEL


def read_level(raw: Mapping[str, Any], vocabulary: Vocabulary) -> str | None:
    """The level that the probability and the modifiers tell; None if they cannot be read.

    As in the paper the type a model gave a modifier does not count: a doubt or denial ("possible")
    among the modifiers is one whatever its type. Of several levels the least sure holds; presence
    beside absence is no level at all.
    """
    told: list[str] = []
    text = clean(raw["probability"])
    if text:
        level = _level_of_text(text, vocabulary)
        if level is None:
            return None
        told.append(level)
    for modifier in raw["modifiers"] or ():
        value = clean(modifier["value"]) if modifier else ""
        if not value:
            continue
        if modifier["type"] == "probability" and not told:
            level = _level_of_text(value, vocabulary)
            if level is None:
                return None
        else:
            level = vocabulary.doubts.get(value.lower())
        if level is not None:
            told.append(level)
    return _least_sure(told, vocabulary)


def _least_sure(told: list[str], vocabulary: Vocabulary) -> str | None:
    if len(set(told)) < 2:
        return told[0] if told else None
    levels = vocabulary.reference.levels
    if len({levels[t].positiveness for t in told}) > 1:
        return None
    return max(told, key=lambda t: (CERTAINTIES.index(levels[t].certainty), list(levels).index(t)))


def _level_of_text(text: str, vocabulary: Vocabulary) -> str | None:
    name = text.lower().replace(" ", "_")
    if name in vocabulary.reference.levels:
        return name
    plain = spaced(text).strip()
    if plain in vocabulary.cue_levels:
        return vocabulary.cue_levels[plain]
    claimed = {vocabulary.cue_levels[f] for f in vocabulary.cue_phrases.matches(plain)}
    return claimed.pop() if len(claimed) == 1 else None


def _add(values: list[str], value: str) -> None:
    if value not in values:
        values.append(value)
