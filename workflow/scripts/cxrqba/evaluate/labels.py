"""Study labels against expert labels (paper Sec. 4.1, C.2; Tabs 2a, 7, 8).

Scores of all systems on each reference set (:mod:`cxrqba.evaluate.label_cases`) with what they say
of its classes (:mod:`cxrqba.evaluate.label_predictions`), by default with every certainty counted;
every other way to count stands beside (:mod:`cxrqba.evaluate.label_ways`).

Open-i is scored a second time on classes made of its own tags (:mod:`cxrqba.evaluate.tags`). Its
indexers file what is seen and leave out what it may be ("opacity, may be pneumonia"), so there an
uncertain reading of another observation does not count; what changes if such readings do count, or
only the more certain observations, is shown beside.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cxrqba.evaluate import metrics
from cxrqba.evaluate.label_cases import Case, Expert, cases, no_overlap
from cxrqba.evaluate.label_predictions import (
    CERTAINTIES,
    Labels,
    asserted,
    imagenome_labels,
    keyword_labels,
    our_labels,
    without_readings,
)
from cxrqba.evaluate.label_sections import precedent_labels
from cxrqba.evaluate.label_ways import PRECEDENCE, variant_rows
from cxrqba.reference.tables import Reference
from cxrqba.schema import LABEL_SCORES, LABEL_VARIANTS, LEDGER, STUDY_LABELS
from cxrqba.tables import frame

OURS = "ours"
BASELINE = "keyword baseline"
IMAGENOME = "Chest ImaGenome"
STAGE = "evaluate_labels"
VARIANTS: dict[str, tuple[tuple[str, ...], bool]] = {
    "uncertain readings too": (CERTAINTIES, True),
    "certain or likely": (("certain", "likely"), False),
    "certain": (("certain",), False),
}
"""Other ways to count on the tag classes: certainties, and whether uncertain readings count."""


@dataclass(frozen=True)
class Settings:
    """How to evaluate: title of the dataset, bootstrap draws, seed."""

    dataset: str
    bootstrap: int = 1000
    seed: int = 0


@dataclass(frozen=True)
class Inputs:
    """Tables of a dataset: STUDIES, SENTENCES, OBSERVATIONS, IMAGES (for Chest ImaGenome alone)."""

    studies: pl.DataFrame
    sentences: pl.DataFrame
    observations: pl.DataFrame
    images: pl.DataFrame


@dataclass
class Evaluation:
    """Rows of all reference sets."""

    scores: list[dict[str, Any]] = field(default_factory=list)
    variants: list[dict[str, Any]] = field(default_factory=list)
    labels: list[pl.DataFrame] = field(default_factory=list)
    ledger: dict[tuple[str, str, str], None] = field(default_factory=dict)
    remarks: dict[str, None] = field(default_factory=dict)

    def tables(self) -> dict[str, pl.DataFrame]:
        """LABEL_SCORES, LABEL_VARIANTS, STUDY_LABELS and LEDGER under the names of the outputs."""
        labels = pl.concat(self.labels) if self.labels else pl.DataFrame(schema=STUDY_LABELS)
        ledger = [
            {"stage": STAGE, "scope": "item", "study_id": study, "reason": reason, "detail": detail}
            for study, reason, detail in self.ledger
        ]
        return {
            "scores": frame(self.scores, LABEL_SCORES),
            "variants": frame(self.variants, LABEL_VARIANTS),
            "study_labels": labels,
            "ledger": frame(ledger, LEDGER),
        }


def evaluate(
    inputs: Inputs, experts: Iterable[Expert], reference: Reference, settings: Settings
) -> Evaluation:
    """Score all reference sets."""
    with_graph = frozenset(inputs.observations["study_id"].unique())
    result = Evaluation()
    for case in cases(experts, reference, inputs.studies):
        found = _systems(case, inputs, reference, result)
        _remark(case, result)
        has_graph = np.array([s in with_graph for s in case.study_ids], dtype=np.bool_)
        protocol = _protocol(settings, case, int(np.count_nonzero(~has_graph)))
        default = {system: labels[CERTAINTIES[-1]] for system, labels in found.items()}
        for system, predicted in default.items():
            result.scores += _score_rows(case, system, predicted, settings, protocol)
        if case.by_tags:
            result.scores += _tag_variants(case, inputs.observations, settings, protocol)
        else:
            result.variants += variant_rows(case, found, has_graph, settings.dataset)
        result.labels.append(_label_rows(case, default[OURS], default[BASELINE], with_graph))
    return result


def _systems(
    case: Case, inputs: Inputs, reference: Reference, result: Evaluation
) -> dict[str, dict[str, Labels]]:
    """System -> way to count -> its labels; only ours knows certainties and sections."""
    ours = {}
    for number, least in enumerate(CERTAINTIES, start=1):
        rows = asserted(inputs.observations, CERTAINTIES[:number])
        ours[least] = our_labels(case, without_readings(rows) if case.by_tags else rows)
    if not case.by_tags:
        ours[PRECEDENCE] = precedent_labels(case, inputs.observations, inputs.sentences, reference)
    found = {OURS: ours, BASELINE: dict.fromkeys(ours, keyword_labels(case, reference))}
    if case.expert.imagenome is not None and not case.by_tags:
        labels, unusable = imagenome_labels(case.expert.imagenome, case, inputs.images, reference)
        found[IMAGENOME] = dict.fromkeys(ours, labels)
        for study, detail in unusable:
            result.ledger[study, "no_scene_graph", detail] = None
        if unusable:
            line = f"{case.name}: {len(unusable)} studies without a usable scene graph of Chest "
            result.remarks[line + "ImaGenome count as negative for it"] = None
    return found


def _remark(case: Case, result: Evaluation) -> None:
    """What the log must say of a reference set, and where it contradicts itself."""
    for study, detail in case.conflicts:
        result.ledger[study, "label_conflict", detail] = None
    if case.conflicts:
        line = (
            f"{case.name}: images of a study disagree on {len(case.conflicts)} labels, see ledger"
        )
        result.remarks[line] = None
    if not case.study_ids:
        result.remarks[no_overlap(case)] = None


def _tag_variants(
    case: Case, observations: pl.DataFrame, settings: Settings, protocol: str
) -> list[dict[str, Any]]:
    """Pooled scores of the other ways to count on classes of tags."""
    rows = []
    for name, (certainties, readings) in VARIANTS.items():
        counted = asserted(observations, certainties)
        predicted = our_labels(case, counted if readings else without_readings(counted))
        scored = _score_rows(case, f"{OURS}, {name}", predicted, settings, protocol)
        rows += [r for r in scored if r["class"] in ("macro", "micro")]
    return rows


def _protocol(settings: Settings, case: Case, without_graph: int) -> str:
    unit = "patients" if case.by_patient else "studies (no patients known)"
    return (
        f"{len(case.study_ids)} studies; positive = any asserted observation "
        f"({', '.join(CERTAINTIES)}); {case.gold_rule}; {without_graph} studies without "
        f"graph count as negative; {case.missing} labelled studies not in this run; bootstrap over "
        f"{unit}"
    )


def _score_rows(
    case: Case,
    system: str,
    predicted: npt.NDArray[np.bool_],
    settings: Settings,
    protocol: str,
) -> list[dict[str, Any]]:
    counts = metrics.by_group(metrics.confusion(case.gold, predicted), case.groups)
    weights = metrics.draw_weights(counts.shape[0], settings.bootstrap, settings.seed)
    found = metrics.scores(counts, weights, case.subsets)
    total = counts.sum(axis=0)
    rows = []
    for (metric, what, kind), score in found.items():
        members = [what] if isinstance(what, int) else case.subsets[what]
        rows.append(
            {
                "dataset": settings.dataset,
                "reference": case.name,
                "system": system,
                "class": case.classes[what] if isinstance(what, int) else kind,
                "class_set": case.widest if isinstance(what, int) else what,
                "metric": metric,
                "value": score.value,
                "low": score.low,
                "high": score.high,
                "support": int(total[members][:, [0, 2]].sum()),
                "predicted": int(total[members][:, [0, 1]].sum()),
                "studies": int(total[members].sum(axis=1).max()) if members else 0,
                "defined": score.defined,
                "closure": case.closure,
                "protocol": protocol,
            }
        )
    return rows


def _label_rows(
    case: Case,
    ours: npt.NDArray[np.bool_],
    baseline: npt.NDArray[np.bool_],
    with_graph: frozenset[str],
) -> pl.DataFrame:
    number, width = ours.shape
    gold = pl.Series("gold", case.gold.reshape(-1), dtype=pl.Int32)
    return pl.DataFrame(
        {
            "reference": [case.name] * (number * width),
            "study_id": np.repeat(np.array(case.study_ids, dtype=object), width).tolist(),
            "class": case.classes * number,
            "closure": [case.closure] * (number * width),
            "gold": gold.set(gold == metrics.EXCLUDED, None) if number else gold,
            "ours": ours.reshape(-1).tolist(),
            "baseline": baseline.reshape(-1).tolist(),
            "has_graph": [s in with_graph for s in case.study_ids for _ in range(width)],
        },
        schema=STUDY_LABELS,
    )


def summary(scores: pl.DataFrame) -> str:
    """Micro MCC of each reference, system and closure over each class set, for the log."""
    rows = scores.filter(pl.col("metric") == "mcc", pl.col("class") == "micro")
    found = [
        f"{r['reference']}, {r['system']}, {r['closure']}: {r['class_set']} micro MCC "
        f"{r['value']:.3f}"
        for r in rows.filter(~pl.col("class_set").is_in(["CXP-5", "CXP-7"])).iter_rows(named=True)
    ]
    return "; ".join(found) or "no reference set"
