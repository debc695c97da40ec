"""Backend ``atlas``: lungs, heart and what follows from them, found in the image on one CPU core.

The paper (Sec. E.1.1) takes masks of the CXAS network; its weights cannot be had everywhere, so the
default backend localises the large structures with hand-drawn outlines that are fitted to the
edges of the image (:mod:`cxrqba.regions.contours`):

* both lungs together, each with its own box, height of the dome and bulge of the heart;
* heart and clavicles, near where the lungs say they are;
* the rest (zones, hila, mediastinum, hemidiaphragms, costophrenic angles) from these.

What it cannot see it does not give: single ribs, vertebrae, heart chambers, lobes, vessels. An
image in which no pair of lungs follows edges well enough has no localisation at all; photographs,
noise and other body parts stay far below the threshold.

The outlines were drawn by hand after the look of the manual masks (SCR) of every other JSRT film
(Shiraishi et al. 2000, van Ginneken et al. 2006), and the priors below are medians and spreads over
the same films; no film is contained in them. The lateral outline was drawn without any film.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy import ndimage

from cxrqba.regions.contours import (
    Array,
    Field,
    Gray,
    Shape,
    fit_near,
    flux,
    outline,
    prepare,
    search,
)
from cxrqba.regions.crops import Mask, clean
from cxrqba.regions.engine import Anatomy, Box

MIN_SIDE = 48
"""An image with a shorter side shows no anatomy."""

LEFT_LUNG = (
    (0.270, 0.000), (0.450, 0.030), (0.600, 0.085), (0.750, 0.180), (0.810, 0.250),
    (0.850, 0.360), (0.880, 0.500), (0.920, 0.650), (0.960, 0.780), (0.990, 0.840),
    (1.000, 0.920), (0.985, 1.000), (0.930, 0.960), (0.820, 0.910), (0.720, 0.880),
    (0.600, 0.850), (0.540, 0.800), (0.500, 0.720), (0.420, 0.630), (0.330, 0.570),
    (0.240, 0.530), (0.170, 0.460), (0.140, 0.380), (0.140, 0.310), (0.070, 0.240),
    (0.000, 0.180), (0.000, 0.110), (0.050, 0.050), (0.120, 0.020),
)  # fmt: skip
"""Medial border at u = 0, lateral at 1."""
LEFT_DOME = {12: 0.25, 13: 0.44, 14: 0.62, 15: 0.81, 16: 1.0, 17: 0.8, 18: 0.4}
LEFT_BULGE = {16: 0.48, 17: 0.71, 18: 0.88, 19: 0.98, 20: 0.99, 21: 0.89, 22: 0.69, 23: 0.3}

RIGHT_LUNG = (
    (0.240, 0.000), (0.360, 0.010), (0.480, 0.040), (0.610, 0.085), (0.720, 0.145),
    (0.800, 0.225), (0.860, 0.340), (0.905, 0.460), (0.920, 0.580), (0.940, 0.670),
    (0.970, 0.760), (0.995, 0.850), (1.000, 0.920), (0.985, 1.000), (0.920, 0.960),
    (0.800, 0.880), (0.620, 0.830), (0.450, 0.810), (0.310, 0.800), (0.240, 0.790),
    (0.185, 0.760), (0.180, 0.700), (0.185, 0.640), (0.110, 0.545), (0.070, 0.450),
    (0.040, 0.340), (0.000, 0.220), (0.000, 0.120), (0.030, 0.060), (0.090, 0.020),
)  # fmt: skip
RIGHT_DOME = {14: 0.25, 15: 0.38, 16: 0.5, 17: 0.62, 18: 0.75, 19: 0.88, 20: 1.0, 21: 0.7, 22: 0.35}
RIGHT_BULGE = {20: 0.48, 21: 0.83, 22: 1.0, 23: 0.95, 24: 0.7, 25: 0.3}

HEART = (
    (0.250, 0.045), (0.120, 0.250), (0.030, 0.450), (0.000, 0.620), (0.040, 0.800),
    (0.120, 0.930), (0.350, 0.990), (0.620, 1.000), (0.860, 0.950), (0.970, 0.860),
    (1.000, 0.760), (0.960, 0.620), (0.870, 0.450), (0.750, 0.280), (0.620, 0.120),
    (0.500, 0.030), (0.380, 0.000),
)  # fmt: skip
HEART_EDGES = (0.3, 0.6, 1, 1, 0.8, 0.2, 0, 0, 0.2, 0.8, 1, 1, 1, 0.8, 0.5, 0.2, 0.2)
"""Seen against the lungs; the lower border lies in front of the liver and is not."""

CLAVICLE = (
    (0.000, 0.750), (0.030, 0.550), (0.120, 0.500), (0.300, 0.420), (0.500, 0.330),
    (0.700, 0.200), (0.850, 0.050), (0.970, 0.000), (1.000, 0.150), (0.970, 0.280),
    (0.850, 0.420), (0.700, 0.550), (0.500, 0.680), (0.300, 0.800), (0.150, 1.000),
    (0.040, 0.970),
)  # fmt: skip

LATERAL_LUNG = (
    (0.480, 0.000), (0.270, 0.050), (0.090, 0.230), (0.000, 0.490), (0.020, 0.780),
    (0.105, 1.000), (0.235, 0.910), (0.430, 0.840), (0.640, 0.805), (0.810, 0.825),
    (0.970, 0.910), (1.000, 0.730), (0.970, 0.520), (0.880, 0.340), (0.750, 0.180),
    (0.620, 0.050),
)  # fmt: skip
"""Back at u = 0, sternum at 1."""
LATERAL_EDGES = (0.5, 0.7, 1, 1, 1, 1, 1, 1, 0.8, 0.6, 0.6, 0.8, 0.8, 0.8, 0.7, 0.5)
LATERAL_DOME = {6: 0.4, 7: 0.9, 8: 1.0, 9: 0.8}


Moves = dict[int, float]


def _mode(number: int, moves: Moves, axis: int, sign: float) -> list[tuple[float, float]]:
    """How each of ``number`` corners moves: its share along u (axis 0) or v (axis 1)."""
    mode = [(0.0, 0.0)] * number
    for index, share in moves.items():
        mode[index] = (sign * share, 0.0) if axis == 0 else (0.0, sign * share)
    return mode


def _lung(points: tuple[tuple[float, float], ...], dome: Moves, bulge: Moves) -> Shape:
    count = len(points)
    modes = [_mode(count, dome, 1, -1.0), _mode(count, bulge, 0, 1.0)]
    return outline(points, modes=modes)


LUNGS = {
    "right": _lung(RIGHT_LUNG, RIGHT_DOME, RIGHT_BULGE).mirrored(),
    "left": _lung(LEFT_LUNG, LEFT_DOME, LEFT_BULGE),
}
"""In image order: the patient's right lung lies on the image's left."""

HEART_SHAPE = outline(HEART, weights=HEART_EDGES, outwards=-1.0, samples=64)
CLAVICLES = {
    "left": outline(CLAVICLE, outwards=-1.0, samples=64),
    "right": outline(CLAVICLE, outwards=-1.0, samples=64).mirrored(),
}
LATERAL = outline(
    LATERAL_LUNG,
    weights=LATERAL_EDGES,
    modes=[_mode(len(LATERAL_LUNG), LATERAL_DOME, 1, -1.0)],
)

TYPICAL = np.array([0.11, 0.09, 0.46, 0.84, 0.0, 0.0, 0.56, 0.09, 0.90, 0.84, 0.0, 0.0])
"""Right and left lung of an upright film that shows the whole chest, as shares of the image."""

STARTS = ((1.0, 0.0), (0.8, -0.05), (0.8, 0.05))
"""Scale about the image's centre and shift down of the placements a search starts from."""

