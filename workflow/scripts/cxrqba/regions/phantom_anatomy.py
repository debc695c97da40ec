"""The geometry of a synthetic chest: outlines of organs and lesions, without any drawing.

A chest lives in a frame of its own: ``u`` to the patient's left (lateral view: to the front),
``v`` downwards, one unit about the height of the trunk that a film shows. A :class:`Pose` places
it in an image, turned, scaled and shifted a little as patients are. Everything follows from the
seed, so that boxes of organs and lesions are known without drawing (demo data of the project; not
part of the paper).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy import ndimage

Points = NDArray[np.float64]
Mask = NDArray[np.bool_]

GRID = 448
"""Long side of the grid on which outlines become masks, pixels."""

SIZES = ("small", "moderate", "large")
PLACES = (
    "apex",
    "upper lung",
    "mid lung",
    "lower lung",
    "base",
    "costophrenic angle",
    "hilum",
    "lung",
)
CENTRAL_PLACES = ("heart", "mediastinum")

LUNG = (
    (0.145, 0.085), (0.225, 0.120), (0.285, 0.200), (0.330, 0.320), (0.355, 0.460),
    (0.370, 0.600), (0.377, 0.710), (0.380, 0.805), (0.335, 0.752), (0.265, 0.715),
    (0.190, 0.712), (0.120, 0.735), (0.070, 0.765), (0.066, 0.680), (0.060, 0.560),
    (0.055, 0.450), (0.050, 0.340), (0.045, 0.240), (0.055, 0.150), (0.090, 0.100),
)  # fmt: skip
"""Outline of a lung: distance from the midline and ``v``; the heart is cut out of it."""

HEART = (
    (-0.050, 0.450), (-0.088, 0.530), (-0.112, 0.610), (-0.104, 0.700), (-0.060, 0.752),
    (0.030, 0.772), (0.130, 0.785), (0.200, 0.760), (0.232, 0.710), (0.214, 0.640),
    (0.168, 0.570), (0.115, 0.500), (0.060, 0.452), (0.000, 0.436),
)  # fmt: skip
HEART_CENTRE = (0.02, 0.66)

MEDIASTINUM = (
    (-0.045, 0.060), (-0.060, 0.200), (-0.068, 0.330), (-0.062, 0.460), (-0.050, 0.640),
    (0.050, 0.640), (0.075, 0.460), (0.070, 0.390), (0.092, 0.330), (0.088, 0.275),
    (0.060, 0.240), (0.045, 0.150), (0.042, 0.060),
)  # fmt: skip

BODY = (
    (-0.090, -0.050), (-0.100, 0.020), (-0.200, 0.060), (-0.380, 0.110), (-0.560, 0.180),
    (-0.560, 0.330), (-0.470, 0.420), (-0.440, 0.600), (-0.430, 0.800), (-0.450, 1.150),
    (0.450, 1.150), (0.430, 0.800), (0.440, 0.600), (0.470, 0.420), (0.560, 0.330),
    (0.560, 0.180), (0.380, 0.110), (0.200, 0.060), (0.100, 0.020), (0.090, -0.050),
)  # fmt: skip

CLAVICLE = (
    (0.035, 0.150), (0.110, 0.118), (0.190, 0.102), (0.262, 0.078), (0.268, 0.094),
    (0.195, 0.126), (0.115, 0.144), (0.045, 0.180),
)  # fmt: skip

LATERAL_BODY = (
    (0.100, -0.050), (0.120, 0.060), (0.230, 0.220), (0.330, 0.420), (0.335, 0.700),
    (0.320, 1.150), (-0.400, 1.150), (-0.410, 0.700), (-0.420, 0.400), (-0.340, 0.160),
    (-0.210, 0.030), (-0.190, -0.050),
)  # fmt: skip
LATERAL_LUNG = (
    (-0.030, 0.100), (-0.150, 0.140), (-0.255, 0.280), (-0.305, 0.480), (-0.295, 0.700),
    (-0.245, 0.870), (-0.170, 0.800), (-0.060, 0.745), (0.060, 0.720), (0.160, 0.735),
    (0.250, 0.800), (0.268, 0.660), (0.250, 0.500), (0.200, 0.360), (0.125, 0.240),
    (0.050, 0.140),
)  # fmt: skip
LATERAL_HEART = (
    (0.030, 0.470), (-0.020, 0.560), (-0.015, 0.660), (0.050, 0.735), (0.150, 0.740),
    (0.225, 0.700), (0.240, 0.620), (0.200, 0.530), (0.120, 0.470),
)  # fmt: skip
LATERAL_SPINE = (
    (-0.190, -0.050), (-0.270, 0.160), (-0.345, 0.400), (-0.345, 0.650), (-0.290, 1.150),
)  # fmt: skip
LATERAL_TRACHEA = ((-0.020, -0.050), (-0.035, 0.120), (-0.060, 0.330))


@dataclass(frozen=True, slots=True)
class Lesion:
    """One row of lesions.csv."""

    category: str
    label_text: str
    place: str  # "left base", "heart", ...
    size: str  # small, moderate, large

    @property
    def side(self) -> str | None:
        """left, right or None for heart and mediastinum."""
        return None if self.place in CENTRAL_PLACES else self.place.split(" ", 1)[0]

    @property
    def part(self) -> str:
        """The place without its side."""
        return self.place if self.side is None else self.place.split(" ", 1)[1]


@dataclass(frozen=True, slots=True)
class Pose:
    """Where the chest lies: grid pixels = centre + scale · R(angle) · (mirror · u, v)."""

    x: float
    y: float
    scale: float
    angle: float
    mirror: float

    def place(self, points: Points) -> Points:
        """(n, 2) points of the chest's frame as (n, 2) x, y on the grid."""
        u, v = points[:, 0] * self.mirror, points[:, 1] - 0.5
        c, s = math.cos(self.angle), math.sin(self.angle)
        return np.stack(
            [self.x + self.scale * (c * u - s * v), self.y + self.scale * (s * u + c * v)], axis=1
        )


