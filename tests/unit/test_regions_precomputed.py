"""Backend precomputed: which source a box comes from, and what becomes of bad files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cxrqba.errors import UserError
from cxrqba.reference.tables import load_regions
from cxrqba.regions.backends import Film
from cxrqba.regions.cxas_files import load_labels
from cxrqba.regions.engine import localize
from cxrqba.regions.phantom import Phantom
from cxrqba.regions.phantom_film import draw
from cxrqba.regions.precomputed import Precomputed

REFERENCE = Path(__file__).parents[2] / "resources" / "reference"
REGIONS = load_regions(REFERENCE)
LABELS = load_labels(REFERENCE)
SIZE = (600, 500)  # height, width
MASKS = {"left lung": (55, 20, 95, 100), "right lung": (5, 20, 45, 100), "heart": (40, 60, 70, 95)}
"""x1, y1, x2, y2 in a frame of 100 x 120: a fifth of the image."""
BOXES = {
    "left lung": (280, 90, 470, 510),
    "right lung": (30, 90, 220, 510),
    "trachea": (230, 10, 270, 180),
    "left hilar structures": (270, 200, 330, 300),
    "svc": (200, 150, 235, 300),
}


class Folders:
    """What a user has: a folder of masks, a folder of scene graphs."""

    def __init__(self, root: Path):
        self.cxas, self.imagenome = root / "cxas", root / "imagenome"
        self.cxas.mkdir()
        self.imagenome.mkdir()

    def masks(self, boxes: dict[str, tuple[int, ...]], frame: tuple[int, int] = (120, 100)) -> None:
        stack = np.zeros((159, *frame), dtype=bool)
        for name, (x1, y1, x2, y2) in boxes.items():
            stack[LABELS.index(name), y1:y2, x1:x2] = True
        np.savez_compressed(self.cxas / "d1.npz", stack)

    def scene(self, boxes: dict[str, tuple[float, ...]]) -> None:
        corners = ("original_x1", "original_y1", "original_x2", "original_y2")
        objects = [{"bbox_name": n, **dict(zip(corners, b, strict=True))} for n, b in boxes.items()]
        (self.imagenome / "d1_SceneGraph.json").write_text(json.dumps({"objects": objects}))

    def find(
        self, view: str = "frontal", use: tuple[bool, bool] = (True, True)
    ) -> tuple[dict[str, dict[str, Any]], list[str]]:
        """Rows by region and the reasons noted; ``use``: masks, scene graphs."""
        row = {"image_id": "d1", "path": "f/d1.jpg", "view": view, "height": 600, "width": 500}
        both = (self.cxas, self.imagenome)
        folders = [str(f) if u else None for f, u in zip(both, use, strict=True)]
        backend = Precomputed(*folders, LABELS, REGIONS)
        finding = backend.find([Film(row, np.zeros(SIZE, dtype=np.float32))])[0]
        rows = localize(finding.anatomy, REGIONS, SIZE, 25) if finding.anatomy else []
        return {r["region"]: r for r in rows}, [note.reason for note in finding.notes]


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


def test_masks_where_the_definition_has_one_else_boxes(folders: Folders) -> None:
    folders.masks(MASKS)
    folders.scene(BOXES)
    found, notes = folders.find()
    assert notes == []
    lung = found["left lung"]
    assert lung["bboxes"] == [[275, 100, 475, 500]]  # five times the mask, not ImaGenome's box
    assert (lung["source"], lung["is_fallback"]) == ("mask", False)
    hilum = found["left hilum"]  # its definition names ImaGenome
    assert hilum["bboxes"] == [[270, 200, 330, 300]]
    assert (hilum["source"], hilum["is_fallback"]) == ("imagenome", False)


def test_any_other_substitution_is_a_fallback_and_flagged(folders: Folders) -> None:
    folders.masks(MASKS)
    folders.scene(BOXES)
    found, _ = folders.find()
    trachea = found["trachea"]  # its definition names a mask, which is missing
    assert trachea["bboxes"] == [[230, 10, 270, 180]]
    assert (trachea["source"], trachea["is_fallback"]) == ("imagenome", True)
    assert found["right hilum"]["is_fallback"]
    assert found["right hilum"]["reference_region"] == "right lung"


def test_either_folder_is_enough(folders: Folders) -> None:
    folders.masks(MASKS)
    folders.scene(BOXES)
    masks, notes = folders.find(use=(True, False))
    assert notes == []
    assert {r["source"] for r in masks.values()} == {"mask", "composed"}
    boxes, notes = folders.find(use=(False, True))
    assert notes == []
    assert boxes["left lung"]["bboxes"] == [[280, 90, 470, 510]]
    assert boxes["left lung"]["is_fallback"]
    assert "heart" not in boxes


def test_missing_files_are_noted(folders: Folders) -> None:
    assert folders.find() == ({}, ["no_masks", "no_scene_graph"])
    folders.masks(MASKS)
    found, notes = folders.find()
    assert "heart" in found
    assert notes == ["no_scene_graph"]
    assert folders.find("lateral")[1] == []  # no lateral film has a scene graph


def test_masks_of_another_size_than_the_image_are_not_used(folders: Folders) -> None:
    folders.masks(MASKS, frame=(100, 120))
    folders.scene(BOXES)
    found, notes = folders.find()
    assert notes == ["unusable_masks"]
    assert found["left lung"]["source"] == "imagenome"


def test_masks_as_the_network_sees_the_film_are_stretched(folders: Folders) -> None:
    folders.masks({**MASKS, "left lung": (256, 128, 512, 384)}, frame=(512, 512))
    assert folders.find(use=(True, False))[0]["left lung"]["bboxes"] == [[250, 150, 500, 450]]


def test_mirrored_masks_and_boxes_are_not_used(folders: Folders) -> None:
    folders.masks({**MASKS, "left lung": MASKS["right lung"], "right lung": MASKS["left lung"]})
    folders.scene({**BOXES, "left lung": BOXES["right lung"], "right lung": BOXES["left lung"]})
    assert folders.find() == ({}, ["mirrored_masks", "mirrored_boxes"])
    folders.scene(BOXES)
    found, notes = folders.find()
    assert notes == ["mirrored_masks"]
    assert found["left lung"]["source"] == "imagenome"


def test_without_a_lung_there_is_no_chest(folders: Folders) -> None:
    folders.masks({"heart": MASKS["heart"]})
    assert folders.find(use=(True, False)) == ({}, [])


def test_lateral_films_take_no_scene_graph_and_no_sides(folders: Folders) -> None:
    folders.masks({**MASKS, "lung": (5, 20, 95, 100)})
    folders.scene(BOXES)
    found, _ = folders.find("lateral")
    assert "imagenome" not in {r["source"] for r in found.values()}
    assert found["left lung"]["reference_region"] == "lungs"
    assert found["left lung"]["is_fallback"]


def test_bad_scene_graphs_are_noted(folders: Folders) -> None:
    folders.masks(MASKS)
    folders.scene({"svc": BOXES["svc"]})
    assert folders.find()[1] == ["unusable_scene_graph"]
    folders.scene({**BOXES, "carina": (9, 9, 9, 9)})
    assert folders.find()[1] == ["empty_boxes"]


def test_an_unknown_view_is_looked_for_in_the_image(folders: Folders) -> None:
    folders.masks(MASKS)
    assert folders.find("unknown") == ({}, ["unknown_view"])  # an empty image tells nothing
    film = Phantom("90000001", "90000002", "d1", "PA", 600, 500, 5)
    row = {"image_id": "d1", "path": "f/d1.jpg", "view": "unknown", "height": 600, "width": 500}
    pixels = draw(film, film.chest()).astype(np.float32) / 255
    backend = Precomputed(str(folders.cxas), None, LABELS, REGIONS)
    anatomy = backend.find([Film(row, pixels)])[0].anatomy
    assert anatomy is not None
    assert anatomy.view == "frontal"


def test_folders_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"segmentation\.cxas_folder: .* no folder"):
        Precomputed(str(tmp_path / "nowhere"), None, LABELS, REGIONS)
