"""Build the scene graphs of a shard (paper Sec. E.1.3)."""

from __future__ import annotations

from cxrqba import step
from cxrqba.graph.run import STAGE, ShardInput, build_batches
from cxrqba.ledger import Ledger
from cxrqba.reference.tables import load_reference
from cxrqba.schema import (
    GRAPHS,
    IMAGE_STATUS,
    IMAGES,
    INDICATIONS,
    LEDGER,
    MAPPINGS,
    MENTIONS,
    OBSERVATIONS,
    PASS_STATUS,
    RAW_OBSERVATIONS,
    REGION_BOXES,
    REGIONS,
    SENTENCES,
    STUDIES,
)
from cxrqba.tables import TableWriter, read_tables, scan_table, write_table

TABLES = {
    "studies": STUDIES,
    "images": IMAGES,
    "boxes": REGION_BOXES,
    "image_status": IMAGE_STATUS,
    "sentences": SENTENCES,
    "observations": RAW_OBSERVATIONS,
    "indications": INDICATIONS,
    "mentions": MENTIONS,
    "mappings": MAPPINGS,
}


def main() -> None:
    outputs = ("graphs", "graph_observations", "graph_regions", "ledger")
    args = step.arguments(
        __doc__, files=(*TABLES, "reference", *outputs), lists=("statuses", "ledgers")
    )
    shard = ShardInput(
        **{name: scan_table(getattr(args, name), schema) for name, schema in TABLES.items()},
        statuses=read_tables(args.statuses, PASS_STATUS).lazy(),
        ledgers=read_tables(args.ledgers, LEDGER).lazy(),
    )
    what = f"build_graphs {args.shard}"
    ledger, whole = Ledger(STAGE), 0
    with (
        TableWriter(args.graphs, GRAPHS) as graphs,
        TableWriter(args.graph_observations, OBSERVATIONS) as observations,
        TableWriter(args.graph_regions, REGIONS) as regions,
    ):
        for batch in build_batches(shard, load_reference(args.reference), ledger, what):
            for out, part in zip((graphs, observations, regions), batch, strict=True):
                out.add(part)
            whole += int(batch[0]["is_complete"].sum())
    write_table(ledger.table(), args.ledger, LEDGER)
    step.log.info(
        "%s: %d graphs (%d complete), %d observations, %d ledger rows",
        what,
        graphs.rows,
        whole,
        observations.rows,
        len(ledger.rows),
    )


if __name__ == "__main__":
    step.run(main)
