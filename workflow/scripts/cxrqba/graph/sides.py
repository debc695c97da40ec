"""Side of an observation and the regions that agree with it (paper Sec. E.1.3).

The side comes from keywords of the observation's own clause, never from another clause: first the
clause, then findings and regions as written, then regions that imply a side. A wrong side harms
more than an unknown one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from cxrqba.graph.model import Observation
from cxrqba.graph.tags import Tags
from cxrqba.graph.vocabulary import Vocabulary, spaced
from cxrqba.mapping.mentions import clean, texts

OPPOSITE = {"left": "right", "right": "left"}
UNKNOWN = "unknown"


def laterality_of(
    raw: Mapping[str, Any],
    tags: Tags,
    vocabulary: Vocabulary,
) -> str:
    """left, right, bilateral, likely bilateral or unknown.

    Only what can have a side takes it from regions: a tube in the stomach is not left, one that
    ends "between the clavicles" not bilateral. What is usually on both sides (edema) is likely so
    where neither a side nor a place is told. Chambers and vessels give none at all, and a device
    none from where it ends: a line from the right may cross into the left brachiocephalic vein.
    """
    entities = tags.entities
    silent = vocabulary.tip_places if is_device(entities, vocabulary) else vocabulary.vessels
    regions = [r for r in tags.regions if r not in silent]
    clause = spaced(clean(raw["laterality_text"]))
    values = [text for text, name in tags.region_of.items() if name not in silent]
    written = spaced(" ; ".join([*texts(raw["entities"]), *values]))
    for text in (clause, written):
        side = explicit_side(text, vocabulary)
        if side != UNKNOWN:
            return side
    findings = vocabulary.reference.findings
    kinds = {findings[e].laterality for e in entities}
    if kinds and not kinds & {"sided", "bilateral_default"}:
        return UNKNOWN
    both = f"{clause}{written}"
    side = _side(both, vocabulary.left_implied, vocabulary.right_implied)
    if side == UNKNOWN:
        side = _side_of_regions(regions, vocabulary)
    if side != UNKNOWN:
        return side
    if vocabulary.plural_pairs.found(both):
        return "bilateral"
    usual = kinds == {"bilateral_default"} and not regions
    return "likely bilateral" if usual or vocabulary.likely_bilateral.found(both) else UNKNOWN


def is_device(entities: Iterable[str], vocabulary: Vocabulary) -> bool:
    """Whether the findings are tubes, lines or devices only."""
    kinds = {vocabulary.reference.findings[e].is_device for e in entities}
    return kinds == {True}


def inherited(
    raw: Mapping[str, Any], tags: Tags, parent: Observation, level: str, vocabulary: Vocabulary
) -> str:
    """Side a child takes from its parent: only where its own text has none (``laterality.yaml``).

    And only if it can have that side: it says of a finding that may be sided, and in the same
    direction ("left chest tube, no pneumothorax" does not deny a left one only), nothing about a
    place that lies elsewhere or in the midline.
    """
    if parent.laterality not in ("left", "right", "bilateral"):
        return UNKNOWN
    levels = vocabulary.reference.levels
    signs = {levels[level].positiveness, parent.positiveness}
    if signs >= {"pos", "neg"}:
        return UNKNOWN
    own = spaced(f"{clean(raw['name'])} ; {clean(raw['summary_sentence'])}")
    if explicit_side(own, vocabulary) != UNKNOWN or tags.unresolved_regions:
        return UNKNOWN
    findings = vocabulary.reference.findings
    kinds = {findings[e].laterality for e in tags.entities}
    if not kinds or kinds - {"sided", "bilateral_default"}:
        return UNKNOWN
    if tags.regions and all(
        vocabulary.reference.regions[r].laterality != "bilateral" for r in tags.regions
    ):
        return UNKNOWN
    return (
        UNKNOWN
        if contradicting(tags.regions, parent.laterality, vocabulary)
        else (parent.laterality)
    )


@lru_cache(maxsize=8192)
def explicit_side(text: str, vocabulary: Vocabulary) -> str:
    """Side that words of ``text`` (form of ``spaced``) name; fixed names give none."""
    if vocabulary.comparisons.found(text):
        return "bilateral"
    text = vocabulary.fixed_names.removed(text)
    if vocabulary.bilateral.found(text):
        return "bilateral"
    return _side(text, vocabulary.left, vocabulary.right)


def _side(text: str, left: Any, right: Any) -> str:
    has_left, has_right = left.found(text), right.found(text)
    if has_left and has_right:
        return "bilateral"
    return "left" if has_left else "right" if has_right else UNKNOWN


def _side_of_regions(regions: Iterable[str], vocabulary: Vocabulary) -> str:
    sides = {vocabulary.region_sides.get(r, UNKNOWN) for r in regions}
    if sides == {"left", "right"}:
        return "bilateral"
    return sides.pop() if len(sides) == 1 else UNKNOWN


def sided(region: str, laterality: str, vocabulary: Vocabulary) -> str:
    """The version of a bilateral region on the observation's side; others stay as they are."""
    entry = vocabulary.reference.regions[region]
    if entry.laterality != "bilateral":
        return region
    version = {"left": entry.left, "right": entry.right}.get(laterality)
    return version or region


