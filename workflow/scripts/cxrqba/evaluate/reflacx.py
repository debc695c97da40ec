"""Ellipses of REFLACX 1.0.0: a table of readings a phase, and a folder a reading.

``main_data/metadata_phase_N.csv`` has one row a reading: id, image, size and how sure the reader
was of each of the phase's labels (0 absent to 5, or True/False, or free text for ``Other``).
``main_data/<id>/anomaly_location_ellipses.csv`` has one row an ellipse: the rectangle it fills in
pixels of the image, certainty 1 to 5, True for each label it stands for. A file with nothing but
its header means that the reader drew none. Gaze and transcriptions are not read (paper App. A,
Tab. 10).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cxrqba.errors import UserError, nearest
from cxrqba.evaluate.expert_shapes import LeftOut, Reading, fault, number, rows, size
from cxrqba.evaluate.shapes import Shape

FOLDER = "main_data"
ELLIPSES = "anomaly_location_ellipses.csv"
METADATA_COLUMNS = (
    "id",
    "split",
    "eye_tracking_data_discarded",
    "image",
    "dicom_id",
    "subject_id",
    "image_size_x",
    "image_size_y",
)
ELLIPSE_COLUMNS = ("xmin", "ymin", "xmax", "ymax", "certainty")
CERTAINTIES = {1: "unlikely", 2: "less likely", 3: "possibly", 4: "probably", 5: "consistent with"}
FREE_TEXT = "Other"
_TRUTH = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}


@dataclass(frozen=True)
class Cut:
    """Which phases are read, and how sure a reader must have been (1 to 5)."""

    phases: Sequence[int] = (1, 2, 3)
    certainty: int = 3


def metadata_path(folder: Path, phase: int) -> Path:
    """Table of the readings of a phase; ``folder`` is the data set's or its ``main_data``."""
    name = f"metadata_phase_{phase}.csv"
    inner = folder / FOLDER / name
    return inner if inner.is_file() or not (folder / name).is_file() else folder / name


def read_reflacx(
    folder: Path, labels: Iterable[str], cut: Cut
) -> tuple[list[Reading], list[LeftOut]]:
    """All readings of the phases, and what of them cannot be used.

    ``labels`` are the names of both lists of labels (26). A reader who is sure enough of a label
    but drew no ellipse for it says nothing of the place: such labels are ``Reading.unplaced``.
    """
    known = frozenset(labels)
    readings: list[Reading] = []
    faults: list[LeftOut] = []
    seen: set[str] = set()
    for phase in cut.phases:
        table = metadata_path(folder, phase)
        if not table.is_file():
            raise UserError(
                f"{table}: no such file; correct the path, or leave {phase} out of the reference's "
                "phases (evaluate.boxes)"
            )
        for line, row in rows(table, METADATA_COLUMNS):
            where = f"{table}, line {line}"
            name = row["id"].strip()
            if name in seen:
                raise UserError(f"{where}: reading {name} appears twice")
            seen.add(name)
            asked = _labels(row, METADATA_COLUMNS, known, str(table))
            path = table.parent / name / ELLIPSES
            if not path.is_file():
                detail = f"{where}: {path} is missing; the reading is not used"
                faults.append(LeftOut(row["dicom_id"].strip(), "no_ellipse_file", detail))
                continue
            frame = size(row["image_size_x"], row["image_size_y"], where)
            image = row["dicom_id"].strip()
            shapes, wrong = _ellipses(path, image, frame, asked, cut.certainty)
            faults += wrong
            stated = {n for n in asked if _stated(row[n], n, cut.certainty, f"{where}, {n}")}
            unplaced = frozenset(stated - shapes.keys())
            readings.append(Reading(name, image, *frame, asked, shapes, unplaced))
    return readings, faults


def _labels(
    row: Mapping[str, str], columns: Sequence[str], known: frozenset[str], path: str
) -> frozenset[str]:
    """The label columns of a row; unknown ones are an error."""
    labels = frozenset(row) - set(columns)
    for name in sorted(labels - known):
        raise UserError(f"{path}: unknown label column '{name}'{nearest(name, known)}")
    return labels


def _ellipses(
    path: Path, image: str, frame: tuple[float, float], asked: frozenset[str], certainty: int
) -> tuple[dict[str, list[Shape]], list[LeftOut]]:
    """Ellipses by label that are certain enough, and those that cannot be used."""
    shapes: dict[str, list[Shape]] = {}
    faults: list[LeftOut] = []
    for line, row in rows(path, ELLIPSE_COLUMNS):
        where = f"{path}, line {line}"
        names = [n for n in row if n not in ELLIPSE_COLUMNS and _true(row[n], f"{where}, {n}")]
        for name in names:
            if name not in asked:
                raise UserError(
                    f"{where}: label '{name}' is none of the reading's phase; is the file of "
                    "another phase?"
                )
        x1, y1, x2, y2, level = (number(row[c], f"{where}, {c}") for c in ELLIPSE_COLUMNS)
        if level not in CERTAINTIES:
            raise UserError(f"{where}, certainty: '{row['certainty']}' is not within 1 to 5")
        if level < certainty:
            continue
        ellipse = Shape(x1, y1, x2, y2, True)
        wrong = fault(ellipse, *frame) or (None if names else ("no_label", "it has no label"))
        if wrong:
            faults.append(LeftOut(image, wrong[0], f"{where}: ellipse: {wrong[1]}"))
        if wrong is None or wrong[0] == "beyond_image":
            for name in names:
                shapes.setdefault(name, []).append(ellipse)
    return shapes, faults


def _true(text: str, where: str) -> bool:
    try:
        return _TRUTH[text.strip().lower() or "false"]
    except KeyError:
        raise UserError(f"{where}: '{text}' is neither True nor False") from None


def _stated(text: str, label: str, certainty: int, where: str) -> bool:
    """Whether a reading's table calls a label present with this certainty."""
    text = text.strip()
    if label == FREE_TEXT:
        return bool(text)
    if text.lower() in ("true", "false", ""):
        return text.lower() == "true"
    return number(text, where) >= certainty
