"""The end of a run in a few lines: what was made, how good it is, which file to open first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from cxrqba.paper.accounting import load_accounting
from cxrqba.paper.names import GRADES, NOT_RATED
from cxrqba.paper.scan import scan
from cxrqba.paper.scores import class_sets
from cxrqba.paper.settings import PaperSettings
from cxrqba.paper.tables import count, number, percent
from cxrqba.schema import LABEL_SCORES, RATED

WIDTH = 14
"""Of the column of headings."""


def summarize(
    accounting: Sequence[Path],
    rated: Sequence[Path],
    scores: Sequence[Path],
    settings: PaperSettings,
    folder: Path,
) -> str:
    """The summary as text; ``folder`` is the results folder of the dataset."""
    lines = [
        ("studies", _studies(load_accounting(accounting))),
        *_made(load_accounting(accounting)),
        *_grades(rated),
        *_labels(scores),
        ("open first", settings.open_first),
        ("tables", f"{folder / 'tables'}/"),
        ("figures", f"{folder / 'figures'}/" if rated else None),
    ]
    return "\n".join(
        [settings.title, *(f"  {name:<{WIDTH}}{text}" for name, text in lines if text), ""]
    )


def _studies(accounting: pl.DataFrame) -> str:
    """Studies in, out and lost with the reasons."""
    went_in, out = (_total(accounting, f"studies {way}") for way in ("in", "out"))
    lost = accounting.filter(pl.col("what") == "studies lost")
    total = _total(accounting, "studies lost") or 0
    reasons = lost.group_by("reason").agg(pl.col("count").sum()).sort("reason").drop_nulls()
    why = ", ".join(f"{n:,} {reason.replace('_', ' ')}" for reason, n in reasons.iter_rows())
    return f"{count(went_in)} in, {count(out)} out, {total:,} lost" + (f" ({why})" if why else "")


def _made(accounting: pl.DataFrame) -> list[tuple[str, str | None]]:
    """What was made of them."""
    observations = _total(accounting, "observations")
    return [
        ("images", _images(accounting)),
        ("observations", None if observations is None else count(observations)),
    ]


def _images(accounting: pl.DataFrame) -> str:
    """Images and how many of them could not be used; a source without any is said to have none."""
    total = _total(accounting, "images")
    if not total:
        return "none in this source: no boxes, so no pair is of pre-training or fine-tuning grade"
    states = accounting.filter(pl.col("what") == "images", pl.col("reason") != "ok")
    rest = [
        f"{n:,} {reason.replace('_', ' ')}" for reason, n in states.select("reason", "count").rows()
    ]
    return count(total) + (f" ({', '.join(rest)})" if rest else "")


def _total(accounting: pl.DataFrame, what: str) -> int | None:
    rows = accounting.filter(pl.col("what") == what)
    return int(rows["count"].sum()) if rows.height else None


def _grades(rated: Sequence[Path]) -> list[tuple[str, str | None]]:
    """QA pairs, their grades and the two subsets."""
    columns = ["rating", "pre_training", "fine_tuning"]
    table = (
        scan(rated, columns, RATED)
        .group_by(pl.col("rating").fill_null(NOT_RATED))
        .agg(pl.len().alias("count"), pl.col("pre_training", "fine_tuning").sum())
        .collect()
    )
    pairs = int(table["count"].sum())
    if not pairs:
        return []
    by_grade = dict(table.select("rating", "count").iter_rows())
    shares = (f"{g} {percent(by_grade[g], pairs)}" for g in GRADES if g in by_grade)
    fine, pre = (int(table[c].sum()) for c in ("fine_tuning", "pre_training"))
    return [
        ("QA pairs", count(pairs)),
        ("grades", ", ".join(shares)),
        ("subsets", f"{fine:,} fine-tuning, {pre:,} pre-training (frontal images only)"),
    ]


def _labels(scores: Sequence[Path]) -> list[tuple[str, str | None]]:
    """One line per reference and system: pooled MCC under its first, the default closure."""
    table = scan(scores, list(LABEL_SCORES), LABEL_SCORES).collect()
    pooled = table.filter(pl.col("metric") == "mcc", pl.col("class").is_in(["macro", "micro"]))
    pooled = pooled.filter(
        pl.col("closure") == pl.col("closure").first().over("reference"),
        ~pl.col("system").str.contains(", "),  # ours, counted in another way
    )
    lines: list[tuple[str, str | None]] = []
    keys = ("reference", "system", "closure")
    for (reference, system, closure), part in pooled.group_by(*keys, maintain_order=True):
        values = {(r["class"], r["class_set"]): r["value"] for r in part.iter_rows(named=True)}
        sets = class_sets(part)
        cells = [
            *(f"{s} {number(values[('macro', s)])}" for s in sets if ("macro", s) in values),
            *(f"micro {number(values[('micro', s)])}" for s in sets[-1:] if ("micro", s) in values),
        ]
        if any(v is not None and not math.isnan(v) for v in values.values()):
            heading = "label MCC" if not lines else ""
            lines.append((heading, f"{reference}, {system}, {closure} tags: {', '.join(cells)}"))
    return lines
