"""What each system says of the classes of a case (paper Sec. 4.1).

Ours: a study is positive for a class if any observation from the report that is asserted
(positiveness pos) carries a finding of the class. Observations that only compare or only recommend
assert nothing; negatives that were added by default are not from the report and never count.
Chest ImaGenome: any region of any image of the study with a positive attribute of the class. A
study without graph has no observation and is negative in all classes: a failure is not left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from cxrqba.errors import UserError
from cxrqba.evaluate.imagenome_boxes import attribute_classes, attributes
from cxrqba.evaluate.keywords import KeywordBaseline
from cxrqba.evaluate.label_cases import NOWHERE, Case
from cxrqba.reference.tables import Reference
from cxrqba.regions.imagenome import SceneGraphError, find_scene_graph

Labels = npt.NDArray[np.bool_]
"""(studies, classes) of a case"""
CERTAINTIES = ("certain", "likely", "uncertain")
READING = "associated with"
"""Child type of what another observation may stand for."""


def study_findings(
    observations: pl.DataFrame, certainties: Iterable[str] = CERTAINTIES
) -> dict[str, frozenset[str]]:
    """Study id -> findings asserted in the report; studies without one are missing.

    ``observations`` needs study_id, obs_id, obs_entities, positiveness, certainty, from_report.
    """
    return _by_study(asserted(observations, certainties))


def asserted(observations: pl.DataFrame, certainties: Iterable[str]) -> pl.DataFrame:
    """What the report asserts; the answer to the indication (OIND) repeats observations."""
    return observations.filter(
        pl.col("from_report"),
        pl.col("positiveness") == "pos",
        pl.col("certainty").is_in(list(certainties)),
        pl.col("obs_id") != "OIND",
    )


def without_readings(rows: pl.DataFrame) -> pl.DataFrame:
    """Asserted observations without what another observation may stand for."""
    return rows.filter(
        (pl.col("certainty") != "uncertain") | pl.col("child_type").ne_missing(READING)
    )


def our_labels(case: Case, rows: pl.DataFrame) -> Labels:
    """Labels from asserted observations."""
    found = {not_at: _by_study(rows, not_at) for not_at in set(case.not_at)}
    labels = [
        [
            bool(found[not_at].get(study, NOWHERE) & members)
            for not_at, members in zip(case.not_at, case.members.values(), strict=True)
        ]
        for study in case.study_ids
    ]
    return np.array(labels, dtype=np.bool_).reshape(case.gold.shape)


def keyword_labels(case: Case, reference: Reference) -> Labels:
    """Labels of the keyword baseline, from the report alone."""
    baseline = KeywordBaseline(reference, case.members)
    rows = [[found[c] for c in case.classes] for found in map(baseline.labels, case.reports)]
    return np.array(rows, dtype=np.bool_).reshape(case.gold.shape)


def imagenome_labels(
    folder: Path, case: Case, images: pl.DataFrame, reference: Reference
) -> tuple[Labels, list[tuple[str, str]]]:
    """Labels of Chest ImaGenome, and (study id, why) of studies without a usable scene graph.

    ``images`` needs study_id and image_id.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; correct 'imagenome' of evaluate.labels")
    classes = attribute_classes(case.members, reference)
    films: dict[str, list[str]] = {}
    for study, image in images.select("study_id", "image_id").sort("image_id").iter_rows():
        films.setdefault(study, []).append(image)
    labels = np.zeros(case.gold.shape, dtype=np.bool_)
    unusable = []
    for row, study in enumerate(case.study_ids):
        positive, faults, usable = _attributes_of(folder, films.get(study, []), classes)
        labels[row] = [name in positive for name in case.classes]
        if not usable:
            unusable.append((study, "; ".join(faults) or f"{folder}: no scene graph of its images"))
    return labels, unusable


def _attributes_of(
    folder: Path, films: Iterable[str], classes: Mapping[str, tuple[str, ...]]
) -> tuple[set[str], list[str], bool]:
    """Positive classes of some images, what was wrong, and whether any graph could be read."""
    positive: set[str] = set()
    faults: list[str] = []
    usable = False
    for image in films:
        path = find_scene_graph(folder, image)
        if path is None:
            continue
        try:
            positive.update(
                name for _, label in attributes(path) for name in classes.get(label, ())
            )
            usable = True
        except SceneGraphError as error:
            faults.append(f"{path}: {error}")
    return positive, faults, usable


def _by_study(rows: pl.DataFrame, not_at: frozenset[str] = NOWHERE) -> dict[str, frozenset[str]]:
    """Study id -> findings, leaving out observations all of whose regions are in ``not_at``."""
    if not_at:
        names = pl.col("regions").list.eval(pl.element().struct.field("region"))
        elsewhere = names.list.set_difference(sorted(not_at)).list.len() > 0
        rows = rows.filter(elsewhere | (pl.col("regions").list.len().fill_null(0) == 0))
    grouped = (
        rows.select("study_id", "obs_entities")
        .explode("obs_entities", empty_as_null=True)
        .drop_nulls()
        .group_by("study_id")
        .agg(pl.col("obs_entities").unique())
    )
    return {study: frozenset(found) for study, found in grouped.iter_rows()}
