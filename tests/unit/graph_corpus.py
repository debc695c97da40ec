"""Scene graphs of the project's invented reports, built as the pipeline builds them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.config import HashShards, PassConfig, TextSource
from cxrqba.extract.indication import IndicationExtractor
from cxrqba.extract.observations import ObservationExtractor
from cxrqba.extract.sentences import SentenceExtractor
from cxrqba.graph.run import ShardInput, build_shard
from cxrqba.ledger import Ledger
from cxrqba.mapping.lexical import LexicalBackend
from cxrqba.mapping.mapper import Mapper
from cxrqba.mapping.mentions import collect
from cxrqba.reference.tables import Reference, load_reference
from cxrqba.reports.readers import prepare
from cxrqba.schema import (
    IMAGE_STATUS,
    IMAGES,
    INDICATIONS,
    LEDGER,
    PASS_STATUS,
    RAW_OBSERVATIONS,
    REGION_BOXES,
    SENTENCES,
)
from cxrqba.tables import frame

ROOT = Path(__file__).resolve().parents[2]
ORDINARY = ("routine", "ward")
"""Sets of reports of the ordinary kind, under ``resources``."""
PASSES = ("extract_sentences", "extract_observations", "extract_indication")

Graphs = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]
"""(GRAPHS, OBSERVATIONS, REGIONS)"""


@lru_cache(maxsize=4)
def ordinary_graphs(images: int = 0) -> Graphs:
    """Graphs of all ordinary reports; each study has invented boxes in ``images`` images."""
    studies = pl.concat(
        prepare(
            TextSource(kind="text", reports=str(ROOT / "resources" / name / "reports")),
            HashShards(by="hash", count=1),
            "0",
        ).studies
        for name in ORDINARY
    )
    return graphs_of(studies, load_reference(ROOT / "resources/reference"), images)


def graphs_of(studies: pl.DataFrame, reference: Reference, images: int) -> Graphs:
    """Graphs of STUDIES by rules and n-grams."""
    site = PassConfig().site
    ledger = Ledger("extract_observations")
    passes = (
        SentenceExtractor(reference, site),
        ObservationExtractor(reference),
        IndicationExtractor(reference, site),
    )
    told: list[dict[str, Any]] = []
    found: list[dict[str, Any]] = []
    asked: list[dict[str, Any]] = []
    for study_id, report in studies.select("study_id", "report").iter_rows():
        sentences = passes[0].extract(study_id, report)
        told += sentences
        found += passes[1].extract(study_id, report, sentences, ledger)
        indication = passes[2].extract(study_id, report, sentences)
        asked += [indication] if indication else []
    observations, indications = frame(found, RAW_OBSERVATIONS), frame(asked, INDICATIONS)
    mentions = collect(observations, indications)
    films, status, boxes = invented_boxes(studies, reference, images)
    shard = ShardInput(
        studies=studies,
        images=films,
        boxes=boxes,
        image_status=status,
        sentences=frame(told, SENTENCES),
        observations=observations,
        indications=indications,
        mappings=Mapper(reference, LexicalBackend()).map(mentions, 0.5),
        statuses=frame(statuses(studies["study_id"]), PASS_STATUS),
        ledgers=frame([], LEDGER),
    )
    return build_shard(shard, reference)[:3]


def statuses(study_ids: Sequence[str] | pl.Series) -> list[dict[str, Any]]:
    """All passes went well."""
    return [
        {"study_id": study_id, "step": step, "status": "ok", "num_items": 1}
        for study_id in study_ids
        for step in PASSES
    ]


def invented_boxes(
    studies: pl.DataFrame, reference: Reference, images: int
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """(IMAGES, IMAGE_STATUS, REGION_BOXES): the same box for every localised region."""
    frontal_first = pl.when(pl.col("number") == 0).then(pl.lit("frontal"))
    films = (
        studies.select("patient_id", "study_id")
        .join(pl.DataFrame({"number": range(images)}, schema={"number": pl.Int64}), how="cross")
        .with_columns(
            image_id=pl.format("{}_{}", "study_id", "number"),
            view=frontal_first.otherwise(pl.lit("lateral")),
        )
    )
    boxes = films.join(pl.DataFrame({"region": reference.localized_regions}), how="cross")
    boxes = boxes.with_columns(
        bboxes=pl.lit([[100.0, 100.0, 900.0, 800.0]]),
        source=pl.lit("mask"),
        is_fallback=pl.lit(False),
        reference_region=pl.col("region"),
        mask_ids=pl.concat_list("region"),
        localization_quality=pl.lit("BBOX_AND_MASK_LOCALIZATION"),
    )
    status = films.with_columns(status=pl.lit("ok"))
    return _whole(films, IMAGES), _whole(status, IMAGE_STATUS), _whole(boxes, REGION_BOXES)


def _whole(table: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    missing = [pl.lit(None).alias(c) for c in schema if c not in table.columns]
    return table.with_columns(missing).select(list(schema)).cast(dict(schema)).sort("study_id")
