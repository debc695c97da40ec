"""Boxes of observations and regions in each image, and their quality (Tab. 11, Sec. E.1.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cxrqba.graph.model import Localization
from cxrqba.graph.quality import best_level
from cxrqba.graph.vocabulary import Vocabulary

NO_LOCALIZATION = "NO_LOCALIZATION"
BOXES_AND_MASKS, BOXES_ONLY = "BBOX_AND_MASK_LOCALIZATION", "BBOX_LOCALIZATION"
FALLBACK, INCOMPLETE = "FALLBACK_LOCALIZATION", "INCOMPLETE_LOCALIZATION"

ImageBoxes = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""image id -> region -> row of REGION_BOXES, for every readable image of the study."""


def boxes_by_image(
    rows: Iterable[Mapping[str, Any]], images: Iterable[str]
) -> dict[str, dict[str, Mapping[str, Any]]]:
    """REGION_BOXES rows by image and region; images without boxes are there too, ids sorted."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {i: {} for i in sorted(images)}
    for row in rows:
        if row["image_id"] in found:
            found[row["image_id"]][row["region"]] = row
    return found


def localize(
    regions: Sequence[str], boxes: ImageBoxes, vocabulary: Vocabulary
) -> list[Localization]:
    """One localization per image; none at all for an observation without region."""
    if not regions:
        return []
    return [_in_image(image, regions, found, vocabulary) for image, found in boxes.items()]


def overall_level(localizations: Iterable[Localization]) -> str:
    """Level of the best image: a lateral film rarely shows what a frontal one does."""
    levels = [one.localization_quality for one in localizations]
    return best_level("localization_quality", levels) if levels else NO_LOCALIZATION


def _in_image(
    image_id: str,
    regions: Sequence[str],
    found: Mapping[str, Mapping[str, Any]],
    vocabulary: Vocabulary,
) -> Localization:
    boxes: dict[tuple[float, ...], None] = {}
    references: dict[str, None] = {}
    masks: dict[str, None] = {}
    missing: list[str] = []
    levels: set[str] = set()
    fallbacks = 0
    for region in regions:
        row, is_fallback = _row_of(region, found, vocabulary)
        if row is None:
            missing.append(region)
            continue
        fallbacks += is_fallback
        boxes.update(dict.fromkeys(tuple(map(float, b)) for b in row["bboxes"]))
        references[row["reference_region"] or row["region"]] = None
        masks.update(dict.fromkeys(row["mask_ids"] or ()))
        levels.add(row["localization_quality"])
    return Localization(
        image_id=image_id,
        bboxes=[list(b) for b in boxes],
        localization_reference_ids=list(references),
        instance_mask_ids=list(masks),
        missing_localization=missing,
        is_fallback=fallbacks > 0,
        localization_quality=_level(len(regions) - len(missing), len(missing), fallbacks, levels),
    )


def _row_of(
    region: str, found: Mapping[str, Mapping[str, Any]], vocabulary: Vocabulary
) -> tuple[Mapping[str, Any] | None, bool]:
    row = found.get(region)
    if row is not None:
        return row, bool(row["is_fallback"])
    for other in vocabulary.reference.regions[region].fallbacks:
        row = found.get(other)
        if row is not None:
            return row, True
    return None, False


def _level(located: int, missing: int, fallbacks: int, levels: set[str]) -> str:
    if not located:
        return NO_LOCALIZATION
    if fallbacks == located:
        return FALLBACK
    if missing or fallbacks:
        return INCOMPLETE
    return BOXES_AND_MASKS if levels == {BOXES_AND_MASKS} else BOXES_ONLY
