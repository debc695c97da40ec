"""Sections of a report: where each begins and ends, its header as written, its type (Sec. D.1).

Reports open sections in many ways: capitals or not, misspelt, named after the view, or not at all.
Headers come from ``resources/reference/sections.yaml`` and a site's own aliases; misspelt ones are
recognised by edit distance. What stands under a header that does not describe the study, but in a
paragraph of its own, is text without a section.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from rapidfuzz import fuzz, process

from cxrqba.reports.sentences import split_sentences
from cxrqba.schema import NO_SECTION, PRE_NO_SECTION, REPORTED_SECTION_TYPES

FUZZY_CUTOFF = 87.0
"""Similarity in percent from which a capital header counts as a misspelling of a known one."""

PREAMBLE_TYPES = {"COMPARISON", "TECHNIQUE", "EXAMINATION", "INDICATION", "HISTORY"}
"""Sections of one paragraph: what follows a blank line is no longer theirs."""

VIEW_WORDS = re.compile(
    r"\b(chest|views?|pa|ap|lateral|portable|frontal|radiographs?|x-?rays?|upright|supine|cxr)\b",
    re.IGNORECASE,
)
FINAL = re.compile(r"^[ \t]*(?:FINAL )?(?:RADIOLOGY )?REPORT[ \t]*$", re.MULTILINE)
DIVIDER = re.compile(r"^[ \t]*_{10,}[ \t]*$", re.MULTILINE)
TITLE = re.compile(r"^[ \t]*FINAL ADDENDUM[ \t]*$", re.MULTILINE)
WET_READ = re.compile(r"^[ \t]*WET[ -]?READ\b[^\n]*$", re.MULTILINE | re.IGNORECASE)
HEADER = re.compile(r"^[ \t]*(?P<name>[A-Za-z][A-Za-z0-9 ()/,&.'#-]{0,70}?)[ \t]*:", re.MULTILINE)
BARE = re.compile(r"^[ \t]*(?P<name>[A-Za-z][A-Za-z /]{3,40})[ \t]*$", re.MULTILINE)
INLINE = re.compile(
    r"(?<=[.\s])(?P<name>INDICATION|HISTORY|TECHNIQUE|COMPARISON|FINDINGS|IMPRESSION|CONCLUSION)"
    r"[ \t]*:"
)
PROSE = re.compile(r"(?:\S+\s+){3,}\S+\.(?:\s|$)")
"""Words that end in a full stop: a remark such as "no change since then", not a title."""

OTHER_STUDY = re.compile(
    r"\b(ct|mri?|pet|echo|ultrasound|scan|exam|study|studies|films?|radiographs?)\b", re.IGNORECASE
)
"""A sentence under COMPARISON that names another study may describe that one."""

PARAGRAPH = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Section:
    """One section; its text is ``report[start:end]`` without the header."""

    name: str  # as written, upper case, or NO_SECTION / PRE_NO_SECTION
    type: str  # one of schema.SECTION_TYPES
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Mark:
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
                self.types[_plain(header)] = group["type"]
        for kind, spellings in sections["misspellings"].items():
            self.types.update({_plain(s): kind for s in spellings})
        self.types.update({_plain(h): kind.upper() for h, kind in aliases.items()})
        self.long = [h for h in self.types if len(h) >= 6]

    @lru_cache(maxsize=4096)  # noqa: B019 - one instance lives as long as the process
    def type_of(self, name: str) -> str | None:
        """Section type of a header as written, None if it is none that is known."""
        plain = _plain(name)
        if plain in self.types:
            return self.types[plain]
        if name != name.upper():
            return None
        if len(plain) >= 6:
            match = process.extractOne(
                plain, self.long, scorer=fuzz.ratio, score_cutoff=FUZZY_CUTOFF
            )
            if match and plain[:1] in (match[0][:1], match[0][1:2]):
                return self.types[match[0]]
        words = VIEW_WORDS.findall(plain)
        if len(words) >= max(1, len(plain.split()) // 2):
            return "FINDINGS"
        return None


def find_sections(report: str, headers: Headers, describes: Any) -> list[Section]:
    """All sections of ``report`` in text order.

    ``describes(text)`` tells whether text without a section describes a study: only such text is
    given the type FINDINGS; the rest is IGNORE.
    """
    sections: list[Section] = []
    for start, end, kind in _blocks(report):
        sections += _sections_of_block(report, start, end, kind, headers, describes)
    return _rescue(
        report, _with_findings_under_another_header(report, sections, describes), describes
    )


def _with_findings_under_another_header(
    report: str, sections: list[Section], describes: Any
) -> list[Section]:
    """Where no FINDINGS are filled in, they may have been dictated on under COMPARISON."""
    if any(s.type == "FINDINGS" and report[s.start : s.end].strip() for s in sections):
        return sections
    return [part for s in sections for part in _split_findings(report, s, describes)]


def _split_findings(report: str, section: Section, describes: Any) -> list[Section]:
    """Cut where the first of at least two sentences that describe this study begins."""
    if section.type not in ("COMPARISON", "TECHNIQUE", "EXAMINATION"):
        return [section]
    spans = split_sentences(report[section.start : section.end], section.start)
    told = [s for s, e in spans if describes(report[s:e]) and not OTHER_STUDY.search(report[s:e])]
    if len(told) < 2:
        return [section]
    return [replace(section, end=told[0]), replace(section, type="FINDINGS", start=told[0])]


def _blocks(report: str) -> list[tuple[int, int, str]]:
    """(start, end, kind) of the parts of a report; kind: final, pre or addendum."""
    cuts = [m.span() for m in DIVIDER.finditer(report)]
    edges = [0, *(e for _, e in cuts)], [*(s for s, _ in cuts), len(report)]
    blocks = []
    for start, end in zip(*edges, strict=True):
        text = report[start:end]
        marker = FINAL.search(text)
        addendum = TITLE.search(text) or (cuts and re.match(r"\s*ADDENDUM\b", text))
        if addendum and not marker:
            blocks.append((start, end, "addendum"))
        elif marker:
            if text[: marker.start()].strip():
                blocks.append((start, start + marker.start(), "pre"))
            blocks.append((start + marker.end(), end, "final"))
        else:
            blocks.append((start, end, "final"))
    return blocks


def _sections_of_block(
    report: str, start: int, end: int, kind: str, headers: Headers, describes: Any
) -> list[Section]:
    marks = _marks(report, start, end, headers)
    first = marks[0].start if marks else end
    sections = []
    if report[start:first].strip():
        sections.append(_unheaded(report, start, first, kind, describes))
    for mark, following in zip_longest(marks, marks[1:]):
        stop = following.start if following else end
        section = Section(mark.name, mark.type, mark.end, stop)
        if kind == "addendum" and mark.type == "ADDENDUM":
            section = replace(section, type=_addendum_type(report[mark.end : stop], describes))
        sections += _without_foreign_paragraphs(report, section, describes)
    return sections


def _addendum_type(text: str, describes: Any) -> str:
    """A describing addendum has the last word on the study, as an impression has."""
    return "IMPRESSION" if describes(text) else "ADDENDUM"


def _unheaded(report: str, start: int, end: int, kind: str, describes: Any) -> Section:
    """Text before the first header of a block."""
    text = report[start:end]
    title = TITLE.search(text)
    if title:
        start, text = start + title.end(), text[title.end() :]
    if kind == "pre":
        wet = bool(WET_READ.search(text))
        return Section(
            "WET READ" if wet else PRE_NO_SECTION, "WET_READ" if wet else "IGNORE", start, end
        )
    if kind == "addendum":
        return Section("ADDENDUM", _addendum_type(text, describes), start, end)
    return Section(NO_SECTION, "FINDINGS" if describes(text) else "IGNORE", start, end)


def _marks(report: str, start: int, end: int, headers: Headers) -> list[_Mark]:
    """Headers inside [start, end), in order, without those inside another."""
    found: dict[int, _Mark] = {}
    for pattern in (HEADER, INLINE, BARE, WET_READ):
        for match in pattern.finditer(report, start, end):
            mark = _mark(match, pattern, headers, report)
            if mark and not any(m.start < mark.end and mark.start < m.end for m in found.values()):
                found[mark.start] = mark
    return _without_titles(report, [found[k] for k in sorted(found)])


def _mark(
    match: re.Match[str], pattern: re.Pattern[str], headers: Headers, report: str
) -> _Mark | None:
    if pattern is WET_READ:
        return _Mark(match.start(), match.end(), "WET READ", "WET_READ")
    name = match["name"].strip()
    kind = headers.type_of(name)
    if kind is None or (pattern is BARE and _plain(name) not in headers.types):
        return None
    if name != name.upper() and not _opens_paragraph(report, match.start()):
        return None  # "Impression:" inside running text is a word, not a header
    return _Mark(match.start(), match.end(), name.upper(), kind)


def _opens_paragraph(report: str, at: int) -> bool:
    before = report[:at].rstrip(" \t")
    return not before or before.endswith("\n")


def _without_titles(report: str, marks: list[_Mark]) -> list[_Mark]:
    """Drop titles: a view header with nothing under it before the next header."""
    kept = []
    for mark, following in zip_longest(marks, marks[1:]):
        body = report[mark.end : following.start if following else len(report)]
        is_view = mark.type == "FINDINGS" and VIEW_WORDS.search(mark.name) is not None
        if is_view and following and not body.strip():
            mark = replace(mark, type="EXAMINATION")
        kept.append(mark)
    return kept


def _without_foreign_paragraphs(report: str, section: Section, describes: Any) -> list[Section]:
    """Split off describing paragraphs that stand under a header such as COMPARISON."""
    if section.type not in PREAMBLE_TYPES:
        return [section]
    text = report[section.start : section.end]
    for blank in PARAGRAPH.finditer(text):
        if text[: blank.start()].strip() and describes(text[blank.end() :]):
            middle = section.start + blank.end()
            return [
                replace(section, end=middle),
                Section(NO_SECTION, "FINDINGS", middle, section.end),
            ]
    return [section]


def _rescue(report: str, sections: list[Section], describes: Any) -> list[Section]:
    """Where nothing else reports on the study, describing text under another header does."""
    if any(
        s.type in REPORTED_SECTION_TYPES and report[s.start : s.end].strip(" \t\n.")
        for s in sections
    ):
        return sections
    return [
        _rescued(section, report[section.start : section.end], describes) for section in sections
    ]


def _rescued(section: Section, text: str, describes: Any) -> Section:
    if section.type in ("COMPARISON", "TECHNIQUE", "EXAMINATION", "RECOMMENDATION", "IGNORE"):
        is_prose = section.name == NO_SECTION and PROSE.search(text) is not None
        if is_prose or describes(text):
            return replace(section, type="FINDINGS")
    return section


def _plain(header: str) -> str:
    return re.sub(r"\s+", " ", header.strip().strip(":").lower())
