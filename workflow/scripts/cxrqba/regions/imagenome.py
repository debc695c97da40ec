"""Boxes of Chest ImaGenome: one <image id>_SceneGraph.json a frontal film (Wu et al. 2021).

Boxes are in pixels of the original film (``original_x1`` ...). They may leave the image, be empty
or appear twice: they are clipped, dropped, or united, as earlier users of the data set did.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cxrqba.regions.engine import Box

FOLDERS = ("", "scene_graph", "silver_dataset/scene_graph")
"""Where scene graphs lie below the folder a user names."""

MIN_BOXES = 5
"""A scene graph with fewer usable boxes belongs to a film whose localisation failed."""

ASPECT_TOLERANCE = 0.02


class SceneGraphError(Exception):
    """The boxes of one image cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes by name, clipped to the image, and the names of those that had to be dropped."""

    boxes: dict[str, Box]
    dropped: tuple[str, ...]


def find_scene_graph(folder: Path, image_id: str) -> Path | None:
    """The scene graph of an image, or None."""
    candidates = (folder / below / f"{image_id}_SceneGraph.json" for below in FOLDERS)
    return next((path for path in candidates if path.is_file()), None)


def read_boxes(
    path: Path, row: Mapping[str, Any], size: tuple[int, int], names: frozenset[str]
) -> Boxes:
    """Boxes called one of ``names``, in pixels of the image of ``size`` (height, width).

    Where the source's table (``row``, IMAGES) gives the film another size than the file has, the
    file is a smaller copy and the boxes shrink with it. :class:`SceneGraphError` says why there
    are none.
    """
    content = _read(path, row["image_id"])
    scale = _scale(row, size)
    boxes: dict[str, Box] = {}
    dropped: list[str] = []
    for item in content:
        name = item.get("bbox_name") if isinstance(item, dict) else None
        if name not in names:
            continue
        box = _box(item, scale, size)
        if box is None:
            dropped.append(name)
        elif name in boxes:
            boxes[name] = _union(boxes[name], box)
        else:
            boxes[name] = box
    if len(boxes) < MIN_BOXES:
        raise SceneGraphError(f"only {len(boxes)} usable boxes, {MIN_BOXES} are needed")
    return Boxes(boxes, tuple(sorted(dropped)))


def _read(path: Path, image_id: str) -> list[Any]:
    """The objects of a scene graph."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SceneGraphError(f"not readable as JSON ({type(error).__name__})") from None
    if not isinstance(content, dict) or not isinstance(content.get("objects"), list):
        raise SceneGraphError("not a scene graph: it has no list of objects")
    if content.get("image_id", image_id) != image_id:
        raise SceneGraphError("it belongs to another image")
    objects: list[Any] = content["objects"]
    return objects


def _scale(row: Mapping[str, Any], size: tuple[int, int]) -> tuple[float, float]:
    """Factors (x, y) from the film's pixels to those of the file."""
    if not row["height"] or not row["width"]:
        return 1.0, 1.0
    x, y = size[1] / row["width"], size[0] / row["height"]
    if abs(x / y - 1) > ASPECT_TOLERANCE:
        raise SceneGraphError(
            f"the film has {row['width']} x {row['height']} pixels, the file {size[1]} x {size[0]}"
        )
    return x, y


def _box(item: Mapping[str, Any], scale: tuple[float, float], size: tuple[int, int]) -> Box | None:
    """The box clipped to the image; None if it has no area there."""
    corners = [item.get(f"original_{corner}") for corner in ("x1", "y1", "x2", "y2")]
    if not all(isinstance(c, int | float) and math.isfinite(c) for c in corners):
        return None
    x1, y1, x2, y2 = (float(c) for c in corners if c is not None)
    x1, x2 = (min(max(x * scale[0], 0.0), size[1]) for x in (x1, x2))
    y1, y2 = (min(max(y * scale[1], 0.0), size[0]) for y in (y1, y2))
    return (x1, y1, x2, y2) if x2 > x1 and y2 > y1 else None


def _union(a: Box, b: Box) -> Box:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])