HEIGHT_REWARD, WIDTH_REWARD = 0.45, 0.2
"""Of two placements that follow edges equally well the larger is right: clavicles and ribs cross
the lungs and make edges inside them."""

PRIOR_PULL = 0.06

SELDOM = 0.32
"""A standard normal number is smaller than this in one of four draws: few parameters move."""

BORDER = {"right": (-0.03, 0.01), "left": (0.03, 0.045)}
"""The steepest edge lies inside the lung's border, more so beside the ribs: shift of x1 and x2 as
shares of the width."""
SINUS = 0.008
"""Likewise downwards, for the faint costophrenic sinus."""

HEART_IN_LUNGS = ((0.35, 0.48, 0.83, 0.88), (0.028, 0.036, 0.045, 0.054))
"""Median and spread of the heart's box, as shares of the box around both lungs."""
HEART_SHIFT = (-0.005, 0.024, 0.02, 0.091)
"""From the fitted outline to the border a reader draws, as shares of the box."""
CLAVICLE_IN_LUNG = {
    "left": ((0.007, 0.031, 0.647, 0.172), (0.035, 0.030, 0.082, 0.037)),
    "right": ((0.340, 0.034, 0.980, 0.171), (0.068, 0.032, 0.034, 0.038)),
}
"""Likewise of a clavicle in the box of the lung of its side."""
CLAVICLE_SHIFT = {"left": (-0.005, 0.04, -0.01, 0.10), "right": (0.02, 0.04, 0.01, 0.07)}
HEART_PULL, CLAVICLE_PULL = 0.05, 0.1

