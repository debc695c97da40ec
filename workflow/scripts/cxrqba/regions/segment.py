"""Localise anatomy in the images of one shard (paper Sec. E.1.1).

One image is in memory at a time. An image that cannot be read, or in which the backend finds no
chest, has a status and a ledger row; it never stops the shard.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxrqba.config import SegmentationConfig
from cxrqba.ledger import Ledger
from cxrqba.reference.tables import Region
from cxrqba.regions.atlas import find_anatomy
from cxrqba.regions.engine import Anatomy, localize
from cxrqba.reports.images import ImageError, read_image
from cxrqba.schema import IMAGE_STATUS, REGION_BOXES
from cxrqba.step import progress
from cxrqba.tables import frame

STAGE = "segment_anatomy"
BACKENDS: Mapping[str, Callable[[NDArray[np.float32], str], Anatomy | None]] = {
    "atlas": find_anatomy
}
"""Each takes an image (H, W), 0..1, and its view, and returns what it found or None."""

NO_LOCALIZATION = (
    "no chest of the expected view found in the image; check the image and its view, "
    "its study goes on without boxes for it"
)


@dataclass(frozen=True)
class Segmentation:
    """Tables of one shard, sorted by study and image id."""

    boxes: pl.DataFrame  # REGION_BOXES
    status: pl.DataFrame  # IMAGE_STATUS
    ledger: pl.DataFrame  # LEDGER


def segment(
    images: pl.DataFrame, settings: SegmentationConfig, regions: Mapping[str, Region]
) -> Segmentation:
    """Boxes of all localised regions in every image of ``images`` (IMAGES rows)."""
    ledger = Ledger(STAGE)
    boxes: list[dict[str, Any]] = []
    status: list[dict[str, Any]] = []
    rows = images.sort("study_id", "image_id").iter_rows(named=True)
    for image in progress(rows, images.height, STAGE):
        state, found = _segment_image(image, settings, regions, ledger)
        status.append(state)
        boxes.extend(found)
    return Segmentation(
        frame(boxes, REGION_BOXES).sort("study_id", "image_id", "region"),
        frame(status, IMAGE_STATUS).sort("study_id", "image_id"),
        ledger.table(),
    )


def _segment_image(
    image: Mapping[str, Any],
    settings: SegmentationConfig,
    regions: Mapping[str, Region],
    ledger: Ledger,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """IMAGE_STATUS row and REGION_BOXES rows of one image."""
    ids = {"study_id": image["study_id"], "image_id": image["image_id"]}
    state: dict[str, Any] = {
        **ids,
        "path": image["path"],
        "view": image["view"],
        "status": "unreadable",
        "num_regions": 0,
    }
    try:
        if image["path"] is None:
            raise ImageError("the image manifest names no file")
        pixels = read_image(Path(image["path"]))
    except ImageError as error:
        detail = f"{image['path'] or image['image_id']}: {error}"
        ledger.image(**ids, reason="unreadable_image", detail=detail)
        return state, []
    size = (pixels.shape[0], pixels.shape[1])
    state |= {"height": size[0], "width": size[1], "status": "no_localization", "quality": 0.0}
    anatomy = BACKENDS[settings.backend](pixels, image["view"] or "unknown")
    rows = localize(anatomy, regions, size, settings.min_area) if anatomy else []
    if anatomy is None or not rows:
        detail = f"{image['path']}: {NO_LOCALIZATION}"
        ledger.image(**ids, reason="no_localization", detail=detail)
        return state, []
    state |= {
        "view": anatomy.view,
        "status": "ok",
        "num_regions": len(rows),
        "quality": round(anatomy.quality, 3),
    }
    return state, [{**ids, **row} for row in rows]
