"""Compare region boxes with known anatomy: manual masks or drawn outlines."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from cxrqba import step
from cxrqba.config import RegionReference
from cxrqba.errors import UserError
from cxrqba.evaluate import regions
from cxrqba.schema import IMAGE_STATUS, REGION_BOXES, REGION_OVERLAPS, REGION_SCORES
from cxrqba.tables import read_tables, write_table


class Settings(BaseModel):
    """Settings of the step."""

    model_config = ConfigDict(extra="forbid")

    dataset: str
    references: list[RegionReference] = []
    bootstrap: int = 1000
    seed: int = 0


def main() -> None:
    args = step.arguments(__doc__, files=("scores", "overlaps"), lists=("boxes", "status"))
    settings = Settings.model_validate(args.settings)
    scores, overlaps = regions.evaluate(
        read_tables(args.boxes, REGION_BOXES),
        read_tables(args.status, IMAGE_STATUS),
        [(r.name, r.format, _path(r)) for r in settings.references],
        regions.Settings(settings.dataset, settings.bootstrap, settings.seed),
    )
    write_table(scores, args.scores, REGION_SCORES)
    write_table(overlaps, args.overlaps, REGION_OVERLAPS)
    step.log.info(
        "evaluate_regions: %d reference sets, %d scores", len(settings.references), scores.height
    )


def _path(reference: RegionReference) -> Path:
    if reference.path is None:
        raise UserError(f"evaluate.regions: reference '{reference.name}' has no path")
    return Path(reference.path)


if __name__ == "__main__":
    step.run(main)
