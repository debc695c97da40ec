"""What tells people about a release: dataset card, dataset_info, quality codes, licences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from cxrqba import __version__
from cxrqba.config import DatasetConfig, MimicSource
from cxrqba.release.metadata import KEYS, RATED
from cxrqba.schema import EXTRACTION_QUALITY, PART_CRITERIA, TEXT_QUALITY

CXAS_LICENCE = "CC BY-NC-SA 4.0"
MIMIC_LICENCE = "PhysioNet Credentialed Health Data License 1.5.0"


def quality_mappings() -> pl.DataFrame:
    """Integer code of every level of every aspect, and the best rating it allows."""
    rows = [
        (kind, unit(aspect), aspect, code, level, RATED[rating])
        for kind, aspects in (("extraction", EXTRACTION_QUALITY), ("text", TEXT_QUALITY))
        for aspect, levels in aspects.items()
        for code, (level, rating) in enumerate(levels.items())
    ]
    names = ["kind", "unit", "aspect", "code", "level", "best_rating"]
    return pl.DataFrame(rows, schema=names, orient="row")


def unit(aspect: str) -> str:
    """What an aspect is about."""
    if aspect in TEXT_QUALITY:
        return "answer" if aspect in PART_CRITERIA else "question"
    return "answer, question, study"


def is_credentialed(dataset: DatasetConfig) -> bool:
    """Whether reports come from MIMIC-CXR itself; the demo only has its layout."""
    return isinstance(dataset.source, MimicSource) and dataset.phantoms is None


def uses_cxas(dataset: DatasetConfig) -> bool:
    """Whether boxes stem from the CXAS network."""
    made = dataset.segmentation
    return made.backend == "cxas" or made.cxas_folder is not None


def licence_ledger(dataset: DatasetConfig) -> pl.DataFrame:
    """What the release rests on, under which licence, and what follows."""
    rows = [
        ("this release", dataset.release.licence, True, "chosen by whoever releases"),
        ("code of cxr-qba", "MIT", True, "binds the code, not the data it makes"),
        (
            "weights of CXAS",
            CXAS_LICENCE,
            uses_cxas(dataset),
            "masks and boxes made with them: no commercial use, share alike",
        ),
        (
            "MIMIC-CXR and MIMIC-CXR-JPG",
            MIMIC_LICENCE,
            is_credentialed(dataset),
            "only credentialed users may receive anything derived from a report or image",
        ),
        (
            "reports of the source",
            "that of the source",
            dataset.release.text,
            "report text, and answers worded after it, are "
            + ("included" if dataset.release.text else "left out"),
        ),
    ]
    names = ["component", "licence", "applies", "what_follows"]
    return pl.DataFrame(rows, schema=names, orient="row")


def licence_text(dataset: DatasetConfig) -> str:
    """LICENSE.txt."""
    rows = [r for r in licence_ledger(dataset).iter_rows(named=True) if r["applies"]]
    lines = [f"{r['component']}: {r['licence']}; {r['what_follows']}" for r in rows]
    return "\n".join([f"Licence of this release: {dataset.release.licence}", "", *lines]) + "\n"


def dataset_info(
    dataset: DatasetConfig, counts: Mapping[str, int], splits: Mapping[str, Mapping[str, int]]
) -> dict[str, Any]:
    """metadata/dataset_info.json."""
    return {
        "name": dataset.name,
        "title": dataset.title,
        "generator": f"cxr-qba {__version__}",
        "contains_report_text": dataset.release.text,
        "licence": dataset.release.licence,
        "rows": dict(counts),
        "splits": {split: dict(of) for split, of in splits.items()},
        "keys": {name: list(key) for name, key in KEYS.items()},
        "ratings": list(RATED.values()),
        "coordinates": "boxes are x1, y1, x2, y2 in pixels of the original image",
    }


def readme(dataset: DatasetConfig, info: Mapping[str, Any], loaded: Sequence[str]) -> str:
    """README.md, whose header tells loaders which parquet is which split."""
    files = [f"  - split: {name.partition('.')[0]}\n    path: data/{name}" for name in loaded]
    rows = "\n".join(f"| {name} | {count:,} |" for name, count in info["rows"].items())
    text = (
        "Report text and answers worded after it are included."
        if info["contains_report_text"]
        else "Report text is left out: sentences, summaries, indications and answers worded after "
        "the report are null. Ids, tags, boxes, template answers and ratings are whole."
    )
    return f"""---
pretty_name: "{dataset.title}"
license: other
license_name: "{dataset.release.licence}"
license_link: LICENSE.txt
task_categories:
- visual-question-answering
language:
- en
tags:
- chest-x-ray
- radiology
- scene-graph
configs:
- config_name: default
  data_files:
{chr(10).join(files)}
---

# {dataset.title}

Question-answer pairs about chest X-rays with tags, boxes and ratings, made from reports and images
by cxr-qba {__version__}. {text}

| table | rows |
|---|---|
{rows}

- `data/`: one row a question with its answer parts, a parquet file a split.
- `metadata/`: seven tables (csv.gz and parquet), joined by their ids; a question id is unique only
  within its study. `quality_mappings.csv` decodes quality levels, which run from worst to best;
  ratings run from `1_D` to `6_A++`.
- `scene_data/*.zip`, `qa/*.zip`: JSON a study, a zip a shard.
- `exports/A_frontal`, `exports/B_frontal`: questions rated A (B) or better on frontal images, as
  zips and metadata; below `metadata/` the subsets `Ap` (A+ or better), `App` (A++) and random
  samples `q1M`.
- `stats/`: counts. `SHA256SUMS.txt`: checksums. `croissant.json`: the same for machines.
- `LICENSE.txt`, `LICENSES.csv`: what may be done with it.

Answers and boxes were derived automatically: a box is that of an anatomical region, not of a
lesion, and tags hold what a report says, not what an image shows. Not for clinical use.
"""
