"""Build the scene graphs of a shard (paper Sec. E.1.3)."""

from __future__ import annotations

from cxrqba import step
from cxrqba.graph.run import ShardInput, build_shard
from cxrqba.reference.tables import load_reference
from cxrqba.schema import (
    GRAPHS,
    IMAGE_STATUS,
    IMAGES,
    INDICATIONS,
    LEDGER,
    MAPPINGS,
    OBSERVATIONS,
    PASS_STATUS,
    RAW_OBSERVATIONS,
    REGION_BOXES,
    REGIONS,
    SENTENCES,
    STUDIES,
)
from cxrqba.tables import read_table, read_tables, write_table


def main() -> None:
    args = step.arguments(
        __doc__,
        files=(
            "studies",
            "images",
            "boxes",
            "image_status",
            "sentences",
            "observations",
            "indications",
            "mappings",
            "reference",
            "graphs",
            "graph_observations",
            "graph_regions",
            "ledger",
        ),
        lists=("statuses", "ledgers"),
    )
    shard = ShardInput(
        studies=read_table(args.studies, STUDIES),
        images=read_table(args.images, IMAGES),
        boxes=read_table(args.boxes, REGION_BOXES),
        image_status=read_table(args.image_status, IMAGE_STATUS),
        sentences=read_table(args.sentences, SENTENCES),
        observations=read_table(args.observations, RAW_OBSERVATIONS),
        indications=read_table(args.indications, INDICATIONS),
        mappings=read_table(args.mappings, MAPPINGS),
        statuses=read_tables(args.statuses, PASS_STATUS),
        ledgers=read_tables(args.ledgers, LEDGER),
    )
    what = f"build_graphs {args.shard}"
    graphs, observations, regions, ledger = build_shard(shard, load_reference(args.reference), what)
    write_table(graphs, args.graphs, GRAPHS)
    write_table(observations, args.graph_observations, OBSERVATIONS)
    write_table(regions, args.graph_regions, REGIONS)
    write_table(ledger, args.ledger, LEDGER)
    step.log.info(
        "%s: %d graphs (%d complete), %d observations, %d ledger rows",
        what,
        graphs.height,
        graphs["is_complete"].sum(),
        observations.height,
        ledger.height,
    )


if __name__ == "__main__":
    step.run(main)
