"""Boxes of Chest ImaGenome: what is clipped, united, dropped or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cxrqba.regions.imagenome import SceneGraphError, find_scene_graph, read_boxes

SIZE = (1000, 800)  # height, width
ROW = {"image_id": "d1", "height": 1000, "width": 800}
USUAL = {
    "left lung": (420, 100, 760, 900),
    "right lung": (40, 100, 380, 900),
    "trachea": (370, 20, 430, 300),
    "cardiac silhouette": (300, 450, 620, 800),
    "svc": (330, 250, 380, 450),
}
NAMES = frozenset(USUAL)


def scene(path: Path, boxes: list[tuple[str, Any]], **content: Any) -> Path:
    corners = ("original_x1", "original_y1", "original_x2", "original_y2")
    objects = [{"bbox_name": n, **dict(zip(corners, b, strict=False))} for n, b in boxes]
    path.write_text(json.dumps({"image_id": "d1", "objects": objects, **content}))
    return path


def test_boxes_are_in_pixels_of_the_film(tmp_path: Path) -> None:
    path = scene(tmp_path / "d1_SceneGraph.json", [*USUAL.items(), ("unheard of", (0, 0, 5, 5))])
    found = read_boxes(path, ROW, SIZE, NAMES)
    assert found.boxes == USUAL
    assert found.dropped == ()


def test_a_smaller_copy_of_the_film_shrinks_its_boxes(tmp_path: Path) -> None:
    path = scene(tmp_path / "x", list(USUAL.items()))
    assert read_boxes(path, ROW, (500, 400), NAMES).boxes["svc"] == (165, 125, 190, 225)
    unknown = {"image_id": "d1", "height": None, "width": None}
    assert read_boxes(path, unknown, SIZE, NAMES).boxes["svc"] == USUAL["svc"]
    with pytest.raises(SceneGraphError, match="800 x 1000 pixels, the file 1000 x 800"):
        read_boxes(path, ROW, (800, 1000), NAMES)


def test_boxes_outside_are_clipped_or_dropped(tmp_path: Path) -> None:
    changed = {**USUAL, "left lung": (420, -30, 900.5, 900), "aortic arch": (820, 10, 900, 90)}
    found = read_boxes(
        scene(tmp_path / "x", list(changed.items())), ROW, SIZE, NAMES | {"aortic arch"}
    )
    assert found.boxes["left lung"] == (420, 0, 800, 900)
    assert "aortic arch" not in found.boxes
    assert found.dropped == ("aortic arch",)


@pytest.mark.parametrize(
    "box",
    [
        (5, 5, 5, 90),
        (90, 5, 5, 90),
        (5, 5, 90),
        (None, 5, 90, 90),
        ("5", 5, 90, 90),
        (float("nan"), 5, 90, 90),
        (5, 5, float("inf"), 90),
        (-1, -1, -1, -1),
    ],
)
def test_degenerate_boxes_are_dropped_and_named(tmp_path: Path, box: tuple[Any, ...]) -> None:
    path = scene(tmp_path / "x", [*USUAL.items(), ("carina", box)])
    found = read_boxes(path, ROW, SIZE, NAMES | {"carina"})
    assert found.boxes == USUAL
    assert found.dropped == ("carina",)


def test_doubled_boxes_are_united(tmp_path: Path) -> None:
    path = scene(tmp_path / "x", [*USUAL.items(), ("svc", (340, 240, 390, 440))])
    assert read_boxes(path, ROW, SIZE, NAMES).boxes["svc"] == (330, 240, 390, 450)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "JSON"),
        ('{"objects": [', "JSON"),
        ("[1, 2]", "no list of objects"),
        ('{"objects": {}}', "no list of objects"),
        ('{"objects": [3, null, "x"]}', "only 0 usable"),
        ('{"image_id": "d2", "objects": []}', "another image"),
        ("\xff\xfe", "JSON"),
    ],
)
def test_what_is_no_scene_graph_is_refused(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(SceneGraphError, match=reason):
        read_boxes(path, ROW, SIZE, NAMES)


def test_too_few_boxes_are_a_failed_localisation(tmp_path: Path) -> None:
    with pytest.raises(SceneGraphError, match="only 4 usable boxes"):
        read_boxes(scene(tmp_path / "x", list(USUAL.items())[:4]), ROW, SIZE, NAMES)


@pytest.mark.parametrize("below", [".", "scene_graph", "silver_dataset/scene_graph"])
def test_scene_graphs_are_found_where_users_unpack_them(tmp_path: Path, below: str) -> None:
    (tmp_path / below).mkdir(parents=True, exist_ok=True)
    path = scene(tmp_path / below / "d1_SceneGraph.json", [])
    assert find_scene_graph(tmp_path, "d1") == path
    assert find_scene_graph(tmp_path, "d2") is None
