"""Every other way to count a study as positive, beside the default (paper Sec. 4.1).

The paper leaves open what becomes of doubts on either side and of studies that failed. So each
score is computed for all combinations of: the least certainty of an observation that counts; a
reference -1 not scored or positive; studies without graph negative or left out (for all systems
alike). Under the default, pooled scores are also given over the classes that have positives in the
reference and in every system, which is the paper's rule; ours is a fixed list. And
with precedence of sections (:mod:`cxrqba.evaluate.label_sections`) instead of any positive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from cxrqba.evaluate import metrics
from cxrqba.evaluate.label_cases import Case
from cxrqba.evaluate.label_predictions import CERTAINTIES, Labels

ANY, PRECEDENCE = "any section", "first to decide"
FIXED, SHARED = "fixed list", "positive in every system"
EXCLUDED, POSITIVE, NEGATIVE = "excluded", "positive", "negative"


@dataclass(frozen=True)
class Way:
    """One way to count."""

    certainty: str = CERTAINTIES[-1]  # the least certain observations that count
    uncertain_reference: str = EXCLUDED  # a reference -1
    without_graph: str = NEGATIVE  # studies that failed
    classes: str = FIXED
    sections: str = ANY  # first to decide: addendum, impression, findings, wet read, the rest

    @property
    def labels(self) -> str:
        """Key of the labels of a system that this way scores."""
        return self.certainty if self.sections == ANY else self.sections


def ways() -> Iterator[Way]:
    """The default, then the paper's choice of classes, precedence, and every other way."""
    default = Way()
    yield default
    yield Way(classes=SHARED)
    yield Way(sections=PRECEDENCE)
    for certainty, uncertain, failed in product(
        reversed(CERTAINTIES), (EXCLUDED, POSITIVE), (NEGATIVE, EXCLUDED)
    ):
        way = Way(certainty, uncertain, failed)
        if way != default:
            yield way


def variant_rows(
    case: Case,
    systems: Mapping[str, Mapping[str, Labels]],
    has_graph: npt.NDArray[np.bool_],
    dataset: str,
) -> list[dict[str, Any]]:
    """LABEL_VARIANTS of a case; ``systems``: system -> :attr:`Way.labels` -> labels."""
    rows = []
    for way in ways():
        gold = counted_gold(case, way, has_graph)
        counts = {
            system: metrics.confusion(gold, labels[way.labels]).sum(axis=0)
            for system, labels in systems.items()
        }
        subsets = case.subsets
        if way.classes == SHARED:
            shared = _shared(list(counts.values()))
            subsets = {s: [i for i in members if shared[i]] for s, members in subsets.items()}
        for system, total in counts.items():
            found = metrics.scores(total[np.newaxis], np.zeros((0, 0), dtype=np.int64), subsets)
            for (metric, what, kind), score in found.items():
                if way.classes == SHARED and isinstance(what, int):
                    continue
                members = [what] if isinstance(what, int) else subsets[what]
                rows.append(
                    {
                        "dataset": dataset,
                        "reference": case.name,
                        "system": system,
                        "class": case.classes[what] if isinstance(what, int) else kind,
                        "class_set": case.widest if isinstance(what, int) else what,
                        "metric": metric,
                        "value": score.value,
                        "support": int(total[members][:, [0, 2]].sum()),
                        "predicted": int(total[members][:, [0, 1]].sum()),
                        "studies": int(total[members].sum(axis=1).max()) if members else 0,
                        "defined": score.defined,
                        "closure": case.closure,
                        "certainty": way.certainty,
                        "uncertain_reference": way.uncertain_reference,
                        "without_graph": way.without_graph,
                        "classes": way.classes,
                        "sections": way.sections,
                    }
                )
    return rows


def counted_gold(case: Case, way: Way, has_graph: npt.NDArray[np.bool_]) -> npt.NDArray[np.int8]:
    """The reference of a case as ``way`` counts it; :data:`metrics.EXCLUDED` is not scored."""
    gold = case.gold
    if way.uncertain_reference == POSITIVE:
        gold = np.where(gold == metrics.EXCLUDED, 1, gold).astype(np.int8)
    if way.without_graph == EXCLUDED:
        gold = np.where(has_graph[:, np.newaxis], gold, metrics.EXCLUDED).astype(np.int8)
    return gold


def _shared(counts: list[metrics.Ints]) -> npt.NDArray[np.bool_]:
    """Classes with positives in the reference and in every system, among scored pairs."""
    stacked = np.stack(counts)
    positive = (stacked[..., 0] + stacked[..., 2] > 0) & (stacked[..., 0] + stacked[..., 1] > 0)
    return np.asarray(positive.all(axis=0), dtype=np.bool_)
