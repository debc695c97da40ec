"""Pages that work from a file, without a server or the network.

Data stand in script elements of type JSON, in which ``<`` is escaped; the page's own script may run
by its hash alone, so that no report can bring one in.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from cxrqba.browse.script import SCRIPT
from cxrqba.browse.shown import visible
from cxrqba.browse.style import STYLE

MEGABYTE = 1_000_000

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; @POLICY@">
<title>@TITLE@</title>
<style>@STYLE@</style>
</head>
<body>
<header><h1>@TITLE@</h1></header>
<main></main>
<div id="status" role="status" aria-live="polite"></div>
<noscript><p>This page needs JavaScript; it loads nothing from elsewhere.</p></noscript>
@DATA@
<script>@SCRIPT@</script>
</body>
</html>
"""


@dataclass
class Shown:
    """What a page shows besides studies; ``shown`` says which studies are there."""

    title: str
    shown: str
    tables: Sequence[dict[str, Any]] = field(default_factory=tuple)
    figures: Sequence[dict[str, Any]] = field(default_factory=tuple)


def as_json(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    escapes: dict[str, str | int | None] = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
    escapes |= {"\u2028": "\\u2028", "\u2029": "\\u2029"}
    return text.translate(str.maketrans(escapes))


def fitting(studies: Iterable[dict[str, Any]], room: int) -> Iterator[tuple[dict[str, Any], str]]:
    """Studies with their JSON, as many from the first on as have room in ``room`` bytes."""
    for study in studies:
        text = as_json(study)
        room -= len(text.encode())
        if room < 0:
            return
        yield study, text


def page(about: Shown, studies: Sequence[tuple[dict[str, Any], str]]) -> str:
    """The page; ``studies`` are as :func:`fitting` gives them."""
    listed = [
        {
            "id": study["id"],
            "complete": study["complete"],
            "films": len(study["films"]),
            "questions": len(study["questions"]),
        }
        for study, _ in studies
    ]
    head = as_json(
        {
            "shown": about.shown,
            "studies": listed,
            "tables": list(about.tables),
            "figures": list(about.figures),
        }
    )
    blocks = [_block("page", head), *(_block(f"study-{i}", t) for i, (_, t) in enumerate(studies))]
    parts = {
        "@POLICY@": f"style-src '{_hash(STYLE)}'; script-src '{_hash(SCRIPT)}'",
        "@TITLE@": html.escape(visible(about.title)),
        "@STYLE@": STYLE,
        "@SCRIPT@": SCRIPT,
    }
    text = _PAGE
    for mark, value in parts.items():
        text = text.replace(mark, value)
    return text.replace("@DATA@", "\n".join(blocks))  # last: data may hold anything


def _block(name: str, text: str) -> str:
    return f'<script id="{name}" type="application/json">{text}</script>'


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"
