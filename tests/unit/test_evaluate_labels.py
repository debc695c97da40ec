"""Study labels against gold: what counts, how gold is read, what the scores are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxrqba.config import HashShards, OpeniSource
from cxrqba.errors import UserError
from cxrqba.evaluate import labels
from cxrqba.evaluate.gold import MeshFindings, mesh_labels, read_mimic_labels
from cxrqba.evaluate.keywords import KeywordBaseline
from cxrqba.evaluate.label_cases import Expert
from cxrqba.evaluate.label_classes import (
    CXP_7,
    label_classes,
)
from cxrqba.evaluate.label_predictions import study_findings
from cxrqba.reference.tables import load_reference
from cxrqba.reports.readers import prepare
from cxrqba.schema import (
    IMAGES,
    LABEL_SCORES,
    LABEL_VARIANTS,
    LEDGER,
    OBSERVATIONS,
    SENTENCES,
    STUDIES,
    STUDY_LABELS,
)
from cxrqba.tables import frame

REFERENCE = load_reference(Path(__file__).parents[2] / "resources" / "reference")
CLASSES = list(label_classes(REFERENCE, "exact"))
GOLD_COLUMNS = ["Airspace Opacity" if c == "Lung Opacity" else c for c in CLASSES]


def observation(study: str, finding: str, **more: Any) -> dict[str, Any]:
    return {
        "study_id": study,
        "obs_id": "O01",
        "obs_entities": [finding],
        "positiveness": "pos",
        "certainty": "certain",
        "from_report": True,
        "modifiers": {"temporal": [], "severity": [], "texture": [], "spread": []},
        "regions": [],
        "default_regions": [],
        **more,
    }


def evaluate(
    studies: pl.DataFrame,
    observations: pl.DataFrame,
    *experts: Expert,
    bootstrap: int = 10,
) -> dict[str, pl.DataFrame]:
    settings = labels.Settings("test", bootstrap=bootstrap)
    inputs = labels.Inputs(studies, frame([], SENTENCES), observations, frame([], IMAGES))
    return labels.evaluate(inputs, experts, REFERENCE, settings).tables()


def write_gold(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "gold.csv"
    lines = [",".join(["study_id", "No Finding", *GOLD_COLUMNS])]
    for row in rows:
        cells = [str(row["study_id"]), "", *(str(row.get(c, "")) for c in GOLD_COLUMNS)]
        lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_classes_are_thirteen_and_fixed() -> None:
    assert len(CLASSES) == 13
    assert set(CXP_7) < set(CLASSES)
    closed = label_classes(REFERENCE, "closed")
    assert "pneumonia" in closed["Consolidation"]
    assert "pneumonia" not in label_classes(REFERENCE, "exact")["Consolidation"]


def test_a_finding_counts_for_its_nearest_class_alone() -> None:
    nearest = label_classes(REFERENCE, "nearest")
    assert list(nearest) == CLASSES
    assert "linear atelectasis" in nearest["Atelectasis"]
    assert "rib fracture" in nearest["Fracture"]
    assert "endotracheal tube" in nearest["Support Devices"]
    assert "consolidation" not in nearest["Lung Opacity"]
    assert "pneumonia" not in nearest["Consolidation"]
    for label, members in label_classes(REFERENCE, "exact").items():
        assert members <= nearest[label]


@pytest.mark.parametrize(
    "change",
    [
        {"positiveness": "neg"},
        {"positiveness": "comparison_only", "certainty": "comparison_only"},
        {"positiveness": "recommendation", "certainty": "recommendation"},
        {"from_report": False},
        {"obs_id": "OIND"},
        {"obs_entities": []},
    ],
)
def test_what_never_counts(change: dict[str, Any]) -> None:
    row = {**observation("s1", "pneumothorax"), **change}
    assert study_findings(frame([row], OBSERVATIONS)) == {}


def test_any_assertion_counts_and_certainty_can_be_asked_for() -> None:
    rows = [
        observation("s1", "pneumonia", certainty="uncertain"),
        observation("s1", "pneumonia", positiveness="neg", obs_id="O02"),
        observation("s1", "atelectasis", obs_id="O03"),
    ]
    table = frame(rows, OBSERVATIONS)
    assert study_findings(table) == {"s1": {"pneumonia", "atelectasis"}}
    assert study_findings(table, ["certain"]) == {"s1": {"atelectasis"}}


def test_scores_worked_out_by_hand(tmp_path: Path) -> None:
    gold = write_gold(
        tmp_path,
        [
            {"study_id": 50000001, "Pneumothorax": 1.0, "Airspace Opacity": 1.0},
            {"study_id": 50000002, "Pneumothorax": 0.0, "Edema": -1.0},
            {"study_id": 50000003, "Pneumothorax": 1.0},
            {"study_id": 50000004},
            {"study_id": 50000009, "Pneumothorax": 1.0},
        ],
    )
    studies = frame(
        [
            {"patient_id": f"p{i}", "study_id": f"s5000000{i}", "report": report}
            for i, report in enumerate(
                ["", "Large pneumothorax.", "No pneumothorax.", "Edema.", None]
            )
        ],
        STUDIES,
    )
    observations = frame(
        [
            observation("s50000001", "pneumothorax"),
            observation("s50000001", "consolidation"),
            observation("s50000002", "pulmonary edema"),
            observation("s50000003", "pneumothorax", positiveness="neg"),
        ],
        OBSERVATIONS,
    )
    tables = evaluate(studies, observations, Expert("gold", "mimic_cxr_jpg", gold), bootstrap=50)
    scores, study_labels = tables["scores"], tables["study_labels"]
    assert scores.schema == LABEL_SCORES
    assert study_labels.schema == STUDY_LABELS

    def row(name: str, metric: str, closure: str, system: str = "ours") -> dict[str, Any]:
        chosen = scores.filter(
            pl.col("class") == name,
            pl.col("metric") == metric,
            pl.col("closure") == closure,
            pl.col("system") == system,
            pl.col("class_set") == "CXP-13",
        )
        return chosen.row(0, named=True)

    air = row("Pneumothorax", "recall", "exact")
    assert (air["value"], air["support"], air["predicted"], air["studies"]) == (0.5, 2, 1, 4)
    assert row("Edema", "recall", "exact")["studies"] == 3  # -1 is not scored
    assert row("Lung Opacity", "recall", "exact")["value"] == 0.0  # Airspace Opacity column
    assert row("Lung Opacity", "recall", "closed")["value"] == 1.0
    assert row("Fracture", "mcc", "exact")["value"] != row("Fracture", "mcc", "exact")["value"]
    assert row("macro", "mcc", "exact")["defined"] == 1
    assert row("Pneumothorax", "precision", "exact", "keyword baseline")["value"] == 1.0
    protocol = air["protocol"]
    assert "4 studies" in protocol
    assert "1 studies without graph" in protocol
    assert "1 labelled studies not in this run" in protocol
    assert "bootstrap over patients" in protocol
    edema = study_labels.filter(pl.col("class") == "Edema", pl.col("closure") == "exact")
    assert edema["gold"].to_list() == [0, None, 0, 0]
    assert edema["has_graph"].to_list() == [True, True, True, False]


def test_without_patients_the_bootstrap_is_over_studies(tmp_path: Path) -> None:
    gold = write_gold(tmp_path, [{"study_id": 50000001, "Edema": 1}])
    studies = frame([{"study_id": "s50000001", "report": "Edema."}], STUDIES)
    scores = evaluate(studies, frame([], OBSERVATIONS), Expert("gold", "mimic_cxr_jpg", gold))[
        "scores"
    ]
    assert "bootstrap over studies (no patients known)" in scores["protocol"][0]


def test_no_references_give_empty_tables() -> None:
    tables = evaluate(frame([], STUDIES), frame([], OBSERVATIONS))
    schemas = {
        "scores": LABEL_SCORES,
        "variants": LABEL_VARIANTS,
        "study_labels": STUDY_LABELS,
        "ledger": LEDGER,
    }
    assert {name: table.schema for name, table in tables.items()} == schemas
    assert all(table.is_empty() for table in tables.values())


def test_gold_ids_and_headers_in_any_form(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("STUDY_ID,edema\ns50000001,1.0\n50000002.0,-1\n50000003,\n", encoding="utf-8")
    assert read_mimic_labels(path, ["Edema"]) == {
        "s50000001": {"Edema": 1},
        "s50000002": {"Edema": -1},
        "s50000003": {"Edema": None},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("study_id,Edena\n", r"no column 'edema' \(did you mean 'edena'"),
        ("study,Edema\n", r"no column 'study_id'"),
        ("study_id,Edema\n123,1\n", "line 2: '123' is no MIMIC study id"),
        ("study_id,Edema\n50000001,2\n", "line 2, Edema: '2' is none of"),
        ("study_id,Edema\n50000001,1\n50000001,0\n", "line 3: s50000001 occurs twice"),
        ("study_id,Edema\n50000001,1\n50000002\n", "line 3: 1 cells where the header has 2"),
        ("study_id,Edema\n50000001,1,0\n", "line 2: 3 cells where the header has 2"),
        ("study_id,Edema,EDEMA\n50000001,1,0\n", "column 'edema' occurs twice"),
    ],
)
def test_bad_gold_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "gold.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_mimic_labels(path, ["Edema"])


def test_airspace_opacity_beside_lung_opacity_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("study_id,Airspace Opacity,Lung Opacity\n50000001,1,0\n", encoding="utf-8")
    with pytest.raises(UserError, match="column 'lung opacity' occurs twice"):
        read_mimic_labels(path, ["Lung Opacity"])


def test_equal_rows_of_one_study_are_one(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("study_id,Edema\n50000001,1\ns50000001,1.0\n", encoding="utf-8")
    assert read_mimic_labels(path, ["Edema"]) == {"s50000001": {"Edema": 1}}


def test_missing_gold_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        read_mimic_labels(tmp_path / "gold.csv", ["Edema"])


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        (["normal"], set()),
        (["No Indexing"], None),
        (["Cardiomegaly/mild"], {"cardiomegaly"}),
        (["Cardiac Shadow/enlarged"], {"cardiomegaly"}),
        (["Cardiac Shadow"], set()),
        (["Aorta/tortuous/mild"], {"tortuous aorta"}),
        (["Lung/hypoinflation", "Lung/hyperdistention"], {"low lung volumes", "hyperinflation"}),
        (["Density/ribs/left"], set()),
        (["Density/lung/ribs"], {"lung opacity"}),
        (["Subcutaneous  Emphysema/right"], {"subcutaneous emphysema"}),
        (["A term nobody knows/left"], set()),
    ],
)
def test_mesh_terms_as_findings(terms: list[str], expected: set[str] | None) -> None:
    assert MeshFindings(REFERENCE).findings(terms) == expected


def test_mesh_labels_follow_the_classes() -> None:
    studies = pl.DataFrame(
        {
            "study_id": ["CXR2", "CXR1", "CXR3"],
            "major": [["Pulmonary Atelectasis/base/left"], ["No Indexing"], ["normal"]],
        }
    )
    exact = mesh_labels(studies, REFERENCE, label_classes(REFERENCE, "exact"))
    closed = mesh_labels(studies, REFERENCE, label_classes(REFERENCE, "closed"))
    assert list(exact) == ["CXR2", "CXR3"]
    assert (exact["CXR2"]["Atelectasis"], exact["CXR2"]["Lung Opacity"]) == (1, 0)
    assert closed["CXR2"]["Lung Opacity"] == 1
    assert not any(exact["CXR3"].values())


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ("FINDINGS: There is a small pneumothorax.", True),
        ("FINDINGS: No evidence of effusion or pneumothorax.", False),
        ("FINDINGS: No effusion. Pneumothorax on the left.", True),
        ("FINDINGS: The pneumothorax has resolved.", False),
        ("INDICATION: Pneumothorax?\nFINDINGS: Clear lungs.", False),
        ("", False),
        (None, False),
    ],
)
def test_keyword_baseline(report: str | None, expected: bool) -> None:
    baseline = KeywordBaseline(REFERENCE, {"Pneumothorax": ["pneumothorax"]})
    assert baseline.labels(report) == {"Pneumothorax": expected}


@pytest.mark.shared
def test_open_i_tags_as_gold_for_the_baseline() -> None:
    path = Path(__file__).parents[2].parent / "shared" / "data" / "openi" / "openi_reports.tgz"
    if not path.exists():
        pytest.skip("shared data not present")
    source = OpeniSource(reports=str(path))
    studies = prepare(source, HashShards(by="hash", count=1), "0").studies
    expert = Expert("MeSH", "openi_mesh", path)
    scores = evaluate(studies, frame([], OBSERVATIONS), expert, bootstrap=20)["scores"]
    micro = scores.filter(
        pl.col("system") == labels.BASELINE,
        pl.col("class") == "micro",
        pl.col("class_set") == "CXP-13",
        pl.col("metric") == "mcc",
        pl.col("closure") == "closed",
    ).row(0, named=True)
    assert micro["studies"] == 1140
    assert micro["support"] > 1000
    assert 0.8 < micro["low"] < micro["value"] < micro["high"] < 0.95
