"""The images in which anatomy boxes overlap least with known anatomy, with both boxes drawn.

An image's rank is the mean IoU over its structures, not found counting as 0.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from PIL import Image

from cxrqba.paper import style
from cxrqba.reports.images import ImageError, read_image
from cxrqba.schema import IMAGE_STATUS, REGION_OVERLAPS
from cxrqba.tables import read_table, read_tables

SHOWN, COLUMNS = 10, 5
TITLE = f"The {SHOWN} images with the least overlap of anatomy boxes"
HEAD, PANEL, CAPTION, LEGEND = 0.42, 1.5, 0.4, 0.24  # inches
_NAME, _LINE = 14, 26
"""Characters of an image id, and of a line below an image."""
DISPLAY_PIXELS = 400
"""Longer side of an image as embedded."""


def worst_images(overlaps: Path, status: Sequence[Path]) -> pl.DataFrame:
    """Overlaps of the worst images, the worst first: their rows with ``path`` and ``image_iou``."""
    paths = read_tables(status, IMAGE_STATUS).select("image_id", "path")
    rows = read_table(overlaps, REGION_OVERLAPS).with_columns(
        pl.col("iou").mean().over("reference", "image_id").alias("image_iou")
    )
    worst = (
        rows.select("reference", "image_id", "image_iou")
        .unique()
        .sort("image_iou", "reference", "image_id")
        .head(SHOWN)
    )
    return (
        worst.join(rows.drop("image_iou"), on=["reference", "image_id"])
        .join(paths, on="image_id", how="left")
        .sort("image_iou", "reference", "image_id", "structure")
    )


def regions_figure(rows: pl.DataFrame, dataset: str) -> Figure:
    """One panel an image: true boxes dashed, found boxes solid, a colour a structure."""
    if rows.is_empty():
        return style.no_data_figure(TITLE, dataset, "no image has known anatomy")
    groups = rows.partition_by("reference", "image_id", maintain_order=True)
    lines = -(-len(groups) // COLUMNS)
    height = HEAD + lines * (PANEL + CAPTION) + LEGEND
    figure = style.new_figure(style.PAGE_WIDTH, height)
    style.title(figure, TITLE, dataset)
    names = sorted(rows["structure"].unique())
    colours = {n: style.ON_IMAGE[i % len(style.ON_IMAGE)] for i, n in enumerate(names)}
    for number, group in enumerate(groups):
        row, column = divmod(number, COLUMNS)
        bottom = height - HEAD - (row + 1) * (PANEL + CAPTION) + CAPTION / 2
        place = (column + 0.04) / COLUMNS, bottom / height, 0.92 / COLUMNS, PANEL / height
        _panel(figure.add_axes(place), group, colours)
    keys = [Line2D([], [], color=colour, label=name) for name, colour in colours.items()]
    keys += [
        Line2D([], [], color=style.GREY, label="found"),
        Line2D([], [], color=style.GREY, linestyle="--", label="true"),
    ]
    figure.legend(
        handles=keys,
        loc="lower center",
        ncols=len(keys),
        handlelength=1.6,
        fontsize=6,
        columnspacing=1.2,
    )
    return figure


def _panel(axes: Axes, rows: pl.DataFrame, colours: dict[str, str]) -> None:
    first = rows.row(0, named=True)
    missing = [r["structure"] for r in rows.iter_rows(named=True) if not r["found_boxes"]]
    axes.set_title(f"{first['image_id'][:_NAME]}  IoU {first['image_iou']:.2f}", fontsize=5.5)
    if missing:
        short = [name.removesuffix(" (lateral)") for name in missing]
        text = "all" if len(missing) == rows.height else ", ".join(short)
        lines = textwrap.wrap(f"not found: {text}", _LINE)
        axes.set_xlabel("\n".join(lines), fontsize=5, labelpad=2)
    axes.set_xticks([])
    axes.set_yticks([])
    try:
        pixels = read_image(Path(first["path"]))
    except ImageError as error:
        axes.text(0.5, 0.5, str(error), ha="center", wrap=True, transform=axes.transAxes)
        return
    height, width = pixels.shape
    scale = min(1.0, DISPLAY_PIXELS / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    small = np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BOX))
    axes.imshow(small, cmap="gray", extent=(0, width, height, 0), interpolation="none")
    for row in rows.iter_rows(named=True):
        for box, dashes in [(row["true_box"], "--"), *((b, "-") for b in row["found_boxes"])]:
            x1, y1, x2, y2 = box
            axes.add_patch(
                Rectangle(
                    (x1, y1),
                    x2 - x1,
                    y2 - y1,
                    fill=False,
                    linestyle=dashes,
                    linewidth=0.7,
                    edgecolor=colours[row["structure"]],
                )
            )
