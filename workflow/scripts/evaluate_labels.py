"""Compare study labels from the graphs with expert labels (paper Sec. 4.1, Tabs 2a, 7, 8)."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from cxrqba import step
from cxrqba.config import LabelReference
from cxrqba.evaluate import labels
from cxrqba.evaluate.label_cases import Expert
from cxrqba.reference.tables import load_reference
from cxrqba.schema import (
    IMAGES,
    LABEL_SCORES,
    LABEL_VARIANTS,
    LEDGER,
    OBSERVATIONS,
    SENTENCES,
    STUDIES,
    STUDY_LABELS,
)
from cxrqba.tables import read_tables, write_table

OUTPUTS = {
    "scores": LABEL_SCORES,
    "variants": LABEL_VARIANTS,
    "study_labels": STUDY_LABELS,
    "ledger": LEDGER,
}


class Settings(BaseModel):
    """Settings of the step."""

    model_config = ConfigDict(extra="forbid")

    dataset: str
    references: list[LabelReference] = []
    bootstrap: int = 1000
    seed: int = 0


def expert(given: LabelReference) -> Expert:
    """The reference set that the configuration names."""
    graphs = Path(given.imagenome) if given.imagenome else None
    path = Path(given.path or "")
    return Expert(given.name, given.format, path, given.no_overlap == "fail", graphs)


def main() -> None:
    args = step.arguments(
        __doc__,
        lists=("studies", "sentences", "observations", "images"),
        files=("reference", *OUTPUTS),
    )
    settings = Settings.model_validate(args.settings)
    found = labels.evaluate(
        labels.Inputs(
            read_tables(args.studies, STUDIES),
            read_tables(args.sentences, SENTENCES),
            read_tables(args.observations, OBSERVATIONS),
            read_tables(args.images, IMAGES),
        ),
        map(expert, settings.references),
        load_reference(args.reference),
        labels.Settings(settings.dataset, settings.bootstrap, settings.seed),
    )
    tables = found.tables()
    for name, schema in OUTPUTS.items():
        write_table(tables[name], getattr(args, name), schema)
    for remark in found.remarks:
        step.log.warning("evaluate_labels: %s", remark)
    step.log.info("evaluate_labels: %s", labels.summary(tables["scores"]))


if __name__ == "__main__":
    step.run(main)
