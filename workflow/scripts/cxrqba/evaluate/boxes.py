"""Finding boxes against what experts marked (paper Sec. 4.1, C.3; Tabs 2b, 9, 10).

A pair is an (image, class) with an expert's shape and a box of an observation of the report that
asserts the class; each side is the union of its shapes, in pixels of the original image. IoU is the
intersection over the union, IoP over the prediction, IoT over the target; "@30" is the share of
pairs that reach 0.3. These scores are conditional on a prediction, as in the paper. Beside them
stand the share of *all* targets whose IoU reaches 0.3, the targets without a box and the boxes
without a target; and two systems that know nothing of the finding, the lungs as localised and the
whole image, on the pairs of ours. Chest ImaGenome, where its graphs are given, has its own pairs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from cxrqba.errors import UserError, nearest
from cxrqba.evaluate import box_scores
from cxrqba.evaluate.box_scores import Overlap, Settings
from cxrqba.evaluate.expert_shapes import Key, LeftOut, Pooling, Reading, Target, fit, merge, pool
from cxrqba.evaluate.imagenome_boxes import imagenome_boxes
from cxrqba.evaluate.ms_cxr import read_ms_cxr
from cxrqba.evaluate.reflacx import CERTAINTIES, Cut, read_reflacx
from cxrqba.evaluate.shapes import Shape, overlap
from cxrqba.reference.tables import Reference
from cxrqba.schema import BOX_PAIRS, BOX_SCORES, LEDGER
from cxrqba.tables import frame

OURS, LUNGS, IMAGE, IMAGENOME = "ours", "lungs", "whole image", "Chest ImaGenome"
LUNG_REGIONS = ("left lung", "right lung")
Places = Mapping[tuple[str, str], Sequence[Shape]]
"""(image, class) -> boxes of a system."""


@dataclass(frozen=True)
class Expert:
    """An expert set to compare with; ``certainty`` and ``phases`` are those of REFLACX."""

    name: str
    format: str  # ms_cxr or reflacx
    path: Path
    merges: Mapping[str, Sequence[str]] = field(default_factory=dict)
    poolings: Sequence[Pooling] = ("union",)
    cut: Cut = field(default_factory=Cut)
    imagenome: Path | None = None  # folder of scene graphs to compare too

    def protocol(self, pooling: Pooling) -> str:
        """What the scores rest on, in words."""
        parts = ["positive observations of the report, of any certainty"]
        if self.format == "reflacx":
            level = f"{self.cut.certainty} ({CERTAINTIES[self.cut.certainty]})"
            phases = " and ".join(map(str, self.cut.phases))
            parts += [f"ellipses of certainty {level} or higher", f"phase {phases}"]
            parts.append(
                {"reading": "each reading by itself"}.get(pooling, f"{pooling} of readers")
            )
        merged = "; ".join(f"{new} = {' + '.join(old)}" for new, old in self.merges.items())
        return ", ".join([*parts, f"merged classes: {merged or 'none'}"])


@dataclass(frozen=True)
class Evaluation:
    """BOX_SCORES, BOX_PAIRS, LEDGER rows of expert shapes left out, and lines for the log."""

    scores: pl.DataFrame
    pairs: pl.DataFrame
    ledger: pl.DataFrame
    remarks: Sequence[str]


def evaluate(
    observations: Iterable[pl.DataFrame],
    images: pl.DataFrame,
    regions: Iterable[pl.DataFrame],
    experts: Iterable[Expert],
    reference: Reference,
    settings: Settings,
) -> Evaluation:
    """Score all expert sets.

    ``observations`` (OBSERVATIONS) and ``regions`` (REGION_BOXES) come shard by shard and are never
    held whole; ``images`` needs image_id, study_id, patient_id, height, width. Shapes in images
    that are not among ``images`` are left out; shapes whose frame has another size than the image
    are scaled.
    """
    shown = {
        image: _Image(study, patient or study, width, height)
        for image, patient, study, width, height in images.select(
            "image_id", "patient_id", "study_id", "width", "height"
        ).iter_rows()
    }
    given = [(expert, *_readings(expert, reference, shown)) for expert in experts]
    wanted = {r.image_id for _, readings, _, _ in given for r in readings}
    studies = {shown[image].study for image in wanted}
    asserted = [asserted_boxes(shard, studies) for shard in observations]
    lungs = {i: drawn for shard in regions for i, drawn in lung_boxes(shard, wanted).items()}
    units = {image: shown[image].unit for image in wanted}
    scores: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    ledger: list[dict[str, Any]] = []
    for expert, readings, faults, _ in given:
        classes = findings_of(expert, reference)
        windows = {r.image_id: r.window for r in readings}
        systems: dict[str, Places] = {OURS: predicted_boxes(asserted, classes)}
        if expert.imagenome:
            systems[IMAGENOME], missing = imagenome_boxes(
                expert.imagenome, windows, classes, reference
            )
            faults += missing
        ledger += [_ledger_row(expert, fault) for fault in faults]
        for pooling in expert.poolings:
            targets, asked = pool(readings, pooling)
            overlaps = _overlaps(targets, systems, lungs, windows)
            spurious = {
                system: {k for k in asked - targets.keys() if (k.image_id, k.name) in places}
                for system, places in systems.items()
            }
            labels = {
                "dataset": settings.dataset,
                "reference": expert.name,
                "format": expert.format,
                "pooling": pooling,
                "protocol": expert.protocol(pooling),
            }
            scores += box_scores.score(
                labels, [*systems, LUNGS, IMAGE], list(classes), overlaps, spurious, units, settings
            )
            pairs += [box_scores.pair_row(labels, o) for o in overlaps]
    return Evaluation(
        frame(scores, BOX_SCORES),
        frame(pairs, BOX_PAIRS),
        frame(ledger, LEDGER),
        [remark for *_, remark in given],
    )


def findings_of(expert: Expert, reference: Reference) -> dict[str, frozenset[str]]:
    """Class of an expert set -> findings that are it or imply it; merged classes last."""
    single = {
        label: frozenset(entry["exact"]) | frozenset(entry["implied"])
        for label, entry in reference.labels[expert.format].items()
    }
    gone = [name for old in expert.merges.values() for name in old]
    for name in gone:
        if name not in single:
            raise UserError(
                f"evaluate.boxes, '{expert.name}', merges: unknown class '{name}'"
                f"{nearest(name, single)}"
            )
    if len(gone) != len(set(gone)):
        raise UserError(f"evaluate.boxes, '{expert.name}', merges: a class is merged twice")
    merged = {
        new: frozenset[str]().union(*(single[name] for name in old))
        for new, old in expert.merges.items()
    }
    return {n: f for n, f in single.items() if n not in gone} | merged


def asserted_boxes(observations: pl.DataFrame, studies: Collection[str]) -> pl.DataFrame:
    """Findings and boxes of positive observations of the report: obs_entities, localization."""
    return observations.filter(
        pl.col("study_id").is_in(list(studies)),
        pl.col("from_report"),
        pl.col("positiveness") == "pos",
        pl.col("obs_id") != "OIND",
    ).select("obs_entities", "localization")


def predicted_boxes(
    asserted: Iterable[pl.DataFrame], classes: Mapping[str, frozenset[str]]
) -> dict[tuple[str, str], list[Shape]]:
    """Boxes of asserted observations by (image, class)."""
    boxes: dict[tuple[str, str], list[Shape]] = {}
    for shard in asserted:
        for entities, localization in shard.iter_rows():
            found = [c for c, members in classes.items() if members.intersection(entities or ())]
            for entry in localization or () if found else ():
                drawn = [Shape(*b) for b in entry["bboxes"] or () if b[2] > b[0] and b[3] > b[1]]
                for name in found if drawn else ():
                    boxes.setdefault((entry["image_id"], name), []).extend(drawn)
    return boxes


def lung_boxes(regions: pl.DataFrame, images: Collection[str]) -> dict[str, list[Shape]]:
    """Boxes of both lungs by image, where they were localised themselves."""
    found = regions.filter(
        pl.col("region").is_in(LUNG_REGIONS),
        pl.col("image_id").is_in(list(images)),
        ~pl.col("is_fallback"),
    )
    boxes: dict[str, list[Shape]] = {}
    for image, drawn in found.select("image_id", "bboxes").iter_rows():
        boxes.setdefault(image, []).extend(Shape(*b) for b in drawn)
    return boxes


class _Image(NamedTuple):
    study: str
    unit: str  # patient, or study where no patient is known
    width: int | None
    height: int | None


def _readings(
    expert: Expert,
    reference: Reference,
    shown: Mapping[str, _Image],
) -> tuple[list[Reading], list[LeftOut], str]:
    """Readings in pixels of our images, what is left out, and one line on both."""
    labels = reference.labels[expert.format]
    if expert.format == "reflacx":
        found, faults = read_reflacx(expert.path, labels, expert.cut)
    else:
        found, faults = read_ms_cxr(expert.path, labels)
    used: list[Reading] = []
    for reading in merge(found, expert.merges):
        image = reading.image_id
        if image not in shown:
            faults.append(LeftOut(image, "not_in_dataset", f"{expert.path}: no such image here"))
            continue
        own = shown[image]
        fitted = fit(reading, own.width, own.height)
        if fitted is None:
            sizes = f"{reading.width:g} x {reading.height:g}, the image {own.width} x {own.height}"
            detail = f"{expert.path}: the frame has {sizes} pixels: another shape"
            faults.append(LeftOut(image, "frame_differs", detail))
        else:
            used.append(fitted)
    remark = (
        f"{expert.name}: {len({r.image_id for r in used})} of {len({r.image_id for r in found})} "
        f"images and {len(used)} of {len(found)} readings compared, {len(faults)} notes"
    )
    if not used:
        remark += "; WARNING: no image in common with the dataset, so nothing is scored"
    return used, faults, remark


def _ledger_row(expert: Expert, fault: LeftOut) -> dict[str, Any]:
    return {
        "stage": "evaluate_boxes",
        "scope": "item",
        "item_id": fault.image_id,
        "reason": fault.reason,
        "detail": f"{expert.name}: {fault.detail}",
    }


def _overlaps(
    targets: Mapping[Key, Target],
    systems: Mapping[str, Places],
    lungs: Mapping[str, Sequence[Shape]],
    windows: Mapping[str, Shape],
) -> list[Overlap]:
    """Overlap of every target with the boxes of every system and of two that know nothing."""
    found = []
    for key, target in sorted(targets.items()):
        place, window = (key.image_id, key.name), windows[key.image_id]
        boxes = {system: places.get(place, ()) for system, places in systems.items()}
        boxes |= {LUNGS: lungs.get(key.image_id, ()), IMAGE: (window,)}
        for system, drawn in boxes.items():
            paired = bool(drawn and (boxes[OURS] if system in (LUNGS, IMAGE) else drawn))
            p, t, both = overlap(drawn, target.readers, window, target.needed)
            if t > 0:  # a majority need not agree on any place
                found.append(Overlap(system, key, paired, bool(drawn), p, t, both))
    return found
