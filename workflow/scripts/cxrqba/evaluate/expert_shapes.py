"""What experts marked in images, and how several readers of one image become one target.

A reading is what one reader marked in one image. Readers of formats (``ms_cxr``, ``reflacx``) yield
readings in the frame their file states; :func:`fit` brings them to the image's pixels, and
:func:`pool` makes targets of them, one an (image, class) or, kept apart, one a (reading, class)
(paper Sec. 4.1, Tabs 9 and 10).
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from cxrqba.errors import UserError, nearest
from cxrqba.evaluate.shapes import Shape

Pooling = Literal["reading", "union", "majority"]
ASPECT_TOLERANCE = 0.02
"""A frame whose proportions differ more from the image's is not the same picture."""


class LeftOut(NamedTuple):
    """A piece of an expert file that is not used, or not wholly."""

    image_id: str
    reason: str  # short code
    detail: str  # file, line, what was wrong


@dataclass(frozen=True)
class Reading:
    """What one reader marked in one image of ``width`` x ``height`` pixels."""

    reading: str  # id; the image's where the file knows of no readers
    image_id: str
    width: float
    height: float
    asked: frozenset[str]  # classes of which no shape means that the reader saw none ...
    shapes: Mapping[str, Sequence[Shape]]  # class -> at least one shape
    unplaced: frozenset[str] = frozenset()  # ... unless he called it present and drew nothing

    @property
    def window(self) -> Shape:
        """The frame as a rectangle."""
        return Shape(0.0, 0.0, self.width, self.height)


class Key(NamedTuple):
    """What is scored: a class in an image, or in one reading of it."""

    image_id: str
    reading: str  # empty where readers are pooled
    name: str


@dataclass(frozen=True)
class Target:
    """Shapes of one class by reader; the target is what ``needed`` of the readers cover."""

    readers: Sequence[Sequence[Shape]]
    needed: int


def merge(readings: Iterable[Reading], merges: Mapping[str, Sequence[str]]) -> list[Reading]:
    """Replace classes by the merged class they belong to (merged class -> its classes)."""
    new = {old: name for name, members in merges.items() for old in members}
    merged = []
    for reading in readings:
        shapes: dict[str, list[Shape]] = {}
        for name, drawn in reading.shapes.items():
            shapes.setdefault(new.get(name, name), []).extend(drawn)
        asked, unplaced = (
            frozenset(new.get(name, name) for name in names)
            for names in (reading.asked, reading.unplaced)
        )
        merged.append(replace(reading, asked=asked, shapes=shapes, unplaced=unplaced))
    return merged


def fit(reading: Reading, width: int | None, height: int | None) -> Reading | None:
    """The reading in pixels of an image of this size; None if its frame has another shape.

    Where the size is not known, the frame is taken for the image.
    """
    x, y = (width or reading.width) / reading.width, (height or reading.height) / reading.height
    if abs(x / y - 1) > ASPECT_TOLERANCE:
        return None
    shapes = {
        name: [Shape(s.x1 * x, s.y1 * y, s.x2 * x, s.y2 * y, s.ellipse) for s in drawn]
        for name, drawn in reading.shapes.items()
    }
    return replace(reading, width=reading.width * x, height=reading.height * y, shapes=shapes)


def pool(readings: Sequence[Reading], pooling: Pooling) -> tuple[dict[Key, Target], set[Key]]:
    """Targets, and all keys of which at least one reader said whether and where.

    ``reading`` keeps readings apart; ``union`` is what any reader marked; ``majority`` what more
    than half of those marked who said whether and where.
    """
    groups: dict[tuple[str, str], list[Reading]] = {}
    for r in readings:
        groups.setdefault((r.image_id, r.reading if pooling == "reading" else ""), []).append(r)
    targets: dict[Key, Target] = {}
    asked: set[Key] = set()
    for (image, reading), members in groups.items():
        for name in sorted({n for r in members for n in (*r.asked, *r.shapes)}):
            drawn = [r.shapes[name] for r in members if name in r.shapes]
            silent = sum(name in r.asked - r.shapes.keys() - r.unplaced for r in members)
            needed = (len(drawn) + silent) // 2 + 1 if pooling == "majority" else 1
            if drawn or silent:
                asked.add(Key(image, reading, name))
            if len(drawn) >= needed:
                targets[Key(image, reading, name)] = Target(drawn, needed)
    return targets, asked


# --- files ----------------------------------------------------------------------------------------


def rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and cells of each row of a CSV that has ``columns``; short rows are an error."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            header = list(reader.fieldnames or [])
            for wanted in columns:
                if wanted not in header:
                    raise UserError(f"{path}: no column '{wanted}'{nearest(wanted, header)}")
            for row in reader:
                if None in row or None in row.values():
                    raise UserError(
                        f"{path}, line {reader.line_num}: not the {len(header)} cells of the "
                        "header; is the file cut short?"
                    )
                yield reader.line_num, row
    except FileNotFoundError:
        raise UserError(
            f"{path}: no such file; correct evaluate.boxes in the dataset file"
        ) from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: no UTF-8 text; is it compressed or another file?") from None


def number(text: str, where: str) -> float:
    """A number; blank is NaN."""
    if not text.strip():
        return math.nan
    try:
        return float(text)
    except ValueError:
        raise UserError(f"{where}: '{text}' is not a number") from None


def size(width: str, height: str, where: str) -> tuple[float, float]:
    """A frame's size; must be positive."""
    numbers = number(width, where), number(height, where)
    if not all(math.isfinite(n) and n > 0 for n in numbers):
        raise UserError(f"{where}: the image's size {width} x {height} is not positive")
    return numbers


def fault(shape: Shape, width: float, height: float) -> tuple[str, str] | None:
    """Why a shape cannot be used, or not wholly, as (code, text); None if all is well.

    A shape that reaches ``beyond_image`` is used, the part outside never counts.
    """
    x1, y1, x2, y2, _ = shape
    if not all(math.isfinite(v) for v in (x1, y1, x2, y2)):
        return "no_coordinates", "a coordinate is missing"
    if x2 <= x1 or y2 <= y1:
        return "no_area", "it has no area"
    if x1 >= width or y1 >= height or x2 <= 0 or y2 <= 0:
        return "outside_image", "it lies outside the image"
    if x1 < 0 or y1 < 0 or x2 > width or y2 > height:
        return "beyond_image", "it reaches beyond the image; the part inside counts"
    return None
