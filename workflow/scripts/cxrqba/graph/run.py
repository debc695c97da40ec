"""Scene graphs of a shard: each study is built on its own, none is lost in silence.

Studies are read, built and handed on in batches, so that memory does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from cxrqba.graph.build import StudyInput, build_graph
from cxrqba.graph.completeness import HARMLESS, NON_OBSERVATIONAL
from cxrqba.graph.model import SceneGraph
from cxrqba.graph.store import to_tables
from cxrqba.graph.tags import mappings_by_text
from cxrqba.graph.vocabulary import Vocabulary
from cxrqba.ledger import Ledger
from cxrqba.reference.tables import Reference
from cxrqba.step import progress

STAGE = "build_graphs"

_NEEDED = ("extract_sentences", "extract_observations")
"""Passes without which there is no graph; without the indication there is one, but incomplete."""

_USABLE = ("ok", "empty", "repaired")
STUDIES_AT_ONCE = 250
"""Studies of a batch: with the boxes of two images a study, some 100 MB as objects."""

Tables = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]
"""GRAPHS, OBSERVATIONS, REGIONS."""

Frame = pl.DataFrame | pl.LazyFrame


@dataclass(frozen=True, slots=True)
class ShardInput:
    """The tables of a shard, named as in ``schema``, in any order of rows.

    ``mentions`` are the free values of the shard: of the data set's ``mappings`` only theirs are
    kept, or all where it is not given.
    """

    studies: Frame
    images: Frame
    boxes: Frame
    image_status: Frame
    sentences: Frame
    observations: Frame
    indications: Frame
    mappings: Frame
    statuses: Frame
    ledgers: Frame
    mentions: Frame | None = None


def build_shard(
    shard: ShardInput, reference: Reference, what: str = STAGE
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """(GRAPHS, OBSERVATIONS, REGIONS, LEDGER) of all studies that can have a graph."""
    ledger = Ledger(STAGE)
    parts = zip(*build_batches(shard, reference, ledger, what), strict=True)
    graphs, observations, regions = map(pl.concat, parts)
    return graphs, observations, regions, ledger.table()


def build_batches(
    shard: ShardInput, reference: Reference, ledger: Ledger, what: str = STAGE
) -> Iterator[Tables]:
    """Tables of all studies that can have a graph, a batch at a time; the rest goes to ``ledger``.

    The last batch may be empty, and there is always one.
    """
    vocabulary = Vocabulary(reference)
    mappings = mappings_by_text(_used(shard).collect())
    heads = _heads(shard, ledger)
    waiting: list[SceneGraph] = []
    for study in progress(_studies(shard, heads), len(heads), what):
        lines = Ledger(STAGE)
        try:
            waiting.append(build_graph(study, mappings, vocabulary, lines))
        except Exception as error:  # one bad study never stops a shard
            kind = type(error).__name__
            ledger.study(study.study_id, "build_failed", f"{STAGE} raised {kind}; please report it")
            continue
        ledger.rows += lines.rows
        if len(waiting) >= STUDIES_AT_ONCE:
            yield to_tables(waiting)
            waiting = []
    yield to_tables(waiting)


def _used(shard: ShardInput) -> pl.LazyFrame:
    """The mapping decisions of the shard's own strings."""
    mappings = shard.mappings.lazy()
    if shard.mentions is None:
        return mappings
    keys = ["kind", "text"]
    return mappings.join(shard.mentions.lazy().select(keys), on=keys, how="semi")


@dataclass(frozen=True, slots=True)
class _Head:
    """What is known of a study before its own rows are read."""

    study_id: str
    patient_id: str | None
    failures: tuple[str, ...]
    non_observational: frozenset[str]


