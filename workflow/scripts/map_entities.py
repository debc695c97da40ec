"""Map the unique strings of all shards to the reference definitions (paper Sec. E.1.3)."""

from __future__ import annotations

import json

import polars as pl

from cxrqba import step
from cxrqba.config import EmbeddingConfig
from cxrqba.mapping.backends import load_backend
from cxrqba.mapping.mapper import Mapper
from cxrqba.mapping.mentions import merge
from cxrqba.reference.tables import load_reference
from cxrqba.schema import MAPPINGS, MENTIONS
from cxrqba.tables import read_table, write_table, write_text


def main() -> None:
    args = step.arguments(__doc__, files=("reference", "mappings", "backend"), lists=("mentions",))
    mentions = merge(read_table(path, MENTIONS) for path in args.mentions)
    config = EmbeddingConfig.model_validate(args.settings.get("embedding", {}))
    backend = load_backend(config)
    mappings = Mapper(load_reference(args.reference), backend).map(mentions, config.threshold)
    write_table(mappings, args.mappings, MAPPINGS)
    used = {"backend": backend.name, "threshold": config.threshold, **backend.describe()}
    write_text(json.dumps(used, indent=1, sort_keys=True) + "\n", args.backend)
    step.log.info(
        "map_entities: %d strings: %d exact, %d by %s, %d unresolved",
        mappings.height,
        mappings.filter(pl.col("method") == "exact").height,
        mappings.filter(
            (pl.col("method") == config.backend) & pl.col("reference").is_not_null()
        ).height,
        config.backend,
        mappings["reference"].null_count(),
    )


if __name__ == "__main__":
    step.run(main)
