"""Invented reports taken from text to graph to labels, without images."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import polars as pl

from cxrqba.config import SiteConfig
from cxrqba.evaluate.study_labels import Labeller, label_studies, load_classes
from cxrqba.extract import indication, observations, sentences
from cxrqba.graph.run import ShardInput, build_shard
from cxrqba.graph.vocabulary import Vocabulary
from cxrqba.mapping.lexical import LexicalBackend
from cxrqba.mapping.mapper import Mapper
from cxrqba.mapping.mentions import collect
from cxrqba.reference.tables import load_reference
from cxrqba.schema import IMAGE_STATUS, IMAGES, REGION_BOXES, STUDIES
from cxrqba.tables import frame

REFERENCE = Path(__file__).resolve().parents[2] / "resources" / "reference"


@dataclass(frozen=True)
class Read:
    """What became of some reports; tables as in ``schema``."""

    studies: pl.DataFrame
    sentences: pl.DataFrame
    observations: pl.DataFrame
    mappings: pl.DataFrame
    ledgers: pl.DataFrame
    labels: pl.DataFrame


@lru_cache(maxsize=4)
def mapper(folder: Path) -> Mapper:
    """The lexical mapper of one set of reference definitions: slow to make."""
    return Mapper(load_reference(folder), LexicalBackend())


@lru_cache(maxsize=4)
def vocabulary(folder: Path) -> Vocabulary:
    """Look-ups of one set of reference definitions."""
    return Vocabulary(load_reference(folder))


def read(reports: dict[str, str], folder: Path = REFERENCE, dataset: str = "chexpert") -> Read:
    """Reports by study id, read with the reference definitions of ``folder`` and labelled."""
    reference = load_reference(folder)
    rows = [{"study_id": s, "patient_id": f"p-{s}", "report": r} for s, r in reports.items()]
    studies = frame(rows, STUDIES)
    found = sentences.extract_shard(studies, sentences.SentenceExtractor(reference, SiteConfig()))
    raw, status, ledger = observations.extract_shard(studies, found.sentences, reference)
    asked, asked_status, asked_ledger = indication.extract_shard(
        studies, found.sentences, reference, SiteConfig()
    )
    mappings = mapper(folder).map(collect(raw, asked), 0.5)
    ledgers = pl.concat([found.ledger, ledger, asked_ledger])
    shard = ShardInput(
        studies=studies,
        images=pl.DataFrame(schema=IMAGES),
        boxes=pl.DataFrame(schema=REGION_BOXES),
        image_status=pl.DataFrame(schema=IMAGE_STATUS),
        sentences=found.sentences,
        observations=raw,
        indications=asked,
        mappings=mappings,
        statuses=pl.concat([found.status, status, asked_status]),
        ledgers=ledgers,
    )
    graphs, nodes, _, _ = build_shard(shard, reference)
    labeller = Labeller(load_classes(reference, dataset, "nearest"), vocabulary(folder))
    labels = label_studies(graphs, nodes, found.sentences, labeller)
    return Read(studies, found.sentences, raw, mappings, ledgers, labels)
