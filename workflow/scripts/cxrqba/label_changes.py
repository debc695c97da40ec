"""What a change of the reference definitions did to study labels: before against after."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from cxrqba.errors import UserError
from cxrqba.schema import LABELS
from cxrqba.tables import read_table

FILE = "labels.parquet"
NOT_MENTIONED = "not mentioned"
GAINED, LOST, CHANGED, SURENESS = "gained", "lost", "changed", "certainty"
KINDS = (GAINED, LOST, CHANGED, SURENESS)
"""Newly mentioned; no longer mentioned; another value; the same value, surer or less sure."""

SHOWN = 40
"""Lines of single studies that are printed; ``--csv`` writes all."""

_KEYS = ["study_id", "class"]


def read_labels(place: Path) -> pl.DataFrame:
    """The labels of a results folder ``labels``, of a copy of it, or of the parquet file itself."""
    path = place / FILE if place.is_dir() else place
    if not path.is_file():
        raise UserError(f"{path}: no such file; give a folder that `snakemake labels` made")
    return read_table(path, LABELS).select(*_KEYS, "value", "certainty")


def changes(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """One row a study and class that both know and whose label differs.

    Columns: study_id, class, change (one of :data:`KINDS`), old, new, old_certainty, new_certainty.
    """
    both = old.join(new, on=_KEYS, how="inner", suffix="_new", maintain_order="left")
    value, newer = pl.col("value"), pl.col("value_new")
    change = (
        pl.when(value == newer)
        .then(pl.lit(SURENESS))
        .when(value == NOT_MENTIONED)
        .then(pl.lit(GAINED))
        .when(newer == NOT_MENTIONED)
        .then(pl.lit(LOST))
        .otherwise(pl.lit(CHANGED))
    )
    differs = (value != newer) | pl.col("certainty").ne_missing(pl.col("certainty_new"))
    return both.filter(differs).select(
        *_KEYS,
        change=change,
        old=value,
        new=newer,
        old_certainty=pl.col("certainty"),
        new_certainty=pl.col("certainty_new"),
    )


def describe(old: pl.DataFrame, new: pl.DataFrame) -> str:
    """Counts by class, then the single studies; what only one side has is said first."""
    found = changes(old, new)
    lines = [
        *_only(old, new, "study_id", "studies"),
        *_only(old, new, "class", "classes"),
        f"{found.height} labels of {found['study_id'].n_unique()} studies differ",
    ]
    if found.is_empty():
        return "\n".join(lines) + "\n"
    counts = found.group_by("class", maintain_order=True).agg(
        *((pl.col("change") == kind).sum().alias(kind) for kind in KINDS)
    )
    lines += ["", _line("class", *KINDS), *(_line(*row) for row in counts.iter_rows()), ""]
    for row in found.head(SHOWN).iter_rows(named=True):
        before, after = (_label(row, side) for side in ("old", "new"))
        lines.append(f"{row['study_id']}  {row['class']}: {before} -> {after}")
    if found.height > SHOWN:
        lines.append(f"... and {found.height - SHOWN} more; --csv FILE writes all")
    return "\n".join(lines) + "\n"


def _label(row: dict[str, str | None], side: str) -> str:
    certainty = row[f"{side}_certainty"]
    return f"{row[side]} ({certainty})" if certainty else str(row[side])


def _line(name: str, *cells: object) -> str:
    return f"{name:<34}" + "".join(f"{c!s:>11}" for c in cells)


def _only(old: pl.DataFrame, new: pl.DataFrame, column: str, what: str) -> list[str]:
    before, after = (set(t[column].unique()) for t in (old, new))
    lines = []
    for names, where in ((before - after, "before"), (after - before, "after")):
        if names:
            lines.append(f"{len(names)} {what} only {where}, e.g. {min(names)}: not compared")
    return lines