@dataclass
class Chest:
    """Outlines of one image as masks (h, w) on the grid, and what the painter needs besides."""

    view: str
    pose: Pose
    shape: tuple[int, int]
    masks: dict[str, Mask] = field(default_factory=dict)
    hemithorax: dict[str, Mask] = field(default_factory=dict)  # lungs with what hides them
    lesions: list[tuple[Lesion, Mask]] = field(default_factory=list)


def smooth(points: Points, steps: int = 8) -> Points:
    """Closed Catmull-Rom curve through (n, 2) points, as (n · steps, 2) points."""
    p0, p1, p2, p3 = (np.roll(points, shift, axis=0)[:, None, :] for shift in (1, 0, -1, -2))
    t = np.linspace(0, 1, steps, endpoint=False)[None, :, None]
    curve = 0.5 * (
        2 * p1
        + (p2 - p0) * t
        + (2 * p0 - 5 * p1 + 4 * p2 - p3) * t**2
        + (3 * p1 - p0 - 3 * p2 + p3) * t**3
    )
    return curve.reshape(-1, 2)


def fill(points: Points, shape: tuple[int, int]) -> Mask:
    """Mask (h, w) of the polygon with (n, 2) x, y corners."""
    image = Image.new("1", (shape[1], shape[0]))
    ImageDraw.Draw(image).polygon([(float(x), float(y)) for x, y in points], fill=1)
    return np.array(image, dtype=bool)


def band(points: Points, width: float, shape: tuple[int, int]) -> Mask:
    """Mask (h, w) of a line through (n, 2) x, y points, ``width`` grid pixels wide."""
    image = Image.new("1", (shape[1], shape[0]))
    line = [(float(x), float(y)) for x, y in points]
    ImageDraw.Draw(image).line(line, fill=1, width=max(1, round(width)), joint="curve")
    return np.array(image, dtype=bool)


