"""Tables as CSV (plain numbers), Markdown, LaTeX and HTML (for reading), with one look for all.

The CSV is one tidy frame for further work; the others show the same numbers in blocks laid
out as in the paper. An undefined number prints as "–", never as 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import polars as pl

from cxrqba.tables import atomic_path, write_text

UNDEFINED = "–"


@dataclass(frozen=True)
class Block:
    """One rectangle of cells; ``text`` names the left-aligned columns, the rest are numbers."""

    frame: pl.DataFrame
    heading: str | None = None
    text: Sequence[str] = ()


@dataclass(frozen=True)
class Table:
    """A table: ``data`` becomes the CSV, ``blocks`` and ``notes`` the readable forms."""

    name: str  # "Table 2a"
    caption: str
    dataset: str
    data: pl.DataFrame
    blocks: Sequence[Block] = field(default_factory=tuple)
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def title(self) -> str:
        """Heading of the table; it always says which dataset the numbers are of."""
        name = f"{self.name}. " if self.name else ""
        return f"{name}{self.caption} ({self.dataset})"


def write_outputs(table: Table, csv: Path, markdown: Path) -> None:
    """Write ``csv``, ``markdown`` and, beside the Markdown, the same as ``.tex`` and ``.html``."""
    write_csv(table.data, csv)
    write_text(to_markdown(table), markdown)
    write_text(to_latex(table), markdown.with_suffix(".tex"))
    write_text(to_html(table), markdown.with_suffix(".html"))


def write_csv(data: pl.DataFrame, path: Path) -> None:
    """Plain numbers, six decimals; an undefined number is an empty cell."""
    with atomic_path(path) as temporary:
        data.with_columns(pl.selectors.float().fill_nan(None)).write_csv(
            temporary, float_precision=6
        )


def no_data(name: str, caption: str, dataset: str, data: pl.DataFrame, reason: str) -> Table:
    """A table that says why it is empty."""
    return Table(name, caption, dataset, data, (), (f"No data: {reason}.",))


def number(value: float | None, digits: int = 2) -> str:
    """A number with fixed digits, or "–" where undefined."""
    if value is None or math.isnan(value):
        return UNDEFINED
    text = f"{value:.{digits}f}"
    return text[1:] if float(text) == 0 and text.startswith("-") else text


def interval(value: float | None, low: float | None, high: float | None, digits: int = 2) -> str:
    """``0.71 [0.69, 0.73]``; without an interval the value alone."""
    text = number(value, digits)
    bounds = number(low, digits), number(high, digits)
    if text == UNDEFINED or UNDEFINED in bounds:
        return text
    return f"{text} [{bounds[0]}, {bounds[1]}]"


def count(value: int | None) -> str:
    """An integer with thousands separators, or "–"."""
    return UNDEFINED if value is None else f"{value:,}"


def percent(part: float | None, whole: float | None, digits: int = 1) -> str:
    """Share of ``whole`` in per cent, "–" if ``whole`` is 0 or undefined."""
    if part is None or not whole:
        return UNDEFINED
    return f"{100 * part / whole:.{digits}f} %"


def to_markdown(table: Table) -> str:
    """Heading, blocks as pipe tables, notes."""
    lines = [f"# {table.title}", ""]
    for block in table.blocks:
        if block.heading:
            lines += [f"## {block.heading}", ""]
        lines += [*_pipe_table(block), ""]
    for note in table.notes:
        lines += [note, ""]
    return "\n".join(lines).rstrip() + "\n"


def to_latex(table: Table) -> str:
    r"""Blocks as booktabs tabulars; needs ``\usepackage{booktabs}``."""
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{_tex(table.title)}}}"]
    for block in table.blocks:
        if block.heading:
            lines.append(rf"\par\medskip\textbf{{{_tex(block.heading)}}}\par\smallskip")
        columns = block.frame.columns
        lines += [
            rf"\begin{{tabular}}{{{''.join('l' if c in block.text else 'r' for c in columns)}}}",
            r"\toprule",
            " & ".join(_tex(c) for c in columns) + r" \\",
            r"\midrule",
            *(" & ".join(_tex(cell) for cell in row) + r" \\" for row in block.frame.rows()),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    lines += [rf"\par\smallskip {_tex(note)}" for note in table.notes]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


_HTML = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 14px/1.45 sans-serif; color: #1b1b1b; background: #fff; margin: 1rem; }}
h1 {{ font-size: 1.15rem; }} h2 {{ font-size: 1rem; margin: 1.2rem 0 .4rem; }}
table {{ border-collapse: collapse; }}
th, td {{ padding: .15rem .6rem; text-align: left; vertical-align: top; }}
thead th {{ border-top: 2px solid #333; border-bottom: 1px solid #333; vertical-align: bottom; }}
tbody tr:last-child td {{ border-bottom: 2px solid #333; }}
tbody tr:nth-child(even) {{ background: #f6f6f6; }}
.right {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
p {{ max-width: 60rem; color: #444; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def to_html(table: Table) -> str:
    """Heading, blocks, notes; a page without script that loads nothing."""
    parts = []
    for block in table.blocks:
        if block.heading:
            parts.append(f"<h2>{escape(block.heading)}</h2>")
        parts.append(_html_block(block))
    parts += [f"<p>{escape(note)}</p>" for note in table.notes]
    return _HTML.format(title=escape(table.title), body="\n".join(parts))


def _html_block(block: Block) -> str:
    columns = block.frame.columns
    looks = ["" if c in block.text else ' class="right"' for c in columns]

    def row(kind: str, cells: tuple[object, ...]) -> str:
        shown = (UNDEFINED if c is None else escape(str(c)) for c in cells)
        pairs = zip(looks, shown, strict=True)
        return f"<tr>{''.join(f'<{kind}{look}>{cell}</{kind}>' for look, cell in pairs)}</tr>"

    body = "\n".join(row("td", cells) for cells in block.frame.rows())
    return (
        f"<table>\n<thead>{row('th', tuple(columns))}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    )


def _pipe_table(block: Block) -> list[str]:
    columns = block.frame.columns
    cells = [[_cell(c) for c in columns], *([_cell(c) for c in row] for row in block.frame.rows())]
    widths = [max(3, *(len(row[i]) for row in cells)) for i in range(len(columns))]
    left = [c in block.text for c in columns]

    def line(row: list[str]) -> str:
        padded = (
            c.ljust(w) if is_left else c.rjust(w)
            for c, w, is_left in zip(row, widths, left, strict=True)
        )
        return f"| {' | '.join(padded)} |"

    rule = [
        ":" + "-" * (w - 1) if is_left else "-" * (w - 1) + ":"
        for w, is_left in zip(widths, left, strict=True)
    ]
    return [line(cells[0]), f"| {' | '.join(rule)} |", *(line(row) for row in cells[1:])]


def _cell(value: object) -> str:
    return UNDEFINED if value is None else str(value).replace("|", "\\|").replace("\n", " ")


_TEX = str.maketrans(
    {
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "–": "--",
        "≥": r"$\geq$",
        "×": r"$\times$",
    }
)


def _tex(value: object) -> str:
    return UNDEFINED.translate(_TEX) if value is None else str(value).translate(_TEX)
