"""Draw a plausible film of a synthetic chest: what absorbs, where, and how the detector sees it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from cxrqba.regions.phantom import Phantom
from cxrqba.regions.phantom_anatomy import Chest, Lesion, band
from cxrqba.tables import atomic_path

Film = NDArray[np.uint8]
Field = NDArray[np.float32]


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


def write_film(film: Film, path: Path) -> None:
    """Write a film as JPG by atomic rename."""
    with atomic_path(path) as temporary:
        Image.fromarray(film).save(temporary, format="JPEG", quality=92)
