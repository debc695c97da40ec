"""Rows of chosen studies from the tables of a run; only their row groups are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.errors import UserError, nearest
from cxrqba.graph.model import SceneGraph
from cxrqba.graph.store import from_tables
from cxrqba.schema import (
    ANSWERS,
    GRAPHS,
    IMAGES,
    OBSERVATIONS,
    QUESTIONS,
    RATED,
    RATED_ANSWERS,
    REGION_BOXES,
    REGIONS,
    SENTENCES,
    STUDIES,
)
from cxrqba.tables import scan_table

Row = dict[str, Any]

TABLES = {
    "studies": ("prepare_studies", STUDIES),
    "images": ("prepare_studies", IMAGES),
    "boxes": ("segment_anatomy", REGION_BOXES),
    "sentences": ("extract_sentences", SENTENCES),
    "graphs": ("build_graphs", GRAPHS),
    "observations": ("build_graphs", OBSERVATIONS),
    "regions": ("build_graphs", REGIONS),
    "questions": ("generate_qa", QUESTIONS),
    "answers": ("generate_qa", ANSWERS),
    "rated": ("rate_qa", RATED),
    "rated_answers": ("rate_qa", RATED_ANSWERS),
}
"""Name of a table -> step that writes it, its columns."""

IMAGE_TABLES = ("studies", "images", "boxes")
"""Tables of a dataset without reports."""


@dataclass
class StudyRows:
    """Everything that tables say of one study."""

    study: Row
    images: list[Row] = field(default_factory=list)
    boxes: list[Row] = field(default_factory=list)  # of regions, by image
    sentences: list[Row] = field(default_factory=list)
    graph: SceneGraph | None = None
    questions: list[Row] = field(default_factory=list)
    answers: list[Row] = field(default_factory=list)
    rated: list[Row] = field(default_factory=list)
    rated_answers: list[Row] = field(default_factory=list)


def read_studies(files: Mapping[str, Sequence[Path]], chosen: Sequence[str]) -> list[StudyRows]:
    """Rows of the ``chosen`` studies, in their order; ``files`` are the shards of each table.

    Each file is looked at once, and only in the shards that hold chosen studies.
    """
    shards: dict[str, dict[str, Path]] = {}
    for name, paths in files.items():
        for path in paths:
            shards.setdefault(path.name.partition(".")[0], {})[name] = path
    found: dict[str, StudyRows] = {}
    for shard in shards.values():
        known = scan_table(shard["studies"], STUDIES).select("study_id").collect()["study_id"]
        wanted = known.filter(known.is_in(list(chosen))).to_list()
        if wanted:
            found |= _read_shard(shard, wanted)
    return [found[study_id] for study_id in chosen]


def _read_shard(shard: Mapping[str, Path], wanted: Sequence[str]) -> dict[str, StudyRows]:
    found = {name: _rows_of(shard.get(name), name, wanted) for name in TABLES}
    graphs = from_tables(found["graphs"], found["observations"], found["regions"])
    graph_of = {graph.study_id: graph for graph in graphs}
    by_study = {
        name: _by_study(found[name].iter_rows(named=True))
        for name in TABLES
        if name not in ("graphs", "observations", "regions")
    }
    studies = by_study.pop("studies")
    return {
        study_id: StudyRows(
            study=studies[study_id][0],
            graph=graph_of.get(study_id),
            **{name: rows.get(study_id, []) for name, rows in by_study.items()},
        )
        for study_id in wanted
    }


def _rows_of(path: Path | None, name: str, wanted: Sequence[str]) -> pl.DataFrame:
    schema = TABLES[name][1]
    if path is None:
        return pl.DataFrame(schema=schema)
    return scan_table(path, schema).filter(pl.col("study_id").is_in(list(wanted))).collect()


def _by_study(rows: Iterable[Row]) -> dict[str, list[Row]]:
    result: dict[str, list[Row]] = {}
    for row in rows:
        result.setdefault(row["study_id"], []).append(row)
    return result


def files_of_study(results: Path, study_id: str) -> dict[str, list[Path]]:
    """The tables of the shard that holds ``study_id``, in the results of one dataset.

    :class:`UserError` if the study is unknown, naming the nearest, or a table is not made yet.
    """
    shards = sorted((results / "prepare_studies").glob("*.studies.parquet"))
    if not shards:
        raise UserError(f"{results}: no studies here; run the workflow for this dataset first")
    known: list[str] = []
    for path in shards:
        ids = scan_table(path, STUDIES).select("study_id").collect()["study_id"].to_list()
        if study_id in ids:
            return _files_of_shard(results, path.name.partition(".")[0])
        known += ids
    raise UserError(f"no study '{study_id}' in {results}{nearest(study_id, known)}")


def _files_of_shard(results: Path, shard: str) -> dict[str, list[Path]]:
    files = {name: results / step / f"{shard}.{name}.parquet" for name, (step, _) in TABLES.items()}
    has_reports = files["graphs"].parent.is_dir()
    needed = tuple(TABLES) if has_reports else IMAGE_TABLES
    for name in needed:
        if not files[name].is_file():
            raise UserError(f"{files[name]}: not made yet; run the workflow for this dataset first")
    return {name: [files[name]] for name in needed}
