"""The worklist as a page to read in a browser; all text of reports is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import polars as pl

from cxrqba.provenance.worklist import EDIT

STYLE = (
    "body{font-family:sans-serif;margin:2em;max-width:75em}"
    "table{border-collapse:collapse;width:100%}"
    "th,td{border-bottom:1px solid #ccc;padding:.3em .6em;text-align:left;vertical-align:top}"
    "td.number{text-align:right}mark{background:#ffe08a}"
)

NEXT = (
    "Keep a copy of the labels folder, edit the table named, run <code>snakemake labels</code> "
    "again and compare: <code>cxrqba labels-diff COPY results/…/labels</code>."
)


def page(worklist: pl.DataFrame, title: str) -> str:
    """HTML of a WORKLIST table, one section a kind, in the table's order."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        f"<title>Worklist: {escape(title)}</title><style>{STYLE}</style>",
        f"<h1>Worklist: {escape(title)}</h1>",
        "<p>What the reference definitions did not understand, most frequent first. "
        f"This page quotes reports: treat it as they are treated. {NEXT}</p>",
    ]
    for (kind,), entries in worklist.group_by("kind", maintain_order=True):
        parts.append(f"<h2>{escape(str(kind))} ({entries.height})</h2>")
        parts.append(f"<p>Edit {escape(EDIT[str(kind)])}.</p>")
        parts.append("<table><tr><th>studies<th>text<th>example</tr>")
        parts += map(_row, entries.iter_rows(named=True))
        parts.append("</table>")
    if worklist.is_empty():
        parts.append("<p>Nothing: every header, sentence and value was understood.</p>")
    return "\n".join(parts) + "\n"


def summary(worklist: pl.DataFrame, title: str, place: str) -> str:
    """How many entries there are and where to read them; no text of reports."""
    counts = worklist.group_by("kind", maintain_order=True).agg(
        pl.len().alias("entries"), pl.col("studies").max()
    )
    lines = [f"{title}: {worklist.height} entries in the worklist; open {place}"]
    lines += [f"{k:<22}{n:>6}, the first in {m} studies" for k, n, m in counts.iter_rows()]
    return "\n".join(lines) + "\n"


def _row(entry: Mapping[str, Any]) -> str:
    text = escape(entry["text"])
    if entry["reference"] or entry["runner_up"]:
        near = entry["reference"] or f"nothing; nearest {entry['runner_up']}"
        text += f"<br><small>{escape(entry['value_kind'])} &rarr; {escape(near)}"
        text += f" ({entry['score']:.2f}; runner-up {entry['runner_up_score'] or 0:.2f})</small>"
    place = f"<small>{escape(' '.join(filter(None, (entry['example_study'], entry['sent_id']))))}"
    if entry["start"] is not None:
        place += f" [{entry['start']}, {entry['end']})"
    place += f"</small><br>{_marked(entry['context'] or '', entry['text'])}"
    if entry["edit"] != EDIT[entry["kind"]]:
        place += f"<br><small>Edit {escape(entry['edit'])}</small>"
    return f"<tr><td class=number>{entry['studies']}<td>{text}<td>{place}</tr>"


def _marked(context: str, text: str) -> str:
    """The example's sentence with the words in question marked."""
    before, found, after = context.partition(text)
    if not found or found == context:
        return escape(context)
    return f"{escape(before)}<mark>{escape(found)}</mark>{escape(after)}"
