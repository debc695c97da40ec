"""Figure 4: results of the quality assessment (paper Sec. 3.3, 4.2).

(a) shares of the grades over all QA pairs by question type, (b) of single answer parts by their
type; (c) for each grade, which aspect of Tab. 11 or criterion of Tab. 12 limited the rating. As in
the paper, grades are those before lateral images are taken out; the share that remains in the two
subsets after that is printed beside the bars.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from cxrqba.paper import style
from cxrqba.paper.names import (
    ANSWER_TYPE_NAMES,
    GRADE_GROUPS,
    GRADES,
    NOT_RATED,
    STRATEGY_NAMES,
)
from cxrqba.paper.scan import scan
from cxrqba.schema import EXTRACTION_QUALITY, RATED, RATED_ANSWERS, TEXT_QUALITY

TITLE = "Figure 4. Quality of the QA pairs"
NOTHING = "nothing"
NOT_JUDGED = "not judged"
"""Causes where the rating names none: of the best grade, and of no rating."""
GROUPS = ("overall", "question_strategy", "question_type", "answer_type")
DATA = pl.Schema(
    {
        "panel": pl.String,  # grades or causes
        "unit": pl.String,  # qa_pair or answer_part
        "group_by": pl.String,  # one of GROUPS
        "group": pl.String,
        "rating": pl.String,
        "limiting_aspect": pl.String,  # aspect=LEVEL; only in the rows of causes
        "count": pl.Int64,
        "share": pl.Float64,  # of the group (grades) or of the grade (causes)
    }
)
# Inches: above the panels, below them, between the two on the right, per bar, per matrix row.
HEAD, FOOT, GAP, ROW, CAUSE_ROW = 1.12, 0.36, 0.7, 0.17, 0.22
NUMBER_COLUMNS = (1.4, 1.56, 1.71)
"""Right edges of the columns of numbers beside the bars, in bar widths."""
SUBSETS = pl.Schema(
    {
        "question_type": pl.String,
        "question_strategy": pl.String,
        "count": pl.Int64,
        "pre_training": pl.Int64,
        "fine_tuning": pl.Int64,
    }
)


def quality(rated: Sequence[Path], rated_answers: Sequence[Path]) -> pl.DataFrame:
    """Counts and shares behind the figure, in the order of its rows; columns as ``DATA``."""
    pairs = _count(rated, ["question_strategy", "question_type"], RATED)
    parts = _count(rated_answers, ["answer_type"], RATED_ANSWERS)
    groups = [
        _grades(pairs.with_columns(overall=pl.lit("all QA pairs")), "overall", "qa_pair"),
        _grades(pairs, "question_strategy", "qa_pair"),
        _grades(pairs, "question_type", "qa_pair"),
        _grades(parts, "answer_type", "answer_part"),
        _causes(pairs),
    ]
    return pl.concat(groups)


def subsets(rated: Sequence[Path]) -> pl.DataFrame:
    """QA pairs of each question type in the pre-training and fine-tuning subsets."""
    columns = ["question_type", "question_strategy", "pre_training", "fine_tuning"]
    return (
        scan(rated, columns, RATED)
        .group_by("question_type", "question_strategy")
        .agg(
            pl.len().cast(pl.Int64).alias("count"),
            pl.col("pre_training", "fine_tuning").sum().cast(pl.Int64),
        )
        .sort("question_type")
        .collect()
        .select(list(SUBSETS))
    )


def quality_figure(data: pl.DataFrame, kept: pl.DataFrame, dataset: str) -> Figure:
    """Draw the figure from :func:`quality` and :func:`subsets`."""
    if data.is_empty():
        return style.no_data_figure(TITLE, dataset, "there are no rated QA pairs")
    rows = _question_rows(kept)
    causes = _cause_shares(data)
    left_height = ROW * len(rows)
    right_height = (
        ROW * len(ANSWER_TYPE_NAMES) + GAP + CAUSE_ROW * max(1, causes["aspect"].n_unique())
    )
    height = HEAD + max(left_height, right_height) + FOOT
    figure = style.new_figure(style.PAGE_WIDTH, height)
    style.title(figure, TITLE, dataset)
    _legend(figure, height)

    def axes(left: float, width: float, from_top: float, tall: float) -> Axes:
        """Axes by their left edge and width (shares), distance from the top and height (inches)."""
        return figure.add_axes((left, 1 - (from_top + tall) / height, width, tall / height))

    pairs = axes(0.225, 0.195, HEAD, left_height)
    _bars(pairs, data, rows, kept)
    pairs.set_title("(a) Grades by question type", x=-1.09)
    parts_height = ROW * len(ANSWER_TYPE_NAMES)
    parts = axes(0.735, 0.165, HEAD, parts_height)
    names = [("answer_type", t, n, False) for t, n in ANSWER_TYPE_NAMES.items()]
    _bars(parts, data, names, None)
    parts.set_title("(b) Grades of single answer parts", x=-0.74)
    tall = CAUSE_ROW * causes["aspect"].n_unique()
    if causes.height:
        _cause_matrix(axes(0.735, 0.255, HEAD + parts_height + GAP, tall), causes)
    return figure


def _count(paths: Sequence[Path], keys: list[str], schema: pl.Schema) -> pl.DataFrame:
    return (
        scan(paths, [*keys, "rating", "limiting_aspect"], schema)
        .group_by(*keys, "rating", "limiting_aspect")
        .agg(pl.len().cast(pl.Int64).alias("count"))
        .with_columns(
            pl.col("rating").fill_null(NOT_RATED),
            pl.col("limiting_aspect").fill_null(
                pl.when(pl.col("rating").is_null())
                .then(pl.lit(NOT_JUDGED))
                .otherwise(pl.lit(NOTHING))
            ),
        )
        .collect()
    )


def _grades(counts: pl.DataFrame, key: str, unit: str) -> pl.DataFrame:
    order = {g: i for i, g in enumerate((*STRATEGY_NAMES, *ANSWER_TYPE_NAMES))}
    grade_order = {g: i for i, g in enumerate(GRADES)}
    return (
        counts.group_by(group=key, rating="rating")
        .agg(pl.col("count").sum())
        .with_columns(
            panel=pl.lit("grades"),
            unit=pl.lit(unit),
            group_by=pl.lit(key),
            limiting_aspect=pl.lit(None, dtype=pl.String),
            share=pl.col("count") / pl.col("count").sum().over("group"),
        )
        .sort(
            pl.col("group").replace_strict(order, default=len(order), return_dtype=pl.Int32),
            "group",
            pl.col("rating").replace_strict(grade_order, return_dtype=pl.Int32),
        )
        .select(list(DATA))
        .cast(dict(DATA))  # type: ignore[arg-type]
    )


def _causes(pairs: pl.DataFrame) -> pl.DataFrame:
    grade_order = {g: i for i, g in enumerate(GRADES)}
    return (
        pairs.group_by("rating", "limiting_aspect")
        .agg(pl.col("count").sum())
        .with_columns(
            panel=pl.lit("causes"),
            unit=pl.lit("qa_pair"),
            group_by=pl.lit("overall"),
            group=pl.lit("all QA pairs"),
            share=pl.col("count") / pl.col("count").sum().over("rating"),
        )
        .sort(
            pl.col("rating").replace_strict(grade_order, return_dtype=pl.Int32),
            pl.col("count"),
            "limiting_aspect",
            descending=[False, True, False],
        )
        .select(list(DATA))
        .cast(dict(DATA))  # type: ignore[arg-type]
    )


def _question_rows(kept: pl.DataFrame) -> list[tuple[str, str, str, bool]]:
    """(group_by, group, label, bold) of the rows on the left: all, each strategy, its types."""
    rows = [("overall", "all QA pairs", "all QA pairs", True)]
    for strategy, name in STRATEGY_NAMES.items():
        types = kept.filter(pl.col("question_strategy") == strategy)["question_type"].to_list()
        if types:
            rows.append(("question_strategy", strategy, name, True))
            rows += [("question_type", t, _type_label(t), False) for t in types if len(types) > 1]
    return rows


def _type_label(question_type: str) -> str:
    """``B09_describe_abnormal_subcat`` -> ``B09 describe abnormal subcat``."""
    return question_type.replace("_", " ")


def _bars(
    axes: Axes,
    data: pl.DataFrame,
    rows: list[tuple[str, str, str, bool]],
    kept: pl.DataFrame | None,
) -> None:
    """Stacked bars of the grades, one row a group, with counts (and subset shares) on the right."""
    grades = data.filter(pl.col("panel") == "grades")
    shares = {
        (r["group_by"], r["group"], r["rating"]): r["share"] for r in grades.iter_rows(named=True)
    }
    sums = grades.group_by("group_by", "group").agg(pl.col("count").sum())
    totals = {(group_by, group): count for group_by, group, count in sums.iter_rows()}
    for y, (group_by, group, _, bold) in enumerate(rows):
        start = 0.0
        for grade in GRADES:
            share = shares.get((group_by, group, grade), 0.0)
            axes.barh(
                y,
                share,
                left=start,
                height=0.78 if bold else 0.6,
                color=style.GRADE_COLOURS[grade],
                edgecolor="white",
                linewidth=0.3,
            )
            start += share
        numbers = _numbers(group_by, group, totals.get((group_by, group), 0), kept)
        for x, text in zip(NUMBER_COLUMNS, numbers, strict=False):
            axes.text(x, y, text, va="center", ha="right", fontsize=5.5)
    headings = ("parts",) if kept is None else ("QA pairs", "PT %", "FT %")
    for x, text in zip(NUMBER_COLUMNS, headings, strict=False):
        axes.text(x, -0.75, text, va="bottom", ha="right", fontsize=5.5, color=style.GREY)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "50", "100 %"])
    axes.set_yticks(range(len(rows)), [label for _, _, label, _ in rows])
    for label, (_, _, _, bold) in zip(axes.get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if bold else "normal")
        label.set_fontsize(6.5 if bold else 6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _numbers(group_by: str, group: str, total: int, kept: pl.DataFrame | None) -> tuple[str, ...]:
    """Count; for QA pairs also the per cent that the PT and the FT subset keep."""
    if kept is None:
        return (f"{total:,}",)
    chosen = kept if group_by == "overall" else kept.filter(pl.col(group_by) == group)
    whole = max(int(chosen["count"].sum()), 1)
    shares = (100 * int(chosen[c].sum()) / whole for c in ("pre_training", "fine_tuning"))
    return (f"{total:,}", *(f"{share:.0f}" for share in shares))


def _legend(figure: Figure, height: float) -> None:
    """Grades in their three groups, in one line under the title."""
    x = 0.08 / style.PAGE_WIDTH
    for name, grades in GRADE_GROUPS.items():
        handles = [
            Patch(facecolor=style.GRADE_COLOURS[g], edgecolor="white", label=g) for g in grades
        ]
        legend = figure.legend(
            handles=handles,
            title=f"{name}:",
            loc="upper left",
            bbox_to_anchor=(x, 1 - 0.5 / height),
            ncols=len(grades),
            columnspacing=0.8,
            handlelength=1,
            handleheight=0.8,
            handletextpad=0.3,
            borderaxespad=0,
            borderpad=0,
            alignment="left",
            title_fontproperties={"size": 6},
        )
        figure.add_artist(legend)
        x += (1.75 if len(grades) > 1 else 1.25) / style.PAGE_WIDTH


def _cause_shares(data: pl.DataFrame) -> pl.DataFrame:
    """Columns rating, aspect, share: of a grade's QA pairs, those that the aspect limited."""
    return (
        data.filter(pl.col("panel") == "causes", pl.col("rating") != GRADES[0])
        .with_columns(aspect=pl.col("limiting_aspect").str.split("=").list.first())
        .group_by("rating", "aspect")
        .agg(pl.col("share").sum())
    )


