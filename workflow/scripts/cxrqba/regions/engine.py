"""From structures found in an image to the boxes of all localised regions (paper Sec. E.1.1).

A backend names the structures it found as the sources do (the 159 structures of CXAS, the boxes of
Chest ImaGenome); the ``rule`` of each region says how its boxes follow from them. A region whose
rule gives nothing takes the boxes of the first of its ``fallbacks`` that has some and is flagged.

Sides: in a frontal film the image's left is the patient's right. A lateral film shows both sides
on top of each other, so a sided region gets no box of its own there unless the backend knows the
side; it falls back on the pair, shown as one box.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cxrqba.reference.tables import Region
from cxrqba.regions.crops import Crop, combine
from cxrqba.regions.rules import Compound, Found, Named, Rule, parse_rule

Box = tuple[float, float, float, float]
OPPOSITE = {"left": "right", "right": "left"}


@dataclass(frozen=True)
class Anatomy:
    """What a backend found in one image.

    ``masks`` holds crops by CXAS structure name, all of one ``frame`` (height, width) that covers
    the whole image at any scale. ``boxes`` are in original pixels, by CXAS name (a structure found
    without its outline); ``imagenome`` likewise by Chest ImaGenome name.
    """

    view: str  # frontal or lateral
    masks: Mapping[str, Crop] = field(default_factory=dict)
    frame: tuple[int, int] = (1, 1)
    boxes: Mapping[str, Box] = field(default_factory=dict)
    imagenome: Mapping[str, Box] = field(default_factory=dict)
    derived: bool = False  # imagenome boxes come from the image itself, not from the data set
    sides_known: bool = True  # lateral films: False unless the source tells left from right
    quality: float = 1.0  # 0..1, the backend's own confidence


@dataclass(frozen=True, slots=True)
class Extent:
    """Where a rule places a region: boxes in original pixels and the masks behind them."""

    boxes: tuple[Box, ...]
    source: str  # mask, imagenome, composed
    mask_ids: tuple[str, ...] = ()
    crop: Crop | None = None
    complete: bool = True
    sides: tuple[str, ...] = ()  # side of each box of an unfused pair

    @property
    def has_masks(self) -> bool:
        """Whether every box stems from masks."""
        return bool(self.mask_ids)


def localize(
    anatomy: Anatomy, regions: Mapping[str, Region], size: tuple[int, int], min_area: float
) -> list[dict[str, Any]]:
    """Boxes of all localised regions as REGION_BOXES rows without study and image id.

    ``size`` is (height, width) of the original image; boxes below ``min_area`` square pixels are
    dropped. Rows come in the order of ``regions``.
    """
    composer = _Composer(anatomy, regions, size, min_area)
    rows = []
    for name, region in regions.items():
        if not region.localized:
            continue
        found = composer.resolve(name)
        if found is None:
            continue
        reference, extent, is_fallback = found
        rows.append(
            {
                "region": name,
                "bboxes": [list(box) for box in extent.boxes],
                "source": extent.source,
                "is_fallback": is_fallback,
                "reference_region": reference,
                "mask_ids": sorted(set(extent.mask_ids)),
                "localization_quality": _quality(extent, is_fallback),
            }
        )
    return rows


class _Composer:
    """Evaluates the rules of one image, each region once."""

    def __init__(
        self,
        anatomy: Anatomy,
        regions: Mapping[str, Region],
        size: tuple[int, int],
        min_area: float,
    ):
        self.anatomy = anatomy
        self.regions = regions
        self.height, self.width = size
        self.min_area = min_area
        self.lateral = anatomy.view == "lateral"
        self.scale = (self.width / anatomy.frame[1], self.height / anatomy.frame[0])
        self._structures: dict[str, Extent | None] = {}
        self._regions: dict[str, Extent | None] = {}

    # regions ------------------------------------------------------------------------------------

    def resolve(self, name: str) -> tuple[str, Extent, bool] | None:
        """(region the boxes stem from, extent, is fallback) or None."""
        own = self.region(name)
        if own is not None:
            return name, own, False
        substitute = self._imagenome_instead(self.regions[name])
        if substitute is not None:
            return name, substitute, True
        return self._fall_back(self.regions[name], self.regions[name].laterality, {name})

    def region(self, name: str) -> Extent | None:
        """The extent that the region's own rule gives, without fallbacks."""
        if name not in self._regions:
            self._regions[name] = None  # a rule that leads back to itself finds nothing
            self._regions[name] = self._region(self.regions[name])
        return self._regions[name]

    def _region(self, region: Region) -> Extent | None:
        rule = parse_rule(region.rule)
        if rule is None or not self._shows(region):
            return None
        pair = self._pair(region) if isinstance(rule, Found) else None
        if pair is not None and pair.complete:
            return pair
        extent = self._evaluate(rule)
        if extent is None:
            return pair
        # one box for a pair of which just one side was found does not show both
        return replace(extent, complete=False) if pair is not None else extent

    def _shows(self, region: Region) -> bool:
        """Whether the view can show the region as what it is."""
        if not self.lateral:
            return True
        if region.lateral_view == "no":
            return False
        sided = region.laterality in OPPOSITE and region.lateral_view == "partial"
        return self.anatomy.sides_known or not sided

    def _pair(self, region: Region) -> Extent | None:
        """Left and right of a bilateral region that has a structure of its own (lungs, ...)."""
        if region.laterality != "bilateral" or region.left is None or region.right is None:
            return None
        return self._bilateral(self.region(region.left), self.region(region.right))

    # fallbacks ----------------------------------------------------------------------------------

    def _imagenome_instead(self, region: Region) -> Extent | None:
        """The ImaGenome box of a region whose definition asks for a mask that is missing."""
        if region.imagenome_bbox is None or not self._shows(region):
            return None
        return self._structure("imagenome", region.imagenome_bbox)

    def _fall_back(
        self, region: Region, side: str, seen: set[str]
    ) -> tuple[str, Extent, bool] | None:
        """First fallback with boxes, depth first; never a box of the other side."""
        names = list(region.fallbacks)
        if self.lateral and region.laterality in OPPOSITE and region.bilateral:
            names.append(region.bilateral)
        for name in names:
            if name in seen:
                continue
            seen.add(name)
            candidate = self.regions[name]
            if side in OPPOSITE and candidate.laterality == OPPOSITE[side]:
                continue
            extent = self.region(name)
            if extent is not None:
                extent = self._on_side(extent, side)
            if extent is not None:
                return name, extent, True
            deeper = self._fall_back(candidate, side, seen)
            if deeper is not None:
                return deeper
        return None

    @staticmethod
    def _on_side(extent: Extent, side: str) -> Extent | None:
        """Of an unfused pair, a sided region may take the box of its own side alone."""
        if side not in OPPOSITE or not extent.sides:
            return extent
        boxes = tuple(b for b, s in zip(extent.boxes, extent.sides, strict=True) if s == side)
        return replace(extent, boxes=boxes, sides=()) if boxes else None

    # rules --------------------------------------------------------------------------------------

    def _evaluate(self, rule: Rule) -> Extent | None:
        if isinstance(rule, Found):
            return self._structure(rule.kind, rule.structure)
        if isinstance(rule, Named):
            return self.region(rule.region)
        operands = [self._evaluate(operand) for operand in rule.operands]
        if rule.kind == "bilateral":
            return self._bilateral(*operands)
        if rule.kind == "superbox":
            return self._superbox(operands)
        return self._fuse(rule, operands)

    def _structure(self, kind: str, name: str) -> Extent | None:
        key = f"{kind}:{name}"
        if key not in self._structures:
            self._structures[key] = self._find(kind, name)
        return self._structures[key]

    def _find(self, kind: str, name: str) -> Extent | None:
        if kind == "imagenome":
            box = self.anatomy.imagenome.get(name)
            source = "composed" if self.anatomy.derived else "imagenome"
            return None if box is None else self._extent((box,), source)
        crop = self.anatomy.masks.get(name)
        if crop is not None:
            return self._from_crop(crop, "mask", (name,))
        box = self.anatomy.boxes.get(name)
        return None if box is None else self._extent((box,), "composed")

    def _bilateral(self, left: Extent | None, right: Extent | None) -> Extent | None:
        parts = [(s, e) for s, e in (("left", left), ("right", right)) if e is not None]
        if not parts:
            return None
        masks = all(e.has_masks for _, e in parts)
        return Extent(
            boxes=tuple(_around(e.boxes) for _, e in parts),
            source=_common_source([e for _, e in parts]),
            mask_ids=tuple(m for _, e in parts for m in e.mask_ids) if masks else (),
            complete=len(parts) == 2 and all(e.complete for _, e in parts),
            sides=tuple(s for s, _ in parts),
        )

    def _superbox(self, operands: list[Extent | None]) -> Extent | None:
        parts = [e for e in operands if e is not None]
        if not parts:
            return None
        masks = all(e.has_masks for e in parts)
        return Extent(
            boxes=(_around([b for e in parts for b in e.boxes]),),
            source="composed",
            mask_ids=tuple(m for e in parts for m in e.mask_ids) if masks else (),
            complete=len(parts) == len(operands) and all(e.complete for e in parts),
        )

    def _fuse(self, rule: Compound, operands: list[Extent | None]) -> Extent | None:
        """Intersection or union, of masks if all operands have one and they meet, else of boxes."""
        parts = [e for e in operands if e is not None]
        meet = rule.kind == "intersection"
        if not parts or (meet and len(parts) < len(operands)):
            return None
        complete = len(parts) == len(operands) and all(e.complete for e in parts)
        mask_ids = tuple(m for e in parts for m in e.mask_ids)
        crops = [e.crop for e in parts]
        if all(crop is not None for crop in crops):
            crop = combine([c for c in crops if c is not None], meet)
            extent = crop and self._from_crop(crop, "composed", mask_ids)
            if extent:
                return replace(extent, complete=complete)
        boxes = [_around(e.boxes) for e in parts]
        box = _overlap(boxes) if meet else _around(boxes)
        if box is None:
            return None
        extent = self._extent((box,), "composed")
        return extent and replace(extent, complete=complete)

    # boxes --------------------------------------------------------------------------------------

    def _from_crop(self, crop: Crop, source: str, mask_ids: tuple[str, ...]) -> Extent | None:
        sx, sy = self.scale
        box = (crop.left * sx, crop.top * sy, crop.right * sx, crop.bottom * sy)
        extent = self._extent((box,), source)
        return extent and replace(extent, mask_ids=mask_ids, crop=crop)

    def _extent(self, boxes: tuple[Box, ...], source: str) -> Extent | None:
        """Boxes clipped to the image, without those that are too small."""
        kept = []
        for x1, y1, x2, y2 in boxes:
            x1, x2 = (round(min(max(x, 0.0), self.width), 2) for x in (x1, x2))
            y1, y2 = (round(min(max(y, 0.0), self.height), 2) for y in (y1, y2))
            if x2 > x1 and y2 > y1 and (x2 - x1) * (y2 - y1) >= self.min_area:
                kept.append((x1, y1, x2, y2))
        return Extent(tuple(kept), source) if kept else None


def _quality(extent: Extent, is_fallback: bool) -> str:
    """Level of ``EXTRACTION_QUALITY["localization_quality"]`` (paper Tab. 11)."""
    if is_fallback:
        return "FALLBACK_LOCALIZATION"
    if not extent.complete:
        return "INCOMPLETE_LOCALIZATION"
    return "BBOX_AND_MASK_LOCALIZATION" if extent.has_masks else "BBOX_LOCALIZATION"


def _common_source(parts: list[Extent]) -> str:
    sources = {e.source for e in parts}
    return sources.pop() if len(sources) == 1 else "composed"


def _around(boxes: tuple[Box, ...] | list[Box]) -> Box:
    x1, y1, x2, y2 = zip(*boxes, strict=True)
    return min(x1), min(y1), max(x2), max(y2)


def _overlap(boxes: list[Box]) -> Box | None:
    x1, y1, x2, y2 = zip(*boxes, strict=True)
    box = max(x1), max(y1), min(x2), min(y2)
    return box if box[2] > box[0] and box[3] > box[1] else None
