"""Put a release together from the parts of all shards; refused unless the gate has passed."""

from __future__ import annotations

from cxrqba import step
from cxrqba.config import DatasetConfig
from cxrqba.release.build import Parts, build
from cxrqba.schema import STATISTICS
from cxrqba.tables import read_table


def main() -> None:
    args = step.arguments(__doc__, files=("gate", "statistics", "sums"), lists=("rows",))
    dataset = DatasetConfig.model_validate(args.settings["dataset"])
    parts = Parts(
        folder=args.rows[0].parent,
        shards=[path.name.partition(".")[0] for path in args.rows],
        ordered=dataset.shards.by == "subject_prefix",
    )
    statistics = read_table(args.statistics, STATISTICS)
    counts = build(parts, statistics, args.gate, dataset, args.sums.parent)
    told = ", ".join(f"{count} {name} rows" for name, count in counts.items())
    step.log.info("release: %s", told)


if __name__ == "__main__":
    step.run(main)
