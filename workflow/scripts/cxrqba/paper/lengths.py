"""Figure 6: how long the answers are, in words (paper Sec. 4.2).

Overall and by strategy a whole answer counts (all its parts together); by answer type and by
positiveness a single part counts. Words are what white space separates. Only the counts of each
length are kept, so medians and quartiles are exact at any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cxrqba.paper import style
from cxrqba.paper.names import ANSWER_TYPE_NAMES, STRATEGY_NAMES
from cxrqba.paper.scan import KEY, whole_questions
from cxrqba.schema import ANSWERS

TITLE = "Figure 6. Answer lengths"
POSITIVENESS_NAMES = {"pos": "positive", "neg": "negative"}
DATA = pl.Schema(
    {
        "group_by": pl.String,  # overall, question_strategy, answer_type or positiveness
        "group": pl.String,
        "unit": pl.String,  # answer or part
        "words": pl.Int64,
        "count": pl.Int64,
    }
)
ROWS = (
    ("overall", "all answers", "all answers", style.INK),
    *(("question_strategy", s, n, style.BLUE) for s, n in STRATEGY_NAMES.items()),
    *(("answer_type", t, n, style.GREEN) for t, n in ANSWER_TYPE_NAMES.items()),
    *(("positiveness", p, n, style.VERMILLION) for p, n in POSITIVENESS_NAMES.items()),
)
"""(group_by, group, label, colour), top to bottom."""
SECTIONS = {
    "overall": "whole answers",
    "answer_type": "answer parts, by type",
    "positiveness": "answer parts, by positiveness",
}
HEAD, FOOT, ROW, SECTION = 0.45, 0.42, 0.25, 0.2  # inches
NUMBER_COLUMNS = (1.2, 1.46)
"""Right edges of the numbers beside the axes, in widths of the axes."""
NUMBERS: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": 6}
SHOWN_QUANTILE = 0.98
"""The axis ends where the longest group's share of this is reached; the CSV has all lengths."""


def length_counts(paths: Sequence[Path]) -> pl.DataFrame:
    """How many answers or parts of each group have how many words; columns as ``DATA``."""
    counts = pl.DataFrame(schema=DATA)
    columns = [*KEY, "question_strategy", "text", "answer_type", "positiveness"]
    for table in whole_questions(paths, columns, ANSWERS):
        words = pl.col("text").str.count_matches(r"\S+").cast(pl.Int64)
        parts = table.with_columns(words=words)
        answers = parts.group_by(*KEY, "question_strategy").agg(pl.col("words").sum())
        answers = answers.with_columns(overall=pl.lit("all answers"))
        new = [
            _count(answers, "overall", "answer"),
            _count(answers, "question_strategy", "answer"),
            _count(parts, "answer_type", "part"),
            _count(parts, "positiveness", "part"),
        ]
        counts = (
            pl.concat([counts, *new])
            .group_by("group_by", "group", "unit", "words")
            .agg(pl.col("count").sum())
        )
    order = {group: i for i, (_, group, _, _) in enumerate(ROWS)}
    return (
        counts.filter(pl.col("group").is_in(list(order)))
        .sort(pl.col("group").replace_strict(order, default=None, return_dtype=pl.Int32), "words")
        .select(list(DATA))
    )


def quantile(lengths: pl.DataFrame, share: float) -> float:
    """Quantile of words where each row stands for ``count`` answers; NaN without rows.

    As usual for a median, the mean of the two middle values where the count is even.
    """
    if lengths.is_empty():
        return float("nan")
    ordered = lengths.sort("words")
    reached = np.cumsum(ordered["count"].to_numpy())
    position = share * (reached[-1] - 1)
    low, high = (
        int(ordered["words"][int(np.searchsorted(reached, p, side="right"))])
        for p in (np.floor(position), np.ceil(position))
    )
    return low + (high - low) * float(position - np.floor(position))