def box_of(mask: Mask, scale: tuple[float, float]) -> list[float] | None:
    """(x1, y1, x2, y2) of a mask times ``scale`` (x, y), rounded to whole pixels; None if empty."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if rows.size == 0:
        return None
    edges = columns[0] * scale[0], rows[0] * scale[1]
    ends = (columns[-1] + 1) * scale[0], (rows[-1] + 1) * scale[1]
    return [float(round(v)) for v in (*edges, *ends)]


def grid_shape(height: int, width: int) -> tuple[int, int]:
    """(h, w) of the grid for an image of ``height`` x ``width`` pixels."""
    factor = GRID / max(height, width)
    return max(1, round(height * factor)), max(1, round(width * factor))


def build_chest(
    view: str, portable: bool, height: int, width: int, seed: int, lesions: tuple[Lesion, ...]
) -> Chest:
    """All outlines of one image; ``portable`` (AP) films have a wider heart and higher domes."""
    rng = np.random.default_rng([seed, 1])
    shape = grid_shape(height, width)
    scale = min(shape[1] * rng.uniform(0.93, 1.04), shape[0] * rng.uniform(0.90, 1.0))
    pose = Pose(
        x=shape[1] / 2 + scale * rng.uniform(-0.025, 0.025),
        y=shape[0] / 2 + scale * rng.uniform(-0.01, 0.03),
        scale=scale,
        angle=math.radians(rng.uniform(-3, 3)),
        mirror=1.0 if view == "frontal" or rng.random() < 0.5 else -1.0,
    )
    chest = Chest(view, pose, shape)
    if view == "lateral":
        _build_lateral(chest, rng)
    else:
        _build_frontal(chest, rng, portable, lesions)
        chest.lesions = [(lesion, _lesion_mask(chest, lesion, seed, n))
                         for n, lesion in enumerate(lesions)]  # fmt: skip
    return chest


def _build_frontal(
    chest: Chest, rng: np.random.Generator, portable: bool, lesions: tuple[Lesion, ...]
) -> None:
    place, shape = chest.pose.place, chest.shape
    width = rng.uniform(0.95, 1.05)
    lift = rng.uniform(-0.02, 0.02) + (0.045 if portable else 0.0)  # shallow breath
    heart = np.array(HEART) - HEART_CENTRE
    heart *= rng.uniform(0.92, 1.04) * (1.10 if portable else 1.0) * _enlargement(lesions)
    heart += HEART_CENTRE + np.array([rng.uniform(-0.01, 0.01), -lift])
    chest.masks["body"] = fill(place(smooth(np.array(BODY) * (width, 1))), shape)
    chest.masks["heart"] = fill(place(smooth(heart)), shape)
    chest.masks["mediastinum"] = fill(place(smooth(np.array(MEDIASTINUM))), shape)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        lung = np.array(LUNG)
        below = np.clip((lung[:, 1] - 0.3) / 0.5, 0, 1)
        dome = lift - (0.02 if side == "left" else 0.0) + rng.uniform(-0.008, 0.008)
        lung[:, 1] -= below * dome
        lung[:, 0] *= sign * width
        outline = fill(place(smooth(lung)), shape)
        chest.hemithorax[side] = outline
        visible = outline & ~chest.masks["heart"] & ~chest.masks["mediastinum"]
        chest.masks[f"{side} lung"] = _largest(visible)
        clavicle = np.array(CLAVICLE) * (sign * width, 1) + (0, rng.uniform(-0.02, 0.03))
        chest.masks[f"{side} clavicle"] = fill(place(smooth(clavicle)), shape)
    spine = np.array([(0, -0.05), (rng.uniform(-0.006, 0.006), 0.5), (0, 1.15)])
    chest.masks["spine"] = band(place(spine), 0.07 * chest.pose.scale, shape)
    trachea = np.array([(0, -0.05), (0.002, 0.15), (-0.006, 0.325)])
    chest.masks["trachea"] = band(place(trachea), 0.036 * chest.pose.scale, shape)


def _largest(mask: Mask) -> Mask:
    """The largest connected part: no sliver between heart and spine belongs to a visible lung."""
    labels, count = ndimage.label(mask)
    if count < 2:
        return mask
    areas = np.bincount(labels.ravel())
    areas[0] = 0
    largest: Mask = labels == int(areas.argmax())
    return largest


def _build_lateral(chest: Chest, rng: np.random.Generator) -> None:
    place, shape = chest.pose.place, chest.shape
    depth = rng.uniform(0.92, 1.08)
    outlines = {"body": LATERAL_BODY, "lungs": LATERAL_LUNG, "heart": LATERAL_HEART}
    for name, outline in outlines.items():
        chest.masks[name] = fill(place(smooth(np.array(outline) * (depth, 1))), shape)
    spine = np.array(LATERAL_SPINE) * (depth, 1)
    chest.masks["spine"] = band(place(spine), 0.075 * chest.pose.scale, shape)
    trachea = np.array(LATERAL_TRACHEA) * (depth, 1)
    chest.masks["trachea"] = band(place(trachea), 0.036 * chest.pose.scale, shape)
    chest.hemithorax["both"] = chest.masks["lungs"]


def _enlargement(lesions: tuple[Lesion, ...]) -> float:
    sizes = [lesion.size for lesion in lesions if lesion.category == "Cardiomegaly"]
    return max(({"small": 1.12, "moderate": 1.24, "large": 1.36}[s] for s in sizes), default=1.0)


# --- lesions --------------------------------------------------------------------------------------

SPAN = {
    "apex": (0.02, 0.16),
    "upper lung": (0.14, 0.40),
    "mid lung": (0.38, 0.64),
    "lower lung": (0.60, 0.86),
    "base": (0.72, 0.92),
    "costophrenic angle": (0.84, 0.98),
    "hilum": (0.40, 0.56),
    "lung": (0.25, 0.75),
}
"""Place of a lesion's centre, as shares of the height of its lung."""

