"""Study labels as files people open: CheXpert's wide table, the evidence, what was left out.

The wide table has one row a study and one column a class, as CheXpert and MIMIC-CXR-JPG write it:
1.0 positive, 0.0 negative, -1.0 uncertain, blank not mentioned. Report text stands in none of the
files unless it is asked for; spans lead to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from cxrqba.evaluate.study_labels import NEGATIVE, NOT_MENTIONED, POSITIVE, UNCERTAIN
from cxrqba.schema import LABELS

NUMBERS = {POSITIVE: "1.0", NEGATIVE: "0.0", UNCERTAIN: "-1.0", NOT_MENTIONED: None}
"""How CheXpert writes a value."""

_KEYS = ("patient_id", "study_id")


def in_order(labels: pl.DataFrame) -> pl.DataFrame:
    """Labels of several shards by study; the classes of a study keep their order."""
    return labels.select(list(LABELS)).sort("study_id", maintain_order=True)


def wide(labels: pl.DataFrame) -> pl.DataFrame:
    """One row a study: patient_id, study_id and one of :data:`NUMBERS` a class."""
    classes = labels["class"].unique(maintain_order=True).to_list()
    numbers = labels.select(
        *_KEYS, "class", pl.col("value").replace_strict(NUMBERS, return_dtype=pl.String)
    )
    if not classes:
        return numbers.select(_KEYS)
    table = numbers.pivot("class", index=_KEYS, values="value", maintain_order=True)
    return table.select(*_KEYS, *classes)


def evidence(labels: pl.DataFrame, studies: pl.DataFrame | None = None) -> pl.DataFrame:
    """One row a study, class and place in the report that speaks of the class.

    With ``studies`` (study_id, report) the words themselves stand in a further column ``text``.
    """
    rows = (
        labels.filter(pl.col("evidence").list.len() > 0)
        .select("study_id", "class", "value", "certainty", "evidence")
        .explode("evidence", empty_as_null=True)
        .unnest("evidence")
    )
    if studies is None:
        return rows
    told = rows.join(studies.select("study_id", "report"), on="study_id", how="left")
    length = pl.col("end") - pl.col("start")
    return told.with_columns(text=pl.col("report").str.slice(pl.col("start"), length)).drop(
        "report"
    )


def left_out(ledgers: pl.DataFrame) -> pl.DataFrame:
    """Studies that have no labels: study_id, stage, reason, detail; each once."""
    lost = ledgers.filter(pl.col("scope") == "study")
    return (
        lost.select("study_id", "stage", "reason", "detail")
        .sort("study_id", maintain_order=True)
        .unique("study_id", keep="first", maintain_order=True)
    )


def summary(labels: pl.DataFrame, lost: int, title: str, folder: str) -> str:
    """What was made: counts by class and value, and which file to open."""
    counts = (
        labels.group_by("class", maintain_order=True)
        .agg(*((pl.col("value") == value).sum().alias(value) for value in NUMBERS))
        .iter_rows()
    )
    lines = [
        f"{title}: labels of {labels['study_id'].n_unique()} studies, {lost} left out",
        "",
        _line(("class", *NUMBERS)),
        *(_line(row) for row in counts),
        "",
        f"{folder}/labels.csv: one row a study (1.0, 0.0, -1.0 uncertain, blank not mentioned)",
        f"{folder}/evidence.csv: where in the report each label stands",
        f"{folder}/left_out.csv: studies without labels, and why",
        "What was not understood leaves classes blank; `snakemake worklist` lists it.",
    ]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[object]) -> str:
    name, *rest = (str(c) for c in cells)
    return f"{name:<34}" + "".join(f"{c:>15}" for c in rest)