MIN_FLUX, MIN_LUNG_FLUX = 0.48, 0.33
"""Mean over both lungs and of the worse one. Frontal films stay above 0.57 and 0.54; photographs,
noise, other body parts and lateral films below 0.43 and 0.42."""
TILT_STEPS, MAX_TILT = ((6, 0.02), (3, 0.01)), 18
"""Degrees by which lungs that were found are turned, the flux a turn has to gain; at most."""
CLEAR_FLUX = 0.62
"""Below it the film may be one with black and white exchanged, in which ribs and the heart make a
convincing pair of wrong lungs: both ways are tried and the better one is taken."""
MIN_CLAVICLE_FLUX = 0.0
MIN_LATERAL_FLUX = 0.68
"""One outline finds more look-alikes: drawings and frontal films reach 0.66, drawn lateral films
0.87. Not tried on real lateral films."""

ZONES = (("apical zone lung", 0.0, 0.15), ("upper zone lung", 0.15, 0.40),
         ("mid zone lung", 0.40, 0.66), ("lung base", 0.66, 1.0))  # fmt: skip
"""CXAS names and shares of the lung's height."""
HILUM = (0.36, 0.58, 0.38)
"""First and last share of the lung's height, share of its width from the medial border."""
ANGLE = (0.86, 0.32)
"""First share of the lung's height, share of its width from the lateral border."""
SPINE_WIDTH = 0.12
"""Share of the width of both lungs."""


@dataclass
class _Lungs:
    """A placement of both lungs and how well it follows edges."""

    placement: Array  # (12,) right then left: x1, y1, x2, y2, dome, bulge
    fluxes: tuple[float, float]  # right, left

    @property
    def strength(self) -> float:
        """Mean flux of both lungs."""
        return sum(self.fluxes) / 2

    @property
    def convincing(self) -> bool:
        return self.strength >= MIN_FLUX and min(self.fluxes) >= MIN_LUNG_FLUX

    @property
    def quality(self) -> float:
        """0 at the threshold's foot, 1 where the outline follows edges all along."""
        return float(np.clip((self.strength - 0.35) / 0.45, 0, 1))

    def outline(self, side: str) -> tuple[Array, Array]:
        """x and y (n,) of the border of one lung."""
        start = 0 if side == "right" else 6
        x, y = LUNGS[side].place(self.placement[None, start : start + 6])
        x, y = x[0], y[0]
        low, high, top = x.min(), x.max(), y.min()
        share = (x - low) / max(high - low, 1e-6)
        x = x + (high - low) * (BORDER[side][0] * (1 - share) + BORDER[side][1] * share)
        return x, y + SINUS * (y - top)


