"""From one free-valued row to one observation node, not yet placed in the tree (Sec. E.1.3).

Tags are resolved, the side is read from the observation's own words, regions that contradict it are
taken out, pairs of regions split or merged, default regions added, and what follows from the
findings (parents, categories) filled in. Whatever is repaired stands in ``origin`` and lowers
``issue_level`` (Tab. 11).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from cxrqba.graph import sides
from cxrqba.graph.hierarchy import natural, worse_issue
from cxrqba.graph.localize import Localizer, overall_level
from cxrqba.graph.model import Observation
from cxrqba.graph.quality import change_level, entity_level, region_level, sentence_name_level
from cxrqba.graph.tags import UNKNOWN_LEVEL, Mappings, Tags, denies, read_level, resolve
from cxrqba.graph.vocabulary import Vocabulary
from cxrqba.mapping.mentions import MAX_VALUES, clean, texts
from cxrqba.schema import EXTRACTION_QUALITY

REMOVED, CUT, CONTRADICTED = "region_removed:", "cut:", "contradiction:"
NOTED = {
    REMOVED: "region_contradicts_side",
    CUT: "too_many_values",
    CONTRADICTED: "text_contradicts_probability",
}
"""Start of a step in an observation's origin -> reason in the ledger."""

_ASSERTING = ("positive", "likely")
"""Levels that a text which says "no" contradicts."""

GONE = ("resolved", "removed")
"""Changes (names in ``changes.yaml``) after which a finding or device is there no more."""

_LEVEL_OF_CHILD = {"recommendation": "recommendation", "comparison only": "comparison_only"}
"""Child types that claim neither presence nor absence, whatever probability they come with."""


def is_blank(row: Mapping[str, Any]) -> bool:
    """Whether a row of RAW_OBSERVATIONS names nothing at all."""
    said = (row["name"], row["summary_sentence"], *(row["entities"] or ()))
    return not any(map(clean, said))


def observation_of(
    raw: Mapping[str, Any],
    mappings: Mappings,
    vocabulary: Vocabulary,
    parent: Observation | None = None,
) -> Observation:
    """The observation of one row of RAW_OBSERVATIONS; ``parent`` is the node above it, if any."""
    tags = resolve(raw, mappings)
    child_type = clean(raw["child_type"]) or None
    read = read_level(raw, vocabulary)
    claimed = _LEVEL_OF_CHILD.get(child_type or "", read or UNKNOWN_LEVEL)
    contradicted = _is_contradicted(claimed, raw, tags, vocabulary)
    level = vocabulary.reference.levels[UNKNOWN_LEVEL if contradicted else claimed]
    laterality = sides.laterality_of(raw, tags, vocabulary)
    if parent is not None and laterality == sides.UNKNOWN:
        laterality = sides.inherited(raw, tags, parent, level.name, vocabulary)
    wrong = sides.contradicting(tags.regions, laterality, vocabulary)
    regions, added = _placed(tags, wrong, laterality, vocabulary)
    name, summary = clean(raw["name"]), clean(raw["summary_sentence"])
    name = name or summary or ", ".join(texts(raw["entities"]))
    change_sentence = clean(raw["change_sentence"]) or None
    change = change_level(change_sentence, len(tags.changes), tags.unresolved_changes, vocabulary)
    issue = raw["issue_level"]
    cut = _cut_fields(raw)
    observation = Observation(
        obs_id="",
        name=name,
        summary_sentence=summary or name,
        child_type=child_type,
        regions=[{"region": r, "distances": d} for r, d in regions.items()],
        non_resolved_regions=[
            {"region": r, "distances": d} for r, d in tags.unresolved_regions.items()
        ],
        laterality=laterality,
        default_regions=added,
        obs_entities=tags.entities,
        non_resolved_obs_entities=tags.unresolved_entities,
        probability=level.name,
        certainty=level.certainty,
        positiveness=level.positiveness,
        modifiers=tags.modifiers,
        changes=tags.changes,
        change_sentence=None if change == "CHANGE_SENTENCE_REMOVED" else change_sentence,
        obs_quality={
            "change_quality": change,
            "issue_level": issue if issue in EXTRACTION_QUALITY["issue_level"] else "NO_ISSUES",
        },
        sent_ids=sorted({s for s in raw["sent_ids"] or () if s}, key=natural),
        spans=[dict(s) for s in islice(raw["spans"] or (), MAX_VALUES) if s],
        origin=[
            *texts([raw["origin"]]),
            *(f"{REMOVED}{r}" for r in wrong),
            *(f"{CUT}{f}" for f in cut),
            *([f"{CONTRADICTED}{claimed}"] if contradicted else ()),
        ],
        decisions=tags.decisions,
    )
    if not clean(raw["probability"]):
        worse_issue(observation, "IGNORABLE")
    elif contradicted or read is None:
        worse_issue(observation, "MOSTLY_INTERPRETABLE")
    if wrong:
        worse_issue(observation, "FIXABLE")
    if cut:
        worse_issue(observation, "NON_INTERPRETABLE")  # what is cut may be present: no silence
    return observation


