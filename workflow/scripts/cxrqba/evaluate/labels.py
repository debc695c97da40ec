"""Study labels against expert labels (paper Sec. 4.1, C.2; Tabs 2a, 7).

A study is positive for a class if any observation from the report that is asserted (positiveness
pos) carries a finding of the class. Observations that only compare or only recommend assert
nothing; negatives that were added by default are not from the report and never count. Which
findings make a class positive is one of three closures. "nearest", the default: a finding counts
for the class it is or, if it is none, for the nearest of its ancestors that is one, as a linear
atelectasis is an Atelectasis (the paper counts children too). "exact": only findings that are the
class. "closed": also all that imply it (``labels.csv``). A study without
graph has no observation and so is negative in all classes: a failure is not left out.

Open-i is scored a second time on classes made of its own tags (:mod:`cxrqba.evaluate.tags`). Its
indexers file what is seen and leave out what it may be ("opacity, may be pneumonia"), so there an
uncertain reading of another observation does not count; what changes if such readings do count, or
only the more certain observations, is shown beside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from cxrqba.evaluate import metrics, tags
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
NOWHERE: frozenset[str] = frozenset()
READING = "associated with"
"""Child type of what another observation may stand for."""
VARIANTS: dict[str, tuple[tuple[str, ...], bool]] = {
    "uncertain readings too": (CERTAINTIES, True),
    "certain or likely": (("certain", "likely"), False),
    "certain": (("certain",), False),
}
"""Other ways to count on the tag classes: certainties, and whether uncertain readings count."""
CLASSES = "chexpert"
GOLD_RULES = {
    "openi_mesh": "MeSH terms as findings, unlisted terms negative, unindexed studies left out",
    "mimic_cxr_jpg": "reference -1 not scored, blank negative",
}
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


def label_classes(
    reference: Reference, closure: str, dataset: str = CLASSES
) -> dict[str, frozenset[str]]:
    """Class -> the findings that make it positive; without No Finding.

    ``dataset`` names the classes, as in ``labels.csv``; they are CheXpert's where results are
    compared with expert labels.
    """
    entries = {k: v for k, v in reference.labels[dataset].items() if k != NOT_SCORED}
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
    """
    return _by_study(_asserted(observations, certainties))


def _asserted(observations: pl.DataFrame, certainties: Iterable[str]) -> pl.DataFrame:
    """What the report asserts; the answer to the indication (OIND) repeats observations."""
    return observations.filter(
        pl.col("from_report"),
        pl.col("positiveness") == "pos",
        pl.col("certainty").is_in(list(certainties)),
        pl.col("obs_id") != "OIND",
    )


def _without_readings(asserted: pl.DataFrame) -> pl.DataFrame:
    """Without what another observation may stand for."""
    return asserted.filter(
        (pl.col("certainty") != "uncertain") | pl.col("child_type").ne_missing(READING)
    )


def _by_study(
    asserted: pl.DataFrame, not_at: frozenset[str] = NOWHERE
) -> dict[str, frozenset[str]]:
    """Study id -> findings, leaving out observations all of whose regions are in ``not_at``."""
    if not_at:
        names = pl.col("regions").list.eval(pl.element().struct.field("region"))
        elsewhere = names.list.set_difference(sorted(not_at)).list.len() > 0
        asserted = asserted.filter(elsewhere | (pl.col("regions").list.len().fill_null(0) == 0))
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
    with_graph = frozenset(observations["study_id"].unique())
    scores: list[dict[str, Any]] = []
    labels: list[pl.DataFrame] = []
    for case in _cases(references, reference, studies):
        baseline = _baseline(KeywordBaseline(reference, case.members), case)
        asserted = _asserted(observations, settings.certainties)
        ours = _predicted(case, _without_readings(asserted) if case.by_tags else asserted)
        protocol = _protocol(settings, case, sum(s not in with_graph for s in case.study_ids))
        for system, predicted in ((OURS, ours), (BASELINE, baseline)):
            scores += _score_rows(case, system, predicted, settings, protocol)
        for name, (certainties, readings) in VARIANTS.items() if case.by_tags else ():
            counted = _asserted(observations, certainties)
            predicted = _predicted(case, counted if readings else _without_readings(counted))
            rows = _score_rows(case, f"{OURS}, {name}", predicted, settings, protocol)
            scores += [r for r in rows if r["class"] in ("macro", "micro")]
        labels.append(_label_rows(case, ours, baseline, with_graph))
    table = pl.concat(labels) if labels else pl.DataFrame(schema=STUDY_LABELS)
    return frame(scores, LABEL_SCORES), table


