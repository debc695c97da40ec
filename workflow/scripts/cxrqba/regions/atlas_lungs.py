"""Both lungs together, searched in a frontal film (backend ``atlas``).

Priors are medians and spreads over every other JSRT film.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cxrqba.regions.atlas_shapes import LUNGS
from cxrqba.regions.contours import Array, Field, flux, search

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

MIN_FLUX, MIN_LUNG_FLUX = 0.48, 0.33
"""Mean over both lungs and of the worse one. Frontal films stay above 0.57 and 0.54; photographs,
noise, other body parts and lateral films below 0.43 and 0.42."""
TILT_STEPS, MAX_TILT = ((6, 0.02), (3, 0.01)), 18
"""Degrees by which lungs that were found are turned, the flux a turn has to gain; at most."""
CLEAR_FLUX = 0.62
"""Below it the film may be one with black and white exchanged, in which ribs and the heart make a
convincing pair of wrong lungs: both ways are tried and the better one is taken."""


@dataclass
class Lungs:
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


def levelled(image: Field, lungs: Lungs) -> tuple[Field, Lungs]:
    """The image with the tilt at which the lungs follow its edges best, and the lungs there."""
    for degrees, gain in TILT_STEPS:
        for sign in (-1, 1):
            while abs(tilt := image.tilt + sign * np.radians(degrees)) <= np.radians(MAX_TILT):
                turned = replace(image, tilt=float(tilt))
                again = fit_lungs(turned, lungs.placement)
                if again.strength < lungs.strength + gain:
                    break
                image, lungs = turned, again
        if image.tilt == 0:  # no coarse turn helped: a fine one would follow noise
            break
    return image, lungs


def fit_lungs(image: Field, near: Array | None = None) -> Lungs:
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
    return Lungs(best, (right, left))


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
