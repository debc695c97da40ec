"""Study labels against expert labels (paper Sec. 4.1, C.2; Tabs 2a, 7).

A study is positive for a class if any observation from the report that is asserted (positiveness
pos) carries a finding of the class. Observations that only compare or only recommend assert
nothing; negatives that were added by default are not from the report and never count. Which
findings make a class positive is one of three closures. "nearest", the default: a finding counts
for the class it is or, if it is none, for the nearest of its ancestors that is one, as a linear
atelectasis is an Atelectasis (the paper counts children too). "exact": only findings that are the
class. "closed": also all that imply it (``labels.csv``). A study without
graph has no observation and so is negative in all classes: a failure is not left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cxrqba.evaluate import metrics
from cxrqba.evaluate.gold import mesh_labels, read_mimic_labels
from cxrqba.evaluate.keywords import KeywordBaseline
from cxrqba.reference.tables import Reference
from cxrqba.reports.readers import read_openi_mesh
from cxrqba.schema import LABEL_SCORES, STUDY_LABELS
from cxrqba.tables import frame

OURS = "ours"
BASELINE = "keyword baseline"
CLOSURES = ("nearest", "exact", "closed")
CERTAINTIES = ("certain", "likely", "uncertain")
CLASSES = "chexpert"
NOT_SCORED = "No Finding"
CXP_5 = ("Atelectasis", "Cardiomegaly", "Consolidation", "Edema", "Pleural Effusion")
CXP_7 = (*CXP_5, "Pneumonia", "Pneumothorax")

Gold = dict[str, dict[str, int | None]]
"""study id -> class -> 1, 0, -1 (uncertain) or None (not mentioned)"""


@dataclass(frozen=True)
class Settings:
    """How to evaluate: title of the dataset, bootstrap draws, seed, counted certainties."""

    dataset: str
    bootstrap: int = 1000
    seed: int = 0
    certainties: tuple[str, ...] = CERTAINTIES


def label_classes(reference: Reference, closure: str) -> dict[str, frozenset[str]]:
    """CheXpert class -> the findings that make it positive; without No Finding."""
    entries = {k: v for k, v in reference.labels[CLASSES].items() if k != NOT_SCORED}
    classes = {label: set(entry["exact"]) for label, entry in entries.items()}
    if closure == "closed":
        for label, entry in entries.items():
            classes[label] |= set(entry["implied"])
    elif closure == "nearest":
        labels: dict[str, set[str]] = {}
        for label, entry in entries.items():
            for finding in entry["exact"]:
                labels.setdefault(finding, set()).add(label)
        for finding in reference.findings:
            for label in _nearest_labels(finding, labels, reference):
                classes[label].add(finding)
    return {label: frozenset(members) for label, members in classes.items()}


def _nearest_labels(finding: str, labels: Mapping[str, set[str]], reference: Reference) -> set[str]:
    """Classes of the finding or of its nearest ancestors that have one."""
    level = {finding}
    while level:
        found = set().union(*(labels.get(name, set()) for name in level))
        if found:
            return found
        level = {p for name in level for p in reference.findings[name].parents}
    return set()


def study_findings(
    observations: pl.DataFrame, certainties: Iterable[str] = CERTAINTIES
) -> dict[str, frozenset[str]]:
    """Study id -> findings asserted in the report; studies without one are missing.

    ``observations`` needs study_id, obs_id, obs_entities, positiveness, certainty, from_report.
    The answer to the indication (OIND) repeats observations and is left out.
    """
    asserted = observations.filter(
        pl.col("from_report"),
        pl.col("positiveness") == "pos",
        pl.col("certainty").is_in(list(certainties)),
        pl.col("obs_id") != "OIND",
    )
    grouped = (
        asserted.select("study_id", "obs_entities")
        .explode("obs_entities", empty_as_null=True)
        .drop_nulls()
        .group_by("study_id")
        .agg(pl.col("obs_entities").unique())
    )
    return {study: frozenset(found) for study, found in grouped.iter_rows()}


def read_gold(
    kind: str, path: Path, reference: Reference, classes: Mapping[str, frozenset[str]]
) -> Gold:
    """Expert labels of one reference set; ``kind`` is the format name of the configuration."""
    if kind == "openi_mesh":
        return mesh_labels(read_openi_mesh(path), reference, classes)
    return read_mimic_labels(path, list(classes))


def evaluate(
    studies: pl.DataFrame,
    observations: pl.DataFrame,
    references: Iterable[tuple[str, str, Path]],
    reference: Reference,
    settings: Settings,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Score all reference sets; returns (LABEL_SCORES, STUDY_LABELS).

    ``studies`` needs study_id, patient_id, report; ``references`` are (name, format, path).
    """
    findings = study_findings(observations, settings.certainties)
    with_graph = frozenset(observations["study_id"].unique())
    scores: list[dict[str, Any]] = []
    labels: list[pl.DataFrame] = []
    for name, kind, path in references:
        for closure in CLOSURES:
            classes = label_classes(reference, closure)
            gold = read_gold(kind, path, reference, classes)
            known = studies.filter(pl.col("study_id").is_in(list(gold))).sort("study_id")
            case = _Case(name, closure, list(classes), gold, known)
            ours = np.array(
                [
                    [bool(findings.get(s, frozenset()) & members) for members in classes.values()]
                    for s in case.study_ids
                ],
                dtype=np.bool_,
            ).reshape(len(case.study_ids), len(classes))
            baseline = _baseline(KeywordBaseline(reference, classes), known, list(classes))
            without = sum(s not in with_graph for s in case.study_ids)
            protocol = _protocol(kind, settings, case, without)
            for system, predicted in ((OURS, ours), (BASELINE, baseline)):
                scores += _score_rows(case, system, predicted, settings, protocol)
            labels.append(_label_rows(case, ours, baseline, with_graph))
    table = pl.concat(labels) if labels else pl.DataFrame(schema=STUDY_LABELS)
    return frame(scores, LABEL_SCORES), table


