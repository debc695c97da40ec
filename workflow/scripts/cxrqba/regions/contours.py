"""Fitting outlines to an image: which placement of a shape follows its edges best.

A shape is a closed outline in the frame of its own box. Its placement is scored by the mean flux of
the image's unit gradient through the outline: 1 where every point lies on an edge with the bright
side outwards, about 0 on anything else. The gradient is scaled by its own size, so that a faint
costophrenic angle counts as much as a hard heart border and exposure does not matter. Placements
are searched at random from a fixed seed, within priors on size and position.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

Array = NDArray[np.float64]
Gray = NDArray[np.float32]

SIDE = 256
"""Long side of the grid on which outlines are fitted, pixels."""

GRADIENT_SIGMA = 2.0
"""Width of the gradient filter, grid pixels: wider than noise, narrower than a rib."""

FAINT = 0.2
"""Gradients below this share of their neighbourhood's root mean square count less."""

EVEN = 0.1
"""A row or column whose gray values differ by less is border, not film."""

OUTSIDE = -0.1
"""Flux of an outline's point outside the image."""

SEED = 1024
"""Every search draws the same random numbers: results depend on the image alone."""


@dataclass(frozen=True)
class Shape:
    """An outline of n points in its box: ``u`` and ``v`` from 0 to 1, ``v`` downwards.

    ``modes`` (m, n, 2) move the points by their coefficient times (du, dv); ``weight`` (n,) says
    how much of a true edge is expected at a point; ``outwards`` is 1 if the outside is brighter,
    else -1.
    """

    u: Array
    v: Array
    weight: Array
    modes: Array
    outwards: float = 1.0

    @property
    def size(self) -> int:
        """Parameters of a placement: x1, y1, x2, y2 and one per mode."""
        return 4 + len(self.modes)

    def mirrored(self) -> Shape:
        """The shape seen from behind."""
        return Shape(1 - self.u, self.v, self.weight, self.modes * (-1, 1), self.outwards)

    def place(self, placements: Array) -> tuple[Array, Array]:
        """x and y (k, n) of the outline for (k, size) placements."""
        coefficients = placements[:, 4:]
        u = self.u + coefficients @ self.modes[:, :, 0]
        v = self.v + coefficients @ self.modes[:, :, 1]
        x1, y1, x2, y2 = (placements[:, i : i + 1] for i in range(4))
        return x1 + (x2 - x1) * u, y1 + (y2 - y1) * v


def outline(
    points: Sequence[Sequence[float]],
    *,
    weights: Sequence[float] | None = None,
    modes: Sequence[Sequence[tuple[float, float]]] = (),
    outwards: float = 1.0,
    samples: int = 72,
) -> Shape:
    """A shape from its corners (u, v), with points spread evenly along the outline.

    ``weights`` and each of ``modes`` have one entry per corner. Outlines are twice as high as wide.
    """
    columns = [np.array(points, dtype=float)]
    columns.append(np.array(weights if weights is not None else [1.0] * len(points))[:, None])
    columns += [np.array(mode, dtype=float) for mode in modes]
    table = np.hstack(columns)
    table = np.vstack([table, table[:1]])
    steps = np.hypot(np.diff(table[:, 0]), 2 * np.diff(table[:, 1]))
    position = np.concatenate([[0.0], np.cumsum(steps)])
    wanted = np.linspace(0, position[-1], samples, endpoint=False)
    dense = np.stack([np.interp(wanted, position, column) for column in table.T])
    moves = dense[3:].reshape(len(modes), 2, samples).transpose(0, 2, 1)
    return Shape(dense[0], dense[1], dense[2], moves, outwards)