@dataclass
class _Drawing:
    """Masks and boxes of one image on the grid."""

    shape: tuple[int, int]
    masks: dict[str, Mask] = field(default_factory=dict)
    boxes: dict[str, Box] = field(default_factory=dict)
    imagenome: dict[str, Box] = field(default_factory=dict)

    def polygon(self, x: Array, y: Array) -> Mask:
        image = Image.new("1", (self.shape[1], self.shape[0]))
        points = [(float(a), float(b)) for a, b in zip(x, y, strict=True)]
        ImageDraw.Draw(image).polygon(points, fill=1)
        return np.array(image, dtype=bool)

    def turned(self, image: Field) -> _Drawing:
        """All that was drawn upright, as it lies in an image with a tilt."""
        sine, cosine = np.sin(image.tilt), np.cos(image.tilt)
        back = np.array([[cosine, -sine], [sine, cosine]])  # row and column
        middle = (np.array(self.shape) - 1) / 2
        shift = middle - back @ middle

        def mask(drawn: Mask) -> Mask:
            turned = ndimage.affine_transform(drawn.astype(np.uint8), back, shift, order=0)
            return np.asarray(turned > 0)

        def box(upright: Box) -> Box:
            x1, y1, x2, y2 = upright
            x, y = image.turn(np.array([x1, x2, x2, x1]), np.array([y1, y1, y2, y2]))
            return float(x.min()), float(y.min()), float(x.max()), float(y.max())

        return _Drawing(
            self.shape,
            {name: mask(m) for name, m in self.masks.items()},
            {name: box(b) for name, b in self.boxes.items()},
            {name: box(b) for name, b in self.imagenome.items()},
        )

    def anatomy(self, view: str, quality: float, size: tuple[int, int]) -> Anatomy:
        """With boxes in original pixels; ``size`` is (height, width) of the image."""
        sx, sy = size[1] / self.shape[1], size[0] / self.shape[0]

        def scaled(boxes: dict[str, Box]) -> dict[str, Box]:
            return {n: (b[0] * sx, b[1] * sy, b[2] * sx, b[3] * sy) for n, b in boxes.items()}

        return Anatomy(
            view=view,
            masks=clean(self.masks.items()),
            frame=self.shape,
            boxes=scaled(self.boxes),
            imagenome=scaled(self.imagenome),
            derived=True,
            sides_known=view == "frontal",
            quality=quality,
        )


def find_anatomy(image: Gray, view: str) -> Anatomy | None:
    """Localise anatomy in a (H, W) image, 0..1 and bright where the body absorbs.

    ``view`` is frontal, lateral or unknown (then the first that convinces). None if the image does
    not look like a chest film of that view; frontal films are tried with black and white exchanged,
    too. One outline is weaker evidence than two that belong together: lateral films are not.
    """
    size = (image.shape[0], image.shape[1])
    if min(size) < MIN_SIDE or not np.isfinite(image).all() or np.ptp(image) < 1e-3:
        return None
    prepared = prepare(image)
    fits: list[tuple[Field, _Lungs]] = []
    if view != "lateral":
        fits.append((prepared, _fit_lungs(prepared)))
    if view != "frontal" and not any(lungs.convincing for _, lungs in fits):
        found = _lateral(prepared)
        if found is not None:
            return found[0].anatomy("lateral", found[1], size)
    if fits and fits[0][1].strength < CLEAR_FLUX:
        fits.append((prepared.inverted(), _fit_lungs(prepared.inverted())))
    convincing = [fit for fit in fits if fit[1].convincing]
    if not convincing:
        return None
    attempt, lungs = _levelled(*max(convincing, key=lambda fit: fit[1].strength))
    return _frontal(attempt, lungs).anatomy("frontal", lungs.quality, size)


# --- frontal --------------------------------------------------------------------------------------


