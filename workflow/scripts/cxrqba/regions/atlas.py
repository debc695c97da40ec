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

Outlines stand in :mod:`cxrqba.regions.atlas_shapes`, the search for lungs in ``atlas_lungs``, heart
and clavicles in ``atlas_frontal``, what follows from them in ``atlas_drawing``.
"""

from __future__ import annotations

import numpy as np

from cxrqba.regions.atlas_frontal import contrast, draw_frontal
from cxrqba.regions.atlas_lateral import draw_lateral
from cxrqba.regions.atlas_lungs import CLEAR_FLUX, Lungs, fit_lungs, levelled
from cxrqba.regions.contours import Field, Gray, prepare
from cxrqba.regions.engine import Anatomy

MIN_SIDE = 48
"""An image with a shorter side shows no anatomy."""

MIN_CONTRAST = 0.1
"""Altered films whose lungs follow edges weakly stay above 0.14, faces, the nearest look-alikes
among photographs, below 0.07."""

MIN_ROOM = 0.02
"""Share of the image's height below the lung that ends higher. Altered films whose lungs follow
edges weakly have more than 0.14, shins with black and white exchanged none."""


def find_anatomy(image: Gray, view: str) -> Anatomy | None:
    """Localise anatomy in a (H, W) image, 0..1 and bright where the body absorbs.

    ``view`` is frontal, lateral or unknown (then the first that convinces). None if the image does
    not look like a chest film of that view; frontal films are tried with black and white exchanged,
    too, lateral ones are not: one outline is weaker evidence than two that belong together. Lungs
    that follow edges weakly count only as they are, not exchanged, only if they are dark, and only
    if one of them ends within the image.
    """
    size = (image.shape[0], image.shape[1])
    if min(size) < MIN_SIDE or not np.isfinite(image).all() or np.ptp(image) < 1e-3:
        return None
    prepared = prepare(image)
    fits: list[tuple[Field, Lungs]] = []
    if view != "lateral":
        fits.append((prepared, fit_lungs(prepared)))
    if view != "frontal" and not any(lungs.convincing for _, lungs in fits):
        found = draw_lateral(prepared)
        if found is not None:
            return found[0].anatomy("lateral", found[1], size)
    if fits and fits[0][1].strength < CLEAR_FLUX:
        fits.append((prepared.inverted(), fit_lungs(prepared.inverted())))
    convincing = [fit for fit in fits if fit[1].convincing]
    if not convincing:
        return None
    best = max(convincing, key=lambda fit: fit[1].strength)
    attempt, lungs = levelled(*best)
    if lungs.strength < CLEAR_FLUX and (
        best is not fits[0] or not _dark_lungs(attempt, lungs) or not _ends_inside(attempt, lungs)
    ):
        return None
    return draw_frontal(attempt, lungs).anatomy("frontal", lungs.quality, size)


def _ends_inside(image: Field, lungs: Lungs) -> bool:
    """Whether a lung leaves room below it; the bones of two limbs side by side run out of it."""
    lowest = min(float(lungs.outline(side)[1].max()) for side in ("right", "left"))
    return lowest <= (1 - MIN_ROOM) * image.shape[0]


def _dark_lungs(image: Field, lungs: Lungs) -> bool:
    """Whether both lungs are darker than what lies between them."""
    return contrast(image, lungs) >= MIN_CONTRAST
