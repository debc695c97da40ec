"""Drawing of Figure 1: image with boxes on the left, question, answer parts and tags on the right.

A part, its sentence and its boxes share a number and a colour. Text is measured and wrapped with
the metrics of the font it is drawn in, so nothing is cut at the margin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from cxrqba.paper import style
from cxrqba.paper.examples import Example, Part
from cxrqba.paper.names import ANSWER_TYPE_NAMES, STRATEGY_NAMES
from cxrqba.reports.images import ImageError, read_image

TITLE = "Figure 1. One question-answer pair per strategy"
# Inches, top to bottom and left to right.
HEAD, GAP, MARGIN, IMAGE_WIDTH, IMAGE_HEIGHT, SPACE = 0.62, 0.3, 0.1, 1.95, 2.3, 0.2
NO_IMAGE_HEIGHT, INDENT = 0.9, 0.16
SHOWN_PARTS = 7
"""As many as there are colours; the figure says how many more there are."""
DISPLAY_PIXELS = 700
"""Longer side of the image as embedded: enough for print at two inches."""
POSITIVENESS = {
    "pos": "positive",
    "neg": "negative",
    "comparison_only": "comparison only",
    "recommendation": "recommendation",
}


@dataclass(frozen=True)
class _Line:
    """One line of text: offset from the top of its block, indentation (inches), look."""

    text: str
    top: float
    indent: float
    size: float
    weight: str = "normal"
    colour: str = style.INK
    bullet: int | None = None  # index of the part this line begins


def examples_figure(examples: Sequence[Example], dataset: str) -> Figure:
    """One row per example; the height follows the text."""
    if not examples:
        return style.no_data_figure(TITLE, dataset, "there are no QA pairs")
    ruler = _Ruler()
    width = style.PAGE_WIDTH - 2 * MARGIN - IMAGE_WIDTH - SPACE
    blocks = [_lines(example, "abcd"[i], ruler, width) for i, example in enumerate(examples)]
    panels = [IMAGE_HEIGHT if example.image else NO_IMAGE_HEIGHT for example in examples]
    heights = [max(p, lines[-1].top + 0.12) for p, lines in zip(panels, blocks, strict=True)]
    total = HEAD + sum(heights) + GAP * (len(blocks) - 1) + MARGIN
    figure = style.new_figure(style.PAGE_WIDTH, total)
    style.title(figure, TITLE, dataset)
    figure.text(
        1 - MARGIN / style.PAGE_WIDTH,
        1 - 0.1 / total,
        "Numbers link a sentence to its boxes; boxes of negative parts are dashed.",
        ha="right",
        va="top",
        fontsize=6,
        color=style.GREY,
    )
    top = HEAD
    rows = zip(examples, blocks, panels, heights, strict=True)
    for example, lines, panel, height in rows:
        box = (
            MARGIN / style.PAGE_WIDTH,
            1 - (top + panel) / total,
            IMAGE_WIDTH / style.PAGE_WIDTH,
            panel / total,
        )
        _draw_image(figure.add_axes(box), example)
        _draw_text(figure, example, lines, top, total)
        top += height + GAP
    return figure


class _Ruler:
    """Widths of texts in inches, in the font of the figures."""

    def __init__(self) -> None:
        self.figure = style.new_figure(1, 1)
        self.renderer: Any = RendererAgg(72, 72, self.figure.dpi)  # type: ignore[no-untyped-call]

    def width(self, text: str, size: float, weight: str) -> float:
        font = FontProperties(family="DejaVu Sans", size=size, weight=weight)
        pixels, _, _ = self.renderer.get_text_width_height_descent(text, font, False)
        return float(pixels) / self.figure.dpi

    def wrap(self, text: str, width: float, size: float, weight: str = "normal") -> list[str]:
        """Break at spaces, and within words that are longer than a line."""
        lines, line = [], ""
        for word in text.split():
            while self.width(word, size, weight) > width:
                fits = max(
                    1,
                    next(
                        n - 1
                        for n in range(1, len(word) + 1)
                        if self.width(word[:n], size, weight) > width
                    ),
                )
                lines += [line] if line else []
                lines.append(word[:fits])
                word, line = word[fits:], ""
            longer = f"{line} {word}".strip()
            if self.width(longer, size, weight) > width:
                lines.append(line)
                line = word
            else:
                line = longer
        return [*lines, line] if line else lines or [""]


def _lines(example: Example, letter: str, ruler: _Ruler, width: float) -> list[_Line]:
    """All lines of one example with their places."""
    lines: list[_Line] = []
    top = 0.0

    def add(text: str, indent: float, size: float, skip: float = 0.0, **look: Any) -> None:
        nonlocal top
        top += skip
        bullet = look.pop("bullet", None)
        weight = look.get("weight", "normal")
        for i, line in enumerate(ruler.wrap(text, width - indent, size, weight)):
            lines.append(_Line(line, top, indent, size, bullet=bullet if i == 0 else None, **look))
            top += size * 1.32 / 72

    add(f"({letter}) {STRATEGY_NAMES[example.strategy]}", 0, 7.5, weight="bold")
    facts = [
        example.question_type.replace("_", " "),
        f"study {example.study_id}",
        *([example.image["view_position"] or example.image["view"]] if example.image else []),
        *([example.procedure] if example.procedure else []),
    ]
    add(" · ".join(facts), 0, 5.8, colour=style.GREY)
    add(f"Q: {example.question}", 0, 7, skip=0.06, weight="bold")
    for number, part in enumerate(example.parts[:SHOWN_PARTS]):
        level = min(int(part.values["answer_level"] or 0), 3)
        indent = INDENT * (1 + level)
        add(part.values["text"] or "", indent, 6.8, skip=0.055, bullet=number)
        add(_tags(part), indent, 5.6, colour=style.GREY)
    more = len(example.parts) - SHOWN_PARTS
    if more > 0:
        add(f"… and {more} more answer part{'s' if more > 1 else ''}", INDENT, 6, skip=0.05)
    return lines


def _tags(part: Part) -> str:
    values = part.values
    finding = "finding: " + ", ".join(values["obs_entities"]) if values["obs_entities"] else None
    region = "region: " + ", ".join(values["regions"]) if values["regions"] else None
    known = values["laterality"] not in (None, "unknown")
    facts = [
        ANSWER_TYPE_NAMES.get(values["answer_type"], values["answer_type"]),
        POSITIVENESS.get(values["positiveness"], values["positiveness"]),
        values["certainty"],
        finding,
        region,
        f"side: {values['laterality']}" if known else None,
        None if part.boxes else "no box",
    ]
    return " · ".join(dict.fromkeys(fact.replace("_", " ") for fact in facts if fact))


def _draw_text(
    figure: Figure, example: Example, lines: list[_Line], top: float, total: float
) -> None:
    left = MARGIN + IMAGE_WIDTH + SPACE
    for line in lines:
        x = (left + line.indent) / style.PAGE_WIDTH
        y = 1 - (top + line.top) / total
        figure.text(
            x,
            y,
            line.text,
            va="top",
            fontsize=line.size,
            fontweight=line.weight,
            color=line.colour,
        )
        if line.bullet is not None:
            _bullet(figure, line, example.parts[line.bullet], x, y)
    grade = example.rating
    figure.text(
        1 - MARGIN / style.PAGE_WIDTH,
        1 - (top + 0.005) / total,
        grade if grade.startswith("not") else f"grade {grade}",
        ha="right",
        va="top",
        fontsize=6.5,
        fontweight="bold",
        color="white" if grade in ("A++", "A+", "D") else style.INK,
        bbox={
            "boxstyle": "round,pad=0.25",
            "facecolor": style.GRADE_COLOURS[grade],
            "edgecolor": "none",
        },
    )


def _bullet(figure: Figure, line: _Line, part: Part, x: float, y: float) -> None:
    """The part's number in its colour; hollow when the shown image has no box of it."""
    colour = style.ON_IMAGE[(line.bullet or 0) % len(style.ON_IMAGE)]
    figure.text(
        x - 0.55 * INDENT / style.PAGE_WIDTH,
        y,
        str((line.bullet or 0) + 1),
        ha="center",
        va="top",
        fontsize=5.5,
        fontweight="bold",
        color=style.INK,
        bbox={
            "boxstyle": "square,pad=0.16",
            "facecolor": colour if part.boxes else "white",
            "edgecolor": colour,
            "linewidth": 0.7,
        },
    )