def _levelled(image: Field, lungs: _Lungs) -> tuple[Field, _Lungs]:
    """The image with the tilt at which the lungs follow its edges best, and the lungs there."""
    for degrees, gain in TILT_STEPS:
        for sign in (-1, 1):
            while abs(tilt := image.tilt + sign * np.radians(degrees)) <= np.radians(MAX_TILT):
                turned = replace(image, tilt=float(tilt))
                again = _fit_lungs(turned, lungs.placement)
                if again.strength < lungs.strength + gain:
                    break
                image, lungs = turned, again
        if image.tilt == 0:  # no coarse turn helped: a fine one would follow noise
            break
    return image, lungs


def _fit_lungs(image: Field, near: Array | None = None) -> _Lungs:
    """Search both lungs, in the whole image or from a placement ``near`` them."""
    x1, y1, x2, y2 = image.content
    width, height = x2 - x1, y2 - y1
    unit = np.array([width, width, width, width, 0.4, 0.4] * 2, dtype=float)

    def score(p: Array) -> Array:
        heights = np.maximum(p[:, [3, 9]] - p[:, [1, 7]], 1).prod(axis=1)
        widths = np.maximum(p[:, [2, 8]] - p[:, [0, 6]], 1).prod(axis=1)
        following = flux(image, LUNGS["right"], p[:, :6]) + flux(image, LUNGS["left"], p[:, 6:])
        reward = HEIGHT_REWARD * np.log(heights) + WIDTH_REWARD * np.log(widths)
        total: Array = following + reward + PRIOR_PULL * _lung_prior(p, width)
        return total

    def moves(_: Array, noise: Array) -> Array:
        """Some parameters of their own, and both lungs together: across, tops, bottoms, apart."""
        own = noise[:, :12] * unit * (np.abs(noise[:, 12:24]) < SELDOM)
        shared = noise[:, 24:28] * width * (np.abs(noise[:, 28:32]) < SELDOM)
        own[:, [0, 2, 6, 8]] += shared[:, :1]
        own[:, [1, 7]] += shared[:, 1:2]
        own[:, [3, 9]] += shared[:, 2:3]
        own[:, 0] -= shared[:, 3]
        own[:, 8] += shared[:, 3]
        moved: Array = own
        return moved

    extent = np.array([width, height, width, height, 1, 1] * 2, dtype=float)
    corner = np.array([x1, y1, x1, y1, 0, 0] * 2, dtype=float)
    centre = np.array([0.5, 0.5, 0.5, 0.5, 0, 0] * 2)
    found = [(near, 0.0)] if near is not None else []
    for scale, shift in STARTS if near is None else ():
        start = (TYPICAL - centre) * scale + centre
        start[[1, 3, 7, 9]] += shift
        start[[4, 5, 10, 11]] = 0
        spreads = [0.07 * 0.65**i for i in range(8)]
        found.append(search(score, corner + start * extent, moves, 32, spreads))
    best = max(found, key=lambda item: item[1])[0]
    best, _ = search(score, best, moves, 32, [0.03 * 0.65**i for i in range(6)])
    right = float(flux(image, LUNGS["right"], best[None, :6])[0])
    left = float(flux(image, LUNGS["left"], best[None, 6:])[0])
    return _Lungs(best, (right, left))


def _lung_prior(p: Array, image_width: int) -> Array:
    """Log prior (k,) of (k, 12) placements: proportions of a pair of lungs."""
    right, left = p[:, :6], p[:, 6:]
    widths = right[:, 2] - right[:, 0], left[:, 2] - left[:, 0]
    heights = right[:, 3] - right[:, 1], left[:, 3] - left[:, 1]
    height = (heights[0] + heights[1]) / 2
    total = left[:, 2] - right[:, 0]
    safe_height, safe_total = np.maximum(height, 1), np.maximum(total, 1)
    terms = (
        (widths[0] / safe_height, 0.46, 0.08),
        (widths[1] / safe_height, 0.45, 0.08),
        ((left[:, 0] - right[:, 2]) / safe_total, 0.13, 0.05),
        ((heights[1] - heights[0]) / safe_height, 0.0, 0.07),
        ((right[:, 1] - left[:, 1]) / safe_height, 0.0, 0.03),
        (np.log(safe_total / image_width / 0.78), 0.0, 0.15),
        (right[:, 4], 0.0, 0.05),
        (left[:, 4], 0.0, 0.06),
        (right[:, 5], 0.0, 0.07),
        (left[:, 5], 0.0, 0.08),
    )
    prior: Array = np.zeros(len(p))
    for value, mean, spread in terms:
        prior -= 0.5 * ((value - mean) / spread) ** 2
    impossible = (np.minimum(*widths) < 10) | (np.minimum(*heights) < 20)
    prior[impossible] -= 1e4
    return prior


