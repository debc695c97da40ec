"""A finding nobody knew, added as one row of one file, shows up all the way to its questions."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxrqba.config import EmbeddingConfig, QaConfig, SiteConfig
from cxrqba.evaluate.label_classes import label_classes
from cxrqba.evaluate.label_predictions import study_findings
from cxrqba.extract.observations import ObservationExtractor
from cxrqba.extract.sentences import SentenceExtractor, extract_shard
from cxrqba.graph.run import ShardInput, build_shard
from cxrqba.graph.statistics import statistics
from cxrqba.mapping.backends import load_backend
from cxrqba.mapping.mapper import Mapper
from cxrqba.mapping.mentions import collect
from cxrqba.qa.context import build_context
from cxrqba.qa.run import generate_shard
from cxrqba.qa.source import read_studies
from cxrqba.qa.templates import load_templates
from cxrqba.reference.tables import Reference, load_reference
from cxrqba.schema import (
    IMAGE_STATUS,
    IMAGES,
    INDICATIONS,
    LEDGER,
    RAW_OBSERVATIONS,
    REGION_BOXES,
    STUDIES,
)
from cxrqba.tables import frame

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "resources" / "reference"
REPORTS = {
    "s50000001": "There is a small quandle opacity in the left lower lobe. No pneumothorax.",
    "s50000002": "No quandles. The heart is enlarged.",
    "s50000003": "Possible bilateral Brannock bodies.",
}
ROW = {
    "id": "quandle",
    "name": "quandle",
    "categories": "ANATOMICAL_FINDING",
    "subcategories": "LUNG FIELD",
    "parents": "lung_opacity",
    "polarity": "abnormal",
    "laterality": "sided",
    "default_regions": "lungs",
    "modifiers": "severity|temporal",
    "indicative_of": "pneumonia",
    "synonyms": "quandle opacity|Brannock body",
    "tier": "2",
    "key_finding": "0",
    "origin": "test",
    "radiologist_checked": "0",
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pl.DataFrame]:
    """All tables of three short reports, read with a reference that has one row more."""
    folder = tmp_path_factory.mktemp("new") / "reference"
    shutil.copytree(FOLDER, folder)
    with (folder / "findings.csv").open("a", encoding="utf-8", newline="") as file:
        columns = (FOLDER / "findings.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
        csv.DictWriter(file, columns, lineterminator="\n").writerow(ROW)
    return road(folder)


def road(folder: Path) -> dict[str, pl.DataFrame]:
    """Sentence, observation, mapping, graph, question."""
    reference = load_reference(folder)
    studies = frame(
        [
            {
                "patient_id": f"p{study[1:]}",
                "study_id": study,
                "report": f"FINDINGS: {text}",
            }
            for study, text in REPORTS.items()
        ],
        STUDIES,
    )
    passed = extract_shard(studies, SentenceExtractor(reference, SiteConfig()))
    extractor = ObservationExtractor(reference)
    raw: list[dict[str, Any]] = []
    for study, report in studies.select("study_id", "report").iter_rows():
        rows = passed.sentences.filter(pl.col("study_id") == study).iter_rows(named=True)
        raw += extractor.extract(study, report, rows)
    observations = frame(raw, RAW_OBSERVATIONS)
    indications = frame([], INDICATIONS)
    embedding = EmbeddingConfig()
    mappings = Mapper(reference, load_backend(embedding)).map(
        collect(observations, indications), embedding.threshold
    )
    shard = ShardInput(
        studies=studies,
        images=frame([], IMAGES),
        boxes=frame([], REGION_BOXES),
        image_status=frame([], IMAGE_STATUS),
        sentences=passed.sentences,
        observations=observations,
        indications=indications,
        mappings=mappings,
        statuses=passed.status,
        ledgers=frame([], LEDGER),
    )
    graphs, observed, regions, _ = build_shard(shard, reference)
    context = build_context(
        reference, load_templates(ROOT / "resources/templates"), statistics([observed]), QaConfig()
    )
    read = read_studies(graphs, observed, regions)
    questions, answers, _, _ = generate_shard(read, graphs.height, context, "test")
    return {
        "labels": labels_of(observed, reference),
        "mappings": mappings,
        "observed": observed.filter(pl.col("from_report")),
        "questions": questions,
        "answers": answers,
    }


def labels_of(observed: pl.DataFrame, reference: Reference) -> pl.DataFrame:
    """Studies and the CheXpert classes they are positive for."""
    classes = label_classes(reference, "nearest")
    return pl.DataFrame(
        [
            {"study_id": study, "class": name}
            for study, found in study_findings(observed).items()
            for name, members in classes.items()
            if found & members
        ],
        schema={"study_id": pl.String, "class": pl.String},
    )


def named(table: pl.DataFrame, study: str) -> dict[str, Any]:
    """The observation of the new finding in a study."""
    rows = table.filter(
        pl.col("study_id") == study, pl.col("obs_entities").list.contains("quandle")
    )
    assert rows.height == 1
    return rows.row(0, named=True)


def test_name_and_synonyms_are_mapped_exactly(tables: dict[str, pl.DataFrame]) -> None:
    mapped = tables["mappings"].filter(pl.col("kind") == "entity", pl.col("reference") == "quandle")
    assert set(mapped["method"]) == {"exact"}
    assert {t.lower() for t in mapped["text"]} == {"quandle opacity", "quandles", "brannock bodies"}


def test_claim_place_and_degree_reach_the_graph(tables: dict[str, pl.DataFrame]) -> None:
    stated = named(tables["observed"], "s50000001")
    assert (stated["positiveness"], stated["certainty"]) == ("pos", "certain")
    assert stated["regions"][0]["region"] == "left lower lobe"
    assert "lung opacity" in stated["obs_entities_parents"]
    assert stated["obs_subcategories"] == ["LUNG FIELD"]
    assert stated["modifiers"]["severity"] == ["small"]
    assert named(tables["observed"], "s50000002")["positiveness"] == "neg"
    doubted = named(tables["observed"], "s50000003")
    assert (doubted["positiveness"], doubted["certainty"]) == ("pos", "uncertain")


def test_it_counts_for_the_class_above_it(tables: dict[str, pl.DataFrame]) -> None:
    opacity = tables["labels"].filter(pl.col("class") == "Lung Opacity")
    assert set(opacity["study_id"]) == {"s50000001", "s50000003"}


def test_questions_ask_for_it_and_answers_tell_it(tables: dict[str, pl.DataFrame]) -> None:
    questions = tables["questions"]
    about = questions.filter(pl.col("question").str.contains("(?i)quandle"))
    assert set(about["study_id"]) == set(REPORTS)
    parts = tables["answers"].join(about, on=["study_id", "question_id"], how="semi")
    answers = {
        study: " ".join(rows["text"]).lower() for (study,), rows in parts.group_by("study_id")
    }
    assert "left lower lobe" in answers["s50000001"]
    assert answers["s50000002"].startswith("no") or "no quandle" in answers["s50000002"]
    doubted = parts.filter(pl.col("study_id") == "s50000003")
    assert doubted["obs_entities"].list.contains("quandle").any()


def test_without_the_row_nothing_is_known_of_it() -> None:
    known = road(FOLDER)
    assert not known["observed"].filter(pl.col("obs_entities").list.contains("quandle")).height
