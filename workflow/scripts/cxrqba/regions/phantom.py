"""Synthetic chest films: which to draw, and what is known of them.

The demo ships no image. From one row per image (ids, view, size, seed) and one per lesion this
module knows the boxes of organs and lesions; it also writes the lesions as a box set in the format
of MS-CXR 1.1.0. :mod:`cxrqba.regions.phantom_film` draws. Nothing here stems from a real film.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxrqba.errors import UserError, nearest
from cxrqba.regions.phantom_anatomy import (
    CENTRAL_PLACES,
    PLACES,
    SIZES,
    Chest,
    Lesion,
    box_of,
    build_chest,
)
from cxrqba.tables import write_text

MS_CXR_CATEGORIES = (
    "Atelectasis",
    "Cardiomegaly",
    "Consolidation",
    "Edema",
    "Lung Opacity",
    "Pleural Effusion",
    "Pneumonia",
    "Pneumothorax",
)
CATEGORIES = (*MS_CXR_CATEGORIES, "Nodule", "Device")
MS_CXR_HEADER = (
    "dicom_id",
    "category_name",
    "label_text",
    "path",
    "x",
    "y",
    "w",
    "h",
    "image_width",
    "image_height",
    "split",
)
MS_CXR_SPLITS = {"train": "train", "validate": "val", "test": "test"}

PHANTOM_COLUMNS = (
    "subject_id",
    "study_id",
    "dicom_id",
    "ViewPosition",
    "Rows",
    "Columns",
    "seed",
)
LESION_COLUMNS = ("study_id", "dicom_id", "category_name", "label_text", "place", "size")
MAX_SIDE = 4096

FRONTAL_TRUTH = (
    "left lung",
    "right lung",
    "heart",
    "left clavicle",
    "right clavicle",
    "spine",
    "trachea",
)
LATERAL_TRUTH = ("lungs", "heart", "spine", "trachea")

Film = NDArray[np.uint8]
Field = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Phantom:
    """One image to draw."""

    subject_id: str  # digits
    study_id: str  # digits
    dicom_id: str
    view_position: str
    height: int
    width: int
    seed: int
    lesions: tuple[Lesion, ...] = ()

    @property
    def view(self) -> str:
        """frontal or lateral."""
        return "lateral" if self.view_position in ("LATERAL", "LL") else "frontal"

    @property
    def path(self) -> str:
        """Path below the images folder, as in MIMIC-CXR-JPG."""
        subject = f"p{self.subject_id}"
        return f"files/{subject[:3]}/{subject}/s{self.study_id}/{self.dicom_id}.jpg"

    def chest(self) -> Chest:
        """The outlines of the image's organs and lesions."""
        portable = self.view_position == "AP"
        return build_chest(self.view, portable, self.height, self.width, self.seed, self.lesions)

    def scale(self, chest: Chest) -> tuple[float, float]:
        """Image pixels per grid pixel, (x, y)."""
        return self.width / chest.shape[1], self.height / chest.shape[0]


def read_phantoms(phantoms: str | Path, lesions: str | Path) -> list[Phantom]:
    """Read phantoms.csv and lesions.csv; :class:`UserError` names file, line and cure."""
    drawn: dict[str, list[Lesion]] = {}
    where: dict[str, int] = {}
    for line, row in _rows(Path(lesions), LESION_COLUMNS):
        lesion = _lesion(row, f"{lesions}, line {line}")
        drawn.setdefault(row["dicom_id"], []).append(lesion)
        where.setdefault(row["dicom_id"], line)
    images: dict[str, Phantom] = {}
    for line, row in _rows(Path(phantoms), PHANTOM_COLUMNS):
        image = _phantom(row, tuple(drawn.get(row["dicom_id"], ())), f"{phantoms}, line {line}")
        if image.dicom_id in images:
            raise UserError(f"{phantoms}, line {line}: dicom_id {image.dicom_id} appears twice")
        if image.view == "lateral" and image.lesions:
            raise UserError(
                f"{lesions}, line {where[image.dicom_id]}: {image.dicom_id} is a lateral image; "
                "lesions are drawn on frontal ones only"
            )
        images[image.dicom_id] = image
    for dicom_id in where.keys() - images.keys():
        raise UserError(
            f"{lesions}, line {where[dicom_id]}: dicom_id {dicom_id} is not in {phantoms}"
        )
    return list(images.values())


