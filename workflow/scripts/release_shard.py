"""The part of a release that one shard gives: JSON zips, metadata, rows for loaders."""

from __future__ import annotations

from cxrqba import step
from cxrqba.config import ReleaseConfig
from cxrqba.release.metadata import KEYS
from cxrqba.release.shard import ShardTables, loader_rows, metadata_tables, write_shard
from cxrqba.schema import (
    ANSWERS,
    GRAPHS,
    IMAGE_STATUS,
    IMAGES,
    JUDGEMENTS,
    OBSERVATIONS,
    QUESTIONS,
    RATED,
    RATED_ANSWERS,
    REGIONS,
    STUDIES,
)
from cxrqba.tables import atomic_path, read_table

TABLES = {
    "studies": STUDIES,
    "images": IMAGES,
    "image_status": IMAGE_STATUS,
    "graphs": GRAPHS,
    "observations": OBSERVATIONS,
    "regions": REGIONS,
    "questions": QUESTIONS,
    "answers": ANSWERS,
    "judgements": JUDGEMENTS,
    "rated": RATED,
    "rated_answers": RATED_ANSWERS,
}


def main() -> None:
    args = step.arguments(__doc__, files=(*TABLES, "rows"))
    config = ReleaseConfig.model_validate(args.settings)
    tables = ShardTables(**{n: read_table(getattr(args, n), s) for n, s in TABLES.items()})
    folder = args.rows.parent
    counts = write_shard(tables, folder, args.shard, config.text)
    for name, table in metadata_tables(tables).items():
        with atomic_path(folder / f"{args.shard}.{name}.parquet") as temporary:
            table.sort(KEYS[name]).write_parquet(temporary, compression="zstd")
    with atomic_path(args.rows) as temporary:
        loader_rows(tables, config.text).write_parquet(temporary, compression="zstd")
    step.log.info("release_shard %s: %d studies, %d questions", args.shard, *counts.values())


if __name__ == "__main__":
    step.run(main)
