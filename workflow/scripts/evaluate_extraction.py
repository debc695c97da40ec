"""Compare the extraction with hand-annotated reports, stage by stage (paper Sec. 3.1, D.1)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from cxrqba import step
from cxrqba.config import ExtractionReference
from cxrqba.evaluate import extraction
from cxrqba.reference.tables import load_reference
from cxrqba.schema import (
    EXTRACTION_CLAIMS,
    EXTRACTION_ERRORS,
    EXTRACTION_SCORES,
    EXTRACTION_STAGES,
    MAPPINGS,
    OBSERVATIONS,
    RAW_OBSERVATIONS,
    SENTENCES,
    STUDIES,
)
from cxrqba.tables import read_table, read_tables, write_table


class Settings(BaseModel):
    """Settings of the step."""

    model_config = ConfigDict(extra="forbid")

    dataset: str
    references: list[ExtractionReference] = []
    bootstrap: int = 1000
    seed: int = 0


def main() -> None:
    args = step.arguments(
        __doc__,
        lists=("studies", "sentences", "raw_observations", "observations", "peer"),
        files=("mappings", "reference", "scores", "stages", "errors"),
    )
    settings = Settings.model_validate(args.settings)
    found = extraction.evaluate(
        extraction.Tables(
            read_tables(args.studies, STUDIES),
            read_tables(args.sentences, SENTENCES),
            read_tables(args.raw_observations, RAW_OBSERVATIONS),
            read_table(args.mappings, MAPPINGS),
            read_tables(args.observations, OBSERVATIONS),
            read_tables(args.peer, EXTRACTION_CLAIMS) if args.peer else None,
        ),
        settings.references,
        load_reference(args.reference),
        extraction.Settings(settings.dataset, settings.bootstrap, settings.seed),
    )
    write_table(found.scores, args.scores, EXTRACTION_SCORES)
    write_table(found.stages, args.stages, EXTRACTION_STAGES)
    write_table(found.errors, args.errors, EXTRACTION_ERRORS)
    step.log.info("evaluate_extraction: %s", extraction.summary(found.scores))


if __name__ == "__main__":
    step.run(main)
