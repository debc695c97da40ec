"""Reference sets of study labels as matrices: one case a set, class vocabulary and closure.

The study is the unit. All systems of a case are scored on the same studies: those that are labelled
and in the dataset. Open-i is a second case with classes of its own tags
(:mod:`cxrqba.evaluate.tags`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from cxrqba.errors import UserError
from cxrqba.evaluate import tags
from cxrqba.evaluate.gold import Gold, GoldSet, mesh_labels, read_cxr_lt, read_mimic_labels
from cxrqba.evaluate.label_classes import (
    CHEXPERT,
    CLASS_SETS,
    CLOSURES,
    CXR_LT,
    scored_classes,
)
from cxrqba.reference.tables import Reference
from cxrqba.reports.readers import read_openi_mesh

NOWHERE: frozenset[str] = frozenset()
GOLD_RULES = {
    "openi_mesh": "MeSH terms as findings, unlisted terms negative, unindexed studies left out",
    "mimic_cxr_jpg": "reference -1 not scored, blank negative",
    "cxr_lt": "images of a study collapsed, classes on which they disagree not scored",
}
VOCABULARIES = {"openi_mesh": CHEXPERT, "mimic_cxr_jpg": CHEXPERT, "cxr_lt": CXR_LT}
TAG_RULE = (
    "uncertain readings of another observation not counted; MeSH terms as classes, "
    "studies without a term negative, unindexed left out"
)


@dataclass(frozen=True)
class Expert:
    """One reference set; ``form`` is the format name of the configuration."""

    name: str
    form: str
    path: Path
    must_overlap: bool = False  # refuse a dataset that has none of its studies
    imagenome: Path | None = None  # scene graphs to compare with


def read_gold(
    kind: str, path: Path, reference: Reference, classes: Mapping[str, frozenset[str]]
) -> GoldSet:
    """Expert labels of one reference set; ``kind`` is the format name of the configuration."""
    if kind == "openi_mesh":
        return GoldSet(mesh_labels(read_openi_mesh(path), reference, classes))
    if kind == "cxr_lt":
        return read_cxr_lt(path, list(classes))
    return GoldSet(read_mimic_labels(path, list(classes)))


class Case:
    """One reference set under one closure, as matrices."""

    def __init__(
        self,
        expert: Expert,
        name: str,
        closure: str,
        members: Mapping[str, frozenset[str]],
        sets: Mapping[str, Sequence[str]],
        gold: GoldSet,
        studies: pl.DataFrame,
        gold_rule: str,
        not_at: Mapping[str, frozenset[str]] | None = None,
    ):
        self.expert = expert
        self.name = name
        self.closure = closure
        self.members = members
        self.classes = list(members)
        self.subsets = {s: [self.classes.index(c) for c in names] for s, names in sets.items()}
        self.gold_rule = gold_rule
        self.conflicts = gold.conflicts
        self.by_tags = not_at is not None
        self.not_at = [(not_at or {}).get(name, NOWHERE) for name in members]
        known = studies.filter(pl.col("study_id").is_in(list(gold.labels))).sort("study_id")
        self.study_ids = known["study_id"].to_list()
        self.reports = known["report"].to_list()
        self.missing = len(gold.labels) - len(self.study_ids)
        self.gold = _matrix(gold.labels, self.study_ids, self.classes)
        patients = known["patient_id"].to_list()
        self.by_patient = all(p is not None for p in patients)
        units = patients if self.by_patient else self.study_ids
        numbers = {unit: i for i, unit in enumerate(sorted(set(units)))}
        self.groups = np.array([numbers[u] for u in units], dtype=np.int64)

    @property
    def widest(self) -> str:
        """Name of the widest class set: under it the single classes are listed."""
        return list(self.subsets)[-1]


def cases(experts: Iterable[Expert], reference: Reference, studies: pl.DataFrame) -> Iterator[Case]:
    """Every reference set with every list of classes and closure.

    A set without any study of the dataset stops with one line if its configuration says so.
    """
    for expert in experts:
        vocabulary = VOCABULARIES[expert.form]
        for closure in CLOSURES:
            found = scored_classes(reference, closure, vocabulary)
            gold = read_gold(expert.form, expert.path, reference, found)
            case = Case(
                expert,
                expert.name,
                closure,
                found,
                CLASS_SETS[vocabulary],
                gold,
                studies,
                GOLD_RULES[expert.form],
            )
            if expert.must_overlap and not case.study_ids:
                raise UserError(no_overlap(case))
            yield case
        if expert.form == "openi_mesh":
            yield from _tag_cases(expert, reference, studies)


def no_overlap(case: Case) -> str:
    """One line for a reference set that has no study in common with the dataset."""
    return (
        f"{case.expert.path}: none of the {case.missing} labelled studies of '{case.name}' is in "
        "the dataset; correct path or study ids of evaluate.labels in the dataset file"
    )


def _tag_cases(expert: Expert, reference: Reference, studies: pl.DataFrame) -> Iterator[Case]:
    mesh = read_openi_mesh(expert.path)
    classes = tags.load_tag_classes(reference)
    for closure in tags.CLOSURES:
        found = tags.members(classes, reference, closure)
        yield Case(
            expert,
            f"{expert.name}, own classes",
            closure,
            found,
            tags.class_sets(classes),
            GoldSet(tags.tag_labels(mesh, classes, found)),
            studies,
            TAG_RULE,
            {c.name: c.not_at for c in classes},
        )


def _matrix(
    gold: Gold, study_ids: Sequence[str], classes: Sequence[str]
) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
    """(studies, classes) of 1, 0 and -1: blank counts as negative, uncertain is not scored."""
    rows = [[int(gold[s][c] or 0) for c in classes] for s in study_ids]
    return np.array(rows, dtype=np.int8).reshape(len(study_ids), len(classes))
