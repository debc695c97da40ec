"""Headers of a report: what opens a section, of which type, and what only looks like a header.

Known headers stand in ``resources/reference/sections.yaml`` and in a site's aliases; misspelt ones
are recognised by edit distance, those that name the view (``PORTABLE CHEST:``) act as FINDINGS, and
those that name an organ (``LUNGS:``) do where no FINDINGS are filled in (paper Sec. D.1).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from rapidfuzz import fuzz, process

TITLE_WORDS = re.compile(
    r"\b(?:chest|views?|pa|ap|lat|lateral|portable|mobile|frontal|radiographs?|x-?rays?|xr|cxr"
    r"|films?|exam(?:ination)?|upright|erect|sitting|supine|semi-?erect|single|one|two|three|[123]"
    r"|and|of|the|at|on|hours?|hrs|am|pm)\b",
    re.IGNORECASE,
)
"""Words of a title; a line of them alone names the study."""

FUZZY_CUTOFF = 87.0
"""Similarity in percent from which a capital header counts as a misspelling of a known one."""

VIEW_WORDS = re.compile(
    r"\b(chest|views?|pa|ap|lateral|portable|frontal|radiographs?|x-?rays?|upright|supine|cxr)\b",
    re.IGNORECASE,
)
WET_READ = re.compile(r"^[ \t]*+WET[ -]?READ\b[^\n]*$", re.MULTILINE | re.IGNORECASE)
HEADER = re.compile(
    r"^[ \t]*+[*#]{0,3}[ \t]*+(?:\d{1,2}[.)][ \t]+(?=[A-Z]{3}))?"
    r"(?P<name>[A-Za-z][A-Za-z0-9 ()/,&.'#-]{0,70}?)[ \t]*\*{0,2}:\*{0,2}",
    re.MULTILINE,
)
"""A name and a colon at the start of a line; capitals may be numbered: ``1. FINDINGS:``."""

NUMBERED = re.compile(r"\s*(?:#|no\.?|version)?\s*#?\d{1,2}$")
"""``addendum #2`` is a header as ``addendum`` is."""

DASHED = re.compile(
    r"^[ \t]*+(?P<name>[A-Z][A-Z /]{3,40}?)(?:[ \t]+[-\u2013\u2014]+[ \t]|[ \t]{2,}(?=\S))",
    re.MULTILINE,
)
"""Capitals set off by a dash or by blanks: ``ADDENDUM  The line was moved``."""

BARE = re.compile(
    r"^[ \t]*+[*#]{0,3}[ \t]*+(?P<name>[A-Za-z][A-Za-z /]{3,40})(?:[ \t]*+\*{1,2})?+[ \t]*+$",
    re.MULTILINE,
)
AFTER_STOP = re.compile(
    r"(?<=[.?!;])[ \t]+(?P<name>indication|history|technique|comparison|findings|impression"
    r"|conclusion|recommendations?|notification|addendum)[ \t]*:",
    re.IGNORECASE,
)
"""Headers inside a line, of any case, where a sentence has just ended."""

INLINE_TYPES = {"EXAMINATION", "NOTIFICATION", "RECOMMENDATION", "ADDENDUM", "FINDINGS"} | {
    *("INDICATION", "HISTORY", "TECHNIQUE", "COMPARISON", "IMPRESSION")
}
NOT_INLINE = {
    *("request", "reason", "question", "body", "clinical", "previous", "study", "title", "report")
}
"""Words of other uses: headers only at the start of a line."""

QUOTED = re.compile(r"\b(?:CT|CTA|MRI?|PET|US|ECHO)[ \t]+$", re.IGNORECASE)
"""``CT IMPRESSION:`` names the section of another study."""

HEADWORDS = (
    (re.compile(r"\b(?:impressions?|conclusions?)\b"), "IMPRESSION"),
    (re.compile(r"\bfindings?\b"), "FINDINGS"),
)
"""A capital header with one of these words is of that type: ``CHEST FINDINGS``."""

UNKNOWN = re.compile(r"^[ \t]*+(?P<name>[^\W\d_][^\n:.;!?_]{2,39}?)[ \t]*:(?=\s)", re.MULTILINE)
ORGAN_JOINER = re.compile(r"\s*(?:/|,|&|\band\b)\s*")
MAX_UNKNOWN_WORDS = 5


@dataclass(frozen=True, slots=True)
class Mark:
    """A place where a section begins: header [start, end), name and type."""

    start: int
    end: int
    name: str
    type: str


