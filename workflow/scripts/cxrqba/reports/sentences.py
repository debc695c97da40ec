"""Splitting text into sentences, with the habits of radiologists in mind (Sec. E.1.2).

A sentence is a span of the report: line breaks inside it stay. Decimals, initials, numbered lists,
bullets, de-identified words and lines that were broken on purpose are handled; semicolons do not
end a sentence. Line ends of any system are read alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

ABBREVIATIONS = frozenset(
    (
        *("dr", "drs", "mr", "mrs", "ms", "prof", "vs", "approx", "fig", "no", "nos", "st"),
        *("e.g", "i.e", "cf", "est", "resp", "incl", "excl", "ca", "viz", "pt", "pts", "hx"),
    )
)
"""A full stop after these does not end a sentence; ``no`` only before a number."""

CLOSING = frozenset(
    (
        *("etc", "inc", "dept", "ext", "jr", "sr", "a.m", "p.m", "m.d", "ph.d", "r.n"),
        *("b.i.d", "t.i.d", "q.i.d", "q.d", "yr", "yrs", "mo", "mos", "wk", "wks", "hr", "hrs"),
        *("jan", "feb", "aug", "sept", "oct", "nov", "dec"),
    )
)
"""These may stand last in a sentence: their full stop ends it where a capital follows."""

TITLES = frozenset(("dr", "drs", "mr", "mrs", "ms", "prof", "by"))
"""A single capital after these, or after another one, is an initial."""

UNITS = frozenset(("cm", "mm", "in", "kg", "ml", "cc"))
PLACED = re.compile(r"(?:above|below|from|in|proximal|distal|to|beyond|past|of|within|into|deep)\b")
"""What follows the full stop of a unit inside a sentence: ``3 cm. above the carina``."""

STOP = re.compile(r"[.!?]+[\"'\u201d\u2019)\]]*(?=\s|$)|(?<=[a-z]{2})\.(?=[A-Z][a-z]*[ ,])")
"""The end of a sentence, or one whose blank was forgotten: ``clear.No effusion``."""

LIST_MARK = re.compile(
    r"(?:\(?\d{1,2}[.)](?=\s|[A-Z][a-z])|\(?(?:[a-h]|i{1,3}|iv|vi{0,3})\)(?=\s)"
    r"|(?:I{1,3}|IV|VI{0,3}|IX|X)[.)](?=[ \t]+[A-Z])"
    r"|[-*\u2022\u00b7](?=\s)|[-*](?=[A-Z][a-z]+ ))[ \t]*"
)
"""Marks of list items: numbers, letters, Roman numbers, dashes, bullets."""

LEAD_IN = re.compile(
    r"\b(no|without|of|for|neither|nor|not|excludes?|following)[ \t]*[:,]?\s*$", re.IGNORECASE
)
"""A line that only makes sense with the list under it: its negation belongs to every item."""

DANGLING = frozenset(
    ("suggest", "suggests", "suggesting", "indicate", "of", "the", "and", "or", "with", "without")
) | frozenset(("for", "to", "in", "a", "an", "is", "are", "nor", "by", "from"))
"""After these a full stop before a small letter is a slip: what follows belongs to them, and so
does the negation before them (``no lesion to suggest. active disease``)."""

LINE = re.compile(r"\n[ \t]*")
NUMBER = re.compile(r"(?<![\w.,/])(\d{1,2})[.)](?=\s+[A-Z\d]|[A-Z][a-z])")
COUNTED = re.compile(
    r"\b(levels?|grades?|stages?|types?|ribs?|images?|series|film|day|and|to|of|number|no|#)\W*$",
    re.IGNORECASE,
)
"""Words whose number is a number, not the mark of the next item of a list."""
LABEL = re.compile(r"[A-Z][A-Za-z /&]{2,40}:(?=\s)")
ITEM_LABEL = re.compile(r"(?<=[.;])[ \t]+(?=[A-Z][A-Za-z /&]{2,30}:\s)")
EMPTY = re.compile(r"(?:\W|(?<!_)_{1,2}(?!_))*")
"""Marks; three or more ``_`` are a removed word."""

NARROW = 60
"""Columns: a line this short, or shorter than the text's width, was broken on purpose."""

