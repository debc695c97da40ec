"""Time and memory of the text half, a report at a time: passes, mapping, scene graphs.

``make bench-text`` runs it on Open-i (``OPENI=<folder or .tgz>``) or, without, on the demo. Printed
are milliseconds of processor time a report (other work on the machine does not count): the median
over reports, and for steps that work on many reports at once their total, start and files included,
divided by the number of reports. ``--images N`` gives each study invented boxes of all localised
regions in N images, as a real localiser would; ``--copies N`` repeats each study N times before
``build_graphs``, to show that its memory does not grow.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.config import HashShards, MimicSource, OpeniSource, PassConfig
from cxrqba.extract.indication import IndicationExtractor
from cxrqba.extract.observations import ObservationExtractor
from cxrqba.extract.sentences import SentenceExtractor
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
    MAPPINGS,
    MENTIONS,
    PASS_STATUS,
    RAW_OBSERVATIONS,
    REGION_BOXES,
    SENTENCES,
    STUDIES,
)
from cxrqba.tables import TableWriter, frame, write_table

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "workflow/scripts/build_graphs.py"
SCHEMAS = {
    "studies": STUDIES,
    "images": IMAGES,
    "boxes": REGION_BOXES,
    "image_status": IMAGE_STATUS,
    "sentences": SENTENCES,
    "observations": RAW_OBSERVATIONS,
    "indications": INDICATIONS,
    "mentions": MENTIONS,
    "mappings": MAPPINGS,
    "statuses": PASS_STATUS,
    "ledgers": LEDGER,
}
"""Inputs of build_graphs, named as its options."""

PASSES = ("extract_sentences", "extract_observations", "extract_indication")


class Clock:
    """Processor seconds of each call, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}

    def run(self, name: str, call: Callable[..., Any], *given: Any) -> Any:
        start = time.process_time()
        result = call(*given)
        self.seconds.setdefault(name, []).append(time.process_time() - start)
        return result