def _cases(
    references: Iterable[tuple[str, str, Path]], reference: Reference, studies: pl.DataFrame
) -> Iterator[_Case]:
    """Every reference set with every list of classes and closure."""
    for name, kind, path in references:
        for closure in CLOSURES:
            found = label_classes(reference, closure)
            sets = {"CXP-5": CXP_5, "CXP-7": CXP_7, "CXP-13": tuple(found)}
            gold = read_gold(kind, path, reference, found)
            yield _Case(name, closure, found, sets, gold, studies, GOLD_RULES[kind])
        if kind == "openi_mesh":
            mesh = read_openi_mesh(path)
            classes = tags.load_tag_classes(reference)
            for closure in tags.CLOSURES:
                found = tags.members(classes, reference, closure)
                gold = tags.tag_labels(mesh, classes, found)
                yield _Case(
                    f"{name}, own classes",
                    closure,
                    found,
                    tags.class_sets(classes),
                    gold,
                    studies,
                    "uncertain readings of another observation not counted; MeSH terms as classes, "
                    "studies without a term negative, unindexed left out",
                    {c.name: c.not_at for c in classes},
                )


class _Case:
    """One reference set under one closure, as matrices."""

    def __init__(
        self,
        name: str,
        closure: str,
        members: Mapping[str, frozenset[str]],
        sets: Mapping[str, Sequence[str]],
        gold: Gold,
        studies: pl.DataFrame,
        gold_rule: str,
        not_at: Mapping[str, frozenset[str]] | None = None,
    ):
        self.name = name
        self.closure = closure
        self.members = members
        self.classes = list(members)
        self.subsets = {s: [self.classes.index(c) for c in names] for s, names in sets.items()}
        self.gold_rule = gold_rule
        self.by_tags = not_at is not None
        self.not_at = [(not_at or {}).get(name, NOWHERE) for name in members]
        known = studies.filter(pl.col("study_id").is_in(list(gold))).sort("study_id")
        self.study_ids = known["study_id"].to_list()
        self.reports = known["report"].to_list()
        self.missing = len(gold) - len(self.study_ids)
        self.gold = np.array(
            [[_scored(gold[s][c]) for c in self.classes] for s in self.study_ids], dtype=np.int8
        ).reshape(len(self.study_ids), len(self.classes))
        patients = known["patient_id"].to_list()
        self.by_patient = all(p is not None for p in patients)
        units = patients if self.by_patient else self.study_ids
        numbers = {unit: i for i, unit in enumerate(sorted(set(units)))}
        self.groups = np.array([numbers[u] for u in units], dtype=np.int64)

    @property
    def widest(self) -> str:
        """Name of the widest class set: under it the single classes are listed."""
        return list(self.subsets)[-1]


def _scored(label: int | None) -> int:
    """Blank counts as negative; uncertain is not scored."""
    return metrics.EXCLUDED if label == -1 else int(label or 0)


def _predicted(case: _Case, asserted: pl.DataFrame) -> npt.NDArray[np.bool_]:
    found = {not_at: _by_study(asserted, not_at) for not_at in set(case.not_at)}
    rows = [
        [
            bool(found[not_at].get(study, NOWHERE) & members)
            for not_at, members in zip(case.not_at, case.members.values(), strict=True)
        ]
        for study in case.study_ids
    ]
    return np.array(rows, dtype=np.bool_).reshape(case.gold.shape)


def _baseline(baseline: KeywordBaseline, case: _Case) -> npt.NDArray[np.bool_]:
    rows = [[found[c] for c in case.classes] for found in map(baseline.labels, case.reports)]
    return np.array(rows, dtype=np.bool_).reshape(case.gold.shape)


def _protocol(settings: Settings, case: _Case, without_graph: int) -> str:
    unit = "patients" if case.by_patient else "studies (no patients known)"
    return (
        f"{len(case.study_ids)} studies; positive = any asserted observation "
        f"({', '.join(settings.certainties)}); {case.gold_rule}; {without_graph} studies without "
        f"graph count as negative; {case.missing} labelled studies not in this run; bootstrap over "
        f"{unit}"
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
    """Micro MCC of each reference, system and closure over each class set, for the log."""
    rows = scores.filter(pl.col("metric") == "mcc", pl.col("class") == "micro")
    found = [
        f"{r['reference']}, {r['system']}, {r['closure']}: {r['class_set']} micro MCC "
        f"{r['value']:.3f}"
        for r in rows.filter(~pl.col("class_set").is_in(["CXP-5", "CXP-7"])).iter_rows(named=True)
    ]
    return "; ".join(found) or "no reference set"
