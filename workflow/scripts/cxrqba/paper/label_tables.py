"""Tables 7 and 8: study labels per class (paper Sec. 4.1, C.2), and what other counting changes.

Table 7 has the classes of CheXpert (and those of Open-i's own tags), Table 8 those of CXR-LT 2024.
The other ways to count stand under the default closure; all of them, per class and with each
closure, are in ``evaluate_labels/variants.parquet``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from cxrqba.paper.scores import POOLED, label_classes, label_notes, label_summary, load
from cxrqba.paper.tables import Block, Table, no_data
from cxrqba.schema import LABEL_SCORES, LABEL_VARIANTS

CXR_LT_SET = "CXR-LT-25"
"""The class set that only sets in the format of CXR-LT have."""
WAYS = {
    "certainty": "Certainties counted",
    "uncertain_reference": "Reference -1",
    "without_graph": "Studies without graph",
    "classes": "Classes",
    "sections": "Sections",
    "system": "System",
}
CERTAINTIES = {
    "uncertain": "all",
    "likely": "certain, likely",
    "certain": "certain",
}


def class_table(
    name: str, cxr_lt: bool, scores: Sequence[Path], variants: Sequence[Path], dataset: str
) -> Table:
    """Table 7, or with ``cxr_lt`` Table 8: each class of the expert sets, then other counting."""
    caption = "Finding tags per class of " + ("CXR-LT 2024" if cxr_lt else "CheXpert")
    rows = _of_format(load(scores, LABEL_SCORES), cxr_lt)
    classes = rows.filter(~pl.col("class").is_in(POOLED))
    if classes.is_empty():
        reason = "no label reference in the format of CXR-LT is configured"
        return no_data(
            name,
            caption,
            dataset,
            classes,
            reason if cxr_lt else "no label reference is configured",
        )
    blocks = [
        Block(label_classes(part), f"{reference}, {closure} tags", ("Class",))
        for (reference, closure), part in classes.group_by(
            "reference", "closure", maintain_order=True
        )
    ]
    blocks += _ways(_of_format(load(variants, LABEL_VARIANTS), cxr_lt))
    notes = [
        *label_notes(classes),
        "Other ways to count: the least certain observations that make a class positive, what a "
        "reference -1 is, and whether studies without graph count as negative or are left out for "
        "all systems; the first rows are the default. Positive in every system: only classes with "
        "positives in the reference and in all systems, as in the paper. First to decide: not any "
        "positive counts, but what the first of addendum, impression, findings, wet read and the "
        "rest says that asserts the class or denies it altogether.",
    ]
    return Table(name, caption, dataset, classes, blocks, notes)


def _of_format(rows: pl.DataFrame, cxr_lt: bool) -> pl.DataFrame:
    references = rows.filter(pl.col("class_set") == CXR_LT_SET)["reference"].unique()
    inside = pl.col("reference").is_in(references.to_list())
    return rows.filter(inside if cxr_lt else ~inside)


def _ways(variants: pl.DataFrame) -> list[Block]:
    """MCC of every way to count, one block a reference, under its first closure."""
    blocks = []
    for (reference,), part in variants.group_by("reference", maintain_order=True):
        closure = part["closure"][0]
        rows = part.filter(pl.col("closure") == closure).with_columns(
            pl.col("certainty").replace(CERTAINTIES)
        )
        heading = f"{reference}, {closure} tags: MCC under other ways to count"
        blocks.append(Block(label_summary(rows, WAYS), heading, list(WAYS.values())))
    return blocks