def _frontal(image: Field, lungs: _Lungs) -> _Drawing:
    drawing = _Drawing(image.shape)
    frames: dict[str, Array] = {}
    domes: dict[str, float] = {}
    for side in ("right", "left"):
        x, y = lungs.outline(side)
        drawing.masks[f"{side} lung"] = drawing.polygon(x, y)
        frames[side] = np.array([x.min(), y.min(), x.max(), y.max()])
        domes[side] = float(y[_on_dome(LUNGS[side])].min())
    around = np.array(
        [
            frames["right"][0],
            (frames["right"][1] + frames["left"][1]) / 2,
            frames["left"][2],
            (frames["right"][3] + frames["left"][3]) / 2,
        ]
    )
    heart, _ = _fit_part(image, HEART_SHAPE, around, HEART_IN_LUNGS, HEART_PULL)
    heart = _grow(heart, HEART_SHIFT)
    drawing.masks["heart"] = drawing.polygon(*(c[0] for c in HEART_SHAPE.place(heart[None])))
    for side, shape in CLAVICLES.items():
        prior = CLAVICLE_IN_LUNG[side]
        clavicle, strength = _fit_part(image, shape, frames[side], prior, CLAVICLE_PULL)
        if strength >= MIN_CLAVICLE_FLUX:
            clavicle = _grow(clavicle, CLAVICLE_SHIFT[side])
            mask = drawing.polygon(*(c[0] for c in shape.place(clavicle[None])))
            drawing.masks[f"clavicle {side}"] = mask
    _add_lung_parts(drawing, frames, domes)
    _add_midline(drawing, frames, around, heart)
    _merge_sides(drawing)
    return drawing.turned(image) if image.tilt else drawing


def _on_dome(lung: Shape) -> NDArray[np.bool_]:
    """Which points (n,) of a lung's outline lie on the dome, away from both its ends."""
    share = -lung.modes[0, :, 1]
    middle: NDArray[np.bool_] = (share > 0.3) & (share < 0.9) & (lung.v > 0.78)
    return middle


def _fit_part(
    image: Field,
    shape: Shape,
    frame: Array,
    prior: tuple[tuple[float, ...], tuple[float, ...]],
    pull: float,
) -> tuple[Array, float]:
    """Fit heart or clavicle near its place in ``frame`` (x1, y1, x2, y2)."""
    size = np.tile(frame[2:] - frame[:2], 2)
    mean = np.tile(frame[:2], 2) + np.array(prior[0]) * size
    return fit_near(image, shape, mean, np.array(prior[1]) * size, pull)


def _grow(box: Array, shift: tuple[float, ...]) -> Array:
    """Move the sides of (x1, y1, x2, y2) by shares of its size."""
    grown: Array = box + np.array(shift) * np.tile(box[2:] - box[:2], 2)
    return grown


