"""A release from the parts of all shards: metadata, exports with subsets, statistics, cards."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from cxrqba.config import DatasetConfig
from cxrqba.evaluate.gate import require_passed
from cxrqba.release import cards, croissant
from cxrqba.release.files import SUMS, place, sink, sums
from cxrqba.release.metadata import KEYS, QUESTION, patient_table
from cxrqba.release.shard import GRADES, zips
from cxrqba.tables import write_text

SUBSETS = {
    "A_frontal": {"Ap": "5_A+", "App": "6_A++"},
    "B_frontal": {},
}
"""Export -> subset -> least frontal rating; each is also drawn at random as q1M."""

SAMPLE = "q1M"
LOADER_SPLITS = {"train": "train", "validate": "validation", "test": "test", None: "unassigned"}


@dataclass(frozen=True)
class Parts:
    """Where the parts of all shards lie."""

    folder: Path
    shards: Sequence[str]
    ordered: bool  # the shards follow each other by patient id

    def scan(self, table: str) -> pl.LazyFrame:
        """A metadata table, or ``rows``, of all shards, by its key."""
        whole = pl.scan_parquet([self.folder / f"{s}.{table}.parquet" for s in sorted(self.shards)])
        return whole if self.ordered else whole.sort(KEYS.get(table, QUESTION))


def build(
    parts: Parts, statistics: pl.DataFrame, gate: Path, dataset: DatasetConfig, folder: Path
) -> dict[str, int]:
    """Write the release into ``folder``, which is emptied first; returns rows by table."""
    require_passed(gate)
    shutil.rmtree(folder, ignore_errors=True)
    counts = _metadata(parts, folder / "metadata")
    _zips(parts, folder)
    for export in GRADES:
        _export(export, folder, dataset)
    _loader(parts, folder / "data")
    _statistics(folder, statistics)
    info = cards.dataset_info(dataset, counts, _splits(folder))
    write_text(json.dumps(info, indent=1, ensure_ascii=False) + "\n",
               folder / "metadata" / "dataset_info.json")  # fmt: skip
    write_text(cards.quality_mappings().write_csv(), folder / "quality_mappings.csv")
    write_text(cards.licence_ledger(dataset).write_csv(), folder / "LICENSES.csv")
    write_text(cards.licence_text(dataset), folder / "LICENSE.txt")
    loaded = sorted(p.name for p in (folder / "data").glob("*.parquet"))
    write_text(cards.readme(dataset, info, loaded), folder / "README.md")
    write_text(croissant.metadata(dataset, folder), folder / croissant.NAME)
    write_text(sums(folder), folder / SUMS)
    return counts


def _metadata(parts: Parts, folder: Path) -> dict[str, int]:
    for name in KEYS:
        if name == "patient":
            continue
        sink(parts.scan(name), folder, f"{name}_metadata")
    patients = patient_table(pl.read_parquet(folder / "study_metadata.parquet"))
    sink(patients.lazy(), folder, "patient_metadata")
    return {name: _rows(folder / f"{name}_metadata.parquet") for name in KEYS}


def _rows(path: Path) -> int:
    return int(pl.scan_parquet(path).select(pl.len()).collect().item())


def _zips(parts: Parts, folder: Path) -> None:
    for shard in parts.shards:
        for name, path in zips(parts.folder, shard).items():
            export, _, kind = name.rpartition(".")
            target = folder / "exports" / export / kind if export else folder / name
            place(path, target / f"{shard}.zip")


def _export(export: str, folder: Path, dataset: DatasetConfig) -> None:
    """Metadata of one grade and of its subsets."""
    source, target = folder / "metadata", folder / "exports" / export / "metadata"
    questions = pl.scan_parquet(source / "question_metadata.parquet").filter(pl.col(GRADES[export]))
    kept = questions.select(*QUESTION, "frontal_rating").collect()
    _restricted(source, kept, target)
    size, seed = dataset.release.sample, dataset.release.seed
    _restricted(source, drawn(kept, size, seed), target / SAMPLE)
    for name, least in SUBSETS[export].items():
        better = kept.filter(pl.col("frontal_rating") >= least)
        _restricted(source, better, target / name)
        _restricted(source, drawn(better, size, seed), target / f"{name}_{SAMPLE}")


def drawn(questions: pl.DataFrame, size: int, seed: int) -> pl.DataFrame:
    """At most ``size`` questions at random, whatever shards and order they came in."""
    if questions.height <= size:
        return questions
    ids = questions.select("study_id", "question_id").iter_rows()
    hashed = [hashlib.sha256(f"{seed}|{s}|{q}".encode()).hexdigest() for s, q in ids]
    chosen = questions.with_columns(pl.Series("hash", hashed)).sort("hash").head(size)
    return chosen.drop("hash")


def _restricted(source: Path, questions: pl.DataFrame, target: Path) -> None:
    """The seven tables for some questions: frontal images alone."""
    kept = questions.lazy()
    frontal = pl.scan_parquet(source / "image_metadata.parquet").filter(
        pl.col("img.view_position") == "frontal"
    )
    for name, key in KEYS.items():
        table = pl.scan_parquet(source / f"{name}_metadata.parquet")
        of = [k for k in QUESTION if k in key]
        same = table.join(
            kept.select(of).unique(), on=of, how="semi", nulls_equal=True, maintain_order="left"
        )
        if name.endswith("image"):
            same = same.join(frontal.select("study_id", "image_id"), on=["study_id", "image_id"],
                             how="semi", maintain_order="left")  # fmt: skip
        sink(same, target, f"{name}_metadata")


def _loader(parts: Parts, folder: Path) -> None:
    """Parquet by split, as the card names it."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = parts.scan("rows")
    known = rows.select("split").unique().collect()["split"].to_list()
    for split in sorted(known, key=str):
        name = LOADER_SPLITS.get(split, split)
        same = pl.col("split").is_null() if split is None else pl.col("split") == split
        rows.filter(same).sink_parquet(folder / f"{name}.parquet", compression="zstd")


