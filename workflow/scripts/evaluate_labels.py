"""Compare study labels from the graphs with expert labels (paper Sec. 4.1, Tabs 2a, 7)."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from cxrqba import step
from cxrqba.config import LabelReference
from cxrqba.evaluate import labels
from cxrqba.reference.tables import load_reference
from cxrqba.schema import LABEL_SCORES, OBSERVATIONS, STUDIES, STUDY_LABELS
from cxrqba.tables import read_tables, write_table


class Settings(BaseModel):
    """Settings of the step."""

    model_config = ConfigDict(extra="forbid")

    dataset: str
    references: list[LabelReference] = []
    bootstrap: int = 1000
    seed: int = 0


def main() -> None:
    args = step.arguments(
        __doc__, lists=("studies", "observations"), files=("reference", "scores", "study_labels")
    )
    settings = Settings.model_validate(args.settings)
    scores, study_labels = labels.evaluate(
        read_tables(args.studies, STUDIES),
        read_tables(args.observations, OBSERVATIONS),
        [(r.name, r.format, Path(r.path or "")) for r in settings.references],
        load_reference(args.reference),
        labels.Settings(settings.dataset, settings.bootstrap, settings.seed),
    )
    write_table(scores, args.scores, LABEL_SCORES)
    write_table(study_labels, args.study_labels, STUDY_LABELS)
    step.log.info("evaluate_labels: %s", labels.summary(scores))


if __name__ == "__main__":
    step.run(main)
