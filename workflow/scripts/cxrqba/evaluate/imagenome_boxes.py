"""Finding boxes of Chest ImaGenome, the baseline of paper Tab. 2b.

Its scene graphs attach attributes to regions: where a region has an attribute by a positive
relation (``anatomicalfinding|yes|atelectasis``), the region's box is a box of that finding.
``labels.csv`` says which findings an attribute is, so that classes are those of our own graphs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cxrqba.errors import UserError
from cxrqba.evaluate.expert_shapes import LeftOut
from cxrqba.evaluate.shapes import Shape
from cxrqba.reference.tables import Reference
from cxrqba.regions.imagenome import SceneGraphError, find_scene_graph, read_boxes

LABELS = "chest_imagenome"
NOT_FINDINGS = ("nlp", "temporal", "severity", "laterality", "texture")
"""Categories of attributes that name no finding; ``nlp`` says normal or abnormal."""
Places = dict[tuple[str, str], list[Shape]]


def imagenome_boxes(
    folder: Path,
    windows: Mapping[str, Shape],
    classes: Mapping[str, frozenset[str]],
    reference: Reference,
) -> tuple[Places, list[LeftOut]]:
    """Boxes by (image, class) in the images of ``windows``, and the images that have none."""
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; correct 'imagenome' of evaluate.boxes")
    places: Places = {}
    faults: list[LeftOut] = []
    known = attribute_classes(classes, reference)
    for image, window in sorted(windows.items()):
        path = find_scene_graph(folder, image)
        if path is None:
            faults.append(LeftOut(image, "no_scene_graph", f"{folder}: no scene graph"))
            continue
        try:
            found = list(_boxes(path, image, window, known))
        except SceneGraphError as error:
            faults.append(LeftOut(image, "no_scene_graph", f"{path}: {error}"))
            continue
        for name, shape in found:
            places.setdefault((image, name), []).append(shape)
    return places, faults


def attribute_classes(
    classes: Mapping[str, frozenset[str]], reference: Reference
) -> dict[str, tuple[str, ...]]:
    """Attribute -> classes it is a finding of."""
    return {
        label: tuple(n for n, members in classes.items() if members.intersection(entry["exact"]))
        for label, entry in reference.labels[LABELS].items()
    }


def _boxes(
    path: Path, image: str, window: Shape, classes: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, Shape]]:
    """Class and box of each region with a positive attribute, each once."""
    regions: dict[str, dict[str, None]] = {}
    for region, label in attributes(path):
        for name in classes.get(label, ()):
            regions.setdefault(region, {})[name] = None
    size = round(window.y2), round(window.x2)
    row = {"image_id": image, "height": size[0], "width": size[1]}
    every = frozenset(_names(path))
    boxes = read_boxes(path, row, size, every).boxes
    for region, names in regions.items():
        if region in boxes:
            yield from ((name, Shape(*boxes[region])) for name in names)


def attributes(path: Path) -> Iterator[tuple[str, str]]:
    """(region, label) of every positive relation to a finding."""
    for item in _items(path, "attributes"):
        for phrase in item.get("attributes") or ():
            for text in phrase:
                category, relation, label = (*str(text).split("|", 2), "", "")[:3]
                if relation == "yes" and category not in NOT_FINDINGS:
                    yield str(item.get("bbox_name")), label.strip().lower()


def _names(path: Path) -> Iterable[str]:
    return (str(item.get("bbox_name")) for item in _items(path, "objects"))


def _items(path: Path, key: str) -> list[dict[str, Any]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SceneGraphError(f"not readable as JSON ({type(error).__name__})") from None
    items = content.get(key) if isinstance(content, dict) else None
    if not isinstance(items, list) or not all(isinstance(i, dict) for i in items):
        raise SceneGraphError(f"not a scene graph: it has no list of {key}")
    return items
