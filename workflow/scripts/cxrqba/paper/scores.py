"""Table 2a and the region table: agreement with expert labels and known anatomy.

Table 2a (paper Sec. 4.1, C.2) gives Matthews correlation of finding tags per study, the region
table the overlap of anatomy boxes with known anatomy. Intervals are 95 % bootstrap intervals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.paper.scan import scan
from cxrqba.paper.tables import UNDEFINED, Block, Table, count, interval, no_data, number
from cxrqba.schema import LABEL_SCORES, REGION_SCORES

CLASS_SETS = ("CXP-5", "CXP-7", "CXP-13")
POOLED = ("macro", "micro")
LABEL_METRICS = {"mcc": "MCC", "precision": "P", "recall": "R", "f1": "F1"}
Row = Mapping[str, Any]


def label_table(paths: Sequence[Path], dataset: str) -> Table:
    """Table 2a: MCC pooled over class sets; every class stands in Tables 7 and 8."""
    name, caption = "Table 2a", "Finding tags against expert labels"
    scores = load(paths, LABEL_SCORES)
    if scores.is_empty():
        return no_data(name, caption, dataset, scores, "no label reference is configured")
    alike: dict[tuple[str, ...], list[str]] = {}
    for (reference,), part in scores.group_by("reference", maintain_order=True):
        pooled = part.filter(pl.col("class").is_in(POOLED))
        alike.setdefault(tuple(class_sets(pooled)), []).append(str(reference))
    keys = {"reference": "Reference", "system": "System", "closure": "Tags"}
    blocks = [
        Block(
            label_summary(scores.filter(pl.col("reference").is_in(references)), keys),
            "MCC over class sets",
            list(keys.values()),
        )
        for references in alike.values()
    ]
    notes = label_notes(scores)
    return Table(name, caption, dataset, scores, blocks, notes)


def label_notes(scores: pl.DataFrame) -> list[str]:
    """What the columns of label tables mean, and by which protocol each set was scored."""
    notes = [
        "MCC: Matthews correlation coefficient of study labels; macro: mean over the classes of a "
        "set for which it is defined; micro: over all (study, class) pairs. Brackets: 95 % "
        "bootstrap interval. – : undefined. Positives: studies the reference calls positive."
    ]
    for keys, part in scores.group_by("reference", "protocol", maintain_order=True):
        reference, protocol = map(str, keys)
        notes.append(f"{reference}: {protocol}.")
        if not part["studies"].sum():
            notes.append(f"{reference}: **no labelled study is in the dataset**.")
    return notes


def region_table(paths: Sequence[Path], dataset: str) -> Table:
    """Overlap of localised anatomy with known anatomy, per structure."""
    caption = "Anatomy boxes against known anatomy"
    scores = load(paths, REGION_SCORES)
    if scores.is_empty():
        return no_data("", caption, dataset, scores, "no region reference is configured")
    metrics = list(scores["metric"].unique(maintain_order=True))
    keys = {"structure": "Structure", "system": "System"}
    blocks = [
        Block(
            _wide(part, keys, metrics, "images", "found"), str(reference), ("Structure", "System")
        )
        for (reference,), part in scores.group_by("reference", maintain_order=True)
    ]
    notes = [
        "IoU mean: mean intersection over union of the boxes over all images with a reference box, "
        "an image without our box counting as 0; IoU P10: its 10th percentile. What localisation "
        "must beat: the median box, one constant box for all images, and the median box in our "
        "lungs, one constant place in the box around the lungs we found; both fitted on the other "
        "half of the images. Refused: share of images in which no anatomy was seen at all. "
        "Brackets: 95 % bootstrap interval over images. – : undefined.",
    ]
    return Table("", caption, dataset, scores, blocks, notes)


def load(paths: Sequence[Path], schema: pl.Schema) -> pl.DataFrame:
    """All rows of score tables."""
    return scan(paths, list(schema), schema).collect()


def label_summary(scores: pl.DataFrame, keys: Mapping[str, str]) -> pl.DataFrame:
    """One row per combination of ``keys`` (column -> heading): MCC by class set.

    Macro for every class set, micro over the wide ones.
    """
    pooled = scores.filter(pl.col("class").is_in(POOLED), pl.col("metric") == "mcc")
    sets = class_sets(pooled)
    micro = [s for s in sets if s not in CLASS_SETS[:-1]]  # wide sets alone
    rows = []
    for found, part in pooled.group_by(*keys, maintain_order=True):
        values = {(r["class"], r["class_set"]): r for r in part.iter_rows(named=True)}
        row: dict[str, str] = dict(zip(keys.values(), map(str, found), strict=True))
        row["Studies"] = _largest(part["studies"])
        row |= {f"{s} macro": _macro(s, values.get(("macro", s))) for s in sets}
        row |= {f"{s} micro": _interval(values.get(("micro", s))) for s in micro}
        rows.append(row)
    return pl.DataFrame(rows)


def class_sets(scores: pl.DataFrame) -> list[str]:
    """Class sets from narrow to wide: those of CheXpert first, then as they come."""
    found = [s for s in scores["class_set"].unique(maintain_order=True) if s is not None]
    return [*(s for s in CLASS_SETS if s in found), *(s for s in found if s not in CLASS_SETS)]


def _macro(class_set: str, row: Row | None) -> str:
    """A mean over classes; says over how many if it is defined for fewer than the set has."""
    text = _interval(row)
    size = re.search(r"-(\d+)$", class_set)
    if row is None or text == UNDEFINED or size is None or row["defined"] is None:
        return text
    return text if row["defined"] == int(size[1]) else f"{text} ({row['defined']} classes)"


def label_classes(scores: pl.DataFrame) -> pl.DataFrame:
    """One row per class; support, then MCC, P, R and F1 of each system."""
    systems = list(scores["system"].unique(maintain_order=True))
    rows = []
    for (name,), part in scores.group_by("class", maintain_order=True):
        values = {(r["system"], r["metric"]): r for r in part.iter_rows(named=True)}
        row = {"Class": str(name), "Positives": _largest(part["support"])}
        for system in systems:
            for metric, heading in LABEL_METRICS.items():
                cell = values.get((system, metric))
                text = _interval(cell) if metric == "mcc" else _number(cell)
                row[f"{system}: {heading}"] = text
        rows.append(row)
    return pl.DataFrame(rows)


def _wide(
    scores: pl.DataFrame, keys: Mapping[str, str], metrics: Iterable[str], *counts: str
) -> pl.DataFrame:
    """One row per combination of ``keys`` (column -> heading), one column per metric."""
    rows = []
    for values, part in scores.group_by(*keys, maintain_order=True):
        cells = {r["metric"]: r for r in part.iter_rows(named=True)}
        row = {h: str(v) for h, v in zip(keys.values(), values, strict=True)}
        row |= {c.capitalize(): _largest(part[c]) for c in counts}
        row |= {_metric_name(m): _interval(cells.get(m)) for m in metrics}
        rows.append(row)
    return pl.DataFrame(rows)


def _metric_name(metric: str) -> str:
    """``iou_30`` -> ``IoU @30``; ``iou_p10`` -> ``IoU P10``."""
    known = {"iou": "IoU", "iop": "IoP", "iot": "IoT", "30": "@30", "at30": "@30", "p10": "P10"}
    words = metric.replace("@", "_").split("_")
    return " ".join(known.get(w, w) for w in words)


def _largest(column: pl.Series) -> str:
    """The same count stands in all rows of a group; null where it is undefined."""
    return count(max(column.drop_nulls().to_list(), default=None))


def _interval(row: Row | None) -> str:
    return interval(row["value"], row.get("low"), row.get("high")) if row else UNDEFINED


def _number(row: Row | None, digits: int = 2) -> str:
    return number(row["value"], digits) if row else UNDEFINED
