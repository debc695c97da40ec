"""Localise anatomical regions in the images of one shard (paper Sec. E.1.1)."""

from __future__ import annotations

from pathlib import Path

from cxrqba import step
from cxrqba.config import SegmentationConfig
from cxrqba.provenance.code import code_hash
from cxrqba.regions.segment import Outputs, Recipe, segment
from cxrqba.schema import IMAGES
from cxrqba.tables import read_table


def main() -> None:
    files = ("images", "reference", "boxes", "masks", "status", "ledger")
    args = step.arguments(__doc__, files=files)
    settings = SegmentationConfig.model_validate(args.settings)
    recipe = Recipe(settings, args.reference, code_hash(Path(__file__).resolve()))
    outputs = Outputs(args.boxes, args.masks, args.status, args.ledger)
    journal = args.boxes.with_name(f"{args.shard}.journal")  # durable: no declared output
    status = segment(read_table(args.images, IMAGES), recipe, outputs, journal)
    counts = dict(status["status"].value_counts().iter_rows())
    step.log.info(
        "segment_anatomy: shard %s: %d images, %d ok, %d without localization, %d unreadable, "
        "%d boxes",
        args.shard,
        status.height,
        counts.get("ok", 0),
        counts.get("no_localization", 0),
        counts.get("unreadable", 0),
        status["num_regions"].sum(),
    )


if __name__ == "__main__":
    step.run(main)
