"""CXR-LT gold, Chest ImaGenome beside us, and every way to count, with values by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxrqba.errors import UserError
from cxrqba.evaluate import labels
from cxrqba.evaluate.gold import read_cxr_lt
from cxrqba.evaluate.label_cases import Expert
from cxrqba.evaluate.label_classes import CLASS_SETS, CXP_13, CXR_LT, LT_12, scored_classes
from cxrqba.reference.tables import load_reference
from cxrqba.schema import IMAGES, OBSERVATIONS, SENTENCES, STUDIES
from cxrqba.tables import frame

REFERENCE = load_reference(Path(__file__).parents[2] / "resources" / "reference")
CLASSES = list(scored_classes(REFERENCE, "exact", CXR_LT))
IDS = ("dicom_id", "subject_id", "study_id", "ViewPosition", "fpath")


def write_lt(folder: Path, rows: list[tuple[str, str, set[str]]]) -> Path:
    """A task-2 file with 26 labels, Normal before Nodule; rows: image, study, positive classes."""
    names = sorted([*CLASSES, "Normal"], key=lambda n: "Nodul" if n == "Normal" else n)
    lines = [",".join([*IDS, *names])]
    for image, study, positive in rows:
        cells = [str(int(n in positive)) for n in names]
        lines.append(",".join([image, "10000001", study, "PA", "files/x.jpg", *cells]))
    path = folder / "test_labeled_task2.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def studies(*ids: str) -> pl.DataFrame:
    return frame([{"patient_id": f"p{s}", "study_id": s, "report": ""} for s in ids], STUDIES)


def observation(study: str, finding: str, certainty: str = "certain") -> dict[str, Any]:
    return {
        "study_id": study,
        "obs_id": "O01",
        "obs_entities": [finding],
        "positiveness": "pos",
        "certainty": certainty,
        "from_report": True,
    }


def evaluation(
    table: pl.DataFrame, rows: list[dict[str, Any]], expert: Expert, images: pl.DataFrame
) -> labels.Evaluation:
    settings = labels.Settings("test", bootstrap=10)
    inputs = labels.Inputs(table, frame([], SENTENCES), frame(rows, OBSERVATIONS), images)
    return labels.evaluate(inputs, [expert], REFERENCE, settings)


def test_twenty_five_classes_are_thirteen_and_twelve() -> None:
    assert len(CLASSES) == 25
    assert set(CLASSES) == set(CXP_13) | set(LT_12)
    assert not set(CXP_13) & set(LT_12)
    assert [len(c) for c in CLASS_SETS[CXR_LT].values()] == [7, 13, 12, 25]


def test_a_finding_of_a_class_left_out_counts_for_the_next_above() -> None:
    nearest = scored_classes(REFERENCE, "nearest", CXR_LT)
    assert "rib fracture" in nearest["Fracture"]  # Rib Fracture is a class of task 1 alone
    assert "pulmonary nodule" in nearest["Nodule"]
    assert "pulmonary nodule" not in nearest["Lung Lesion"]


def test_images_of_a_study_are_collapsed_and_conflicts_listed(tmp_path: Path) -> None:
    path = write_lt(
        tmp_path,
        [
            ("a", "s50000001", {"Edema", "Mass"}),
            ("b", "s50000001", {"Edema"}),
            ("c", "50000002", {"Normal"}),
        ],
    )
    gold = read_cxr_lt(path, CLASSES)
    assert list(gold.labels) == ["s50000001", "s50000002"]
    first = gold.labels["s50000001"]
    assert (first["Edema"], first["Mass"], first["Nodule"]) == (1, -1, 0)
    assert [study for study, _ in gold.conflicts] == ["s50000001"]
    assert "disagree on Mass" in gold.conflicts[0][1]
    assert not any(gold.labels["s50000002"].values())
    expert = Expert("LT", "cxr_lt", path)
    found = evaluation(studies("s50000001", "s50000002"), [], expert, frame([], IMAGES))
    ledger = found.tables()["ledger"]
    assert ledger.select("study_id", "reason").rows() == [("s50000001", "label_conflict")]
    assert "disagree on 1 labels" in " ".join(found.remarks)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("study_id,Edema\ns50000001,\n", "line 2, Edema: '' is neither 1 nor 0"),
        ("study_id,Edema\ns50000001,-1\n", "line 2, Edema: '-1' is neither 1 nor 0"),
        ("study_id,Bulla,Hilum\ns50000001,1,0\n", "no column 'edema'"),  # labels of task 3
    ],
)
def test_bad_rows_and_other_tasks_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "gold.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_cxr_lt(path, ["Edema"])


def test_scores_of_long_tail_classes(tmp_path: Path) -> None:
    path = write_lt(
        tmp_path, [("a", "s50000001", {"Hernia"}), ("b", "s50000002", {"Hernia", "Edema"})]
    )
    rows = [observation("s50000001", "hiatal hernia")]
    expert = Expert("LT", "cxr_lt", path)
    found = evaluation(studies("s50000001", "s50000002"), rows, expert, frame([], IMAGES))
    scores = found.tables()["scores"].filter(system="ours", metric="recall", closure="nearest")
    values = {(r["class"], r["class_set"]): r["value"] for r in scores.iter_rows(named=True)}
    assert values["Hernia", "CXR-LT-25"] == 0.5
    assert values["micro", "LT-12"] == 0.5
    assert values["micro", "CXP-13"] == 0.0
    assert values["micro", "CXR-LT-25"] == pytest.approx(1 / 3)
    assert math.isnan(values["Nodule", "CXR-LT-25"])


def test_a_reference_of_other_studies_is_said_or_refused(tmp_path: Path) -> None:
    path = write_lt(tmp_path, [("a", "s50000001", {"Edema"})])
    said = evaluation(studies("s50000002"), [], Expert("LT", "cxr_lt", path), frame([], IMAGES))
    assert len(said.remarks) == 1
    assert "none of the 1 labelled studies of 'LT' is in the dataset" in next(iter(said.remarks))
    strict = Expert("LT", "cxr_lt", path, must_overlap=True)
    with pytest.raises(UserError, match="none of the 1 labelled studies"):
        evaluation(studies("s50000002"), [], strict, frame([], IMAGES))


def test_every_way_to_count(tmp_path: Path) -> None:
    columns = [c for c in scored_classes(REFERENCE, "exact", "chexpert") if c != "Edema"]
    path = tmp_path / "gold.csv"
    blank = "," * len(columns)
    lines = [f"5000000{i},{v}{blank}" for i, v in enumerate(["1", "1", "-1", "0", "1"], start=1)]
    path.write_text(
        "\n".join([f"study_id,Edema,{','.join(columns)}", *lines]) + "\n", encoding="utf-8"
    )
    rows = [
        observation("s50000001", "pulmonary edema"),
        observation("s50000002", "pulmonary edema", "likely"),
        observation("s50000003", "pulmonary edema", "uncertain"),
        observation("s50000004", "pneumonia"),
    ]  # the fifth study has no graph
    table = studies(*(f"s5000000{i}" for i in range(1, 6)))
    expert = Expert("gold", "mimic_cxr_jpg", path)
    variants = evaluation(table, rows, expert, frame([], IMAGES)).tables()["variants"]
    edema = variants.filter(
        pl.col("class") == "Edema",
        system="ours",
        metric="recall",
        closure="exact",
        sections="any section",
    )
    keys = ("certainty", "uncertain_reference", "without_graph")
    values = {tuple(r[k] for k in keys): r["value"] for r in edema.iter_rows(named=True)}
    assert values == {
        ("uncertain", "excluded", "negative"): pytest.approx(2 / 3),
        ("uncertain", "excluded", "excluded"): 1.0,
        ("uncertain", "positive", "negative"): 3 / 4,
        ("uncertain", "positive", "excluded"): 1.0,
        ("likely", "excluded", "negative"): pytest.approx(2 / 3),
        ("likely", "excluded", "excluded"): 1.0,
        ("likely", "positive", "negative"): 2 / 4,
        ("likely", "positive", "excluded"): pytest.approx(2 / 3),
        ("certain", "excluded", "negative"): pytest.approx(1 / 3),
        ("certain", "excluded", "excluded"): 1 / 2,
        ("certain", "positive", "negative"): 1 / 4,
        ("certain", "positive", "excluded"): pytest.approx(1 / 3),
    }
    shared = variants.filter(
        pl.col("class") == "macro", classes="positive in every system", class_set="CXP-13"
    )
    assert set(shared["defined"]) == {0}  # the keyword baseline finds nothing in empty reports


@pytest.mark.parametrize(
    ("later", "change", "expected"),
    [
        ("IMPRESSION", {}, False),  # denied altogether in the section that decides first
        ("IMPRESSION", {"laterality": "left"}, True),  # the other side may have one
        ("IMPRESSION", {"certainty": "uncertain"}, True),  # a doubtful denial decides nothing
        ("WET_READ", {}, True),  # read before the findings, comes after them
        ("ADDENDUM", {}, False),
    ],
)
def test_precedence_of_sections(
    tmp_path: Path, later: str, change: dict[str, Any], expected: bool
) -> None:
    path = write_lt(tmp_path, [("a", "s50000001", {"Pneumothorax"})])
    common: dict[str, Any] = {"regions": [], "default_regions": [], "changes": []}
    common["modifiers"] = {"temporal": [], "severity": [], "texture": [], "spread": []}
    rows = [
        {**observation("s50000001", "pneumothorax"), **common, "sent_ids": ["S01"]},
        {
            **observation("s50000001", "pneumothorax"),
            **common,
            "obs_id": "O02",
            "positiveness": "neg",
            "laterality": "bilateral",
            "sent_ids": ["S02"],
            **change,
        },
    ]
    sentences = [
        {"study_id": "s50000001", "sent_id": name, "section_type": kind}
        for name, kind in (("S01", "FINDINGS"), ("S02", later))
    ]
    inputs = labels.Inputs(
        studies("s50000001"),
        frame(sentences, SENTENCES),
        frame(rows, OBSERVATIONS),
        frame([], IMAGES),
    )
    expert = Expert("LT", "cxr_lt", path)
    found = labels.evaluate(inputs, [expert], REFERENCE, labels.Settings("test", bootstrap=0))
    rates = found.tables()["variants"].filter(
        pl.col("class") == "Pneumothorax", system="ours", metric="recall", closure="exact"
    )
    by_section = dict(
        rates.filter(
            certainty="uncertain", uncertain_reference="excluded", without_graph="negative"
        )
        .select("sections", "value")
        .iter_rows()
    )
    assert by_section == {"any section": 1.0, "first to decide": float(expected)}


def test_chest_imagenome_through_the_same_code(tmp_path: Path) -> None:
    path = write_lt(
        tmp_path,
        [("a", "s50000001", {"Pneumothorax"}), ("b", "s50000002", {"Pneumothorax"})],
    )
    folder = tmp_path / "imagenome"
    folder.mkdir()
    phrases = [["anatomicalfinding|yes|pneumothorax"], ["anatomicalfinding|no|lung lesion"]]
    graph = {"objects": [], "attributes": [{"bbox_name": "left lung", "attributes": phrases}]}
    (folder / "a_SceneGraph.json").write_text(json.dumps(graph), encoding="utf-8")
    films = frame(
        [
            {"study_id": "s50000001", "image_id": "a"},
            {"study_id": "s50000001", "image_id": "a2"},
            {"study_id": "s50000002", "image_id": "b"},
        ],
        IMAGES,
    )
    expert = Expert("LT", "cxr_lt", path, imagenome=folder)
    found = evaluation(studies("s50000001", "s50000002"), [], expert, films)
    tables = found.tables()
    row = tables["scores"].filter(
        pl.col("class") == "Pneumothorax",
        system="Chest ImaGenome",
        metric="recall",
        closure="nearest",
    )
    assert row.select("value", "support", "predicted").rows() == [(0.5, 2, 1)]
    assert tables["ledger"].select("study_id", "reason").rows() == [("s50000002", "no_scene_graph")]
    assert "1 studies without a usable scene graph" in " ".join(found.remarks)
    absent = Expert("LT", "cxr_lt", path, imagenome=tmp_path / "absent")
    with pytest.raises(UserError, match="no such folder; correct 'imagenome'"):
        evaluation(studies("s50000001"), [], absent, films)
