"""List what the reference definitions did not understand, most frequent first."""

from __future__ import annotations

import polars as pl

from cxrqba import step
from cxrqba.config import EmbeddingConfig, SiteConfig, WorklistConfig
from cxrqba.paper.tables import write_csv
from cxrqba.provenance.worklist import Shard, Worklist
from cxrqba.provenance.worklist_page import page, summary
from cxrqba.reference.tables import load_reference
from cxrqba.schema import LEDGER, MAPPINGS, RAW_OBSERVATIONS, SENTENCES, STUDIES
from cxrqba.tables import read_table, write_text

TABLES = {
    "studies": STUDIES,
    "sentences": SENTENCES,
    "observations": RAW_OBSERVATIONS,
    "sentence_ledgers": LEDGER,
    "observation_ledgers": LEDGER,
}
"""Lists of files, one a shard."""


class Settings(WorklistConfig):
    """Settings of the step."""

    title: str
    site: SiteConfig
    embedding: EmbeddingConfig


def main() -> None:
    args = step.arguments(
        __doc__,
        lists=list(TABLES),
        files=("mappings", "reference", "table", "page", "summary"),
    )
    settings = Settings.model_validate(args.settings)
    worklist = Worklist(
        load_reference(args.reference),
        read_table(args.mappings, MAPPINGS),
        settings.site.deid_tokens,
        settings.margin,
        settings.embedding.threshold,
    )
    shards = list(zip(*(getattr(args, name) for name in TABLES), strict=True))
    for paths in step.progress(shards, len(shards), "worklist"):
        studies, sentences, observations, *ledgers = map(read_table, paths, TABLES.values())
        worklist.add(Shard(studies, sentences, observations, pl.concat(ledgers)))
    table = worklist.table(settings.top)
    write_csv(table, args.table)
    write_text(page(table, settings.title), args.page)
    write_text(summary(table, settings.title, str(args.page)), args.summary)
    step.log.info("worklist: %d entries", table.height)


if __name__ == "__main__":
    step.run(main)
