"""Compare the boxes of observations with expert boxes (paper Sec. 4.1, Tabs 2b, 9)."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from cxrqba import step
from cxrqba.config import BoxReference
from cxrqba.evaluate import boxes
from cxrqba.reference.tables import load_reference
from cxrqba.schema import BOX_SCORES, IMAGES, OBSERVATIONS
from cxrqba.tables import read_tables, write_table


class Settings(BaseModel):
    """Settings of the step."""

    model_config = ConfigDict(extra="forbid")

    dataset: str
    references: list[BoxReference] = []
    bootstrap: int = 1000
    seed: int = 0


def main() -> None:
    args = step.arguments(__doc__, lists=("observations", "images"), files=("reference", "scores"))
    settings = Settings.model_validate(args.settings)
    scores = boxes.evaluate(
        read_tables(args.observations, OBSERVATIONS),
        read_tables(args.images, IMAGES),
        [(r.name, r.format, Path(r.path)) for r in settings.references],
        load_reference(args.reference),
        boxes.Settings(settings.dataset, settings.bootstrap, settings.seed),
    )
    write_table(scores, args.scores, BOX_SCORES)
    step.log.info(
        "evaluate_boxes: %d reference sets, %d scores", len(settings.references), scores.height
    )


if __name__ == "__main__":
    step.run(main)
