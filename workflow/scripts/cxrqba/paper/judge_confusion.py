"""Figure 12: ratings of the same questions by two judges (paper Sec. 4.2, C.1).

It is about language models: unless both judges are, it says that there is no data.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from cxrqba.evaluate.agreement import is_model
from cxrqba.paper import style
from cxrqba.paper.names import GRADES, NOT_RATED
from cxrqba.schema import CONFUSION
from cxrqba.tables import read_table

TITLE = "Figure 12. Ratings by two judges"


def confusion_data(confusion_path: Path) -> pl.DataFrame:
    """CONFUSION where both judges are language models, else an empty table."""
    counts = read_table(confusion_path, CONFUSION)
    judges = set(counts["judge_first"]) | set(counts["judge_second"])
    return counts if all(map(is_model, judges)) else counts.clear()


def confusion_figure(counts: pl.DataFrame, dataset: str) -> Figure:
    """Figure 12: a matrix of counts, shaded by the share of the row."""
    if counts.is_empty():
        reason = "judgements of two language models are needed (evaluate.second_judge)"
        return style.no_data_figure(TITLE, dataset, reason)
    matrix = np.zeros((len(GRADES), len(GRADES)))
    for first, second, number in counts.select("first", "second", "count").iter_rows():
        matrix[GRADES.index(first or NOT_RATED), GRADES.index(second or NOT_RATED)] = number
    figure = style.new_figure(style.COLUMN_WIDTH + 0.6, 3.9)
    style.title(figure, TITLE, dataset)
    axes = figure.add_axes((0.2, 0.13, 0.75, 0.7))
    whole = matrix.sum(axis=1, keepdims=True)
    shares = np.divide(matrix, whole, out=np.zeros_like(matrix), where=whole > 0)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (row, column), number in np.ndenumerate(matrix):
        dark = shares[row, column] > 0.55
        axes.text(
            column,
            row,
            f"{int(number):,}",
            ha="center",
            va="center",
            fontsize=6,
            color="white" if dark else style.INK,
        )
    axes.set_xticks(range(len(GRADES)), GRADES)
    axes.set_yticks(range(len(GRADES)), GRADES)
    axes.set_xlabel(f"rating by {counts['judge_second'][0]}")
    axes.set_ylabel(f"rating by {counts['judge_first'][0]}")
    return figure
