"""Backend ``precomputed``: masks of CXAS and boxes of Chest ImaGenome that users already have.

Masks are used where the definition of a region has one, boxes of Chest ImaGenome where it has none
(paper Sec. E.1.1); :mod:`cxrqba.regions.engine` marks any other substitution as a fallback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cxrqba.errors import UserError
from cxrqba.reference.tables import Region
from cxrqba.regions.backends import Film, Finding, Note, from_structures, known_view
from cxrqba.regions.cxas_files import MaskError, Masks, find_masks, fits, read_masks
from cxrqba.regions.engine import Box
from cxrqba.regions.imagenome import SceneGraphError, find_scene_graph, read_boxes


class Precomputed:
    """Looks masks and boxes up by the image's file name and id; either folder may be None."""

    batch_size = 1

    def __init__(
        self,
        cxas: str | None,
        imagenome: str | None,
        labels: tuple[str, ...],
        regions: Mapping[str, Region],
    ):
        self._cxas = _folder("cxas_folder", cxas)
        self._imagenome = _folder("imagenome_folder", imagenome)
        self._labels = labels
        self._names = frozenset(r.imagenome_bbox for r in regions.values() if r.imagenome_bbox)

    def sources(self, row: Mapping[str, Any]) -> list[Path]:
        """The masks and the scene graph of an image, those that there are."""
        paths = [
            find_masks(self._cxas, Path(row["path"])) if self._cxas else None,
            find_scene_graph(self._imagenome, row["image_id"]) if self._imagenome else None,
        ]
        return [path for path in paths if path is not None]

    def find(self, films: Sequence[Film]) -> list[Finding]:
        """One finding a film."""
        return [self._find(film) for film in films]

    def _find(self, film: Film) -> Finding:
        notes: list[Note] = []
        view = known_view(film)
        if view is None:
            note = Note("unknown_view", "neither the source nor the image tells frontal or lateral")
            return Finding(None, (note,))
        masks = self._masks(film, notes)
        boxes = self._boxes(film, notes) if view == "frontal" else {}
        found = from_structures(view, masks.crops, masks.frame, boxes)
        return Finding(found.anatomy, (*notes, *found.notes))

    def _masks(self, film: Film, notes: list[Note]) -> Masks:
        nothing = Masks({}, film.size)
        if self._cxas is None:
            return nothing
        image = Path(film.row["path"])
        path = find_masks(self._cxas, image)
        if path is None:
            notes.append(Note("no_masks", f"{self._cxas}: no CXAS masks named {image.stem}"))
            return nothing
        try:
            masks = read_masks(path, image, self._labels)
            if not fits(masks.frame, film.size):
                sizes = (f"{w} x {h}" for h, w in (masks.frame, film.size))
                raise MaskError("masks of {} pixels for an image of {}".format(*sizes))
        except MaskError as error:
            notes.append(Note("unusable_masks", f"{path}: {error}"))
            return nothing
        return masks

    def _boxes(self, film: Film, notes: list[Note]) -> dict[str, Box]:
        if self._imagenome is None:
            return {}
        path = find_scene_graph(self._imagenome, film.row["image_id"])
        if path is None:
            name = f"{film.row['image_id']}_SceneGraph.json"
            notes.append(Note("no_scene_graph", f"{self._imagenome}: no {name}"))
            return {}
        try:
            found = read_boxes(path, film.row, film.size, self._names)
        except SceneGraphError as error:
            notes.append(Note("unusable_scene_graph", f"{path}: {error}"))
            return {}
        if found.dropped:
            names = ", ".join(found.dropped)
            notes.append(Note("empty_boxes", f"{path}: no area inside the image: {names}"))
        return found.boxes


def _folder(key: str, value: str | None) -> Path | None:
    if value is None:
        return None
    path = Path(value)
    if not path.is_dir():
        raise UserError(f"segmentation.{key}: {path} is no folder; give the one that holds them")
    return path
