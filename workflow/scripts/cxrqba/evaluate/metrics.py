"""Agreement of binary labels, with intervals (paper Sec. 4.1).

Matthews correlation, precision, recall and F1 from counts of (study, class) pairs; undefined values
are NaN, never 0, and a macro average is over the classes for which it is defined. Intervals come
from a bootstrap over groups (patients, or studies where no patient is known): one draw of groups
serves all classes and systems, so that differences between systems are paired.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

METRICS = ("mcc", "precision", "recall", "f1")
EXCLUDED = -1
"""In a matrix of reference labels: this (study, class) pair is not scored."""


@dataclass(frozen=True)
class Score:
    """One score with its 95 % interval; NaN where undefined."""

    value: float
    low: float
    high: float
    defined: int  # classes behind the value


def confusion(gold: npt.NDArray[np.int8], predicted: npt.NDArray[np.bool_]) -> Ints:
    """Counts (rows, classes, 4) of true/false positives, false negatives, true negatives, 0 or 1.

    ``gold`` (rows, classes) holds 1, 0 or :data:`EXCLUDED`; ``predicted`` has the same shape.
    """
    positive, negative = gold == 1, gold == 0
    cells = (
        positive & predicted,
        negative & predicted,
        positive & ~predicted,
        negative & ~predicted,
    )
    return np.stack(cells, axis=-1).astype(np.int64)


def by_group(counts: Ints, groups: Ints) -> Ints:
    """Sum rows of ``counts`` by group number: (groups, classes, 4)."""
    summed = np.zeros((int(groups.max(initial=-1)) + 1, *counts.shape[1:]), dtype=np.int64)
    np.add.at(summed, groups, counts)
    return summed


def draw_weights(groups: int, draws: int, seed: int) -> Ints:
    """How often each group occurs in each bootstrap draw: (draws, groups)."""
    if groups == 0:
        return np.zeros((0, 0), dtype=np.int64)
    generator = np.random.default_rng(seed)
    return generator.multinomial(groups, np.full(groups, 1 / groups), size=draws).astype(np.int64)


def metrics(counts: npt.NDArray[np.number]) -> dict[str, Floats]:
    """The four metrics of counts (..., 4), NaN where undefined."""
    tp, fp, fn, tn = (counts[..., i].astype(np.float64) for i in range(4))
    spread = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return {
        "mcc": _ratio(tp * tn - fp * fn, spread),
        "precision": _ratio(tp, tp + fp),
        "recall": _ratio(tp, tp + fn),
        "f1": _ratio(2 * tp, 2 * tp + fp + fn),
    }


def scores(
    counts: Ints, weights: Ints, subsets: Mapping[str, list[int]]
) -> dict[tuple[str, str | int, str], Score]:
    """All scores of one system.

    ``counts`` (groups, classes, 4), ``weights`` from :func:`draw_weights`, ``subsets`` name ->
    class numbers. Keys are (metric, class number, "class") and (metric, subset, "macro"|"micro").
    """
    total = counts.sum(axis=0)
    drawn = np.tensordot(weights, counts, axes=1) if weights.size else None
    found: dict[tuple[str, str | int, str], Score] = {}
    single, singles = metrics(total), _draws(drawn)
    for metric in METRICS:
        for i in range(total.shape[0]):
            value = float(single[metric][i])
            spread = singles[metric][:, i] if singles else None
            found[metric, i, "class"] = _score(value, spread, int(not np.isnan(value)))
    for name, members in subsets.items():
        micro = metrics(total[members].sum(axis=0))
        micros = _draws(None if drawn is None else drawn[:, members].sum(axis=1))
        for metric in METRICS:
            values = single[metric][members]
            defined = int(np.count_nonzero(~np.isnan(values)))
            means = nan_mean(singles[metric][:, members]) if singles else None
            macro = float(nan_mean(values[np.newaxis])[0])
            found[metric, name, "macro"] = _score(macro, means, defined)
            found[metric, name, "micro"] = _score(
                float(micro[metric]), micros[metric] if micros else None, len(members)
            )
    return found


def interval(draws: Floats | None) -> tuple[float, float]:
    """95 % percentile interval of bootstrap draws; NaN if fewer than half of them are defined."""
    if draws is None or not draws.size:
        return float("nan"), float("nan")
    defined = draws[~np.isnan(draws)]
    if 2 * defined.size < draws.size:
        return float("nan"), float("nan")
    low, high = np.percentile(defined, [2.5, 97.5])
    return float(low), float(high)


def nan_mean(values: Floats) -> Floats:
    """Mean over the last axis of the defined values; NaN where none is."""
    defined = ~np.isnan(values)
    total = np.where(defined, values, 0.0).sum(axis=-1)
    return _ratio(total, defined.sum(axis=-1).astype(np.float64))


def _draws(drawn: npt.NDArray[np.number] | None) -> dict[str, Floats] | None:
    return None if drawn is None else metrics(drawn)


def _score(value: float, draws: Floats | None, defined: int) -> Score:
    low, high = interval(draws) if not np.isnan(value) else (float("nan"), float("nan"))
    return Score(value, low, high, defined)


def _ratio(above: Floats, below: Floats) -> Floats:
    result = np.full(np.broadcast(above, below).shape, np.nan)
    np.divide(above, below, out=result, where=below > 0)
    return result