def _cause_matrix(axes: Axes, causes: pl.DataFrame) -> None:
    """Share of each grade's QA pairs that a given aspect limited; columns sum to 100 %."""
    known = [*EXTRACTION_QUALITY, *TEXT_QUALITY]
    found = set(causes["aspect"])
    aspects = [a for a in known if a in found] + sorted(found.difference(known))
    grades = [g for g in GRADES if g in set(causes["rating"])]
    matrix = np.zeros((len(aspects), len(grades)))
    for row in causes.iter_rows(named=True):
        matrix[aspects.index(row["aspect"]), grades.index(row["rating"])] = row["share"]
    axes.imshow(matrix, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (i, j), share in np.ndenumerate(matrix):
        if share:
            text = f"{100 * share:.0f}" if share >= 0.005 else "<1"
            colour = "white" if share > 0.55 else style.INK
            axes.text(j, i, text, ha="center", va="center", fontsize=6, color=colour)
    axes.set_xticks(range(len(grades)), [g.replace(" ", "\n") for g in grades])
    axes.set_yticks(range(len(aspects)), [_aspect_label(a) for a in aspects])
    axes.set_xticks(np.arange(len(grades) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(aspects) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    axes.set_title("(c) What limited the grade (% of its QA pairs)", x=-0.55)
    border = sum(a in EXTRACTION_QUALITY for a in aspects)
    if 0 < border < len(aspects):
        axes.axhline(border - 0.5, color=style.INK, linewidth=0.8)


def _aspect_label(aspect: str) -> str:
    return aspect.replace("_", " ")
