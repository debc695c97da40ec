"""Count findings, regions and co-occurring findings over all scene graphs (paper Sec. E.2)."""

from __future__ import annotations

from cxrqba import step
from cxrqba.graph.statistics import ALL, statistics, studies_of_split
from cxrqba.schema import OBSERVATIONS, STATISTICS, STUDIES
from cxrqba.tables import read_table, write_table


def main() -> None:
    args = step.arguments(__doc__, files=("statistics",), lists=("observations", "studies"))
    split = args.settings.get("split", ALL)
    among = studies_of_split((read_table(path, STUDIES) for path in args.studies), split)
    counts = statistics((read_table(path, OBSERVATIONS) for path in args.observations), among)
    write_table(counts, args.statistics, STATISTICS)
    step.log.info("graph_statistics: %d names counted, split %s", counts.height, split)


if __name__ == "__main__":
    step.run(main)
