"""Localise anatomical regions in the images of one shard (paper Sec. E.1.1)."""

from __future__ import annotations

from cxrqba import step
from cxrqba.config import SegmentationConfig
from cxrqba.reference.tables import load_regions
from cxrqba.regions.segment import segment
from cxrqba.schema import IMAGE_STATUS, IMAGES, LEDGER, REGION_BOXES
from cxrqba.tables import read_table, write_table


def main() -> None:
    args = step.arguments(__doc__, files=("images", "reference", "boxes", "status", "ledger"))
    settings = SegmentationConfig.model_validate(args.settings)
    found = segment(read_table(args.images, IMAGES), settings, load_regions(args.reference))
    write_table(found.boxes, args.boxes, REGION_BOXES)
    write_table(found.status, args.status, IMAGE_STATUS)
    write_table(found.ledger, args.ledger, LEDGER)
    counts = dict(found.status["status"].value_counts().iter_rows())
    step.log.info(
        "segment_anatomy: shard %s: %d images, %d ok, %d without localization, %d unreadable, "
        "%d boxes",
        args.shard,
        found.status.height,
        counts.get("ok", 0),
        counts.get("no_localization", 0),
        counts.get("unreadable", 0),
        found.boxes.height,
    )


if __name__ == "__main__":
    step.run(main)
