"""Label the studies of a shard from their reports alone: graphs without boxes, then classes.

The graph is built as always but without images, so that labels never wait for localisation.
"""

from __future__ import annotations

import polars as pl

from cxrqba import step
from cxrqba.config import LabelsConfig
from cxrqba.evaluate.study_labels import Labeller, label_studies, load_classes
from cxrqba.graph.run import ShardInput, build_shard
from cxrqba.graph.vocabulary import Vocabulary
from cxrqba.reference.tables import load_reference
from cxrqba.schema import (
    IMAGE_STATUS,
    IMAGES,
    INDICATIONS,
    LABELS,
    LEDGER,
    MAPPINGS,
    PASS_STATUS,
    RAW_OBSERVATIONS,
    REGION_BOXES,
    SENTENCES,
    STUDIES,
)
from cxrqba.tables import read_table, read_tables, write_table


def main() -> None:
    args = step.arguments(
        __doc__,
        files=(
            *("studies", "sentences", "observations", "indications", "mappings", "reference"),
            *("labels", "ledger"),
        ),
        lists=("statuses", "ledgers"),
    )
    config = LabelsConfig.model_validate(args.settings)
    reference = load_reference(args.reference)
    classes = load_classes(reference, config.classes, config.closure)
    sentences = read_table(args.sentences, SENTENCES)
    shard = ShardInput(
        studies=read_table(args.studies, STUDIES),
        images=pl.DataFrame(schema=IMAGES),
        boxes=pl.DataFrame(schema=REGION_BOXES),
        image_status=pl.DataFrame(schema=IMAGE_STATUS),
        sentences=sentences,
        observations=read_table(args.observations, RAW_OBSERVATIONS),
        indications=read_table(args.indications, INDICATIONS),
        mappings=read_table(args.mappings, MAPPINGS),
        statuses=read_tables(args.statuses, PASS_STATUS),
        ledgers=read_tables(args.ledgers, LEDGER),
    )
    what = f"label_studies {args.shard}"
    graphs, observations, _, ledger = build_shard(shard, reference, what)
    labeller = Labeller(classes, Vocabulary(reference))
    labels = label_studies(graphs, observations, sentences, labeller)
    write_table(labels, args.labels, LABELS)
    write_table(ledger, args.ledger, LEDGER)
    step.log.info("%s: %d studies, %d classes", what, graphs.height, len(classes.names))


if __name__ == "__main__":
    step.run(main)