LAYOUT = str.maketrans(
    {"\r": "\n", "\x0b": "\n", "\x0c": "\n", "\x85": "\n", "\u2028": "\n", "\u2029": "\n"}
    | dict.fromkeys("\u00a0\u1680\u2007\u202f\u205f\u3000\ufeff\u200b\x1c\x1d\x1e\x1f", " ")
    | {chr(code): " " for code in range(0x2000, 0x200B)}
)


TAG = re.compile(
    r"</?(?:(?P<line>br|p|div|li|ul|ol|tr|table|h[1-6])|b|i|u|em|strong|span|font|td)"
    r"(?:\s[^<>\n]{0,100})?/?>",
    re.IGNORECASE,
)
"""Markup that some archives store with the text; ``line``: a tag that ends a line."""


def plain_layout(text: str) -> str:
    """``text`` with line feeds and plain blanks alone as white space, character for character.

    Tags are white space too.
    """
    text = text.replace("\r\n", " \n").translate(LAYOUT)
    return TAG.sub(_blank, text)


def _blank(tag: re.Match[str]) -> str:
    return ("\n" if tag["line"] else " ") + " " * (len(tag[0]) - 1)


def split_sentences(text: str, offset: int = 0) -> list[tuple[int, int]]:
    """[start, end) of each sentence of ``text``, shifted by ``offset``; no white space around."""
    text = plain_layout(text)
    spans = []
    width = max(NARROW, *(len(line.rstrip()) for line in text.split("\n")))
    for start, end in _paragraphs(text):
        cuts = sorted({start, end, *_breaks(text, start, end, width)})
        for first, last in pairwise(cuts):
            span = _trimmed(text, first, last)
            if span and not EMPTY.fullmatch(text, *span):
                spans.append((span[0] + offset, span[1] + offset))
    return spans


def is_cut(text: str, start: int, at: int) -> bool:
    """Whether a sentence that began at ``start`` may end before ``at``.

    It ends with a full stop, semicolon or line; not with an abbreviation, nor where ``no`` or
    ``of`` waits for what follows.
    """
    before = text[start:at].rstrip()
    if not re.search(r"[^\W\d_]", before) or not re.search(r"[^\W\d_]", text[at:]):
        return False
    is_item = LIST_MARK.match(text, at) is not None
    line_end = text.rfind("\n", start, at)
    if line_end >= 0 and is_item and _continues_lead_in(text, line_end, start, {}):
        return False
    if LEAD_IN.search(before):
        return False
    stop = re.search(r"([\w.]*)[.!?;][\"'\u201d\u2019)\]]*\Z", before)
    if stop is None:
        return line_end >= start + len(before) and (is_item or text[at].isupper())
    word = stop[1].lower()
    if word in ABBREVIATIONS or word in DANGLING:
        return False
    return text[at - 1].isspace() or text[at].isalpha()


def _paragraphs(text: str) -> list[tuple[int, int]]:
    cuts = [m.span() for m in re.finditer(r"\n[ \t]*\n\s*", text)]
    starts = [0, *(e for _, e in cuts)]
    ends = [*(s for s, _ in cuts), len(text)]
    return [(s, e) for s, e in zip(starts, ends, strict=True) if text[s:e].strip()]


def _breaks(text: str, start: int, end: int, width: int) -> list[int]:
    """Positions in [start, end) at which a new sentence begins."""
    items = _items(text, start, end)
    marks = {text.index(".", at) for at in items if "." in text[at : at + 3]}
    found = [
        m.end()
        for m in STOP.finditer(text, start, end)
        if m.start() not in marks and _ends_sentence(text, m)
    ]
    found += items
    found += [m.end() for m in ITEM_LABEL.finditer(text, start, end)]
    items_led: dict[int, bool] = {}
    for line in LINE.finditer(text, start, end):
        at = line.end()
        if LIST_MARK.match(text, at):
            items_led[line.start() + 1] = _continues_lead_in(text, line.start(), start, items_led)
            is_new = not items_led[line.start() + 1]
        else:
            is_new = bool(LABEL.match(text, at)) or _broken_on_purpose(text, line, width)
        if is_new:
            found.append(at)
    return found


