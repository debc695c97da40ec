"""Boxes of observations and regions in each image, and their quality (Tab. 11, Sec. E.1.3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from cxrqba.graph.model import Localization
from cxrqba.graph.quality import best_level
from cxrqba.graph.vocabulary import Vocabulary

NO_LOCALIZATION = "NO_LOCALIZATION"
BOXES_AND_MASKS, BOXES_ONLY = "BBOX_AND_MASK_LOCALIZATION", "BBOX_LOCALIZATION"
FALLBACK, INCOMPLETE = "FALLBACK_LOCALIZATION", "INCOMPLETE_LOCALIZATION"


@dataclass(frozen=True, slots=True)
class _Placed:
    """A row of REGION_BOXES."""

    bboxes: list[list[float]]
    is_fallback: bool
    reference_region: str
    mask_ids: list[str]
    localization_quality: str


class Localizer:
    """Localizations of the regions of one study, each combination of regions worked out once."""

    def __init__(
        self,
        images: Iterable[str],
        boxes: pl.DataFrame,
        regions: Iterable[str],
        vocabulary: Vocabulary,
    ):
        """``images`` are ids of readable images, ``boxes`` rows of REGION_BOXES of the study.

        Only rows of ``regions`` and their fallbacks are read: a study has hundreds of boxes.
        """
        self._vocabulary = vocabulary
        self._placed: dict[str, dict[str, _Placed]] = {i: {} for i in sorted(images)}
        self._known: dict[tuple[str, ...], list[Localization]] = {(): []}
        table = vocabulary.reference.regions
        needed = frozenset(regions)
        self._read(boxes, needed.union(*(table[r].fallbacks for r in needed)))

    @property
    def has_boxes(self) -> bool:
        """Whether any region needed has a box in any image."""
        return any(self._placed.values())

    def _read(self, boxes: pl.DataFrame, needed: Collection[str]) -> None:
        """Of several rows of one image and region the least by content counts."""
        if not boxes.height or not self._placed:
            return
        found = zip(boxes["image_id"].to_list(), boxes["region"].to_list(), strict=True)
        pairs = [
            (row, image, region)
            for row, (image, region) in enumerate(found)
            if region in needed and image in self._placed
        ]
        kept = boxes[[row for row, _, _ in pairs]]
        columns = (
            kept[name].to_list()
            for name in (
                "bboxes",
                "is_fallback",
                "reference_region",
                "mask_ids",
                "localization_quality",
            )
        )
        rows = zip(*columns, strict=True)
        for (_, image, region), (bboxes, fallback, stem, masks, level) in zip(
            pairs, rows, strict=True
        ):
            placed = _Placed(bboxes or [], bool(fallback), stem or region, masks or [], level)
            other = self._placed[image].get(region)
            if other is None or repr(placed) < repr(other):
                self._placed[image][region] = placed

    def of(self, regions: tuple[str, ...]) -> list[Localization]:
        """One localization per image in order of ids; none without region. Shared: never change."""
        known = self._known.get(regions)
        if known is None:
            locate = self._one if len(regions) == 1 else self._in_image
            known = [locate(i, regions, found) for i, found in self._placed.items()]
            self._known[regions] = known
        return known

    def _one(
        self, image_id: str, regions: tuple[str, ...], found: Mapping[str, _Placed]
    ) -> Localization:
        """As :meth:`_in_image`, for a single region: most are."""
        placed, is_fallback = self._find(regions[0], found)
        if placed is None:
            return Localization(image_id, [], [], [], list(regions), False, NO_LOCALIZATION)
        return Localization(
            image_id,
            placed.bboxes,
            [placed.reference_region],
            placed.mask_ids,
            [],
            is_fallback,
            _level(1, 0, int(is_fallback), {placed.localization_quality}),
        )

    def _in_image(
        self, image_id: str, regions: tuple[str, ...], found: Mapping[str, _Placed]
    ) -> Localization:
        boxes: dict[tuple[float, ...], None] = {}
        references: dict[str, None] = {}
        masks: dict[str, None] = {}
        missing: list[str] = []
        levels: set[str] = set()
        fallbacks = 0
        for region in regions:
            placed, is_fallback = self._find(region, found)
            if placed is None:
                missing.append(region)
                continue
            fallbacks += is_fallback
            for box in placed.bboxes:
                boxes[tuple(box)] = None
            references[placed.reference_region] = None
            for mask in placed.mask_ids:
                masks[mask] = None
            levels.add(placed.localization_quality)
        return Localization(
            image_id=image_id,
            bboxes=[list(b) for b in boxes],
            localization_reference_ids=list(references),
            instance_mask_ids=list(masks),
            missing_localization=missing,
            is_fallback=fallbacks > 0,
            localization_quality=_level(
                len(regions) - len(missing), len(missing), fallbacks, levels
            ),
        )

    def _find(self, region: str, found: Mapping[str, _Placed]) -> tuple[_Placed | None, bool]:
        placed = found.get(region)
        if placed is not None:
            return placed, placed.is_fallback
        for other in self._vocabulary.reference.regions[region].fallbacks:
            if other in found:
                return found[other], True
        return None, False


def overall_level(localizations: Collection[Localization]) -> str:
    """Level of the best image: a lateral film rarely shows what a frontal one does."""
    if not localizations:
        return NO_LOCALIZATION
    return best_level("localization_quality", (x.localization_quality for x in localizations))


def _level(located: int, missing: int, fallbacks: int, levels: set[str]) -> str:
    if not located:
        return NO_LOCALIZATION
    if fallbacks == located:
        return FALLBACK
    if missing or fallbacks:
        return INCOMPLETE
    return BOXES_AND_MASKS if levels == {BOXES_AND_MASKS} else BOXES_ONLY