def _draw_image(axes: Axes, example: Example) -> None:
    """The film with the boxes of the parts, or a panel that says why there is none."""
    axes.set_xticks([])
    axes.set_yticks([])
    if example.image is None:
        _no_image(axes, "no image\nof this study")
        return
    try:
        pixels = read_image(example.image["path"])
    except ImageError:
        _no_image(axes, "the image cannot be read:\n" + example.image["image_id"][:24])
        return
    height, width = pixels.shape
    axes.imshow(
        _reduced(pixels), cmap="gray", vmin=0, vmax=1, extent=(0, width, height, 0), zorder=0
    )
    axes.set_anchor("N")
    axes.spines[:].set_visible(False)
    places: dict[tuple[float, ...], int] = {}
    for number, part in enumerate(example.parts[:SHOWN_PARTS]):
        for box in part.boxes:
            key = tuple(round(c) for c in box)
            repeat = places.get(key, 0)
            places[key] = repeat + 1
            _draw_box(axes, box, number, part.values["positiveness"], repeat, max(pixels.shape))


def _draw_box(
    axes: Axes, box: list[float], number: int, positiveness: str, repeat: int, size: int
) -> None:
    """One box with its number; boxes that coincide are drawn inside each other."""
    inset = 0.012 * size * repeat
    x1, y1, x2, y2 = box[0] + inset, box[1] + inset, box[2] - inset, box[3] - inset
    if x2 <= x1 or y2 <= y1:
        x1, y1, x2, y2 = box
    colour = style.ON_IMAGE[number % len(style.ON_IMAGE)]
    axes.add_patch(
        Rectangle(
            (x1, y1),
            x2 - x1,
            y2 - y1,
            fill=False,
            edgecolor=colour,
            linewidth=1.1,
            linestyle="--" if positiveness == "neg" else "-",
        )
    )
    label = 0.05 * size
    axes.text(
        min(x1 + 0.3 * label + repeat * label, x2),
        y1 + 0.3 * label,
        str(number + 1),
        fontsize=5,
        fontweight="bold",
        va="top",
        ha="left",
        color=style.INK,
        bbox={"boxstyle": "square,pad=0.12", "facecolor": colour, "edgecolor": "none"},
        clip_on=True,
    )


def _no_image(axes: Axes, reason: str) -> None:
    axes.set_facecolor("#F4F4F4")
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color(style.FAINT)
    axes.text(0.5, 0.5, reason, ha="center", va="center", fontsize=6.5, color=style.GREY)


def _reduced(pixels: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mean over blocks of pixels, so that the longer side is at most ``DISPLAY_PIXELS``-ish."""
    step = max(1, round(max(pixels.shape) / DISPLAY_PIXELS))
    height, width = (n // step * step for n in pixels.shape)
    blocks = pixels[:height, :width].reshape(height // step, step, width // step, step)
    return np.asarray(blocks.mean(axis=(1, 3)), dtype=np.float32)