class Headers:
    """Known headers and how to recognise one."""

    def __init__(self, sections: Mapping[str, Any], aliases: Mapping[str, str]):
        self.types: dict[str, str] = {}
        for group in sections["headers"]:
            for header in group["headers"]:
                self.types[plain(header)] = group["type"]
        for kind, spellings in sections["misspellings"].items():
            self.types.update({plain(s): kind for s in spellings})
        self.types.update({plain(h): kind.upper() for h, kind in aliases.items()})
        self.organs = {plain(organ) for organ in sections["organs"]}
        self.labels = {plain(label) for label in sections["labels"]}
        self.long = [h for h in self.types if len(h) >= 6]
        names = [
            re.escape(h.upper()).replace("\\ ", "[ \t]+")
            for h, kind in sorted(self.types.items(), key=lambda item: (-len(item[0]), item[0]))
            if kind in INLINE_TYPES and len(h) >= 5 and h not in NOT_INLINE
        ]
        self.inline = re.compile(rf"(?<=[.\s])(?P<name>{'|'.join(names)})[ \t]*:")

    @lru_cache(maxsize=4096)  # noqa: B019 - one instance lives as long as the process
    def type_of(self, name: str) -> str | None:
        """Section type of a header as written, None if it is none that is known."""
        known = plain(name)
        for spelled in (known, NUMBERED.sub("", known)):
            if spelled in self.types:
                return self.types[spelled]
        if name != name.upper() or self.is_organ(name):
            return None
        if len(known) >= 6:
            match = process.extractOne(
                known, self.long, scorer=fuzz.ratio, score_cutoff=FUZZY_CUTOFF
            )
            if match and known[:1] in (match[0][:1], match[0][1:2]):
                return self.types[match[0]]
        for word, kind in HEADWORDS:
            found = word.search(known)
            if found and len(known.split()) <= MAX_UNKNOWN_WORDS:
                return None if QUOTED.search(known[: found.start()]) else kind
        words = VIEW_WORDS.findall(known)
        if len(words) >= max(1, len(known.split()) // 2):
            return "FINDINGS"
        return None

    @lru_cache(maxsize=4096)  # noqa: B019 - one instance lives as long as the process
    def is_organ(self, name: str) -> bool:
        """Whether a header names nothing but organs or devices: ``LUNGS AND PLEURA``."""
        parts = [p for p in ORGAN_JOINER.split(plain(name)) if p]
        return plain(name) in self.organs or (
            bool(parts) and all(part in self.organs for part in parts)
        )

    def marks(self, report: str, start: int, end: int) -> list[Mark]:
        """Headers inside [start, end), in order, without those inside another."""
        found: dict[int, Mark] = {}
        for pattern in (HEADER, self.inline, AFTER_STOP, DASHED, BARE, WET_READ):
            for match in pattern.finditer(report, start, end):
                mark = self._mark(match, pattern, report)
                if mark and not any(
                    m.start < mark.end and mark.start < m.end for m in found.values()
                ):
                    found[mark.start] = mark
        return _without_titles(report, [found[k] for k in sorted(found)], end)

    def organ_marks(self, report: str, start: int, end: int) -> list[Mark]:
        """Organ headers at the start of a line; the label belongs to what follows it."""
        return [
            Mark(m.start("name"), m.start("name"), one_line(m["name"]).upper(), "FINDINGS")
            for m in HEADER.finditer(report, start, end)
            if self.is_organ(m["name"])
        ]

    def unknown(self, report: str, start: int, end: int) -> Iterator[Mark]:
        """What is laid out as a header and known as none: capitals, or alone on its line.

        Their type is IGNORE; a worklist counts them.
        """
        for match in UNKNOWN.finditer(report, start, end):
            name = match["name"]
            line_end = report.find("\n", match.end(), end)
            rest = report[match.end() : line_end if line_end >= 0 else end]
            is_set_off = name.upper() == name or (name[:1].isupper() and not rest.strip())
            if (
                is_set_off
                and len(name.split()) <= MAX_UNKNOWN_WORDS
                and plain(name) not in self.labels
                and self.type_of(name) is None
                and not self.is_organ(name)
            ):
                yield Mark(match.start(), match.end(), one_line(name).upper(), "IGNORE")

    def _mark(self, match: re.Match[str], pattern: re.Pattern[str], report: str) -> Mark | None:
        if pattern is WET_READ:
            return Mark(match.start(), match.end(), "WET READ", "WET_READ")
        name = match["name"].strip()
        kind = self.type_of(name)
        if kind is None or (pattern in (BARE, DASHED) and plain(name) not in self.types):
            return None
        if pattern is self.inline and QUOTED.search(report, match.start() - 8, match.start()):
            return None
        return Mark(match.start(), match.end(), one_line(name).upper(), kind)


def _without_titles(report: str, marks: list[Mark], end: int) -> list[Mark]:
    """Titles become examinations: view headers with nothing under them before the next header."""
    kept = []
    for mark, following in zip_longest(marks, marks[1:]):
        body = report[mark.end : following.start if following else end]
        is_view = mark.type == "FINDINGS" and VIEW_WORDS.search(mark.name) is not None
        if is_view and following and not body.strip():
            mark = replace(mark, type="EXAMINATION")
        kept.append(mark)
    return kept


def plain(header: str) -> str:
    """A header in lower case, single blanks, without colon."""
    return re.sub(r"\s+", " ", header.strip().strip(":").lower())


def one_line(text: str) -> str:
    """``text`` with white space made single blanks."""
    return re.sub(r"\s+", " ", text.strip())
