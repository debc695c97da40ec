"""Sections of a report: where each begins and ends, its header as written, its type (Sec. D.1).

Reports open sections in many ways: capitals or not, misspelt, named after the view, or not at all.
Headers come from ``resources/reference/sections.yaml`` and a site's own aliases; misspelt ones are
recognised by edit distance. What stands under a header that does not describe the study, but in a
paragraph of its own, is text without a section. Who the patient is and what is asked, where it
opens a report without headers, is its indication: a suspicion must not become a finding.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from rapidfuzz import fuzz, process

from cxrqba.reports.sentences import plain_layout, split_sentences
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
HEADER = re.compile(
    r"^[ \t]*[*#]{0,3}[ \t]*(?P<name>[A-Za-z][A-Za-z0-9 ()/,&.'#-]{0,70}?)[ \t]*\*{0,2}:\*{0,2}",
    re.MULTILINE,
)
DASHED = re.compile(
    r"^[ \t]*(?P<name>[A-Z][A-Z /]{3,40}?)[ \t]+[-\u2013\u2014]+[ \t]", re.MULTILINE
)
BARE = re.compile(r"^[ \t]*(?P<name>[A-Za-z][A-Za-z /]{3,40})[ \t]*$", re.MULTILINE)
AFTER_STOP = re.compile(
    r"(?<=[.?!;])[ \t]+(?P<name>indication|history|technique|comparison|findings|impression"
    r"|conclusion)[ \t]*:",
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

PATIENT = re.compile(
    r"\W*(?:an? )?(?:_{3}|X{4}|\d{1,3})[ -]*(?:(?:years?|yrs?)[ -]*(?:old|of age)|y/?o|man|woman"
    r"|male|female)\b|\W*_{3}[ -]?[FM]\b|\W*\d{2,3} ?[FM](?= (?:with|s/p|p/w|who|presenting)\b)",
    re.IGNORECASE,
)
"""Age and sex open an indication; a catheter of ``14 F`` and an interval of years do not."""

ASKED = re.compile(
    r"\W*(?:please )?(?:evaluate|eval|assess|r/o|rule out)\b|[^.]*//"
    r"|[^.]*[,;:-]\s*(?:please )?(?:evaluate|eval|assess|r/o|rule out) (?!with|by|further)\w",
    re.IGNORECASE,
)
ADDENDUM = re.compile(r"\s*ADDENDUM\b[ \t]*[:.-]?")
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
        names = [
            re.escape(h.upper()).replace("\\ ", "[ \t]+")
            for h, kind in sorted(self.types.items(), key=lambda item: (-len(item[0]), item[0]))
            if kind in INLINE_TYPES and len(h) >= 5 and h not in NOT_INLINE
        ]
        self.inline = re.compile(rf"(?<=[.\s])(?P<name>{'|'.join(names)})[ \t]*:")

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
    report = plain_layout(report)
    sections: list[Section] = []
    for start, end, kind in _blocks(report):
        sections += _sections_of_block(report, start, end, kind, headers, describes)
    sections = _without_foreign_paragraphs(report, sections, describes)
    sections = _with_findings_under_another_header(report, sections, describes)
    return _rescue(report, sections, describes)


def _with_findings_under_another_header(
    report: str, sections: list[Section], describes: Any
) -> list[Section]:
    """Where no FINDINGS are filled in, they may have been dictated on under COMPARISON."""
    if _has_findings(report, sections):
        return sections
    return [part for s in sections for part in _split_findings(report, s, describes)]


def _has_findings(report: str, sections: list[Section]) -> bool:
    return any(s.type == "FINDINGS" and report[s.start : s.end].strip() for s in sections)


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
        sections += _unheaded(report, start, first, kind, describes)
    for mark, following in zip_longest(marks, marks[1:]):
        stop = following.start if following else end
        section = Section(mark.name, mark.type, mark.end, stop)
        if mark.type == "ADDENDUM":
            section = replace(section, type=_addendum_type(report[mark.end : stop], describes))
        sections.append(section)
    return sections


def _addendum_type(text: str, describes: Any) -> str:
    """A describing addendum has the last word on the study, as an impression has."""
    return "IMPRESSION" if describes(text) else "ADDENDUM"


def _unheaded(report: str, start: int, end: int, kind: str, describes: Any) -> list[Section]:
    """Text before the first header of a block."""
    title = TITLE.search(report, start, end)
    start = title.end() if title else start
    text = report[start:end]
    if kind == "pre":
        wet = bool(WET_READ.search(text))
        name, section_type = ("WET READ", "WET_READ") if wet else (PRE_NO_SECTION, "IGNORE")
        return [Section(name, section_type, start, end)]
    if kind == "addendum":
        word = ADDENDUM.match(text)
        start += word.end() if word else 0
        return [Section("ADDENDUM", _addendum_type(report[start:end], describes), start, end)]
    asked = _asked_until(report, start, end, describes)
    told = Section(NO_SECTION, "FINDINGS" if describes(report[asked:end]) else "IGNORE", asked, end)
    return [told] if asked == start else [Section(NO_SECTION, "INDICATION", start, asked), told]


def _asked_until(report: str, start: int, end: int, describes: Any) -> int:
    """Where text without a header stops to say who the patient is and what is asked."""
    until = start
    for first, last in split_sentences(report[start:end], start):
        sentence = report[first:last]
        if PATIENT.match(sentence) or ASKED.match(sentence):
            until = last
        elif until > start or describes(sentence):
            break
    return until


def _marks(report: str, start: int, end: int, headers: Headers) -> list[_Mark]:
    """Headers inside [start, end), in order, without those inside another."""
    found: dict[int, _Mark] = {}
    for pattern in (HEADER, headers.inline, AFTER_STOP, DASHED, BARE, WET_READ):
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
    if kind is None or (pattern in (BARE, DASHED) and _plain(name) not in headers.types):
        return None
    if pattern is headers.inline and QUOTED.search(report, match.start() - 8, match.start()):
        return None
    return _Mark(match.start(), match.end(), re.sub(r"\s+", " ", name.upper()), kind)


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


def _without_foreign_paragraphs(
    report: str, sections: list[Section], describes: Any
) -> list[Section]:
    """Split off describing paragraphs that stand under a header such as COMPARISON.

    A further paragraph of the indication or history is left alone where FINDINGS are filled in: it
    is likelier to tell what is known of the patient than what the films show.
    """
    of_patient = {"INDICATION", "HISTORY"} if _has_findings(report, sections) else set()
    return [
        part
        for section in sections
        for part in (
            _by_paragraph(report, section, describes)
            if section.type in PREAMBLE_TYPES - of_patient
            else [section]
        )
    ]


def _by_paragraph(report: str, section: Section, describes: Any) -> list[Section]:
    text = report[section.start : section.end]
    for blank in PARAGRAPH.finditer(text):
        rest = text[blank.end() :]
        if text[: blank.start()].strip() and describes(rest) and not _is_of_patient(rest):
            middle = section.start + blank.end()
            return [
                replace(section, end=middle),
                Section(NO_SECTION, "FINDINGS", middle, section.end),
            ]
    return [section]


def _is_of_patient(text: str) -> bool:
    return bool(PATIENT.match(text) or ASKED.match(text))


def _rescue(report: str, sections: list[Section], describes: Any) -> list[Section]:
    """Where nothing else reports on the study, describing text under another header does.

    Last of all a preliminary read: it is superseded only by a final one.
    """
    if _reports(report, sections):
        return sections
    rescued = [_rescued(s, report[s.start : s.end], describes) for s in sections]
    is_final = any(
        s.name == NO_SECTION and report[s.start : s.end].rstrip().endswith(".") for s in rescued
    )
    if is_final or _reports(report, rescued):
        return rescued
    return [
        replace(s, type="FINDINGS")
        if s.type == "WET_READ" and describes(report[s.start : s.end])
        else s
        for s in rescued
    ]


def _reports(report: str, sections: list[Section]) -> bool:
    return any(
        s.type in REPORTED_SECTION_TYPES and report[s.start : s.end].strip(" \t\n._")
        for s in sections
    )


def _rescued(section: Section, text: str, describes: Any) -> Section:
    if section.type in ("COMPARISON", "RECOMMENDATION", "IGNORE"):
        is_prose = section.name == NO_SECTION and PROSE.search(text) is not None
        if is_prose or describes(text):
            return replace(section, type="FINDINGS")
    return section


def _plain(header: str) -> str:
    return re.sub(r"\s+", " ", header.strip().strip(":").lower())
