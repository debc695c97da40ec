"""What the whole dataset will cost, from the run of one shard (`only=` in the configuration).

Times are those of Snakemake's benchmarks, so they hold for the machine the pilot ran on. Steps over
all shards are scaled by studies like the others, which their start and fixed tables make too much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from cxrqba.config import DatasetConfig, load_config
from cxrqba.errors import UserError


@dataclass(frozen=True)
class Cost:
    """One step, measured on the pilot and scaled up."""

    step: str
    jobs: int
    seconds: float  # of the pilot
    hours: float  # of all studies, wall time of one core or GPU job
    gpus: int
    memory: float  # MB, the most of any job of the pilot


def pilot(dataset: str, results: str, studies: int, folder: Path) -> str:
    """A table of jobs, hours, memory and disk for ``studies`` studies, from the shards that ran."""
    run, block = load_config({"dataset": dataset, "results": results}, folder)
    made = folder / run.results / block.name
    tables = sorted((made / "prepare_studies").glob("*.studies.parquet"))
    seen = sum(pl.scan_parquet(t).select(pl.len()).collect().item() for t in tables)
    if not seen:
        raise UserError(
            f"{made}: no finished pilot; run one shard first: "
            f"cxrqba run --config dataset={dataset} only={block.shard_names()[0]}"
        )
    costs = _costs(folder / "benchmarks" / block.name, block, studies / seen)
    if not costs:
        raise UserError(f"benchmarks/{block.name}: empty; a run writes them, copy them here")
    size = sum(p.stat().st_size for p in made.rglob("*") if p.is_file())
    return _described(costs, seen, studies, size * studies / seen)


def _costs(benchmarks: Path, block: DatasetConfig, factor: float) -> list[Cost]:
    gpus = {"segment_anatomy": block.segmentation.gpus, "map_entities": block.embedding.gpus}
    gpus |= {"infer_sentences": block.llm.gpus, "infer_contents": block.llm.gpus}
    shards = len(block.model_copy(update={"only": []}).shard_names())
    groups: dict[str, list[Path]] = {}
    for path in sorted(benchmarks.rglob("*.tsv")):
        step = path.stem if path.parent == benchmarks else path.parent.name
        groups.setdefault(step, []).append(path)
    costs = []
    for step, paths in groups.items():
        rows = pl.concat([_measured(path) for path in paths])
        seconds = float(rows["s"].sum())
        memory = max(rows["max_rss"].drop_nulls().to_list(), default=0.0)
        jobs = 1 if paths[0].parent == benchmarks else shards
        hours = seconds * factor / 3600
        costs.append(Cost(step, jobs, seconds, hours, gpus.get(step, 0), memory))
    return sorted(costs, key=lambda cost: -cost.hours)


def _measured(path: Path) -> pl.DataFrame:
    table = pl.read_csv(path, separator="\t", infer_schema=False)
    return table.select(
        pl.col("s").cast(pl.Float64), pl.col("max_rss").cast(pl.Float64, strict=False)
    )


def _described(costs: list[Cost], seen: int, studies: int, size: float) -> str:
    lines = [
        f"Measured on {seen} studies of this machine, scaled to {studies}:",
        "",
        "| step | jobs | s in the pilot | hours of one job slot | of these with a GPU | MB a job |",
        "|---|---|---|---|---|---|",
    ]
    for cost in costs:
        gpu = f"{cost.hours:.1f}" if cost.gpus else ""
        lines.append(
            f"| {cost.step} | {cost.jobs} | {cost.seconds:.1f} | {cost.hours:.1f} | {gpu} "
            f"| {cost.memory:.0f} |"
        )
    total = sum(cost.hours for cost in costs)
    on_gpu = sum(cost.hours for cost in costs if cost.gpus)
    lines += [
        "",
        f"In all {sum(c.jobs for c in costs)} jobs, {math.ceil(total)} hours of job slots "
        f"(GPU-hours: {math.ceil(on_gpu)}), {size / 1e9:.1f} GB of results.",
        "Jobs over all shards hold more at once than in the pilot: their memory grows.",
    ]
    return "\n".join(lines) + "\n"
