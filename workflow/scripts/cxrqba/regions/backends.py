"""What every localisation backend shares: films in, findings out (paper Sec. E.1.1).

A backend takes films, in batches if it likes, and gives for each the anatomy it found, or none,
and notes of what it could not use; notes become rows of the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cxrqba.regions.atlas import find_anatomy
from cxrqba.regions.crops import Crop
from cxrqba.regions.engine import Anatomy, Box

LANDMARKS = (
    "left lung",
    "right lung",
    "heart",
    "trachea",
    "spine",
    "left hemidiaphragm",
    "right hemidiaphragm",
    "clavicles",
)
"""Structures every chest film shows; their share is the quality of a localisation by masks."""


@dataclass(frozen=True, slots=True)
class Film:
    """One image: its row of the manifest (IMAGES) and its grey values (H, W), 0..1."""

    row: Mapping[str, Any]
    pixels: NDArray[np.float32]

    @property
    def size(self) -> tuple[int, int]:
        """(height, width) in pixels."""
        return int(self.pixels.shape[0]), int(self.pixels.shape[1])


@dataclass(frozen=True, slots=True)
class Note:
    """Something a backend could not use; ``detail`` says what and why."""

    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What a backend found in one film; no ``anatomy`` means no localisation."""

    anatomy: Anatomy | None
    notes: tuple[Note, ...] = ()


class Backend(Protocol):
    """One way of finding anatomy in films."""

    @property
    def batch_size(self) -> int:
        """Films that :meth:`find` wants at once."""

    def sources(self, row: Mapping[str, Any]) -> list[Path]:
        """Files besides the image that decide what is found in it."""

    def find(self, films: Sequence[Film]) -> list[Finding]:
        """One finding a film."""


class Atlas:
    """Backend ``atlas``: outlines fitted to the edges of the image."""

    batch_size = 1

    def sources(self, row: Mapping[str, Any]) -> list[Path]:
        """None: the image is all it looks at."""
        return []

    def find(self, films: Sequence[Film]) -> list[Finding]:
        """One finding a film."""
        return [Finding(find_anatomy(f.pixels, f.row["view"] or "unknown")) for f in films]


def known_view(film: Film) -> str | None:
    """frontal or lateral; where the source does not say, what the atlas sees, else None."""
    view: str | None = film.row["view"]
    if view in ("frontal", "lateral"):
        return view
    seen = find_anatomy(film.pixels, "unknown")
    return None if seen is None else seen.view


def from_structures(
    view: str,
    masks: Mapping[str, Crop],
    frame: tuple[int, int],
    imagenome: Mapping[str, Box],
) -> Finding:
    """Anatomy of masks by CXAS name and boxes by ImaGenome name, where they show a chest.

    Without a lung there is no chest. In a frontal film the left lung lies on the image's right;
    where it does not, the image or its masks are mirrored and no side can be trusted.
    """
    notes = []
    if _mirrored(view, {n: (c.left + c.right) / 2 for n, c in masks.items()}):
        notes.append(Note("mirrored_masks", "the left lung's mask lies on the image's left"))
        masks = {}
    if _mirrored(view, {n: (b[0] + b[2]) / 2 for n, b in imagenome.items()}):
        notes.append(Note("mirrored_boxes", "the left lung's ImaGenome box lies on its left"))
        imagenome = {}
    if not {"left lung", "right lung", "lung"} & (masks.keys() | imagenome.keys()):
        return Finding(None, tuple(notes))
    found = masks.keys() | imagenome.keys()
    anatomy = Anatomy(
        view=view,
        masks=masks,
        frame=frame,
        imagenome=imagenome,
        sides_known=view == "frontal",
        quality=sum(name in found for name in LANDMARKS) / len(LANDMARKS),
    )
    return Finding(anatomy, tuple(notes))


def _mirrored(view: str, centres: Mapping[str, float]) -> bool:
    """Whether the left lung's centre lies left of the right lung's in a frontal image."""
    if view != "frontal" or not {"left lung", "right lung"} <= centres.keys():
        return False
    return centres["left lung"] <= centres["right lung"]
