"""A small run of invented studies, made by the very scripts of the workflow, without Snakemake."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

import polars as pl
import yaml
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "workflow" / "scripts"
SHARD = "0"
REPORTS = {
    "s70000001": (
        "INDICATION: Woman with cough, evaluate for pneumonia.\n\n"
        "FINDINGS: The heart is normal in size. There is a small left pleural effusion. "
        "No pneumothorax. Mild left basilar atelectasis.\n\n"
        "IMPRESSION: Small left pleural effusion.\n"
    ),
    "s70000002": (
        "INDICATION: Fever.\n\nFINDINGS: Heart and lungs are normal.\n\n"
        "IMPRESSION: No acute cardiopulmonary process.\n"
    ),
    "s70000003": (
        "FINDINGS: There is a right upper lobe consolidation, likely pneumonia. "
        "A right PICC ends in the mid SVC.\n"
    ),
    "s70000004": "FINDINGS: Severe cardiomegaly. No pleural effusion or pneumothorax.\n",
}
PATIENTS = {s: f"p1000000{number // 2}" for number, s in enumerate(REPORTS)}
SPLITS = dict(zip(REPORTS, ("train", "train", "validate", "test"), strict=True))


def run_step(name: str, **options: Any) -> None:
    """Run one script of the workflow in this process; lists give several files to an option."""
    words = [name]
    for option, value in options.items():
        values = value if isinstance(value, list) else [value]
        words += [f"--{option.replace('_', '-')}", *map(str, values)]
    spec = importlib.util.spec_from_file_location(f"step_{name}", SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before, sys.argv = sys.argv, words
    try:
        spec.loader.exec_module(module)
        module.main()
    finally:
        sys.argv = before


def make_project(folder: Path) -> Path:
    """A project folder with a dataset of own reports, its results made; returns the results."""
    project = folder / "project"
    (project / "config" / "datasets").mkdir(parents=True)
    for name in ("resources", "workflow"):
        (project / name).symlink_to(ROOT / name)
    (project / "images").mkdir()
    for study_id in REPORTS:
        Image.new("L", (90, 100), 128).save(project / "images" / f"{study_id}.png")
    (project / "reports.csv").write_text(_table(), encoding="utf-8")
    config = {
        "name": "own",
        "title": "Invented reports",
        "source": {
            "kind": "table",
            "reports": str(project / "reports.csv"),
            "columns": {"study_id": "study", "report": "text", "patient_id": "patient",
                        "split": "split", "image": "image", "view": "view"},
            "images": str(project / "images"),
        },
        "shards": {"by": "hash", "count": 1},
    }  # fmt: skip
    path = project / "config" / "datasets" / "own.yaml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    results = project / "results" / "own"
    _run(results, config)
    return results


def _table() -> str:
    rows = {
        "study": list(REPORTS),
        "text": list(REPORTS.values()),
        "patient": [PATIENTS[s] for s in REPORTS],
        "split": [SPLITS[s] for s in REPORTS],
        "image": [f"{s}.png" for s in REPORTS],
        "view": ["PA"] * len(REPORTS),
    }
    return pl.DataFrame(rows).write_csv()


def _run(results: Path, config: dict[str, Any]) -> None:
    from cxrqba.config import DatasetConfig
    from cxrqba.schema import IMAGE_STATUS, REGION_BOXES
    from cxrqba.tables import frame, write_table

    block = DatasetConfig.model_validate(config)

    def at(step: str, table: str) -> Path:
        return results / step / f"{SHARD}.{table}.parquet"

    source = {"source": block.source.model_dump(), "shards": block.shards.model_dump()}
    run_step(
        "prepare_studies", shard=SHARD, settings=json.dumps(source),
        **{t: at("prepare_studies", t) for t in ("studies", "images", "ledger")},
    )  # fmt: skip
    images = pl.read_parquet(at("prepare_studies", "images"))
    status, boxes = [], []
    for image in images.iter_rows(named=True):
        status.append({k: image[k] for k in ("study_id", "image_id", "path")} | {
            "view": "frontal", "height": 1000, "width": 900, "status": "ok", "num_regions": 2,
            "quality": 1.0})  # fmt: skip
        for region, box in (("left lung", [500, 100, 800, 800]), ("right lung", [50, 90, 400, 800]),
                            ("heart", [300, 400, 650, 800])):  # fmt: skip
            boxes.append({"study_id": image["study_id"], "image_id": image["image_id"],
                          "region": region, "bboxes": [[float(x) for x in box]], "source": "mask",
                          "is_fallback": False, "reference_region": region, "mask_ids": [],
                          "localization_quality": "BBOX_LOCALIZATION"})  # fmt: skip
    write_table(frame(status, IMAGE_STATUS), at("segment_anatomy", "status"), IMAGE_STATUS)
    write_table(frame(boxes, REGION_BOXES), at("segment_anatomy", "boxes"), REGION_BOXES)
    reference = ROOT / "resources" / "reference"
    passed = {"reference": reference, "settings": "{}", "shard": SHARD}
    run_step(
        "extract_sentences", studies=at("prepare_studies", "studies"), **passed,
        **{t: at("extract_sentences", t) for t in ("sentences", "status", "ledger")},
    )  # fmt: skip
    for step, table in (
        ("extract_observations", "observations"),
        ("extract_indication", "indications"),
    ):
        run_step(
            step, studies=at("prepare_studies", "studies"),
            sentences=at("extract_sentences", "sentences"), **passed,
            **{t: at(step, t) for t in (table, "status", "ledger")},
        )  # fmt: skip
    run_step(
        "collect_mentions", observations=at("extract_observations", "observations"),
        indications=at("extract_indication", "indications"),
        mentions=at("collect_mentions", "mentions"),
    )  # fmt: skip
    mappings = results / "map_entities" / "mappings.parquet"
    run_step(
        "map_entities", mentions=[at("collect_mentions", "mentions")], reference=reference,
        mappings=mappings, backend=results / "map_entities" / "backend.json",
    )  # fmt: skip
    passes = ("extract_sentences", "extract_observations", "extract_indication")
    run_step(
        "build_graphs", studies=at("prepare_studies", "studies"),
        images=at("prepare_studies", "images"), boxes=at("segment_anatomy", "boxes"),
        image_status=at("segment_anatomy", "status"),
        sentences=at("extract_sentences", "sentences"),
        observations=at("extract_observations", "observations"),
        indications=at("extract_indication", "indications"),
        mentions=at("collect_mentions", "mentions"), mappings=mappings, reference=reference,
        statuses=[at(s, "status") for s in passes], ledgers=[at(s, "ledger") for s in passes],
        graphs=at("build_graphs", "graphs"), graph_observations=at("build_graphs", "observations"),
        graph_regions=at("build_graphs", "regions"), ledger=at("build_graphs", "ledger"),
    )  # fmt: skip
    statistics = results / "graph_statistics" / "statistics.parquet"
    run_step(
        "graph_statistics", studies=[at("prepare_studies", "studies")],
        observations=[at("build_graphs", "observations")], statistics=statistics,
    )  # fmt: skip
    run_step(
        "generate_qa", graphs=at("build_graphs", "graphs"),
        graph_observations=at("build_graphs", "observations"),
        graph_regions=at("build_graphs", "regions"), statistics=statistics,
        templates=ROOT / "resources" / "templates", reference=reference,
        settings=json.dumps(block.qa.model_dump()),
        **{t: at("generate_qa", t) for t in ("questions", "answers", "skipped", "ledger")},
    )  # fmt: skip
    qa = {t: at("generate_qa", t) for t in ("questions", "answers")}
    run_step(
        "judge_qa", studies=at("prepare_studies", "studies"), **qa,
        vocabulary=ROOT / "resources" / "judge", judgements=at("judge_qa", "judgements"),
        ledger=at("judge_qa", "ledger"), settings=json.dumps(block.judge.model_dump()),
    )  # fmt: skip
    run_step(
        "rate_qa", **qa, judgements=at("judge_qa", "judgements"),
        images=at("prepare_studies", "images"), rated=at("rate_qa", "rated"),
        rated_answers=at("rate_qa", "rated_answers"),
    )  # fmt: skip
    tables = results / "tables"
    tables.mkdir()
    (tables / "table_accounting.csv").write_text("what,count\nstudies,4\n", encoding="utf-8")
    (results / "summary.txt").write_text("4 studies\n", encoding="utf-8")


def record_run(results: Path) -> None:
    """Write the record of the run, as its last step does."""
    from cxrqba.config import load_config

    project = results.parents[1]
    _, block = load_config({"dataset": "own", "results": str(project / "results")}, project)
    before = Path.cwd()
    os.chdir(project)
    try:
        run_step(
            "provenance", sums="results/own/provenance/SHA256SUMS",
            settings=json.dumps({"dataset": block.model_dump()}),
        )  # fmt: skip
    finally:
        os.chdir(before)


def release_run(results: Path, *, passed: bool = True, **release: Any) -> Path:
    """Release the run with the settings given; returns the folder of the release."""
    from cxrqba.config import load_config

    project = results.parents[1]
    _, block = load_config({"dataset": "own", "results": str(project / "results")}, project)
    block = block.model_copy(update={"release": block.release.model_copy(update=release)})
    tables = {
        "prepare_studies": ("studies", "images"),
        "build_graphs": ("graphs", "observations", "regions"),
        "generate_qa": ("questions", "answers"),
        "judge_qa": ("judgements",),
        "rate_qa": ("rated", "rated_answers"),
    }
    files = {t: results / s / f"{SHARD}.{t}.parquet" for s, ts in tables.items() for t in ts}
    rows = results / "release_shard" / f"{SHARD}.rows.parquet"
    run_step(
        "release_shard", **files, rows=rows, shard=SHARD,
        image_status=results / "segment_anatomy" / f"{SHARD}.status.parquet",
        settings=json.dumps(block.release.model_dump()),
    )  # fmt: skip
    gate = results / "evaluate_leaks" / "gate.json"
    gate.parent.mkdir(exist_ok=True)
    shared = {
        "limit": "evaluate.leaks.max_shared_patients", "allowed": 0, "found": 2.0,
        "what": "2 patients are in more than one split", "examples": ["p1 (test, train)"],
    }  # fmt: skip
    findings = [] if passed else [shared]
    gate.write_text(json.dumps({"passed": passed, "findings": findings}), encoding="utf-8")
    run_step(
        "release", gate=gate, rows=[rows], sums=results / "release" / "SHA256SUMS.txt",
        statistics=results / "graph_statistics" / "statistics.parquet",
        settings=json.dumps({"dataset": block.model_dump()}),
    )  # fmt: skip
    return results / "release"