RADIUS = {"small": 0.045, "moderate": 0.075, "large": 0.115}
DEPTH = {"small": 0.12, "moderate": 0.28, "large": 0.52}
RIM = {"small": 0.06, "moderate": 0.13, "large": 0.28}


def _lesion_mask(chest: Chest, lesion: Lesion, seed: int, number: int) -> Mask:
    """Where a lesion lies, (h, w); at least one pixel."""
    rng = np.random.default_rng([seed, 2, number])
    if lesion.category == "Cardiomegaly" or lesion.place == "heart":
        return chest.masks["heart"]
    if lesion.place == "mediastinum":
        return chest.masks["mediastinum"]
    lung = chest.masks[f"{lesion.side} lung"]
    rows, columns = np.mgrid[0 : chest.shape[0], 0 : chest.shape[1]]
    ys, xs = np.nonzero(lung)
    top, height = float(ys.min()), float(np.ptp(ys)) + 1
    if lesion.category == "Pleural Effusion":
        outward = (columns - xs.mean()) / np.ptp(xs) * (1 if lesion.side == "left" else -1)
        level = top + height * (1 - DEPTH[lesion.size])
        fluid: Mask = lung & (rows > level - 0.10 * height * np.clip(outward, -0.4, 0.5))
        return fluid
    if lesion.category == "Pneumothorax":
        rim = lung & ~_retracted(lung, RIM[lesion.size], lesion.side == "left")
        apical = rows < top + 0.45 * height
        pocket: Mask = rim & apical if lesion.part == "apex" else rim
        return pocket
    x, y = _centre(chest, lesion, lung, rng)
    unit = chest.pose.scale
    if lesion.category == "Edema":
        rx, ry = 0.16 * unit, 0.24 * unit
    elif lesion.category == "Nodule":
        rx = ry = 0.35 * RADIUS[lesion.size] * unit
    elif lesion.category == "Atelectasis":
        rx, ry = 1.2 * RADIUS[lesion.size] * unit, 0.45 * RADIUS[lesion.size] * unit
    else:
        rx = RADIUS[lesion.size] * unit * rng.uniform(0.9, 1.1)
        ry = RADIUS[lesion.size] * unit * rng.uniform(0.9, 1.1)
    inside = ((columns - x) / max(rx, 1.5)) ** 2 + ((rows - y) / max(ry, 1.5)) ** 2 <= 1
    within: Mask = inside & lung
    return within if within.any() else inside


def _centre(
    chest: Chest, lesion: Lesion, lung: Mask, rng: np.random.Generator
) -> tuple[float, float]:
    """A point inside the lung at the lesion's place."""
    ys, xs = np.nonzero(lung)
    low, high = SPAN[lesion.part]
    share = 0.5 * (low + high) if lesion.category == "Edema" else rng.uniform(low, high)
    y = int(np.clip(ys.min() + share * np.ptp(ys), ys.min(), ys.max()))
    row = xs[ys == y] if (ys == y).any() else xs
    medial = row.min() if lesion.side == "left" else row.max()
    lateral = row.max() if lesion.side == "left" else row.min()
    depth = {"hilum": 0.15, "costophrenic angle": 0.85}.get(lesion.part, rng.uniform(0.35, 0.65))
    if lesion.category == "Edema":
        depth = 0.3
    return float(medial + depth * (lateral - medial)), float(y)


def _retracted(lung: Mask, share: float, is_left: bool) -> Mask:
    """The lung shrunk by ``share`` towards its hilum."""
    ys, xs = np.nonzero(lung)
    hx = float(xs.min() if is_left else xs.max())
    hy = float(ys.min() + 0.6 * np.ptp(ys))
    rows, columns = np.mgrid[0 : lung.shape[0], 0 : lung.shape[1]]
    y = np.clip(np.rint(hy + (rows - hy) / (1 - share)), 0, lung.shape[0] - 1).astype(int)
    x = np.clip(np.rint(hx + (columns - hx) / (1 - share)), 0, lung.shape[1] - 1).astype(int)
    outside = (np.abs(hy + (rows - hy) / (1 - share) - y) > 1) | (
        np.abs(hx + (columns - hx) / (1 - share) - x) > 1
    )
    shrunk: Mask = lung[y, x] & ~outside
    return shrunk
