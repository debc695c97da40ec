"""Boxes of MS-CXR 1.1.0: one row a box and phrase, ``x, y, w, h`` in pixels of the stated size.

All phrases of an image are one reading; several boxes of a class are united (paper App. A, Tab. 9).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cxrqba.errors import UserError, nearest
from cxrqba.evaluate.expert_shapes import LeftOut, Reading, fault, number, rows, size
from cxrqba.evaluate.shapes import Shape

COLUMNS = ("dicom_id", "category_name", "x", "y", "w", "h", "image_width", "image_height")


def read_ms_cxr(path: Path, classes: Iterable[str]) -> tuple[list[Reading], list[LeftOut]]:
    """Readings by image, and the boxes that cannot be used."""
    known = frozenset(classes)
    frames: dict[str, tuple[float, float]] = {}
    shapes: dict[str, dict[str, list[Shape]]] = {}
    faults: list[LeftOut] = []
    for line, row in rows(path, COLUMNS):
        where = f"{path}, line {line}"
        image, name = row["dicom_id"].strip(), row["category_name"].strip()
        if name not in known:
            raise UserError(f"{where}: unknown category '{name}'{nearest(name, known)}")
        frame = size(row["image_width"], row["image_height"], where)
        if frames.setdefault(image, frame) != frame:
            raise UserError(f"{where}: image size differs from that of an earlier row of the image")
        x, y, w, h = (number(row[c], f"{where}, {c}") for c in ("x", "y", "w", "h"))
        box = Shape(x, y, x + w, y + h)
        drawn = shapes.setdefault(image, {})
        wrong = fault(box, *frame)
        if wrong:
            faults.append(LeftOut(image, wrong[0], f"{where}: box of '{name}': {wrong[1]}"))
        if wrong is None or wrong[0] == "beyond_image":
            drawn.setdefault(name, []).append(box)
    readings = [Reading(i, i, *frames[i], known, drawn) for i, drawn in shapes.items()]
    return readings, faults
