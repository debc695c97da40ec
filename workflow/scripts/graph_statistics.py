"""Count findings, regions and co-occurring findings over all scene graphs (paper Sec. E.2)."""

from __future__ import annotations

from cxrqba import step
from cxrqba.graph.statistics import statistics
from cxrqba.schema import OBSERVATIONS, STATISTICS
from cxrqba.tables import read_table, write_table


def main() -> None:
    args = step.arguments(__doc__, files=("statistics",), lists=("observations",))
    counts = statistics(read_table(path, OBSERVATIONS) for path in args.observations)
    write_table(counts, args.statistics, STATISTICS)
    step.log.info("graph_statistics: %d names counted", counts.height)


if __name__ == "__main__":
    step.run(main)
