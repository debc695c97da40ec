"""Tables and figures as plain values that a page shows, in the order of the paper."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cxrqba.browse.films import data_uri
from cxrqba.browse.shown import visible

_NUMBERED = re.compile(r"(table|figure)_(\d+)([a-z]?)_")
_CELL = re.compile(r"(?<!\\)\|")


def in_paper_order(paths: Iterable[Path]) -> list[Path]:
    """Numbered items as in the paper (2a before 10), then those the paper does not have."""

    def place(path: Path) -> tuple[Any, ...]:
        match = _NUMBERED.match(path.name)
        if match is None:
            return (1, 0, "", path.name)
        return (0, int(match[2]), match[3], path.name)

    return sorted(paths, key=place)


def table_item(path: Path, captions: Iterable[Path]) -> dict[str, Any]:
    """A table that :mod:`cxrqba.paper.tables` wrote as Markdown: title, blocks of cells, notes."""
    title, heading = "", None
    blocks: list[dict[str, Any]] = []
    notes: list[str] = []
    for chunk in re.split(r"\n\n+", path.read_text(encoding="utf-8").strip()):
        if chunk.startswith("# "):
            title = chunk[2:]
        elif chunk.startswith("## "):
            heading = visible(chunk[3:])
        elif chunk.startswith("|"):
            blocks.append(_block(heading, [_cells(line) for line in chunk.splitlines()]))
            heading = None
        elif chunk:
            notes.append(visible(chunk))
    return {
        "name": path.stem,
        "title": visible(title),
        "short": visible(title.partition(" (")[0]),
        "blocks": blocks,
        "notes": notes,
        "caption": caption(path.stem, captions),
    }


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [visible(c.strip().replace("\\|", "|")) for c in _CELL.split(inner)]


def _block(heading: str | None, rows: list[list[str]]) -> dict[str, Any]:
    """The second row of a pipe table tells the side of each column: ``--:`` is right."""
    return {
        "heading": heading,
        "columns": rows[0],
        "right": [mark.endswith(":") for mark in rows[1]],
        "rows": rows[2:],
    }


def figure_item(path: Path, captions: Iterable[Path]) -> dict[str, Any]:
    """A figure as PNG in a data address."""
    return {
        "name": path.stem,
        "title": _figure_title(path.stem),
        "short": _figure_title(path.stem),
        "uri": data_uri(path.read_bytes(), "image/png"),
        "caption": caption(path.stem, captions),
    }


def _figure_title(stem: str) -> str:
    match = _NUMBERED.match(stem)
    if match is None:
        return "Figure: " + stem.removeprefix("figure_").replace("_", " ")
    return f"Figure {match[2]}{match[3]}: {stem[match.end() :].replace('_', ' ')}"


def caption(name: str, captions: Iterable[Path]) -> list[list[list[str]]]:
    """Paragraphs of the caption of an item as (style, text) runs; empty if there is none.

    Of reStructuredText only what captions use: ``**strong**``, ``*emphasis*``, ````literal````.
    """
    path = next((p for p in captions if p.stem == name), None)
    if path is None:
        return []
    text = path.read_text(encoding="utf-8").strip()
    return [_runs(" ".join(p.split())) for p in re.split(r"\n\s*\n", text) if p.strip()]


_MARKED = re.compile(r"\*\*(?P<strong>.+?)\*\*|``(?P<code>.+?)``|\*(?P<em>\S(?:.*?\S)?)\*")


def _runs(paragraph: str) -> list[list[str]]:
    runs, last = [], 0
    for match in _MARKED.finditer(paragraph):
        if match.start() > last:
            runs.append(["", paragraph[last : match.start()]])
        runs.append([str(match.lastgroup), str(match[str(match.lastgroup)])])
        last = match.end()
    if last < len(paragraph):
        runs.append(["", paragraph[last:]])
    return runs
