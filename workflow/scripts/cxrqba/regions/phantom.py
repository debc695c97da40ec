"""Synthetic chest films: drawn at run time, with known anatomy and lesions.

The demo ships no image. From one row per image (ids, view, size, seed) and one per lesion this
module draws a plausible film and knows the boxes of its organs and lesions; it also writes the
lesions as a box set in the format of MS-CXR 1.1.0. Nothing here stems from a real film.
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
from PIL import Image
from scipy import ndimage

from cxrqba.errors import UserError, nearest
from cxrqba.regions.phantom_anatomy import (
    CENTRAL_PLACES,
    PLACES,
    SIZES,
    Chest,
    Lesion,
    band,
    box_of,
    build_chest,
)
from cxrqba.tables import atomic_path, write_text

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


def write_film(film: Film, path: Path) -> None:
    """Write a film as JPG by atomic rename."""
    with atomic_path(path) as temporary:
        Image.fromarray(film).save(temporary, format="JPEG", quality=92)


# --- drawing --------------------------------------------------------------------------------------


def draw(image: Phantom, chest: Chest) -> Film:
    """Draw one film, (height, width) uint8, bright where the body absorbs."""
    rng = np.random.default_rng([image.seed, 3])
    absorbed = _frontal(chest, rng) if chest.view == "frontal" else _lateral(chest, rng)
    for number, (lesion, mask) in enumerate(chest.lesions):
        absorbed = absorbed + _lesion_field(chest, lesion, mask, image.seed, number)
    small = Image.fromarray(np.clip(absorbed, 0, None))
    field = np.asarray(small.resize((image.width, image.height), Image.Resampling.BICUBIC))
    exposure = rng.uniform(0.75, 1.05)
    film = 1.12 * (1 - np.exp(-exposure * np.clip(field, 0, None)))
    grain = rng.standard_normal(film.shape, dtype=np.float32)
    film = film + rng.uniform(0.008, 0.018) * grain * (1.15 - film)
    film = np.clip(film, 0, 1) ** rng.uniform(0.9, 1.25)
    return np.asarray(np.rint(film * 255), dtype=np.uint8)


def _blur(field: Field, sigma: float | tuple[float, float]) -> Field:
    return np.asarray(ndimage.gaussian_filter(field, sigma, truncate=3), dtype=np.float32)


def _soft(mask: NDArray[Any], sigma: float) -> Field:
    """Blur a mask; wide blurs are done on a coarser grid, which looks the same."""
    step = max(1, int(sigma / 3))
    if step == 1:
        return _blur(mask.astype(np.float32), sigma)
    image = Image.fromarray(mask.astype(np.float32)).reduce(step)
    small = _blur(np.asarray(image), sigma / step)
    size = (mask.shape[1], mask.shape[0])
    return np.asarray(Image.fromarray(small).resize(size, Image.Resampling.BICUBIC))


def _clouds(shape: tuple[int, int], sigma: float, rng: np.random.Generator) -> Field:
    """Smooth random field with mean 0 and standard deviation 1."""
    step = max(1, int(sigma / 2))
    small = rng.standard_normal((shape[0] // step + 2, shape[1] // step + 2), dtype=np.float32)
    small = ndimage.gaussian_filter(small, sigma / step)
    small = (small - small.mean()) / small.std()
    full = Image.fromarray(small).resize((shape[1], shape[0]), Image.Resampling.BICUBIC)
    return np.asarray(full)


def _lines(
    chest: Chest, lines: Iterable[Sequence[tuple[float, float]]], width: float, sigma: float
) -> Field:
    """Soft lines (u, v), ``width`` in units of the chest, added where they cross."""
    total = np.zeros(chest.shape, np.float32)
    for line in lines:
        points = chest.pose.place(np.array(line))
        total += band(points, width * chest.pose.scale, chest.shape)
    return _blur(total, sigma)


def _frontal(chest: Chest, rng: np.random.Generator) -> Field:
    unit = chest.pose.scale / 512
    lungs = chest.hemithorax["left"] | chest.hemithorax["right"]
    air = _soft(lungs, 2.0 * unit)
    depth = np.sqrt(np.clip(_soft(lungs, 14 * unit), 0, 1))  # more air in the middle
    field = 1.15 * _soft(chest.masks["body"], 5 * unit) ** 1.2
    field += 0.16 * _soft(chest.masks["body"], 30 * unit)
    field -= 0.92 * air * (0.55 + 0.45 * depth)
    field += 0.62 * _soft(chest.masks["heart"], 2.5 * unit) * (0.35 + 0.65 * air)
    field += 0.40 * _soft(chest.masks["mediastinum"], 2.5 * unit)
    field += 0.30 * _soft(chest.masks["spine"], 2.0 * unit) * (1 + 0.15 * _vertebrae(chest))
    field -= 0.26 * _soft(chest.masks["trachea"], 2.0 * unit)
    field += 0.25 * _abdomen(chest, unit)
    field += 0.075 * _lines(chest, _posterior_ribs(), 0.020, 1.2 * unit)
    field += 0.055 * _lines(chest, _anterior_ribs(), 0.022, 1.5 * unit)
    for side in ("left", "right"):
        field += 0.26 * _soft(chest.masks[f"{side} clavicle"], 1.3 * unit)
        field += 0.11 * air * _lines(chest, _vessels(side, rng), 0.006, 1.4 * unit)
        field += 0.20 * _soft(_hilum(chest, side), 7 * unit)
    field += 0.018 * _clouds(chest.shape, 4 * unit, rng) * air
    return field + np.float32(0.03) * _clouds(chest.shape, 60 * unit, rng)


def _lateral(chest: Chest, rng: np.random.Generator) -> Field:
    unit = chest.pose.scale / 512
    lungs = chest.masks["lungs"]
    air = _soft(lungs, 3.0 * unit)
    depth = np.sqrt(np.clip(_soft(lungs, 20 * unit), 0, 1))
    field = 1.30 * _soft(chest.masks["body"], 5 * unit)
    field -= 0.95 * air * (0.45 + 0.55 * depth)
    field += 0.42 * _soft(chest.masks["heart"], 4 * unit)
    field += 0.34 * _soft(chest.masks["spine"], 2.5 * unit) * (1 + 0.25 * _vertebrae(chest))
    field -= 0.22 * _soft(chest.masks["trachea"], 2.0 * unit)
    sternum = [[(0.15, 0.22), (0.24, 0.36), (0.285, 0.52)]]
    field += 0.20 * _lines(chest, sternum, 0.025, 1.5 * unit)
    ribs = [[(-0.33, v), (-0.15, v + 0.06), (0.10, v + 0.16)] for v in np.arange(0.14, 0.66, 0.07)]
    field += 0.06 * _lines(chest, ribs, 0.018, 1.5 * unit)
    field += 0.018 * _clouds(chest.shape, 4 * unit, rng) * air
    return field + np.float32(0.03) * _clouds(chest.shape, 60 * unit, rng)


def _vertebrae(chest: Chest) -> Field:
    """Light and dark bands down the spine, one period a vertebra."""
    rows = np.arange(chest.shape[0], dtype=np.float32)[:, None]
    return np.broadcast_to(
        np.cos(2 * np.pi * rows / (0.062 * chest.pose.scale)), chest.shape
    ).astype(np.float32)


def _abdomen(chest: Chest, unit: float) -> Field:
    """Below the lungs the body absorbs more: everything under the bottom of either lung."""
    lungs = chest.hemithorax["left"] | chest.hemithorax["right"]
    below = np.logical_or.accumulate(lungs, axis=0) & ~lungs
    rows = np.arange(chest.shape[0])[:, None]
    region = (below & chest.masks["body"] & (rows > chest.pose.y)).astype(np.float32)
    return _blur(region, (3 * unit, 12 * unit))


def _posterior_ribs() -> list[list[tuple[float, float]]]:
    lines = []
    for number in range(10):
        v = 0.085 + 0.066 * number
        reach = 0.17 + 0.21 * min(1.0, (number + 0.6) / 5) ** 0.6
        curve = [(0.03, v + 0.012), (0.3 * reach, v - 0.008), (0.65 * reach, v + 0.010),
                 (0.9 * reach, v + 0.045), (reach, v + 0.085)]  # fmt: skip
        lines += [[(sign * u, w) for u, w in curve] for sign in (1, -1)]
    return lines


def _anterior_ribs() -> list[list[tuple[float, float]]]:
    lines = []
    for number in range(6):
        v = 0.16 + 0.075 * number
        reach = 0.17 + 0.21 * min(1.0, (number + 0.6) / 4) ** 0.6
        curve = [(reach, v), (0.85 * reach, v + 0.055), (0.6 * reach, v + 0.095),
                 (0.35 * reach, v + 0.110)]  # fmt: skip
        lines += [[(sign * u, w) for u, w in curve] for sign in (1, -1)]
    return lines


def _vessels(side: str, rng: np.random.Generator) -> list[list[tuple[float, float]]]:
    sign = 1 if side == "left" else -1
    lines = []
    for angle in np.linspace(-1.2, 1.3, 8) + rng.uniform(-0.15, 0.15, 8):
        length, bend = rng.uniform(0.12, 0.22), rng.uniform(-0.6, 0.6)
        start = 0.42 + rng.uniform(-0.04, 0.04)
        steps = np.linspace(0, 1, 5)
        turn = angle + bend * steps
        lines.append(
            [
                (sign * (0.085 + length * t * np.cos(a)), start + length * t * np.sin(a))
                for t, a in zip(steps, turn, strict=True)
            ]
        )
    return lines


def _hilum(chest: Chest, side: str) -> NDArray[np.bool_]:
    sign = 1 if side == "left" else -1
    return band(
        chest.pose.place(np.array([(sign * 0.085, 0.37), (sign * 0.10, 0.45)])),
        0.045 * chest.pose.scale,
        chest.shape,
    )


STRENGTH = {
    "Atelectasis": 0.22,
    "Consolidation": 0.42,
    "Edema": 0.20,
    "Lung Opacity": 0.26,
    "Pleural Effusion": 0.62,
    "Pneumonia": 0.36,
    "Pneumothorax": -0.16,
    "Nodule": 0.28,
    "Device": 0.30,
}


def _lesion_field(
    chest: Chest, lesion: Lesion, mask: NDArray[np.bool_], seed: int, number: int
) -> Field:
    """What a lesion adds to the absorption; an enlarged heart is in the outlines already."""
    unit = chest.pose.scale / 512
    if lesion.category == "Cardiomegaly":
        return np.zeros(chest.shape, np.float32)
    rng = np.random.default_rng([seed, 4, number])
    if lesion.category == "Device":
        side = -1 if lesion.side == "right" else 1
        line = [(side * 0.22, 0.12), (side * 0.10, 0.16), (-0.03, 0.22), (-0.035, 0.40)]
        return STRENGTH["Device"] * _lines(chest, [line], 0.006, 0.6 * unit)
    sharp = lesion.category in ("Pleural Effusion", "Pneumothorax", "Nodule", "Atelectasis")
    shape = _soft(mask, (1.5 if sharp else 5.0) * unit)
    if lesion.category in ("Consolidation", "Pneumonia", "Lung Opacity", "Edema"):
        shape = shape * (1 + 0.3 * _clouds(chest.shape, 5 * unit, rng))
    return STRENGTH[lesion.category] * shape


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