class _Case:
    """One reference set under one closure, as matrices."""

    def __init__(
        self, name: str, closure: str, classes: list[str], gold: Gold, studies: pl.DataFrame
    ):
        self.name = name
        self.closure = closure
        self.classes = classes
        self.study_ids = studies["study_id"].to_list()
        self.missing = len(gold) - len(self.study_ids)
        self.gold = np.array(
            [[_scored(gold[s][c]) for c in classes] for s in self.study_ids], dtype=np.int8
        ).reshape(len(self.study_ids), len(classes))
        patients = studies["patient_id"].to_list()
        self.by_patient = all(p is not None for p in patients)
        units = patients if self.by_patient else self.study_ids
        numbers = {unit: i for i, unit in enumerate(sorted(set(units)))}
        self.groups = np.array([numbers[u] for u in units], dtype=np.int64)

    @property
    def subsets(self) -> dict[str, list[int]]:
        """Named class sets as class numbers."""
        return {
            "CXP-5": [self.classes.index(c) for c in CXP_5],
            "CXP-7": [self.classes.index(c) for c in CXP_7],
            "CXP-13": list(range(len(self.classes))),
        }


def _scored(label: int | None) -> int:
    """Blank counts as negative; uncertain is not scored."""
    return metrics.EXCLUDED if label == -1 else int(label or 0)


def _baseline(
    baseline: KeywordBaseline, studies: pl.DataFrame, classes: list[str]
) -> npt.NDArray[np.bool_]:
    rows = []
    for report in studies["report"]:
        found = baseline.labels(report)
        rows.append([found[c] for c in classes])
    return np.array(rows, dtype=np.bool_).reshape(studies.height, len(classes))


def _protocol(kind: str, settings: Settings, case: _Case, without_graph: int) -> str:
    unit = "patients" if case.by_patient else "studies (no patients known)"
    uncertain = "MeSH terms as findings, unlisted terms negative, unindexed studies left out"
    if kind == "mimic_cxr_jpg":
        uncertain = "reference -1 not scored, blank negative"
    return (
        f"{len(case.study_ids)} studies; positive = any asserted observation "
        f"({', '.join(settings.certainties)}); {uncertain}; {without_graph} studies without graph "
        f"count as negative; {case.missing} labelled studies not in this run; bootstrap over {unit}"
    )


def _score_rows(
    case: _Case,
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
                "class_set": "CXP-13" if isinstance(what, int) else what,
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
    case: _Case,
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
    """Micro MCC over CXP-13 of each reference, system and closure, as one line for the log."""
    rows = scores.filter(
        pl.col("metric") == "mcc", pl.col("class") == "micro", pl.col("class_set") == "CXP-13"
    )
    found = [
        f"{r['reference']}, {r['system']}, {r['closure']}: micro MCC {r['value']:.3f}"
        for r in rows.iter_rows(named=True)
    ]
    return "; ".join(found) or "no reference set"
