"""Tables 2b, 9 and 10: finding boxes against what experts marked (paper Sec. 4.1, C.3).

Table 2b pools all classes; Table 9 gives the classes of MS-CXR, Table 10 those of REFLACX. The
paper's scores are conditional on a box of ours; what that leaves out stands beside them. Intervals
are 95 % bootstrap intervals over patients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.evaluate.box_scores import CONDITIONAL, HITS, NO_BOX, NO_TARGET, POOLED, RATIOS
from cxrqba.evaluate.boxes import OURS
from cxrqba.paper.scan import scan
from cxrqba.paper.tables import UNDEFINED, Block, Table, count, interval, no_data, number
from cxrqba.schema import BOX_SCORES

HEADINGS = {
    "iou": "IoU",
    "iop": "IoP",
    "iot": "IoT",
    "iou@30": "IoU @30",
    "iop@30": "IoP @30",
    "iot@30": "IoT @30",
    HITS: "IoU @30 of all targets",
    NO_BOX: "Targets without box",
    NO_TARGET: "Boxes without target",
}
SHARES = (*CONDITIONAL[len(RATIOS) :], *RATIOS, HITS)
"""The paper's columns first."""
COUNTS = (NO_BOX, NO_TARGET)
BASELINE_METRIC = "iou@30"
POOLINGS = {
    "reading": "each reader alone",
    "union": "all that any reader marked",
    "majority": "what most readers marked",
}
DEFINITIONS = (
    "A pair is an image and a class with a box of ours and an expert's mark, each side the union "
    "of its shapes, in pixels of the image. IoU, IoP, IoT: intersection over union, over "
    "prediction, over target, mean of pairs; @30: share of pairs that reach 30 %. These are about "
    "pairs alone, as in the paper; IoU @30 of all targets counts a target without box as missed. "
    "Lungs (both boxes as localised) and whole image know nothing of the finding; their scores are "
    "on our pairs, but for that of all targets; Chest ImaGenome has its own, as in the paper. "
    "Brackets: 95 % bootstrap interval over patients. – : undefined."
)
Row = Mapping[str, Any]


def pooled_table(paths: Sequence[Path], dataset: str) -> Table:
    """Table 2b: all classes together, for each expert set, way to pool readers and system."""
    name, caption = "Table 2b", "Finding boxes against expert boxes"
    scores = _load(paths)
    if scores.is_empty():
        return no_data(name, caption, dataset, scores, "no box reference is configured")
    rows = []
    pooled = scores.filter(pl.col("class") == POOLED)
    for keys, part in pooled.group_by(
        "reference", "format", "pooling", "system", maintain_order=True
    ):
        reference, form, pooling, system = map(str, keys)
        cells = {r["metric"]: r for r in part.iter_rows(named=True)}
        rows.append(
            {
                "Reference": reference,
                "Readers": pooling if form == "reflacx" else UNDEFINED,
                "System": system,
                **_sizes(cells),
                **_shares(cells),
                **_counts(cells),
            }
        )
    block = Block(pl.DataFrame(rows), None, ("Reference", "Readers", "System"))
    return Table(name, caption, dataset, scores, [block], [*_notes(scores), DEFINITIONS])


def class_table(name: str, form: str, paths: Sequence[Path], dataset: str) -> Table:
    """Table 9 or 10: each class of the expert sets in format ``form``."""
    title = {"ms_cxr": "MS-CXR", "reflacx": "REFLACX"}[form]
    caption = f"Finding boxes per class of {title}"
    scores = _load(paths).filter(pl.col("format") == form)
    if scores.is_empty():
        return no_data(name, caption, dataset, scores, f"no reference in {title}'s format is given")
    blocks, notes = [], _notes(scores)
    for keys, part in scores.group_by("reference", "pooling", maintain_order=True):
        reference, pooling = map(str, keys)
        heading = f"{reference}: {POOLINGS[pooling]}" if form == "reflacx" else reference
        frame, empty = _classes(part)
        if frame.height:
            blocks.append(Block(frame, heading, ("Class",)))
        if empty:
            notes.append(f"{heading}: neither a target nor a box for {', '.join(empty)}.")
    return Table(name, caption, dataset, scores, blocks, [*notes, DEFINITIONS])


def _load(paths: Sequence[Path]) -> pl.DataFrame:
    return scan(paths, list(BOX_SCORES), BOX_SCORES).collect()


def _classes(scores: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """One row a class with the systems that know nothing at its end; and the empty classes."""
    rows, empty = [], []
    others = [s for s in scores["system"].unique(maintain_order=True) if s != OURS]
    for (name,), part in scores.group_by("class", maintain_order=True):
        cells = {(r["system"], r["metric"]): r for r in part.iter_rows(named=True)}
        ours = {metric: row for (system, metric), row in cells.items() if system == OURS}
        spurious = ours[NO_TARGET]["value"]
        if not ours[HITS]["targets"] and not spurious:
            empty.append(str(name))
            continue
        row = {"Class": "all pairs" if name == POOLED else str(name), **_sizes(ours)}
        row |= _shares(ours)
        for system in others:
            heading = f"{system.capitalize()}: {HEADINGS[BASELINE_METRIC]}"
            row[heading] = number(cells[system, BASELINE_METRIC]["value"])
        rows.append(row | _counts(ours))
    return pl.DataFrame(rows), [n for n in empty if n != POOLED]


def _sizes(cells: Mapping[str, Row]) -> dict[str, str]:
    row = cells[HITS]
    return {"Targets": count(row["targets"]), "Pairs": count(row["pairs"])}


def _shares(cells: Mapping[str, Row]) -> dict[str, str]:
    return {
        HEADINGS[m]: interval(cells[m]["value"], cells[m]["low"], cells[m]["high"]) for m in SHARES
    }


def _counts(cells: Mapping[str, Row]) -> dict[str, str]:
    """Two counts; only our system can have boxes without a target."""
    return {HEADINGS[m]: number(cells[m]["value"], 0) if m in cells else UNDEFINED for m in COUNTS}


def _notes(scores: pl.DataFrame) -> list[str]:
    """The protocol of each expert set, and whether it has nothing in common with the dataset."""
    notes = []
    keys = ["reference", "protocol"]
    for (reference, protocol), part in scores.group_by(keys, maintain_order=True):
        notes.append(f"{reference}: {protocol}.")
        if not part["targets"].sum():
            notes.append(f"{reference}: **no target in any image of the dataset**.")
    return notes
