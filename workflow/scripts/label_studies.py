"""Label the studies of a shard from their reports alone: graphs without boxes, then classes.

The graph is built as always but without images, so that labels never wait for localisation.
"""

from __future__ import annotations

import polars as pl

from cxrqba import step
from cxrqba.config import LabelsConfig
from cxrqba.evaluate.study_labels import Labeller, label_studies, load_classes
from cxrqba.graph.run import STAGE, ShardInput, build_batches
from cxrqba.graph.vocabulary import Vocabulary
from cxrqba.ledger import Ledger
from cxrqba.reference.tables import load_reference
from cxrqba.schema import (
    IMAGE_STATUS,
    IMAGES,
    INDICATIONS,
    LABELS,
    LEDGER,
    MAPPINGS,
    MENTIONS,
    PASS_STATUS,
    RAW_OBSERVATIONS,
    REGION_BOXES,
    SENTENCES,
    STUDIES,
)
from cxrqba.tables import read_table, read_tables, scan_table, write_table

TABLES = {
    "studies": STUDIES,
    "observations": RAW_OBSERVATIONS,
    "indications": INDICATIONS,
    "mentions": MENTIONS,
    "mappings": MAPPINGS,
}


def main() -> None:
    args = step.arguments(
        __doc__,
        files=(*TABLES, "sentences", "reference", "labels", "ledger"),
        lists=("statuses", "ledgers"),
    )
    config = LabelsConfig.model_validate(args.settings)
    reference = load_reference(args.reference)
    classes = load_classes(reference, config.classes, config.closure)
    sentences = read_table(args.sentences, SENTENCES)
    shard = ShardInput(
        **{name: scan_table(getattr(args, name), schema) for name, schema in TABLES.items()},
        sentences=sentences,
        images=pl.DataFrame(schema=IMAGES),
        boxes=pl.DataFrame(schema=REGION_BOXES),
        image_status=pl.DataFrame(schema=IMAGE_STATUS),
        statuses=read_tables(args.statuses, PASS_STATUS),
        ledgers=read_tables(args.ledgers, LEDGER),
    )
    what, ledger = f"label_studies {args.shard}", Ledger(STAGE)
    labeller = Labeller(classes, Vocabulary(reference))
    labels = pl.concat(
        label_studies(graphs, observations, sentences, labeller)
        for graphs, observations, _ in build_batches(shard, reference, ledger, what)
    )
    write_table(labels, args.labels, LABELS)
    write_table(ledger.table(), args.ledger, LEDGER)
    step.log.info(
        "%s: %d studies, %d classes", what, labels["study_id"].n_unique(), len(classes.names)
    )


if __name__ == "__main__":
    step.run(main)