def _is_contradicted(
    claimed: str, raw: Mapping[str, Any], tags: Tags, vocabulary: Vocabulary
) -> bool:
    """Whether presence is claimed of what the text denies, or of what is said to be gone."""
    if claimed in _ASSERTING and denies(raw, vocabulary):
        return True
    is_gone = not set(GONE).isdisjoint(tags.changes)
    return is_gone and vocabulary.reference.levels[claimed].positiveness == "pos"


def _placed(
    tags: Tags, wrong: Iterable[str], laterality: str, vocabulary: Vocabulary
) -> tuple[dict[str, list[str]], list[str]]:
    """Regions with distances, and those of them that are defaults of the findings.

    Regions extracted and on the right side are split or merged with their pairs; where there are
    none, or a default lies within them and says more precisely where, defaults are added.
    """
    regions = {r: d for r, d in tags.regions.items() if r not in wrong}
    regions = sides.split_or_merged(regions, laterality, vocabulary)
    if not sides.is_device(tags.entities, vocabulary):
        regions = sides.both_sides(regions, laterality, vocabulary)
    defaults = sides.default_regions(tuple(tags.entities), laterality, vocabulary)
    if regions:
        defaults = sides.refined(regions, defaults, vocabulary)
    added = [r for r in defaults if r not in regions]
    regions |= {r: [] for r in added}
    return regions, added


def _cut_fields(raw: Mapping[str, Any]) -> list[str]:
    """Fields with more values than are read."""
    fields = ("entities", "regions", "modifiers", "changes")
    return [f for f in fields if len(raw[f] or ()) > MAX_VALUES]


def complete(observation: Observation, localizer: Localizer, vocabulary: Vocabulary) -> None:
    """Fill in what follows from findings and regions: parents, categories, boxes, quality."""
    o = observation
    parents, categories, subcategories = vocabulary.implied(tuple(o.obs_entities))
    o.obs_entities_parents = list(parents)
    o.obs_categories = list(categories)
    o.obs_subcategories = list(subcategories)
    o.localization = localizer.of(_drawn(o, vocabulary))
    known = o.obs_quality
    o.obs_quality = {
        "region_quality": region_level(o),
        "entity_quality": entity_level(o),
        "sentence_name_quality": sentence_name_level(o.name, o.summary_sentence, vocabulary),
        "change_quality": known.get("change_quality", "NO_ISSUES"),
        "issue_level": known.get("issue_level", "NO_ISSUES"),
        "localization_quality": overall_level(o.localization),
    }


def _drawn(observation: Observation, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Regions whose boxes show the observation: a wide one is left out for a precise default."""
    names = observation.region_names
    defaults = observation.default_regions
    if len(defaults) in (0, len(names)):
        return tuple(names)
    above = vocabulary.reference.region_ancestors
    wide = {a for d in defaults for a in above[d]}
    return tuple(r for r in names if r not in wide or r in defaults)