@lru_cache(maxsize=8192)
def default_regions(
    entities: tuple[str, ...], laterality: str, vocabulary: Vocabulary
) -> tuple[str, ...]:
    """Default regions of the findings, on the observation's side."""
    findings = vocabulary.reference.findings
    found: dict[str, None] = {}
    for entity in entities:
        for region in findings[entity].default_regions:
            version = sided(region, laterality, vocabulary)
            if not contradicting([version], laterality, vocabulary):
                found[version] = None
    return tuple(found)


def refined(
    extracted: Iterable[str], defaults: Iterable[str], vocabulary: Vocabulary
) -> tuple[str, ...]:
    """Defaults that lie within an extracted region: they say more precisely where.

    Only where the extracted regions are all wider than some default: a place the report itself
    gives precisely is not added to.
    """
    extracted, defaults = list(extracted), list(defaults)
    if set(extracted) & set(defaults):
        return ()
    above = vocabulary.reference.region_ancestors
    precise = tuple(d for d in defaults if any(e in above[d] for e in extracted))
    wide = {e for d in precise for e in extracted if e in above[d]}
    return precise if wide == set(extracted) else ()


def contradicting(regions: Iterable[str], laterality: str, vocabulary: Vocabulary) -> list[str]:
    """Regions of the side opposite to the observation's."""
    wrong = OPPOSITE.get(laterality)
    return [r for r in regions if wrong and vocabulary.region_sides.get(r) == wrong]


def split_or_merged(
    regions: Mapping[str, list[str]], laterality: str, vocabulary: Vocabulary
) -> dict[str, list[str]]:
    """Bilateral regions become their sided version on one side; left and right become the pair."""
    known = vocabulary.reference.regions
    result: dict[str, list[str]] = {}
    for region, distances in regions.items():
        target = sided(region, laterality, vocabulary)
        pair_name = known[target].bilateral
        if pair_name is not None and laterality not in OPPOSITE:
            both = known[pair_name]
            if pair_name in regions or (both.left in regions and both.right in regions):
                target = pair_name
        kept = result.setdefault(target, [])
        kept += [d for d in distances if d not in kept]
    return result


def both_sides(
    regions: Mapping[str, list[str]], laterality: str, vocabulary: Vocabulary
) -> dict[str, list[str]]:
    """Regions of one side become pairs where the text names both sides.

    In "moderate right and small left effusions" or "air under the right hemidiaphragm and less
    under the left" one side's region is only implied; leaving it out would call that side normal.
    """
    known = vocabulary.reference.regions
    paired = {r: str(known[r].bilateral) for r in regions if known[r].bilateral}
    if laterality != "bilateral" or len({known[r].laterality for r in paired}) != 1:
        return dict(regions)
    result: dict[str, list[str]] = {}
    for region, distances in regions.items():
        kept = result.setdefault(paired.get(region, region), [])
        kept += [d for d in distances if d not in kept]
    return result
