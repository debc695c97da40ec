"""Gather the labels of all shards: CheXpert's wide table, the evidence, what was left out."""

from __future__ import annotations

from pathlib import Path

from cxrqba import step
from cxrqba.config import LabelsConfig
from cxrqba.evaluate import label_files
from cxrqba.paper.tables import write_csv
from cxrqba.schema import LABELS, LEDGER, STUDIES
from cxrqba.tables import read_tables, write_table, write_text


class Settings(LabelsConfig):
    """Settings of the step."""

    title: str


def main() -> None:
    args = step.arguments(
        __doc__,
        lists=("labels", "studies", "ledgers"),
        files=("table", "wide", "evidence", "left_out", "summary"),
    )
    settings = Settings.model_validate(args.settings)
    labels = label_files.in_order(read_tables(args.labels, LABELS))
    studies = read_tables(args.studies, STUDIES) if settings.text else None
    lost = label_files.left_out(read_tables(args.ledgers, LEDGER))
    text = label_files.summary(labels, lost.height, settings.title, str(Path(args.wide).parent))
    write_table(labels, args.table, LABELS)
    write_csv(label_files.wide(labels), args.wide)
    write_csv(label_files.evidence(labels, studies), args.evidence)
    write_csv(lost, args.left_out)
    write_text(text, args.summary)
    step.log.info("labels: %d rows, %d studies left out", labels.height, lost.height)


if __name__ == "__main__":
    step.run(main)