def _splits(folder: Path) -> dict[str, dict[str, int]]:
    """Split -> table -> rows."""
    found: dict[str, dict[str, int]] = {}
    for name in ("study", "question", "answer"):
        table = pl.scan_parquet(folder / "metadata" / f"{name}_metadata.parquet")
        counted = table.group_by("split").len().sort("split").collect()
        for split, count in counted.iter_rows():
            found.setdefault(str(split or "none"), {})[name] = count
    return dict(sorted(found.items()))


def _statistics(folder: Path, statistics: pl.DataFrame) -> None:
    """Counts that people look up: studies, findings and regions, answers."""
    out = folder / "stats"
    metadata = folder / "metadata"
    studies = pl.scan_parquet(metadata / "study_metadata.parquet")
    quality = "study.quality.extraction_rating"
    tables = {
        "study_counts": studies.group_by("split", quality).len("studies").sort("split", quality),
        "all_obs_findings": statistics.filter(pl.col("kind") == "finding").lazy().sort("name"),
        "all_obs_regions": statistics.filter(pl.col("kind") == "region").lazy().sort("name"),
        "all_ans_types": pl.scan_parquet(metadata / "question_metadata.parquet")
        .group_by("split", "question_strategy", "question_type", "rating")
        .agg(pl.len().alias("questions"), pl.col("num_answers").sum().alias("answers"))
        .sort("split", "question_strategy", "question_type", "rating"),
        "all_ans_findings": pl.scan_parquet(metadata / "answer_metadata.parquet")
        .explode("obs_entities", empty_as_null=True)
        .filter(pl.col("obs_entities").is_not_null())
        .group_by("split", "obs_entities", "positiveness")
        .len("answers")
        .sort("split", "obs_entities", "positiveness"),
    }
    for name, table in tables.items():
        write_text(table.collect().write_csv(), out / f"{name}.csv")