def truth_rows(image: Phantom, chest: Chest) -> list[dict[str, Any]]:
    """Known anatomy of one image as PHANTOM_TRUTH rows."""
    names = LATERAL_TRUTH if image.view == "lateral" else FRONTAL_TRUTH
    boxes = {name: box_of(chest.masks[name], image.scale(chest)) for name in names}
    return [
        {"image_id": image.dicom_id, "structure": name, "bboxes": [box], "view": image.view}
        for name, box in boxes.items()
        if box is not None
    ]


def lesion_boxes(image: Phantom) -> list[tuple[Lesion, list[float]]]:
    """Lesions of one image with their boxes in image pixels."""
    chest = image.chest()
    boxes = [(lesion, box_of(mask, image.scale(chest))) for lesion, mask in chest.lesions]
    return [(lesion, box) for lesion, box in boxes if box is not None]


def ms_cxr_rows(images: Iterable[Phantom], splits: Mapping[str, str]) -> list[dict[str, Any]]:
    """The lesions as rows of MS-CXR 1.1.0, one per box, for the categories that it has.

    ``splits`` gives train, validate or test by dicom id, as in the split table of MIMIC-CXR-JPG.
    """
    rows = []
    for image in images:
        for lesion, (x1, y1, x2, y2) in lesion_boxes(image):
            if lesion.category not in MS_CXR_CATEGORIES:
                continue
            rows.append(
                {
                    "dicom_id": image.dicom_id,
                    "category_name": lesion.category,
                    "label_text": lesion.label_text,
                    "path": image.path,
                    "x": round(x1),
                    "y": round(y1),
                    "w": round(x2 - x1),
                    "h": round(y2 - y1),
                    "image_width": image.width,
                    "image_height": image.height,
                    "split": MS_CXR_SPLITS[splits[image.dicom_id]],
                }
            )
    return rows


def write_ms_cxr(rows: Sequence[Mapping[str, Any]], path: str | Path) -> None:
    """Write MS-CXR rows as CSV with exactly its header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, MS_CXR_HEADER, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(text.getvalue(), path)


# --- tables ---------------------------------------------------------------------------------------


def _rows(path: Path, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            rows = [(reader.line_num, row) for row in reader]
            header = reader.fieldnames or []
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    for column in columns:
        if column not in header:
            raise UserError(f"{path}: no column '{column}'{nearest(column, header)}")
    return rows


def _lesion(row: Mapping[str, str], where: str) -> Lesion:
    places = [*CENTRAL_PLACES, *(f"{side} {part}" for side in ("left", "right") for part in PLACES)]
    for column, known in (("category_name", CATEGORIES), ("place", places), ("size", SIZES)):
        if row[column] not in known:
            hint = nearest(row[column], known)
            raise UserError(f"{where}: unknown {column} '{row[column]}'{hint}")
    return Lesion(row["category_name"], row["label_text"], row["place"], row["size"])


def _phantom(row: Mapping[str, str], lesions: tuple[Lesion, ...], where: str) -> Phantom:
    numbers = {}
    for column in ("Rows", "Columns", "seed"):
        try:
            numbers[column] = int(row[column])
        except ValueError:
            raise UserError(f"{where}: {column} '{row[column]}' is no whole number") from None
    for column in ("Rows", "Columns"):
        if not 64 <= numbers[column] <= MAX_SIDE:
            raise UserError(f"{where}: {column} {numbers[column]} is not within 64..{MAX_SIDE}")
    if numbers["seed"] < 0:
        raise UserError(f"{where}: seed {numbers['seed']} is negative")
    return Phantom(
        subject_id=row["subject_id"].removeprefix("p"),
        study_id=row["study_id"].removeprefix("s"),
        dicom_id=row["dicom_id"],
        view_position=row["ViewPosition"],
        height=numbers["Rows"],
        width=numbers["Columns"],
        seed=numbers["seed"],
        lesions=lesions,
    )