def _add_lung_parts(drawing: _Drawing, frames: dict[str, Array], domes: dict[str, float]) -> None:
    """Zones, hila, costophrenic angles and hemidiaphragms, by position in the lung found."""
    rows = np.arange(drawing.shape[0])[:, None]
    columns = np.arange(drawing.shape[1])[None, :]
    for side, (x1, y1, x2, y2) in frames.items():
        lung, height, width = drawing.masks[f"{side} lung"], y2 - y1, x2 - x1
        for name, first, last in ZONES:
            zone = lung & (rows >= y1 + first * height) & (rows < y1 + last * height)
            drawing.masks[f"{side} {name}"] = zone
        base = _box(drawing.masks[f"{side} lung base"])
        if base is not None:
            drawing.imagenome[f"{side} lower lung zone"] = base
        medial = {"right": x2, "left": x1}[side]
        inwards = {"right": -1.0, "left": 1.0}[side]
        first, last, reach = HILUM
        hilum = lung & (rows >= y1 + first * height) & (rows < y1 + last * height)
        hilum &= inwards * (columns - medial) < reach * width
        angle = lung & (rows >= y1 + ANGLE[0] * height)
        angle &= inwards * (columns - medial) > (1 - ANGLE[1]) * width
        for name, mask in (("hilar structures", hilum), ("costophrenic angle", angle)):
            box = _box(mask)
            if box is not None:
                drawing.imagenome[f"{side} {name}"] = box
        below = np.logical_or.accumulate(lung, axis=0) & ~lung & (rows < y2)
        drawing.masks[f"{side} hemidiaphragm"] = below & (rows >= domes[side])


def _add_midline(drawing: _Drawing, frames: dict[str, Array], around: Array, heart: Array) -> None:
    """What lies between the lungs: mediastinum, spine."""
    rows = np.arange(drawing.shape[0])[:, None]
    right, left = drawing.masks["right lung"], drawing.masks["left lung"]
    # right of the right lung and left of the left lung, row by row
    between = np.logical_or.accumulate(right, axis=1) & ~right
    between &= np.logical_or.accumulate(left[:, ::-1], axis=1)[:, ::-1] & ~left
    top, bottom = max(frames["right"][1], frames["left"][1]), heart[3]
    middle = (between & (rows >= top) & (rows < bottom)) | drawing.masks["heart"]
    middle &= ~(drawing.masks["right hemidiaphragm"] | drawing.masks["left hemidiaphragm"])
    drawing.masks["cardiomediastinum"] = middle | drawing.masks["heart"]
    upper = middle & (rows < heart[1])
    drawing.masks["upper mediastinum"] = upper
    drawing.masks["lower mediastinum"] = drawing.masks["cardiomediastinum"] & (rows >= heart[1])
    box = _box(drawing.masks["cardiomediastinum"])
    if box is not None:
        drawing.imagenome["mediastinum"] = box
    centre = (frames["right"][2] + frames["left"][0]) / 2
    half = SPINE_WIDTH / 2 * (around[2] - around[0])
    drawing.boxes["thoracic spine"] = (centre - half, around[1], centre + half, around[3])
    drawing.boxes["spine"] = (centre - half, 0.0, centre + half, float(drawing.shape[0]))
    drawing.imagenome["abdomen"] = (
        float(around[0]),
        float(min(frames["right"][3], frames["left"][3])),
        float(around[2]),
        float(drawing.shape[0]),
    )


def _merge_sides(drawing: _Drawing) -> None:
    """The structures that CXAS gives for both sides at once."""
    pairs = [("lung", "right lung", "left lung"), ("clavicles", "clavicle right", "clavicle left"),
             ("diaphragm", "right hemidiaphragm", "left hemidiaphragm")]  # fmt: skip
    pairs += [(name, f"right {name}", f"left {name}") for name, _, _ in ZONES]
    for name, right, left in pairs:
        if right in drawing.masks and left in drawing.masks:
            drawing.masks[name] = drawing.masks[right] | drawing.masks[left]


def _box(mask: NDArray[np.bool_]) -> Box | None:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if rows.size == 0:
        return None
    return float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1)


# --- lateral --------------------------------------------------------------------------------------

LATERAL_TYPICAL = (0.18, 0.10, 0.80, 0.86)
LATERAL_HEART = (
    (0.220, 0.000), (0.050, 0.290), (0.000, 0.560), (0.070, 0.800), (0.260, 0.970),
    (0.650, 1.000), (0.930, 0.860), (1.000, 0.560), (0.850, 0.230), (0.540, 0.000),
)  # fmt: skip
LATERAL_HEART_SHAPE = outline(LATERAL_HEART, outwards=-1.0, samples=64)
HEART_IN_LATERAL = ((0.50, 0.48, 0.95, 0.83), (0.04, 0.04, 0.03, 0.03))
"""Median and spread of the heart's box in the lungs' common one; back at 0, sternum at 1."""
LATERAL_HEART_PULL = 0.1
MIN_LATERAL_HEART_FLUX = 0.25


