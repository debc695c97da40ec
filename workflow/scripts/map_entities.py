"""Map the unique strings of all shards to the reference definitions (paper Sec. E.1.3)."""

from __future__ import annotations

import polars as pl

from cxrqba import step
from cxrqba.config import EmbeddingConfig
from cxrqba.mapping.backends import load_backend
from cxrqba.mapping.mapper import Mapper
from cxrqba.mapping.mentions import merge
from cxrqba.reference.tables import load_reference
from cxrqba.schema import MAPPINGS, MENTIONS
from cxrqba.tables import read_table, write_table


def main() -> None:
    args = step.arguments(__doc__, files=("reference", "mappings"), lists=("mentions",))
    mentions = merge(read_table(path, MENTIONS) for path in args.mentions)
    config = EmbeddingConfig.model_validate(args.settings.get("embedding", {}))
    mapper = Mapper(load_reference(args.reference), load_backend(config))
    mappings = mapper.map(mentions, config.threshold)
    write_table(mappings, args.mappings, MAPPINGS)
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
