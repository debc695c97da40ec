"""Scores of box overlaps: shares, counts and intervals by class and system (paper C.3).

Intervals come from a bootstrap over patients (studies where no patient is known); one draw serves
all systems and classes of an expert set.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cxrqba.evaluate.expert_shapes import Key
from cxrqba.evaluate.metrics import draw_weights, interval

THRESHOLD = 0.3
RATIOS = ("iou", "iop", "iot")
CONDITIONAL = (*RATIOS, *(f"{r}@30" for r in RATIOS))
HITS = "hits@30"
"""Share of all targets, with a box or without, whose IoU reaches the threshold."""
NO_BOX, NO_TARGET = "targets_without_prediction", "predictions_without_target"
POOLED = "micro"

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """Title of the dataset, bootstrap draws and seed."""

    dataset: str
    bootstrap: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Overlap:
    """One target and the boxes of one system; areas in square pixels."""

    system: str
    key: Key
    paired: bool  # the target counts for the conditional scores
    predicted: bool  # this system has one
    prediction: float
    target: float
    both: float

    @property
    def ratios(self) -> tuple[float, float, float]:
        """IoU, IoP and IoT; 0 where there is no prediction."""
        union = self.prediction + self.target - self.both
        areas = (union, self.prediction, self.target)
        iou, iop, iot = (self.both / area if area > 0 else 0.0 for area in areas)
        return iou, iop, iot


def pair_row(labels: Mapping[str, str], overlap: Overlap) -> dict[str, Any]:
    """One row of BOX_PAIRS."""
    iou, iop, iot = overlap.ratios
    return {
        "dataset": labels["dataset"],
        "reference": labels["reference"],
        "pooling": labels["pooling"],
        "system": overlap.system,
        "image_id": overlap.key.image_id,
        "reading": overlap.key.reading or None,
        "class": overlap.key.name,
        "paired": overlap.paired,
        "predicted": overlap.predicted,
        "predicted_area": overlap.prediction,
        "target_area": overlap.target,
        "iou": iou,
        "iop": iop,
        "iot": iot,
    }


def score(
    labels: Mapping[str, str],
    systems: Sequence[str],
    classes: Sequence[str],
    overlaps: Sequence[Overlap],
    spurious: Mapping[str, Collection[Key]],
    units: Mapping[str, str],
    settings: Settings,
) -> list[dict[str, Any]]:
    """BOX_SCORES rows of one expert set for each of ``systems``: pooled, then by class.

    ``spurious`` are the boxes without a target of the systems that can have some; ``units`` gives
    patient or study by image.
    """
    numbers = {u: n for n, u in enumerate(sorted({units[o.key.image_id] for o in overlaps}))}
    weights = draw_weights(len(numbers), settings.bootstrap, settings.seed)
    rows: list[dict[str, Any]] = []
    for system in systems:
        own = [o for o in overlaps if o.system == system]
        for name in (POOLED, *classes):
            chosen = [o for o in own if name in (POOLED, o.key.name)]
            common = {
                **labels,
                "system": system,
                "class": name,
                "targets": len(chosen),
                "pairs": sum(o.paired for o in chosen),
            }
            where = np.array([numbers[units[o.key.image_id]] for o in chosen], dtype=np.intp)
            for metric, values, counts in _values(chosen):
                value, low, high = _mean(values, counts, where, weights)
                rows.append({**common, "metric": metric, "value": value, "low": low, "high": high})
            missing = float(sum(not o.predicted for o in chosen))
            rows.append({**common, "metric": NO_BOX, "value": missing})
            if system in spurious:
                extra = sum(name in (POOLED, k.name) for k in spurious[system])
                rows.append({**common, "metric": NO_TARGET, "value": float(extra)})
    return rows


def _values(chosen: Sequence[Overlap]) -> list[tuple[str, Floats, Floats]]:
    """Metrics as (name, value of each target, whether it counts)."""
    ratios = np.array([o.ratios for o in chosen], dtype=np.float64).reshape(-1, len(RATIOS))
    hits = (ratios >= THRESHOLD).astype(np.float64)
    paired = np.array([o.paired for o in chosen], dtype=np.float64)
    columns = [*ratios.T, *hits.T]
    found = [(m, v, paired) for m, v in zip(CONDITIONAL, columns, strict=True)]
    return [*found, (HITS, hits[:, 0], np.ones(len(chosen)))]


def _mean(
    values: Floats, counts: Floats, where: npt.NDArray[np.intp], weights: npt.NDArray[np.int64]
) -> tuple[float, float, float]:
    """Mean of what counts and its bootstrap interval over units; NaN where nothing counts."""
    if not counts.sum():
        return float("nan"), float("nan"), float("nan")
    groups = weights.shape[1] if weights.size else int(where.max()) + 1
    sums = np.zeros((groups, 2))
    np.add.at(sums, where, np.stack([values * counts, counts], axis=1))
    total = sums.sum(axis=0)
    drawn = weights @ sums if weights.size else np.zeros((0, 2))
    means = np.full(len(drawn), np.nan)
    np.divide(drawn[:, 0], drawn[:, 1], out=means, where=drawn[:, 1] > 0)
    return float(total[0] / total[1]), *interval(means)