def _heads(shard: ShardInput, ledger: Ledger) -> list[_Head]:
    """The studies that go on, by id; the others are in a ledger, once."""
    ledgers = shard.ledgers.lazy()
    lost = _ids(ledgers.filter(pl.col("scope") == "study"))
    silent, failures = _items(ledgers)
    failed: dict[str, set[str]] = {}
    wrong = (
        shard.statuses.lazy().filter(~pl.col("status").is_in(_USABLE)).select("study_id", "step")
    )
    for study_id, step in wrong.collect().iter_rows():
        failed.setdefault(study_id, set()).add(step)
    known = ("study_id", "patient_id", pl.col("report").is_null())
    rows = shard.studies.lazy().select(known).collect()
    found = []
    for study_id, patient_id, without_report in rows.sort("study_id").iter_rows():
        if study_id in lost:
            continue
        if without_report:
            ledger.study(study_id, "no_report", "the source has no report for this study")
            continue
        passes = sorted(failed.get(study_id, ()))
        needed = [p for p in passes if p in _NEEDED]
        if needed:
            ledger.study(study_id, "failed_pass", f"{', '.join(needed)} failed; see its status")
            continue
        found.append(
            _Head(
                study_id,
                patient_id,
                (*(f"failed_pass: {p}" for p in passes), *failures.get(study_id, ())),
                frozenset(silent.get(study_id, ())),
            )
        )
    return found


def _items(ledgers: pl.LazyFrame) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """By study: sentences that describe nothing, and losses after which "no" may not be said."""
    silent: dict[str, list[str]] = {}
    failures: dict[str, list[str]] = {}
    items = ledgers.filter(pl.col("scope") == "item").select("study_id", "item_id", "reason")
    for study_id, item_id, reason in items.collect().iter_rows():
        if reason == NON_OBSERVATIONAL and item_id is not None:
            silent.setdefault(study_id, []).append(item_id)
        elif reason not in HARMLESS:
            what = reason if item_id is None else f"{reason}: {item_id}"
            failures.setdefault(study_id, []).append(what)
    return silent, failures


def _studies(shard: ShardInput, heads: Sequence[_Head]) -> Iterator[StudyInput]:
    """Inputs of the studies of ``heads``, read a batch at a time."""
    readable = shard.image_status.lazy().filter(pl.col("status") != "unreadable")
    images_read = shard.images.lazy().join(
        readable.select("study_id", "image_id").unique(), on=["study_id", "image_id"], how="semi"
    )
    for start in range(0, len(heads), STUDIES_AT_ONCE):
        batch = heads[start : start + STUDIES_AT_ONCE]
        images, boxes, sentences, observations, indications = pl.collect_all(
            _of_batch(table, batch)
            for table in (
                images_read,
                shard.boxes,
                shard.sentences,
                shard.observations,
                shard.indications,
            )
        )
        images_of, sentences_of = _grouped(images), _grouped(sentences)
        observations_of, indications_of = _grouped(observations), _grouped(indications)
        boxes_of = boxes.partition_by("study_id", as_dict=True)
        for head in batch:
            yield StudyInput(
                patient_id=head.patient_id,
                study_id=head.study_id,
                sentences=sentences_of.get(head.study_id, ()),
                observations=observations_of.get(head.study_id, ()),
                indication=_first(indications_of.get(head.study_id, ())),
                images=images_of.get(head.study_id, ()),
                boxes=boxes_of.get((head.study_id,), boxes.clear()),
                non_observational=head.non_observational,
                failures=head.failures,
            )


def _of_batch(table: Frame, batch: Sequence[_Head]) -> pl.LazyFrame:
    """Rows of a batch of studies; in sorted files only their part is read."""
    ids = pl.col("study_id")
    inside = ids.is_between(pl.lit(batch[0].study_id), pl.lit(batch[-1].study_id))
    return table.lazy().filter(inside)


def _grouped(table: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in table.iter_rows(named=True):
        groups.setdefault(row["study_id"], []).append(row)
    return groups


def _ids(table: pl.LazyFrame) -> set[str]:
    return set(table.select("study_id").collect()["study_id"])


def _first(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The indication of a study, whatever the order of rows."""
    return min(rows, key=repr) if rows else None
