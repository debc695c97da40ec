"""Collect the unique free values of a shard that need mapping (paper Sec. E.1.3)."""

from __future__ import annotations

from cxrqba import step
from cxrqba.mapping.mentions import collect
from cxrqba.schema import INDICATIONS, MENTIONS, RAW_OBSERVATIONS
from cxrqba.tables import read_table, write_table


def main() -> None:
    args = step.arguments(__doc__, files=("observations", "indications", "mentions"))
    mentions = collect(
        read_table(args.observations, RAW_OBSERVATIONS), read_table(args.indications, INDICATIONS)
    )
    write_table(mentions, args.mentions, MENTIONS)
    step.log.info("collect_mentions %s: %d unique strings", args.shard, mentions.height)


if __name__ == "__main__":
    step.run(main)
