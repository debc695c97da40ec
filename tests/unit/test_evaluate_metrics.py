"""Agreement metrics against values worked out by hand and a slow second implementation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cxrqba.evaluate import metrics


def test_hand_worked_values() -> None:
    found = metrics.metrics(np.array([6, 2, 3, 89]))
    assert found["precision"] == pytest.approx(6 / 8)
    assert found["recall"] == pytest.approx(6 / 9)
    assert found["f1"] == pytest.approx(12 / 17)
    assert found["mcc"] == pytest.approx((6 * 89 - 2 * 3) / math.sqrt(8 * 9 * 91 * 92))


@pytest.mark.parametrize(
    ("counts", "undefined"),
    [
        ((0, 0, 3, 7), {"mcc", "precision"}),
        ((0, 2, 0, 8), {"mcc", "recall"}),
        ((0, 0, 0, 10), {"mcc", "precision", "recall", "f1"}),
        ((10, 0, 0, 0), {"mcc"}),
        ((0, 0, 0, 0), {"mcc", "precision", "recall", "f1"}),
    ],
)
def test_undefined_is_nan_and_never_zero(counts: tuple[int, ...], undefined: set[str]) -> None:
    found = metrics.metrics(np.array(counts))
    assert {name for name, value in found.items() if np.isnan(value)} == undefined


def test_excluded_pairs_are_not_counted() -> None:
    gold = np.array([[1], [0], [metrics.EXCLUDED], [metrics.EXCLUDED]], dtype=np.int8)
    predicted = np.array([[True], [True], [True], [False]])
    assert metrics.confusion(gold, predicted).sum(axis=0).tolist() == [[1, 1, 0, 0]]


def test_macro_is_over_defined_classes_and_micro_pools() -> None:
    counts = np.array([[[2, 0, 0, 2], [0, 0, 0, 4], [1, 1, 1, 1]]])
    found = metrics.scores(counts, np.zeros((0, 0), dtype=np.int64), {"all": [0, 1, 2]})
    macro = found["mcc", "all", "macro"]
    assert macro.value == pytest.approx(0.5)  # (1 + 0) / 2
    assert macro.defined == 2
    assert found["mcc", 1, "class"].defined == 0
    assert math.isnan(found["mcc", 1, "class"].value)
    pooled = metrics.metrics(np.array([3, 1, 1, 7]))
    assert found["mcc", "all", "micro"].value == pytest.approx(float(pooled["mcc"]))
    assert math.isnan(macro.low)  # no draws, no interval


def test_bootstrap_resamples_whole_groups() -> None:
    generator = np.random.default_rng(1)
    gold = generator.integers(0, 2, (60, 2)).astype(np.int8)
    predicted = np.where(generator.random((60, 2)) < 0.8, gold == 1, gold == 0)
    groups = np.repeat(np.arange(20), 3)
    counts = metrics.by_group(metrics.confusion(gold, predicted), groups)
    weights = metrics.draw_weights(20, 300, seed=5)
    assert (weights.sum(axis=1) == 20).all()
    found = metrics.scores(counts, weights, {"both": [0, 1]})["f1", "both", "micro"]
    slow = []
    for weight in weights:
        rows = np.concatenate(
            [np.repeat(np.flatnonzero(groups == g), n) for g, n in enumerate(weight)]
        )
        tp = np.sum((gold[rows] == 1) & predicted[rows])
        wrong = np.sum((gold[rows] == 1) != predicted[rows])
        slow.append(2 * tp / (2 * tp + wrong))
    low, high = np.percentile(slow, [2.5, 97.5])
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.low < found.value < found.high


def test_the_same_seed_gives_the_same_draws() -> None:
    assert (metrics.draw_weights(9, 50, 3) == metrics.draw_weights(9, 50, 3)).all()
    assert (metrics.draw_weights(9, 50, 3) != metrics.draw_weights(9, 50, 4)).any()


def test_no_studies_give_undefined_scores() -> None:
    nothing = metrics.by_group(np.zeros((0, 3, 4), dtype=np.int64), np.zeros(0, dtype=np.int64))
    found = metrics.scores(nothing, metrics.draw_weights(0, 10, 0), {"all": [0, 1, 2]})
    assert all(math.isnan(s.value) and s.defined in (0, 3) for s in found.values())
