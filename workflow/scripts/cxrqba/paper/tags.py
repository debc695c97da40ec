"""Figure 5: which tags the answers of each strategy carry, and how balanced they are (Sec. 4.2).

A mention is an answer part that carries the tag and is positive or negative; parts that only
compare or recommend are left out. The positive ratio is positive mentions over all mentions.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from cxrqba.paper import style
from cxrqba.paper.names import STRATEGY_NAMES
from cxrqba.paper.scan import slices
from cxrqba.schema import ANSWERS

TITLE = "Figure 5. Tags in the answers"
KINDS = {"obs_subcategories": "subcategory", "regions": "region", "obs_entities": "finding"}
"""Column of the answer parts -> kind of tag."""
SHOWN = {"subcategory": 10, "region": 14, "finding": 14}
"""How many tags of a kind the figure shows; the CSV has all."""
DATA = pl.Schema(
    {
        "kind": pl.String,
        "tag": pl.String,
        "question_strategy": pl.String,
        "positive": pl.Int64,
        "negative": pl.Int64,
        "positive_ratio": pl.Float64,
    }
)
COUNTS = ["kind", "tag", "question_strategy", "positiveness"]
HEAD, FOOT, GAP, ROW = 1.02, 0.28, 0.5, 0.145  # inches


def tag_counts(paths: Sequence[Path]) -> pl.DataFrame:
    """Mentions of every tag by strategy, most frequent first; columns as ``DATA``."""
    schema = pl.Schema({**dict.fromkeys(COUNTS, pl.String), "count": pl.Int64})
    counts = pl.DataFrame(schema=schema)
    for table in slices(paths, ["question_strategy", "positiveness", *KINDS], ANSWERS):
        parts = table.filter(pl.col("positiveness").is_in(["pos", "neg"]))
        new = [
            parts.select("question_strategy", "positiveness", tag=pl.col(column).list.unique())
            .explode("tag", empty_as_null=False)
            .drop_nulls("tag")
            .group_by("tag", "question_strategy", "positiveness")
            .agg(pl.len().cast(pl.Int64).alias("count"))
            .select(kind=pl.lit(kind), **{c: pl.col(c) for c in [*COUNTS[1:], "count"]})
            for column, kind in KINDS.items()
        ]
        counts = pl.concat([counts, *new]).group_by(COUNTS).agg(pl.col("count").sum())
    positive, negative = (
        pl.col("count").filter(pl.col("positiveness") == p).sum() for p in ("pos", "neg")
    )
    order = {kind: i for i, kind in enumerate(KINDS.values())}
    strategies = {s: i for i, s in enumerate(STRATEGY_NAMES)}
    return (
        counts.group_by("kind", "tag", "question_strategy")
        .agg(positive=positive, negative=negative)
        .with_columns(positive_ratio=pl.col("positive") / (pl.col("positive") + pl.col("negative")))
        .sort(
            pl.col("kind").replace_strict(order, return_dtype=pl.Int32),
            -(pl.col("positive") + pl.col("negative")).sum().over("kind", "tag"),
            "tag",
            pl.col("question_strategy").replace_strict(strategies, return_dtype=pl.Int32),
        )
        .select(list(DATA))
    )


def tag_figure(data: pl.DataFrame, dataset: str) -> Figure:
    """One row of panels a kind of tag, one column a strategy; all columns show the same tags."""
    if data.is_empty():
        return style.no_data_figure(TITLE, dataset, "no answer part carries a tag")
    shown = {
        kind: data.filter(pl.col("kind") == kind)["tag"].unique(maintain_order=True).to_list()[:top]
        for kind, top in SHOWN.items()
    }
    shown = {kind: tags for kind, tags in shown.items() if tags}
    height = HEAD + FOOT + sum(ROW * len(t) for t in shown.values()) + GAP * (len(shown) - 1)
    figure = style.new_figure(style.PAGE_WIDTH, height)
    style.title(figure, TITLE, dataset)
    _legend(figure, height)
    left, width, space = 0.205, 0.148, 0.052
    top = HEAD
    for kind, tags in shown.items():
        tall = ROW * len(tags)
        for column, strategy in enumerate(STRATEGY_NAMES):
            x = left + column * (width + space)
            axes = figure.add_axes((x, 1 - (top + tall) / height, width, tall / height))
            chosen = data.filter(pl.col("kind") == kind, pl.col("question_strategy") == strategy)
            _panel(axes, chosen, tags, kind, first=column == 0)
            if top == HEAD:
                axes.set_title(f"({'abcd'[column]}) {STRATEGY_NAMES[strategy]}", pad=15, x=-0.02)
                axes.title.set_fontsize(7)
        top += tall + GAP
    return figure


def _panel(axes: Axes, data: pl.DataFrame, tags: list[str], kind: str, *, first: bool) -> None:
    rows = {r["tag"]: r for r in data.iter_rows(named=True)}
    for y, tag in enumerate(tags):
        row = rows.get(tag)
        if row is None:
            axes.text(1.05, y, "–", **_ratio_style(axes), color=style.GREY)
            continue
        axes.barh(y, row["positive"], height=0.74, color=style.POSITIVE)
        axes.barh(y, -row["negative"], height=0.74, color=style.NEGATIVE)
        axes.text(1.05, y, f"{100 * row['positive_ratio']:.0f}", **_ratio_style(axes))
    axes.axvline(0, color=style.INK, linewidth=0.5)
    positive, negative = (int(data[c].sum()) for c in ("positive", "negative"))
    ratio = f"{100 * positive / (positive + negative):.0f} %" if positive + negative else "–"
    plural = {"subcategory": "subcategories"}.get(kind, f"{kind}s")
    axes.text(
        0, 1.0, f"{plural}: {ratio} positive", transform=axes.transAxes, va="bottom", fontsize=5.8
    )
    numbers = [rows[t][c] for t in tags if t in rows for c in ("positive", "negative")]
    largest = max(numbers, default=1)
    axes.set_xlim(-1.05 * largest, 1.05 * largest)
    axes.set_ylim(len(tags) - 0.4, -0.6)
    tick = _round_below(largest)
    axes.set_xticks([-tick, 0, tick], [_short(tick), "0", _short(tick)])
    axes.tick_params(axis="x", labelsize=5.5)
    axes.tick_params(axis="y", length=0, labelsize=6)
    axes.set_yticks(range(len(tags)), [_label(t) for t in tags] if first else [""] * len(tags))
    axes.spines["left"].set_visible(False)


def _ratio_style(axes: Axes) -> dict[str, Any]:
    return {
        "transform": axes.get_yaxis_transform(),
        "va": "center",
        "ha": "left",
        "fontsize": 5.5,
    }


def _label(tag: str) -> str:
    """Tags longer than the margin end in an ellipsis; subcategories are not shouted."""
    text = tag.lower() if tag.isupper() else tag
    return text if len(text) <= 27 else f"{text[:26]}…"


def _round_below(value: int) -> int:
    """The largest of 1, 2, 5, 10, 20, 50, ... that is not above ``value`` (1 or more)."""
    power = int("1" + "0" * (len(str(value)) - 1))
    return max(step * power for step in (1, 2, 5) if step * power <= value)


def _short(value: float) -> str:
    """12000 -> ``12k``, 3400000 -> ``3.4M``."""
    for limit, unit in ((1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.0f}"


def _legend(figure: Figure, height: float) -> None:
    figure.legend(
        handles=[
            Patch(color=style.NEGATIVE, label="negative mentions"),
            Patch(color=style.POSITIVE, label="positive mentions"),
        ],
        loc="upper left",
        bbox_to_anchor=(0.08 / style.PAGE_WIDTH, 1 - 0.42 / height),
        ncols=2,
        columnspacing=1.2,
        handlelength=1,
        handleheight=0.8,
        borderaxespad=0,
        borderpad=0,
    )
    figure.text(
        0.34,
        1 - 0.42 / height,
        "number at the right of each bar: positive ratio in %",
        va="top",
        fontsize=6.5,
    )
