"""The atlas backend on altered versions of real films: what clean films cannot tell.

    PYTHONPATH=workflow/scripts python -m cxrqba.evaluate.film_versions <folder> --out <file>.csv

``<folder>`` holds ``images/<name>.png`` and ``masks/<structure>/<name>.png``. Every second film is
read (the others gave the atlas its priors); a version changes film and masks alike, and its boxes
are those of the changed masks. One row a version and structure: mean and 10th percentile of the
intersection over union, a structure not found counting as 0, and the share of films refused. The
means are printed as a table.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from PIL import Image, ImageDraw
from scipy import ndimage

from cxrqba.evaluate.regions import MASK_FOLDERS, Target, box_iou
from cxrqba.reference.tables import load_regions
from cxrqba.regions.atlas import find_anatomy
from cxrqba.regions.engine import localize

Gray = npt.NDArray[np.float32]
Masks = dict[str, npt.NDArray[np.bool_]]
Version = Callable[[Gray, Masks], tuple[Gray, Masks]]

MIN_AREA = 25.0  # square pixels, as in the demo


def _exposure(change: Callable[[Gray], Gray]) -> Version:
    """Only gray values change; they stay within 0..1."""
    return lambda film, masks: (np.clip(change(film), 0, 1).astype(np.float32), masks)


def _warped(where: Callable[[Gray, Masks], npt.NDArray[np.float64]]) -> Version:
    """``where`` gives (2, H, W) source rows and columns of each pixel; outside is black."""

    def version(film: Gray, masks: Masks) -> tuple[Gray, Masks]:
        source = where(film, masks)
        moved = ndimage.map_coordinates(film, source, order=1, cval=0.0)
        return moved.astype(np.float32), {
            name: ndimage.map_coordinates(m.astype(np.uint8), source, order=0) > 0
            for name, m in masks.items()
        }

    return version


def _rotated(degrees: float) -> Version:
    """Turned about the centre; corners go black, as with a tilted cassette."""

    def where(film: Gray, _: Masks) -> npt.NDArray[np.float64]:
        rows, columns, middle = _grid(film)
        sine, cosine = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))
        y, x = rows - middle[0], columns - middle[1]
        return np.stack([cosine * y - sine * x + middle[0], sine * y + cosine * x + middle[1]])

    return _warped(where)


def _ap_like(film: Gray, masks: Masks) -> npt.NDArray[np.float64]:
    """Nearer to the tube and less breath: wider by 8 %, lower by 18 %, the heart by 20 % wider."""
    rows, columns, middle = _grid(film)
    y = (rows - middle[0]) / 0.82 + middle[0]
    x = (columns - middle[1]) / 1.08 + middle[1]
    heart = np.argwhere(masks["heart"])
    (cy, cx), (sy, sx) = heart.mean(axis=0), np.ptp(heart, axis=0) / 2
    bulge = 0.2 * np.exp(-(((y - cy) / sy) ** 2) - ((x - cx) / (1.6 * sx)) ** 2)
    return np.stack([y, cx + (x - cx) / (1 + bulge)])


def _grid(film: Gray) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], list[float]]:
    rows, columns = np.mgrid[0 : film.shape[0], 0 : film.shape[1]].astype(np.float64)
    return rows, columns, [(n - 1) / 2 for n in film.shape]


def _cropped(film: Gray, masks: Masks) -> tuple[Gray, Masks]:
    """6 % lost on all sides: the outermost lung lies at the border or beyond."""
    top, left = (round(0.06 * n) for n in film.shape)
    inner = np.s_[top : film.shape[0] - top, left : film.shape[1] - left]
    return film[inner], {name: m[inner] for name, m in masks.items()}


def _bordered(film: Gray, masks: Masks) -> tuple[Gray, Masks]:
    """Black beside and below, unevenly, with a white line where the film ends."""
    wide = ((20, 60), (90, 30))
    framed = np.pad(np.pad(film, 3, constant_values=1.0), wide)
    return framed, {name: np.pad(np.pad(m, 3), wide) for name, m in masks.items()}


def _with_text(film: Gray, masks: Masks) -> tuple[Gray, Masks]:
    """Letters burned in: a side marker, a line above and a white plate below."""
    picture = Image.fromarray((film * 255).astype(np.uint8))
    height, width = film.shape
    pen = ImageDraw.Draw(picture)
    pen.text((0.86 * width, 0.04 * height), "L", fill=255, font_size=0.08 * height)
    pen.text((0.03 * width, 0.02 * height), "PORTABLE AP 07:15", fill=255, font_size=0.04 * height)
    pen.rectangle((0, 0.94 * height, 0.4 * width, height), fill=255)
    pen.text((0.02 * width, 0.945 * height), "WARD 3 SUPINE", fill=0, font_size=0.04 * height)
    return np.asarray(picture, dtype=np.float32) / np.float32(255), masks


def _noise(film: Gray) -> Gray:
    return film + np.random.default_rng(0).normal(0, 0.1, film.shape).astype(np.float32)


VERSIONS: dict[str, Version] = {
    "as they are": _exposure(lambda film: film),
    "darker": _exposure(lambda film: 0.5 * film**2),
    "brighter": _exposure(lambda film: 0.4 + 0.6 * film**0.5),
    "overexposed": _exposure(lambda film: (film - 0.35) / 0.65),  # lungs burnt to black
    "underexposed": _exposure(lambda film: film / 0.65),  # soft parts without detail
    "noisy": _exposure(_noise),
    "inverted": _exposure(lambda film: 1 - film),
    "rotated 5° left": _rotated(-5),
    "rotated 5° right": _rotated(5),
    "rotated 10° left": _rotated(-10),
    "rotated 10° right": _rotated(10),
    "cropped": _cropped,
    "AP-like": _warped(_ap_like),
    "bordered": _bordered,
    "with text": _with_text,
}


def measure(
    folder: Path, reference: Path, versions: dict[str, Version], every: int
) -> pl.DataFrame:
    """Overlap of each version's boxes, from every ``every``-th film of ``folder``, odd ones first.

    ``reference`` holds regions.csv.
    """
    regions = load_regions(reference)
    films = sorted((folder / "images").glob("*.png"))[1::every]
    rows = []
    for name, version in versions.items():
        overlaps: dict[str, list[float]] = {structure: [] for structure in MASK_FOLDERS}
        refused = 0
        for file in films:
            film, masks = version(_gray(file), _masks(folder, file.name))
            anatomy = find_anatomy(film, "frontal")
            refused += anatomy is None
            size = (film.shape[0], film.shape[1])
            found = localize(anatomy, regions, size, MIN_AREA) if anatomy else []
            boxes = {r["region"]: r["bboxes"] for r in found if not r["is_fallback"]}
            for structure, mask in masks.items():
                if mask.any():
                    target = Target.of_mask(structure, file.stem, mask, size)
                    overlaps[structure].append(box_iou(target.box, boxes.get(structure, [])))
        for structure, values in overlaps.items():
            mean, low = np.mean(values), np.percentile(values, 10)
            rows.append((name, structure, mean, low, refused / len(films), len(films)))
    columns = ["version", "structure", "iou_mean", "iou_p10", "refused", "films"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def by_version(table: pl.DataFrame) -> str:
    """The means of :func:`measure` as Markdown: a row a version, a column a structure, refusals."""
    lines = [f"| version | {' | '.join(MASK_FOLDERS)} | refused |", "|---" * 7 + "|"]
    for rows in table.partition_by("version", maintain_order=True):
        means = dict(rows.select("structure", "iou_mean").iter_rows())
        cells = [f"{means[structure]:.2f}" for structure in MASK_FOLDERS]
        cells.append(f"{rows['refused'][0]:.2f}")
        lines.append(f"| {rows['version'][0]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _gray(file: Path) -> Gray:
    with Image.open(file) as image:
        return np.asarray(image.convert("L"), dtype=np.float32) / np.float32(255)


def _masks(folder: Path, name: str) -> Masks:
    masks = {}
    for structure, part in MASK_FOLDERS.items():
        with Image.open(folder / "masks" / part / name) as image:
            masks[structure] = np.asarray(image.convert("L")) > 0
    return masks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reference", type=Path, default=Path("resources/reference"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--every", type=int, default=2)
    args = parser.parse_args()
    table = measure(args.folder, args.reference, VERSIONS, args.every)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    table.write_csv(args.out)
    print(by_version(table))


if __name__ == "__main__":
    main()
