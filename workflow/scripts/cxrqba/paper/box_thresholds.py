"""Share of boxes that reach a threshold of overlap, over all thresholds (beside paper Tab. 2b).

The paper reports one threshold, 30 %. The figure shows what another would have said.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cxrqba.evaluate.box_scores import RATIOS, THRESHOLD
from cxrqba.evaluate.boxes import IMAGE, IMAGENOME, LUNGS, OURS
from cxrqba.paper import style
from cxrqba.schema import BOX_PAIRS
from cxrqba.tables import read_tables

TITLE = "Overlap of finding boxes with expert boxes, by threshold"
STEPS = 50
NAMES = {"iou": "IoU", "iop": "IoP", "iot": "IoT"}
ALL = "ours, all targets"
"""Our system, a target without box counting as missed."""
LOOK: dict[str, dict[str, Any]] = {
    OURS: {"color": style.BLUE, "linewidth": 1.6, "linestyle": "-"},
    ALL: {"color": style.BLUE, "linewidth": 1.1, "linestyle": (0, (1, 1))},
    IMAGENOME: {"color": style.GREEN, "linewidth": 1.2, "linestyle": (0, (3, 1, 1, 1, 1, 1))},
    LUNGS: {"color": style.VERMILLION, "linewidth": 1.2, "linestyle": (0, (5, 1.5))},
    IMAGE: {"color": style.GREY, "linewidth": 1.2, "linestyle": (0, (4, 1.2, 1, 1.2))},
}
POOLINGS = {
    "reading": "each reader",
    "union": "union of readers",
    "majority": "majority of readers",
}


def threshold_data(paths: Sequence[Path]) -> pl.DataFrame:
    """One row an expert set, pooling, line, ratio and threshold: share that reaches it."""
    pairs = read_tables(paths, BOX_PAIRS)
    thresholds = np.arange(STEPS + 1) / STEPS
    rows = []
    sets = pairs.group_by("reference", "pooling", maintain_order=True)
    for (reference, pooling), part in sets:
        ours = part.filter(pl.col("system") == OURS)
        lines = {
            system: part.filter(pl.col("system") == system, "paired")
            for system in (OURS, IMAGENOME, LUNGS, IMAGE)
        }
        for line, chosen in ({**lines, ALL: ours}).items():
            for ratio in RATIOS:
                values = chosen[ratio].to_numpy()
                for threshold in thresholds if len(values) else ():
                    share = float(np.mean(values >= threshold - 1e-12))
                    rows.append((reference, pooling, line, ratio, threshold, share, len(values)))
    columns = {
        "reference": pl.String,
        "pooling": pl.String,
        "line": pl.String,
        "ratio": pl.String,
        "threshold": pl.Float64,
        "share": pl.Float64,
        "targets": pl.Int64,
    }
    # a threshold of 0 is reached without any box: it says nothing of the line over all targets
    return pl.DataFrame(rows, schema=columns, orient="row").filter(
        (pl.col("line") != ALL) | (pl.col("threshold") > 0)
    )


def threshold_figure(data: pl.DataFrame, dataset: str) -> Figure:
    """A row of three panels for each expert set and way to pool its readers."""
    if data.is_empty():
        return style.no_data_figure(TITLE, dataset, "no pair of a finding box and an expert box")
    sets = data.select("reference", "pooling").unique(maintain_order=True).rows()
    height = 0.95 + 1.75 * len(sets)
    figure = style.new_figure(style.PAGE_WIDTH, height)
    style.title(figure, TITLE, dataset)
    grid = figure.add_gridspec(
        len(sets),
        len(RATIOS),
        left=0.075,
        right=0.98,
        top=1 - 0.72 / height,
        bottom=0.62 / height,
        wspace=0.14,
        hspace=0.55,
    )
    for row, (reference, pooling) in enumerate(sets):
        own = data.filter(pl.col("reference") == reference, pl.col("pooling") == pooling)
        several = data.filter(pl.col("reference") == reference)["pooling"].n_unique() > 1
        for column, ratio in enumerate(RATIOS):
            axes = figure.add_subplot(grid[row, column])
            _panel(axes, own.filter(pl.col("ratio") == ratio), ratio)
            axes.tick_params(labelleft=column == 0)
            if column == 0:
                axes.set_ylabel("share of targets (%)")
                head = f"{reference}, {POOLINGS[str(pooling)]}" if several else str(reference)
                axes.set_title(head, pad=14)
            axes.text(0.5, 1.03, NAMES[ratio], transform=axes.transAxes, ha="center", va="bottom")
            if row == len(sets) - 1:
                axes.set_xlabel("threshold (%)")
    shown = [line for line in LOOK if line in set(data["line"])]
    handles = [figure.axes[0].plot([], [], **LOOK[line])[0] for line in shown]
    figure.legend(handles, shown, loc="lower center", ncols=len(shown), handlelength=3.2)
    return figure


def _panel(axes: Axes, data: pl.DataFrame, ratio: str) -> None:
    axes.axvline(100 * THRESHOLD, color=style.FAINT, linewidth=1.0, zorder=0)
    for line, look in LOOK.items():
        points = data.filter(pl.col("line") == line)
        axes.plot(100 * points["threshold"], 100 * points["share"], **look)
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 103)
    axes.set_xticks([0, 30, 60, 100])
    axes.set_yticks([0, 25, 50, 75, 100])
    axes.grid(axis="y", color=style.FAINT, linewidth=0.5)
    axes.set_axisbelow(True)
