"""Scene graphs of a shard: each study is built on its own, none is lost in silence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxrqba.graph.build import StudyInput, build_graph
from cxrqba.graph.model import SceneGraph
from cxrqba.graph.store import to_tables
from cxrqba.graph.tags import mappings_by_text
from cxrqba.graph.vocabulary import Vocabulary
from cxrqba.ledger import Ledger
from cxrqba.reference.tables import Reference
from cxrqba.schema import GRAPHS, OBSERVATIONS, REGIONS
from cxrqba.step import progress

STAGE = "build_graphs"
NON_OBSERVATIONAL = "non_observational"
"""Ledger reason of the extraction for sentences that describe nothing."""

_NEEDED = ("extract_sentences", "extract_observations")
"""Passes without which there is no graph; without the indication there is one, but incomplete."""

_USABLE = ("ok", "empty", "repaired")
STUDIES_AT_ONCE = 500
"""Studies held as objects before they become tables: bounds the memory."""


@dataclass(frozen=True, slots=True)
class ShardInput:
    """The tables of a shard, named as in ``schema``."""

    studies: pl.DataFrame
    images: pl.DataFrame
    boxes: pl.DataFrame
    image_status: pl.DataFrame
    sentences: pl.DataFrame
    observations: pl.DataFrame
    indications: pl.DataFrame
    mappings: pl.DataFrame
    statuses: pl.DataFrame
    ledgers: pl.DataFrame


def build_shard(
    shard: ShardInput, reference: Reference, what: str = STAGE
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """(GRAPHS, OBSERVATIONS, REGIONS, LEDGER) of all studies that can have a graph."""
    vocabulary = Vocabulary(reference)
    mappings = mappings_by_text(shard.mappings)
    ledger = Ledger(STAGE)
    tables: list[tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]] = []
    waiting: list[SceneGraph] = []
    studies = _studies(shard, ledger)
    for study in progress(studies, len(studies), what):
        lines = Ledger(STAGE)
        try:
            waiting.append(build_graph(study, mappings, vocabulary, lines))
        except Exception as error:  # one bad study never stops a shard
            kind = type(error).__name__
            ledger.study(study.study_id, "build_failed", f"{STAGE} raised {kind}; please report it")
            continue
        ledger.rows += lines.rows
        if len(waiting) >= STUDIES_AT_ONCE:
            tables.append(to_tables(waiting))
            waiting = []
    tables.append(to_tables(waiting))
    graphs, observations, regions = (pl.concat(parts) for parts in zip(*tables, strict=True))
    return (
        graphs.select(list(GRAPHS)),
        observations.select(list(OBSERVATIONS)),
        regions.select(list(REGIONS)),
        ledger.table(),
    )


def _studies(shard: ShardInput, ledger: Ledger) -> list[StudyInput]:
    """Inputs of the studies that go on, by id; the others are in a ledger, once."""
    lost = set(shard.ledgers.filter(pl.col("scope") == "study")["study_id"])
    silent = _item_ids(shard.ledgers)
    failed: dict[str, list[str]] = {}
    for row in shard.statuses.iter_rows(named=True):
        if row["status"] not in _USABLE:
            failed.setdefault(row["study_id"], []).append(row["step"])
    readable = shard.image_status.filter(pl.col("status") != "unreadable")
    images = _grouped(
        shard.images.join(
            readable.select("study_id", "image_id").unique(),
            on=["study_id", "image_id"],
            how="semi",
        )
    )
    boxes, sentences = _grouped(shard.boxes), _grouped(shard.sentences)
    observations, indications = _grouped(shard.observations), _grouped(shard.indications)
    found = []
    for row in shard.studies.sort("study_id").iter_rows(named=True):
        study_id = row["study_id"]
        if study_id in lost:
            continue
        if row["report"] is None:
            ledger.study(study_id, "no_report", "the source has no report for this study")
            continue
        passes = sorted(set(failed.get(study_id, [])))
        needed = [p for p in passes if p in _NEEDED]
        if needed:
            ledger.study(study_id, "failed_pass", f"{', '.join(needed)} failed; see its status")
            continue
        found.append(
            StudyInput(
                patient_id=row["patient_id"],
                study_id=study_id,
                sentences=sentences.get(study_id, ()),
                observations=observations.get(study_id, ()),
                indication=_first(indications.get(study_id, ())),
                images=images.get(study_id, ()),
                boxes=boxes.get(study_id, ()),
                non_observational=silent.get(study_id, frozenset()),
                failed_passes=passes,
            )
        )
    return found


def _grouped(table: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in table.iter_rows(named=True):
        groups.setdefault(row["study_id"], []).append(row)
    return groups


def _item_ids(ledgers: pl.DataFrame) -> dict[str, frozenset[str]]:
    rows = ledgers.filter(
        (pl.col("scope") == "item")
        & (pl.col("reason") == NON_OBSERVATIONAL)
        & pl.col("item_id").is_not_null()
    )
    found: dict[str, set[str]] = {}
    for study_id, item_id in rows.select("study_id", "item_id").iter_rows():
        found.setdefault(study_id, set()).add(item_id)
    return {s: frozenset(i) for s, i in found.items()}


def _first(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The indication of a study, whatever the order of rows."""
    return min(rows, key=repr) if rows else None