def main() -> None:
    """Extract, map and build; print one line a step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--openi", type=Path, default=None, help="Open-i XML folder or .tgz")
    parser.add_argument("--images", type=int, default=0, help="invented images a study")
    parser.add_argument("--copies", type=int, default=1, help="copies of each study for graphs")
    args = parser.parse_args()
    reference = load_reference(ROOT / "resources/reference")
    studies = _studies(args.openi)
    tables = _extracted(studies, reference)
    tables |= _localised(tables["studies"], reference, args.images)
    _graphs(tables, args.copies)


def _studies(openi: Path | None) -> pl.DataFrame:
    demo = ROOT / "resources/demo"
    source = (
        OpeniSource(reports=str(openi))
        if openi is not None
        else MimicSource(reports=str(demo / "mimic-cxr"), tables=str(demo / "mimic-cxr-jpg"))
    )
    studies = prepare(source, HashShards(by="hash", count=1), "0").studies
    studies = studies.filter(pl.col("report").is_not_null())
    print(f"{studies.height} reports of {openi or 'the demo'}")
    return studies


def _extracted(studies: pl.DataFrame, reference: Reference) -> dict[str, pl.DataFrame]:
    """The tables of the passes and the mapping; prints their times."""
    site = PassConfig().site
    passes = (
        SentenceExtractor(reference, site),
        ObservationExtractor(reference),
        IndicationExtractor(reference, site),
    )
    clock, ledger = Clock(), Ledger("extract_observations")
    sentences, observations, indications = [], [], []
    for study_id, report in studies.select("study_id", "report").iter_rows():
        told = clock.run("sentences", passes[0].extract, study_id, report)
        found = clock.run("observations", passes[1].extract, study_id, report, told, ledger)
        asked = clock.run("indication", passes[2].extract, study_id, report, told)
        sentences += told
        observations += found
        indications += [asked] if asked else []
    for name, seconds in clock.seconds.items():
        _print(name, statistics.median(seconds), "median")
    each = [sum(times) for times in zip(*clock.seconds.values(), strict=True)]
    _print("the three passes", statistics.median(each), "median")
    tables = {
        "studies": studies,
        "sentences": frame(sentences, SENTENCES),
        "observations": frame(observations, RAW_OBSERVATIONS).sort("study_id", "raw_id"),
        "indications": frame(indications, INDICATIONS),
        "statuses": frame(_statuses(studies["study_id"]), PASS_STATUS),
        "ledgers": ledger.table(),
    }
    mapper = Mapper(reference, LexicalBackend())
    tables["mentions"] = mentions = collect(tables["observations"], tables["indications"])
    for name in ("mapping, cold", "mapping, warm"):
        tables["mappings"] = clock.run(name, mapper.map, mentions, 0.5)
        _print(name, clock.seconds[name][0] / studies.height, f"{mentions.height} strings")
    return tables


def _statuses(study_ids: Iterable[str]) -> Iterable[dict[str, Any]]:
    for study_id in study_ids:
        for step in PASSES:
            yield {"study_id": study_id, "step": step, "status": "ok", "num_items": 1}


def _localised(studies: pl.DataFrame, reference: Reference, images: int) -> dict[str, pl.DataFrame]:
    """Images and boxes: the same box for every localised region."""
    numbered = studies.select("patient_id", "study_id").join(
        pl.DataFrame({"number": list(range(images))}, schema={"number": pl.Int64}), how="cross"
    )
    found = numbered.with_columns(
        image_id=pl.format("{}_{}", "study_id", "number"), view=pl.lit("frontal")
    )
    regions = pl.DataFrame({"region": reference.localized_regions})
    boxes = found.join(regions, how="cross").with_columns(
        bboxes=pl.lit([[100.0, 100.0, 900.0, 800.0]]),
        source=pl.lit("mask"),
        is_fallback=pl.lit(False),
        reference_region=pl.col("region"),
        mask_ids=pl.concat_list("region"),
        localization_quality=pl.lit("BBOX_AND_MASK_LOCALIZATION"),
    )
    status = found.with_columns(status=pl.lit("ok"))
    return {
        "images": _complete(found, IMAGES),
        "image_status": _complete(status, IMAGE_STATUS),
        "boxes": _complete(boxes, REGION_BOXES),
    }


def _complete(table: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    missing = [pl.lit(None).alias(c) for c in schema if c not in table.columns]
    return table.with_columns(missing).select(list(schema)).cast(dict(schema)).sort("study_id")


def _write(table: pl.DataFrame, path: Path, schema: pl.Schema, copies: int) -> None:
    """The rows of every study ``copies`` times under new ids; other tables as they are."""
    if "study_id" not in table.columns:
        write_table(table, path, schema)
        return
    ids = [c for c in ("study_id", "image_id") if c in table.columns]
    with TableWriter(path, schema) as out:
        for number in range(copies):
            prefix = pl.lit(f"{number:04d}_")
            out.add(table.with_columns((prefix + pl.col(c)).alias(c) for c in ids))


def _graphs(tables: dict[str, pl.DataFrame], copies: int) -> None:
    """The step as the pipeline runs it, with its files, in a process of its own."""
    number = tables["studies"].height * copies
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(SCRIPT), "--reference", str(ROOT / "resources/reference")]
        for name, table in tables.items():
            path = Path(folder) / f"{name}.parquet"
            _write(table, path, SCHEMAS[name], copies)
            command += [f"--{name.replace('_', '-')}", str(path)]
        tables.clear()
        for name in ("graphs", "graph_observations", "graph_regions", "ledger"):
            command += [f"--{name.replace('_', '-')}", str(Path(folder) / f"out_{name}.parquet")]
        subprocess.run(command, check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    _print("build_graphs", seconds / number, f"whole step, {number} studies, peak {memory:.0f} MB")


def _print(name: str, seconds: float, what: str) -> None:
    print(f"{name:18} {seconds * 1000:7.2f} ms a report ({what})")


if __name__ == "__main__":
    main()