@dataclass(frozen=True)
class Field:
    """An image prepared for fitting, on a grid whose long side is :data:`SIDE` pixels."""

    gray: Gray  # (h, w), 0..1 between the 1st and 99th percentile
    x: Gray  # (h, w) horizontal part of the unit gradient
    y: Gray
    content: tuple[int, int, int, int]  # x1, y1, x2, y2 of the image within even borders
    tilt: float = 0.0  # radians, clockwise, by which outlines are turned before they are compared

    @property
    def shape(self) -> tuple[int, int]:
        """(h, w) of the grid."""
        return self.gray.shape[0], self.gray.shape[1]

    def inverted(self) -> Field:
        """The same image with black and white exchanged."""
        return replace(self, gray=1 - self.gray, x=-self.x, y=-self.y)

    def turn(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Where points of an upright chest lie in this image, turned about its middle."""
        sine, cosine = np.sin(self.tilt), np.cos(self.tilt)
        cy, cx = ((n - 1) / 2 for n in self.shape)
        return cx + cosine * (x - cx) - sine * (y - cy), cy + sine * (x - cx) + cosine * (y - cy)


def prepare(image: Gray) -> Field:
    """Shrink (H, W) to the grid, stretch its gray values, take its unit gradient."""
    height, width = image.shape
    factor = SIDE / max(height, width)
    size = max(1, round(width * factor)), max(1, round(height * factor))
    small = Image.fromarray(np.ascontiguousarray(image, dtype=np.float32))
    gray = np.asarray(small.resize(size, Image.Resampling.BOX))
    low, high = np.percentile(gray, [1, 99])
    gray = np.clip((gray - low) / max(high - low, 1e-6), 0, 1).astype(np.float32)
    gx = ndimage.gaussian_filter(gray, GRADIENT_SIGMA, order=(0, 1))
    gy = ndimage.gaussian_filter(gray, GRADIENT_SIGMA, order=(1, 0))
    length = np.hypot(gx, gy)
    nearby = np.sqrt(ndimage.gaussian_filter(length * length, SIDE / 13, truncate=3))
    scale = length + FAINT * nearby + 1e-4
    return Field(gray, gx / scale, gy / scale, _content(gray))


def _content(gray: Gray) -> tuple[int, int, int, int]:
    """The box (x1, y1, x2, y2) left when even borders are cut; all of an even image."""
    columns = np.flatnonzero(np.ptp(gray, axis=0) > EVEN)
    rows = np.flatnonzero(np.ptp(gray, axis=1) > EVEN)
    if rows.size == 0 or columns.size == 0:
        return 0, 0, gray.shape[1], gray.shape[0]
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def flux(field: Field, shape: Shape, placements: Array) -> Array:
    """Mean flux (k,) through the outline for (k, size) placements."""
    height, width = field.shape
    x, y = field.turn(*shape.place(placements))
    tx = np.roll(x, -1, axis=1) - np.roll(x, 1, axis=1)
    ty = np.roll(y, -1, axis=1) - np.roll(y, 1, axis=1)
    # the sign of the enclosed area tells on which side of the outline its outside lies
    area = (x * np.roll(y, -1, axis=1) - np.roll(x, -1, axis=1) * y).sum(axis=1, keepdims=True)
    column, row = np.rint(x).astype(np.intp), np.rint(y).astype(np.intp)
    outside = (column < 0) | (row < 0) | (column >= width) | (row >= height)
    column, row = np.clip(column, 0, width - 1), np.clip(row, 0, height - 1)
    through = field.x[row, column] * ty - field.y[row, column] * tx
    through *= shape.outwards * np.sign(area)
    length = np.hypot(tx, ty) + 1e-6
    through = np.where(outside, OUTSIDE * length, through)
    total: Array = (through * shape.weight).sum(axis=1) / (length * shape.weight).sum(axis=1)
    return total


Propose = Callable[[Array, Array], Array]
"""From the best placement (p,) and standard normal numbers (k, columns) to (k, p) moves of it,
for a spread of 1."""


def search(
    score: Callable[[Array], Array],
    start: Array,
    moves: Propose,
    columns: int,
    spreads: Sequence[float],
    number: int = 200,
) -> tuple[Array, float]:
    """Random search with shrinking steps: the best placement found and its score.

    ``score`` rates (k, p) placements; in each round ``number`` placements are tried around the
    best one, at ``moves`` times the round's spread.
    """
    rng = np.random.default_rng(SEED)
    best, best_score = start, float(score(start[None])[0])
    for spread in spreads:
        placements = best + spread * moves(best, rng.standard_normal((number, columns)))
        scores = score(placements)
        index = int(scores.argmax())
        if scores[index] > best_score:
            best, best_score = placements[index], float(scores[index])
    return best, best_score


def fit_near(
    field: Field, shape: Shape, mean: Array, spread: Array, pull: float, rounds: int = 6
) -> tuple[Array, float]:
    """Fit a shape close to where it is expected.

    ``mean`` and ``spread`` (size,) are the prior of the placement, ``pull`` its weight against the
    flux. Returns the placement and its flux.
    """

    def score(placements: Array) -> Array:
        distance = (((placements - mean) / spread) ** 2).sum(axis=1)
        total: Array = flux(field, shape, placements) - pull * 0.5 * distance
        return total

    def moves(_: Array, noise: Array) -> Array:
        return noise * spread

    best, _ = search(score, mean, moves, len(mean), [0.7**i for i in range(rounds)])
    return best, float(flux(field, shape, best[None])[0])


def fit_within(
    field: Field,
    shape: Shape,
    frame: Array,
    prior: tuple[tuple[float, ...], tuple[float, ...]],
    pull: float,
) -> tuple[Array, float]:
    """Fit heart or clavicle near its place in ``frame`` (x1, y1, x2, y2)."""
    size = np.tile(frame[2:] - frame[:2], 2)
    mean = np.tile(frame[:2], 2) + np.array(prior[0]) * size
    return fit_near(field, shape, mean, np.array(prior[1]) * size, pull)