def length_figure(data: pl.DataFrame, dataset: str) -> Figure:
    """Distribution of each group as a filled curve with median (number) and quartiles."""
    if data.is_empty():
        return style.no_data_figure(TITLE, dataset, "there are no answers")
    groups = dict(data.group_by("group_by", "group"))
    rows = [row for row in ROWS if (row[0], row[1]) in groups]
    places, total = _places(rows)
    height = HEAD + total + FOOT
    figure = style.new_figure(style.COLUMN_WIDTH, height)
    style.title(figure, TITLE, dataset)
    axes = figure.add_axes((0.3, FOOT / height, 0.47, total / height))
    limit = max(quantile(g, SHOWN_QUANTILE) for g in groups.values())
    limit = float(np.ceil(max(limit, 10) * 1.08))
    for (group_by, group, _, colour), y in zip(rows, places, strict=True):
        _ridge(axes, groups[group_by, group], y, colour, limit)
    for x, text in zip(NUMBER_COLUMNS, ("median", "count"), strict=True):
        top = places[0] - ROW - 0.02
        axes.text(x, top, text, transform=axes.get_yaxis_transform(), color=style.GREY, **NUMBERS)
    for section, y in _section_places(rows, places):
        axes.text(
            -0.6,
            y - ROW * 0.95,
            SECTIONS[section],
            transform=axes.get_yaxis_transform(),
            fontsize=6,
            color=style.GREY,
            va="center",
        )
    axes.set_xlim(0, limit)
    axes.set_ylim(total, 0)
    axes.set_yticks(places, [label for _, _, label, _ in rows])
    axes.tick_params(axis="y", length=0, pad=3)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("words")
    return figure


def _count(table: pl.DataFrame, key: str, unit: str) -> pl.DataFrame:
    return (
        table.drop_nulls(key)
        .group_by(group=key, words="words")
        .agg(pl.len().cast(pl.Int64).alias("count"))
        .select(
            pl.lit(key).alias("group_by"), "group", pl.lit(unit).alias("unit"), "words", "count"
        )
    )


def _places(rows: Sequence[tuple[str, str, str, str]]) -> tuple[list[float], float]:
    """Baselines of the rows in inches from the top of the axes, and the height of all."""
    places, y = [], 0.0
    for i, row in enumerate(rows):
        if row[0] in SECTIONS and (i == 0 or rows[i - 1][0] != row[0]):
            y += SECTION
        y += ROW
        places.append(y)
    return places, y + 0.06


def _section_places(
    rows: Sequence[tuple[str, str, str, str]], places: Sequence[float]
) -> list[tuple[str, float]]:
    found: dict[str, float] = {}
    for row, y in zip(rows, places, strict=True):
        if row[0] in SECTIONS:
            found.setdefault(row[0], y)
    return list(found.items())


def _ridge(axes: Axes, lengths: pl.DataFrame, y: float, colour: str, limit: float) -> None:
    """A smoothed density above the baseline ``y``; quartile bar, median dot and number."""
    grid = np.linspace(0, limit, 300)
    words = lengths["words"].to_numpy().astype(float)
    weights = lengths["count"].to_numpy() / lengths["count"].sum()
    width = max(limit / 120, 0.5)  # of the kernel, in words
    density = weights @ np.exp(-0.5 * ((grid - words[:, None]) / width) ** 2)
    density *= 0.8 * ROW / max(density.max(), 1e-9)
    axes.fill_between(grid, y, y - density, color=colour, alpha=0.35, linewidth=0)
    axes.plot(grid, y - density, color=colour, linewidth=0.6)
    lower, median, upper = (quantile(lengths, q) for q in (0.25, 0.5, 0.75))
    axes.plot([lower, upper], [y, y], color=colour, linewidth=2, solid_capstyle="butt")
    axes.plot(median, y, "o", color="white", markeredgecolor=style.INK, markersize=3, zorder=5)
    total = int(lengths["count"].sum())
    for x, text in zip(NUMBER_COLUMNS, (f"{median:g}", f"{total:,}"), strict=True):
        axes.text(x, y, text, transform=axes.get_yaxis_transform(), **NUMBERS)