def _lateral(image: Field) -> tuple[_Drawing, float] | None:
    """The lungs' common outline, facing either way, and the heart where its border is seen."""
    height, width = image.shape
    fits = []
    for faces_right, shape in ((True, LATERAL), (False, LATERAL.mirrored())):
        placement, score = _fit_lateral(image, shape)
        strength = float(flux(image, shape, placement[None])[0])
        fits.append((score, strength, placement, shape, faces_right))
    _, strength, placement, shape, faces_right = max(fits, key=lambda fit: fit[0])
    if strength < MIN_LATERAL_FLUX:
        return None
    drawing = _Drawing((height, width))
    x, y = (c[0] for c in shape.place(placement[None]))
    drawing.masks["lung"] = drawing.polygon(x, y)
    x1, y1, x2, y2 = x.min(), y.min(), x.max(), y.max()
    rows = np.arange(height)[:, None]
    for name, first, last in ZONES:
        inside = (rows >= y1 + first * (y2 - y1)) & (rows < y1 + last * (y2 - y1))
        drawing.masks[name] = drawing.masks["lung"] & inside
    heart_shape, (mean, spread) = LATERAL_HEART_SHAPE, HEART_IN_LATERAL
    if not faces_right:
        heart_shape = heart_shape.mirrored()
        mean = (1 - mean[2], mean[1], 1 - mean[0], mean[3])
    around = np.array([x1, y1, x2, y2])
    prior = (mean, spread)
    heart, seen = _fit_part(image, heart_shape, around, prior, LATERAL_HEART_PULL)
    if seen >= MIN_LATERAL_HEART_FLUX:
        drawing.masks["heart"] = drawing.polygon(*(c[0] for c in heart_shape.place(heart[None])))
    return drawing, float(np.clip((strength - 0.35) / 0.45, 0, 1))


def _fit_lateral(image: Field, shape: Shape) -> tuple[Array, float]:
    x1, y1, x2, y2 = image.content
    width, height = x2 - x1, y2 - y1
    unit = np.array([width, width, width, width, 0.4], dtype=float)

    def score(p: Array) -> Array:
        sizes = np.maximum(p[:, 2] - p[:, 0], 1), np.maximum(p[:, 3] - p[:, 1], 1)
        prior = -0.5 * ((sizes[0] / sizes[1] - 0.72) / 0.12) ** 2 - 0.5 * (p[:, 4] / 0.05) ** 2
        total: Array = (
            flux(image, shape, p)
            + HEIGHT_REWARD * np.log(sizes[1])
            + WIDTH_REWARD * np.log(sizes[0])
            + PRIOR_PULL * prior
        )
        return np.where(np.minimum(*sizes) < 20, -1e4, total)

    def moves(_: Array, noise: Array) -> Array:
        own = noise[:, :5] * unit * (np.abs(noise[:, 5:10]) < 2 * SELDOM)
        own[:, [0, 2]] += noise[:, 10:11] * width * (np.abs(noise[:, 12:13]) < SELDOM)
        own[:, [1, 3]] += noise[:, 11:12] * width * (np.abs(noise[:, 13:14]) < SELDOM)
        moved: Array = own
        return moved

    extent = np.array([width, height, width, height, 1], dtype=float)
    corner = np.array([x1, y1, x1, y1, 0], dtype=float)
    found = []
    for scale in (1.0, 0.8):
        start = (np.array([*LATERAL_TYPICAL, 0.0]) - 0.5) * scale + 0.5
        start[4] = 0.0
        spreads = [0.08 * 0.65**i for i in range(8)]
        found.append(search(score, corner + start * extent, moves, 14, spreads))
    best = max(found, key=lambda item: item[1])[0]
    return search(score, best, moves, 14, [0.03 * 0.65**i for i in range(6)])
