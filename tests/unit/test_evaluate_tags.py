"""Open-i's own classes: which tags and which findings make them, and what counts for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxrqba.evaluate import labels, tags
from cxrqba.evaluate.label_cases import Expert
from cxrqba.reference.tables import load_reference
from cxrqba.schema import IMAGES, LABEL_SCORES, OBSERVATIONS, SENTENCES, STUDIES
from cxrqba.tables import frame

REFERENCE = load_reference(Path(__file__).parents[2] / "resources" / "reference")
CLASSES = tags.load_tag_classes(REFERENCE)
BY_NAME = {c.name: c for c in CLASSES}
OPEN_I = """<eCitation><uId id="{study}"/><MedlineCitation><Article><Abstract>
<AbstractText Label="FINDINGS">{report}</AbstractText></Abstract></Article></MedlineCitation>
<MeSH>{major}</MeSH></eCitation>"""


def tagged(*terms: str, closure: str = "exact") -> set[str]:
    """The classes of one study with these terms."""
    studies = pl.DataFrame({"study_id": ["CXR1"], "major": [list(terms)]})
    found = tags.members(CLASSES, REFERENCE, closure)
    return {c for c, v in tags.tag_labels(studies, CLASSES, found)["CXR1"].items() if v}


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        (["normal"], set()),
        (["Pulmonary Atelectasis/base/left"], {"Atelectasis"}),
        (["Cardiac  Shadow/ENLARGED/mild"], {"Cardiomegaly"}),
        (["Cardiac Shadow"], set()),
        (["Aorta/tortuous"], {"Tortuous aorta"}),
        (["Aorta/prominent"], set()),
        (["Opacity/lung/base"], {"Opacity", "Lung Opacity"}),
        (["Density/ribs/left"], set()),
        (["Calcinosis/lung/upper lobe"], {"Lung calcification"}),
        (["Calcinosis/lung/hilum/lymph nodes"], {"Calcified lymph nodes"}),
        (["Deformity/ribs"], {"Rib deformity"}),
        (["Spondylosis/thoracic vertebrae"], {"Spinal degeneration"}),
        (["Hydropneumothorax/right"], {"Pneumothorax", "Pleural Effusion"}),
        (["A heading nobody knows/left"], set()),
    ],
)
def test_tags_make_classes(terms: list[str], expected: set[str]) -> None:
    assert tagged(*terms) == expected


def test_closed_a_tag_brings_the_classes_above_it() -> None:
    assert "Lung Opacity" not in tagged("Pulmonary Atelectasis")
    assert "Lung Opacity" in tagged("Pulmonary Atelectasis", closure="closed")


def test_studies_without_indexing_have_no_labels() -> None:
    studies = pl.DataFrame({"study_id": ["CXR1"], "major": [["No Indexing"]]})
    assert tags.tag_labels(studies, CLASSES, tags.members(CLASSES, REFERENCE, "exact")) == {}


def test_the_list_of_classes_never_gets_shorter() -> None:
    sets = tags.class_sets(CLASSES)
    assert list(sets) == ["MeSH-10", "MeSH-44"]
    assert not [c.name for c in CLASSES if not c.findings or not c.tags]


def test_regions_below_an_excluded_one_are_excluded() -> None:
    assert "left posterior 5th rib" not in BY_NAME["Cardiomegaly"].not_at
    assert {"ribs", "left ribs", "right breast"} <= BY_NAME["Opacity"].not_at
    assert "left lung base" not in BY_NAME["Opacity"].not_at


def observation(finding: str, **more: Any) -> dict[str, Any]:
    return {
        "study_id": "CXR1",
        "obs_id": "O01",
        "obs_entities": [finding],
        "positiveness": "pos",
        "certainty": "certain",
        "from_report": True,
        "regions": [],
        **more,
    }


def at(*regions: str) -> list[dict[str, Any]]:
    return [{"region": r, "distances": []} for r in regions]


@pytest.mark.parametrize(
    ("finding", "more", "system", "counted"),
    [
        ("pneumonia", {}, "ours", True),
        ("pneumonia", {"certainty": "uncertain"}, "ours", True),
        (
            "pneumonia",
            {"certainty": "uncertain", "child_type": "associated with"},
            "ours",
            False,
        ),
        (
            "pneumonia",
            {"certainty": "uncertain", "child_type": "associated with"},
            "ours, uncertain readings too",
            True,
        ),
        ("pneumonia", {"certainty": "likely", "child_type": "associated with"}, "ours", True),
        ("pneumonia", {"certainty": "likely"}, "ours, certain", False),
        ("lung opacity", {}, "ours", True),
        ("lung opacity", {"regions": at("left ribs")}, "ours", False),
        ("lung opacity", {"regions": at("left ribs", "left lung")}, "ours", True),
    ],
)
def test_what_counts(
    tmp_path: Path, finding: str, more: dict[str, Any], system: str, counted: bool
) -> None:
    scores = score(tmp_path, [observation(finding, **more)])
    name = "Pneumonia" if finding == "pneumonia" else "Opacity"
    pooled = scores.filter(
        pl.col("system") == system, pl.col("closure") == "exact", pl.col("class") == "micro"
    )
    predicted = pooled.filter(
        pl.col("metric") == "mcc",
        pl.col("class_set") == ("MeSH-10" if name == "Pneumonia" else "MeSH-44"),
    )["predicted"]
    assert predicted.to_list() == [int(counted)]


def score(folder: Path, rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Scores on Open-i's own classes of one study without tags."""
    path = folder / "CXR1.xml"
    path.write_text(OPEN_I.format(study="CXR1", report="Text.", major="<major>normal</major>"))
    found = labels.evaluate(
        labels.Inputs(
            frame([{"study_id": "CXR1", "report": "Text."}], STUDIES),
            frame([], SENTENCES),
            frame(rows, OBSERVATIONS),
            frame([], IMAGES),
        ),
        [Expert("Open-i", "openi_mesh", folder)],
        REFERENCE,
        labels.Settings("Open-i", bootstrap=5),
    )
    scores = found.tables()["scores"]
    assert scores.schema == LABEL_SCORES
    return scores.filter(pl.col("reference") == "Open-i, own classes")
