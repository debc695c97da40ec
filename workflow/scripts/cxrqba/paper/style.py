"""One look for all figures: sizes, fonts, colours, and bytes that do not depend on the clock.

The palette is Okabe and Ito's, which stays distinguishable with colour-blindness. Widths are those
of the paper: 3.4 inches for a column, 7 inches for the page. Fonts are embedded as TrueType.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from cxrqba.paper.names import NOT_RATED
from cxrqba.tables import atomic_path

# Subsetting the embedded fonts reports every glyph table at INFO, the level of our own logs.
logging.getLogger("fontTools").setLevel(logging.WARNING)

COLUMN_WIDTH = 3.4  # inches
PAGE_WIDTH = 7.0
PNG_DPI = 200

BLACK = "#000000"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
YELLOW = "#F0E442"
BLUE = "#0072B2"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#8A8A8A"
INK = "#222222"
FAINT = "#D9D9D9"
ON_IMAGE = (ORANGE, SKY, VERMILLION, GREEN, PURPLE, YELLOW, BLUE)
"""Colours of boxes, those that stand out most on a dark film first."""

POSITIVE = BLUE
NEGATIVE = ORANGE

GRADE_COLOURS = {
    "A++": "#00456E",
    "A+": BLUE,
    "A": SKY,
    "B": "#F2D16B",
    "C": ORANGE,
    "D": VERMILLION,
    NOT_RATED: "#BDBDBD",
}

PARAMETERS: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 7,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "text.parse_math": False,  # a "$" in a report is a dollar sign
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "figure.titlesize": 8.5,
    "figure.titleweight": "bold",
    "pdf.fonttype": 42,  # TrueType: text stays text, every journal accepts it
    "ps.fonttype": 42,
    "svg.hashsalt": "cxr-qba",
    "savefig.dpi": PNG_DPI,
}


def new_figure(width: float, height: float, **options: Any) -> Figure:
    """An empty figure of ``width`` x ``height`` inches in the common style."""
    matplotlib.rcParams.update(matplotlib.rcParamsDefault)
    matplotlib.rcParams.update(PARAMETERS)
    return plt.figure(figsize=(width, height), **options)


def title(figure: Figure, text: str, dataset: str, inches_from_top: float = 0.08) -> None:
    """Title in the upper left corner, with the dataset under it."""
    height = figure.get_size_inches()[1]
    top = 1 - inches_from_top / height
    width = figure.get_size_inches()[0]
    left = 0.08 / width
    figure.text(left, top, text, va="top", ha="left", fontsize=8.5, fontweight="bold")
    figure.text(left, top - 0.17 / height, dataset, va="top", ha="left", fontsize=7, color=GREY)


def no_data_figure(text: str, dataset: str, reason: str) -> Figure:
    """A figure that says why it is empty."""
    figure = new_figure(PAGE_WIDTH, 1.6)
    title(figure, text, dataset)
    figure.text(0.5, 0.4, f"no data: {reason}", ha="center", va="center", color=GREY, fontsize=8)
    return figure


def save(figure: Figure, pdf: Path, png: Path) -> None:
    """Write both files; the same figure always gives the same bytes."""
    for path, metadata in (
        (pdf, {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": None}),
        (png, {"Software": None}),
    ):
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format=path.suffix[1:], metadata=metadata)
    plt.close(figure)