def _items(text: str, start: int, end: int) -> list[int]:
    """Where the items of a list begin that runs on in its line: ``1. Effusion 2. No edema``."""
    items: list[int] = []
    for match in NUMBER.finditer(text, start, end):
        is_first = not items and not text[start : match.start()].strip()
        before = text[max(start, match.start() - 12) : match.start()]
        if int(match[1]) == len(items) + 1 and (is_first or (items and not COUNTED.search(before))):
            items.append(match.start())
    return items


def _continues_lead_in(text: str, line_end: int, start: int, known: Mapping[int, bool]) -> bool:
    """Whether the list item after ``line_end`` belongs to a line such as ``There is no``.

    ``known`` has the answer for items before it, by the start of their line.
    """
    while line_end > start:
        line_start = max(start, text.rfind("\n", start, line_end) + 1)
        line = text[line_start:line_end]
        if not LIST_MARK.match(line.lstrip()):
            return LEAD_IN.search(line) is not None
        if line.rstrip().endswith("."):
            return False
        if line_start in known:
            return known[line_start]
        line_end = line_start - 1
    return False


def _ends_sentence(text: str, stop: re.Match[str]) -> bool:
    before = re.search(r"[\w.]*\Z", text[max(0, stop.start() - 20) : stop.start()])
    word = before[0].lower().strip(".") if before else ""
    rest = text[stop.end() :].lstrip()
    if stop[0][0] == "?" and text[stop.start() - 1 : stop.start()].isspace():
        return False  # "?pneumonia" with a blank between: a query, not an end
    if rest[:1].islower() and (
        stop[0][-1] in ")]" or stop[0].startswith("..") or word in DANGLING or "." in word
    ):
        return False  # an aside, an ellipsis, a slip, or "L.L.L." in front of its noun
    if word in UNITS and PLACED.match(rest):
        return False
    if stop[0][0] != "." or not rest:
        return True
    line_start = text.rfind("\n", 0, stop.start()) + 1
    line_start += len(text[line_start : stop.start()]) - len(
        text[line_start : stop.start()].lstrip()
    )
    mark = LIST_MARK.match(text, line_start)
    if mark and mark.start() <= stop.start() < mark.end():
        return False  # the number of a list item at the start of its line
    if word.isdigit() and len(word) <= 2:
        return _number_ends(text, stop.start() - len(word))
    if word == "no":
        return not rest[:1].isdigit()
    if len(word) == 1 and word.isalpha() and text[stop.start() - 1].isupper():
        return not _is_initial(text, stop.start() - 1)
    if word in CLOSING:
        return re.match(r"[A-Z][a-z]", rest) is not None
    return word not in ABBREVIATIONS


def _is_initial(text: str, at: int) -> bool:
    """Whether the capital at ``at`` is the initial of a name: ``Dr. A. B. Name``."""
    before = re.search(r"(\w+)[.\s]*$", text[max(0, at - 12) : at])
    word = before[1] if before else ""
    return word.lower() in TITLES or (len(word) == 1 and word.isupper())


def _number_ends(text: str, number_start: int) -> bool:
    """Whether ``... 3. Next`` ends a sentence: not if the 3 itself opens a list item."""
    before = text[:number_start].rstrip(" \t")
    return not (before.endswith((".", ";", ":")) or not before)


def _broken_on_purpose(text: str, line: re.Match[str], width: int) -> bool:
    """Whether the line break was typed: the next word, a capitalised one, would still have fit."""
    before = text[text.rfind("\n", 0, line.start()) + 1 : line.start()].rstrip()
    word = re.match(r"\S+", text[line.end() :])
    if not word or not re.match(r"[A-Z][a-z]", word[0]) or before.endswith(":"):
        return False  # a label belongs to what stands under it
    return len(before) + 1 + len(word[0]) < width - 10


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span without white space around it and without the mark of a list item."""
    while start < end and text[start].isspace():
        start += 1
    mark = LIST_MARK.match(text, start, end)
    if mark and mark.end() < end:
        start = mark.end()
        while start < end and text[start].isspace():
            start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if end > start else None
