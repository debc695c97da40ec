"""The demo's REFLACX set follows from its lesions, and reads back as what was drawn."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from cxrqba.evaluate.reflacx import Cut, read_reflacx
from cxrqba.evaluate.shapes import Shape
from cxrqba.regions.phantom import Phantom, lesion_boxes, read_phantoms
from cxrqba.regions.phantom_anatomy import Lesion
from cxrqba.regions.phantom_reflacx import LABELS, reflacx_files, write_reflacx

DEMO = Path(__file__).parents[2] / "resources" / "demo"


def film(*lesions: Lesion, view: str = "PA", name: str = "d1") -> Phantom:
    return Phantom("90000001", "90000002", name, view, 500, 420, 7, lesions)


def test_ellipses_fill_the_boxes_of_lesions_drawn_as_ellipses(tmp_path: Path) -> None:
    image = film(
        Lesion("Nodule", "x", "left mid lung", "large"),
        Lesion("Pneumothorax", "x", "right apex", "small"),
        Lesion("Lung Opacity", "x", "right base", "small"),
    )
    files = reflacx_files([image, film(view="LATERAL", name="d2")], {"d1": "test"})
    assert len(files) == 3  # no reading of the lateral film
    assert all(text.endswith("\r\n") for text in files.values())
    write_reflacx(files, tmp_path)
    ((reading,), faults) = read_reflacx(tmp_path, LABELS, Cut((3,)))
    assert faults == []
    ((_, box), *_) = lesion_boxes(image)
    assert reading.shapes == {"Lung nodule or mass": [Shape(*box, True)]}
    assert reading.unplaced == {"Pneumothorax"}
    assert (reading.image_id, reading.width, reading.height) == ("d1", 420, 500)


@pytest.mark.parametrize("category", ["Atelectasis", "Consolidation", "Edema", "Pneumonia"])
def test_other_kinds_have_a_label_too(tmp_path: Path, category: str) -> None:
    image = film(Lesion(category, "x", "left lower lung", "moderate"))
    write_reflacx(reflacx_files([image], {"d1": "train"}), tmp_path)
    ((reading,), _) = read_reflacx(tmp_path, LABELS, Cut((3,)))
    assert [len(drawn) for drawn in reading.shapes.values()] == [1]
    assert reading.unplaced == set()


def test_the_demos_set_equals_the_geometry() -> None:
    with gzip.open(DEMO / "mimic-cxr-jpg" / "mimic-cxr-2.0.0-split.csv.gz", "rt") as file:
        splits = {row["dicom_id"]: row["split"] for row in csv.DictReader(file)}
    made = reflacx_files(read_phantoms(DEMO / "phantoms.csv", DEMO / "lesions.csv"), splits)
    folder = DEMO / "gold" / "reflacx"
    committed = {
        str(path.relative_to(folder)): path.read_bytes().decode() for path in folder.rglob("*.csv")
    }
    assert committed == made
