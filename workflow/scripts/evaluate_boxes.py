"""Compare the boxes of observations with expert boxes and ellipses (paper Sec. 4.1, C.3)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from cxrqba import step
from cxrqba.config import BoxReference
from cxrqba.evaluate import boxes
from cxrqba.evaluate.box_scores import Settings as ScoreSettings
from cxrqba.evaluate.reflacx import Cut
from cxrqba.reference.tables import load_reference
from cxrqba.schema import BOX_PAIRS, BOX_SCORES, IMAGES, LEDGER, OBSERVATIONS, REGION_BOXES
from cxrqba.tables import read_table, read_tables, write_table


class Settings(BaseModel):
    """Settings of the step."""

    model_config = ConfigDict(extra="forbid")

    dataset: str
    references: list[BoxReference] = []
    bootstrap: int = 1000
    seed: int = 0


def expert(given: BoxReference) -> boxes.Expert:
    """The expert set that the configuration names."""
    graphs = Path(given.imagenome) if given.imagenome else None
    plain = boxes.Expert(given.name, given.format, Path(given.path), given.merges, imagenome=graphs)
    if given.format == "ms_cxr":
        return plain
    return replace(plain, poolings=given.poolings, cut=Cut(given.phases, given.certainty))


def main() -> None:
    args = step.arguments(
        __doc__,
        lists=("observations", "images", "regions"),
        files=("reference", "scores", "pairs", "ledger"),
    )
    settings = Settings.model_validate(args.settings)
    found = boxes.evaluate(
        (read_table(path, OBSERVATIONS) for path in args.observations),
        read_tables(args.images, IMAGES),
        (read_table(path, REGION_BOXES) for path in args.regions),
        map(expert, settings.references),
        load_reference(args.reference),
        ScoreSettings(settings.dataset, settings.bootstrap, settings.seed),
    )
    write_table(found.scores, args.scores, BOX_SCORES)
    write_table(found.pairs, args.pairs, BOX_PAIRS)
    write_table(found.ledger, args.ledger, LEDGER)
    for remark in found.remarks:
        step.log.info("evaluate_boxes: %s", remark)
    step.log.info("evaluate_boxes: %d scores", found.scores.height)


if __name__ == "__main__":
    step.run(main)
