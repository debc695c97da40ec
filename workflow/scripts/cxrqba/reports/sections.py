"""Sections of a report: where each begins and ends, its header as written, its type (Sec. D.1).

Reports open sections in many ways: capitals or not, misspelt, named after the view, or not at all.
Headers come from ``resources/reference/sections.yaml`` and a site's own aliases; misspelt ones are
recognised by edit distance. What stands under a header that does not describe the study, but in a
paragraph of its own, is text without a section. Who the patient is and what is asked, where it
opens a report without headers, is its indication: a suspicion must not become a finding.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from cxrqba.reports.headers import TITLE_WORDS, WET_READ, Headers, Mark
from cxrqba.reports.sentences import plain_layout, split_sentences
from cxrqba.schema import NO_SECTION, PRE_NO_SECTION, REPORTED_SECTION_TYPES

PREAMBLE_TYPES = {"COMPARISON", "TECHNIQUE", "EXAMINATION", "INDICATION", "HISTORY"}
"""Sections of one paragraph: what follows a blank line is no longer theirs."""

OF_PATIENT = {"INDICATION", "HISTORY"}
BEFORE_FINDINGS = PREAMBLE_TYPES | {"RECOMMENDATION", "NOTIFICATION"}
"""Sections that an organ's header ends."""

FINAL = re.compile(
    r"^[ \t]*(?:(?i:final (?:radiology )?report)|(?:RADIOLOGY )?REPORT)[ \t]*$", re.MULTILINE
)
DIVIDER = re.compile(r"^[ \t]*_{10,}[ \t]*$", re.MULTILINE)
TITLE = re.compile(r"^[ \t]*FINAL ADDENDUM[ \t]*$", re.MULTILINE)
PATIENT = re.compile(
    r"\W*(?:an? )?(?:_{3}|X{4,}|\d{1,3})[ -]*(?:(?:years?|yrs?)[ -]*(?:old|of age)|y/?o|man|woman"
    r"|male|female)\b|(?:the )?patient (?:with|presents|presenting|complains)\b"
    r"|\W*_{3}[ -]?[FM]\b|\W*\d{2,3} ?[FM](?= (?:with|s/p|p/w|who|presenting)\b)",
    re.IGNORECASE,
)
"""Age and sex open an indication; a catheter of ``14 F`` and an interval of years do not."""

ASKED = re.compile(
    r"\W*(?:please )?(?:evaluate|eval|assess|r/o|rule out)\b|[^.]*//"
    r"|[^.]*[,;:-]\s*(?:please )?(?:evaluate|eval|assess|r/o|rule out) (?!with|by|further)\w",
    re.IGNORECASE,
)
ADDENDUM = re.compile(r"\s*ADDENDUM\b[ \t]*[:.-]?")
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


def find_sections(report: str, headers: Headers, describes: Any) -> list[Section]:
    """All sections of ``report`` in text order.

    ``describes(text)`` tells whether text without a section describes a study: only such text is
    given the type FINDINGS; the rest is IGNORE.
    """
    report = plain_layout(report)
    sections: list[Section] = []
    for start, end, kind in _blocks(report):
        sections += _sections_of_block(report, start, end, kind, headers, describes)
    sections = _without_foreign_parts(report, sections, headers, describes)
    sections = _with_findings_under_another_header(report, sections, describes)
    return _rescue(report, sections, describes)


def _with_findings_under_another_header(
    report: str, sections: list[Section], describes: Any
) -> list[Section]:
    """Where FINDINGS describe nothing, they may have been dictated on under COMPARISON.

    ``FINDINGS: Comparison: ___. The heart is enlarged.`` has the header already: one is enough.
    """
    headed = [report[s.start : s.end] for s in sections if s.type == "FINDINGS"]
    if any(map(describes, headed)):
        return sections
    at_least = 1 if any(text.strip() for text in headed) else 2
    return [part for s in sections for part in _split_findings(report, s, describes, at_least)]


def _has_findings(report: str, sections: list[Section]) -> bool:
    return any(s.type == "FINDINGS" and report[s.start : s.end].strip() for s in sections)


def _split_findings(report: str, section: Section, describes: Any, at_least: int) -> list[Section]:
    """Cut where the first of at least so many sentences that describe this study begins."""
    if section.type not in ("COMPARISON", "TECHNIQUE", "EXAMINATION"):
        return [section]
    spans = split_sentences(report[section.start : section.end], section.start)
    told = [s for s, e in spans if describes(report[s:e]) and not _is_aside(report[s:e])]
    if len(told) < at_least:
        return [section]
    return [replace(section, end=told[0]), replace(section, type="FINDINGS", start=told[0])]


def _is_aside(sentence: str) -> bool:
    """Whether a sentence names another study, or nothing but the view."""
    return bool(OTHER_STUDY.search(sentence)) or not any(
        map(str.isalpha, TITLE_WORDS.sub("", sentence))
    )


def _blocks(report: str) -> list[tuple[int, int, str]]:
    """(start, end, kind) of the parts of a report; kind: final, pre or addendum."""
    cuts = [m.span() for m in DIVIDER.finditer(report)]
    edges = [0, *(e for _, e in cuts)], [*(s for s, _ in cuts), len(report)]
    blocks = []
    for start, end in zip(*edges, strict=True):
        text = report[start:end]
        markers = [m.span() for m in FINAL.finditer(report, start, end)]
        addendum = TITLE.search(text) or (cuts and re.match(r"\s*ADDENDUM\b", text))
        if not markers:
            blocks.append((start, end, "addendum" if addendum else "final"))
            continue
        if report[start : markers[0][0]].strip():
            blocks.append((start, markers[0][0], "pre"))
        stops = [*(s for s, _ in markers[1:]), end]
        blocks += [(e, stop, "final") for (_, e), stop in zip(markers, stops, strict=True)]
    return blocks


def _sections_of_block(
    report: str, start: int, end: int, kind: str, headers: Headers, describes: Any
) -> list[Section]:
    marks = _with_organs(report, headers.marks(report, start, end), end, headers, describes)
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


def _with_organs(
    report: str, marks: list[Mark], end: int, headers: Headers, describes: Any
) -> list[Mark]:
    """Where no FINDINGS are filled in, organ headers under INDICATION or TECHNIQUE open them.

    ``HEART: CHF`` in a history is no finding: there, several that describe a study are needed.
    """
    pairs = list(zip_longest(marks, marks[1:]))
    stops = [following.start if following else end for _, following in pairs]
    for mark, stop in zip(marks, stops, strict=True):
        if mark.type == "FINDINGS" and report[mark.end : stop].strip():
            return marks
    found = list(marks)
    for mark, stop in zip(marks, stops, strict=True):
        organs = headers.organ_marks(report, mark.end, stop)
        if not organs or mark.type not in BEFORE_FINDINGS:
            continue
        is_told = len(organs) > 1 and describes(report[organs[0].start : stop])
        if is_told or mark.type not in OF_PATIENT:
            found += organs
    return sorted(found, key=lambda m: m.start)


def _addendum_type(text: str, describes: Any) -> str:
    """A describing addendum has the last word on the study, as an impression has."""
    return "IMPRESSION" if describes(text) else "ADDENDUM"


def _unheaded(report: str, start: int, end: int, kind: str, describes: Any) -> list[Section]:
    """Text before the first header of a block."""
    heading = TITLE.search(report, start, end)
    start = heading.end() if heading else start
    text = report[start:end]
    if kind == "pre":
        wet = bool(WET_READ.search(text))
        name, section_type = ("WET READ", "WET_READ") if wet else (PRE_NO_SECTION, "IGNORE")
        return [Section(name, section_type, start, end)]
    if kind == "addendum":
        word = ADDENDUM.match(text)
        start += word.end() if word else 0
        return [Section("ADDENDUM", _addendum_type(report[start:end], describes), start, end)]
    titled = _titled_until(report, start, end)
    title = [Section(NO_SECTION, "EXAMINATION", start, titled)] if titled > start else []
    start = titled
    asked = _asked_until(report, start, end, describes)
    told = Section(NO_SECTION, "FINDINGS" if describes(report[asked:end]) else "IGNORE", asked, end)
    if asked > start:
        title.append(Section(NO_SECTION, "INDICATION", start, asked))
    return [*title, told]


def _titled_until(report: str, start: int, end: int) -> int:
    """Where sentences end that only name the study: ``Chest, two views.``"""
    until = start
    for first, last in split_sentences(report[start:end], start):
        words = TITLE_WORDS.sub("", report[first:last])
        if words == report[first:last] or any(map(str.isalnum, words)):
            break
        until = last
    return until


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


def _without_foreign_parts(
    report: str, sections: list[Section], headers: Headers, describes: Any
) -> list[Section]:
    """Split off what describes the study but stands under a header such as COMPARISON.

    That is a further paragraph, or what follows a header nobody knows. A further paragraph of the
    indication or history is left alone where FINDINGS are filled in: it is likelier to tell what is
    known of the patient than what the films show.
    """
    of_patient = OF_PATIENT if _has_findings(report, sections) else set()
    return [
        part
        for section in sections
        for part in (
            _by_parts(report, section, headers, describes)
            if section.type in PREAMBLE_TYPES - of_patient
            else [section]
        )
    ]


def _by_parts(report: str, section: Section, headers: Headers, describes: Any) -> list[Section]:
    blanks = PARAGRAPH.finditer(report, section.start, section.end)
    cuts = [(m.start(), m.end(), NO_SECTION) for m in blanks]
    cuts += [(m.start, m.end, m.name) for m in headers.unknown(report, section.start, section.end)]
    for stop, start, name in sorted(cuts):
        rest = report[start : section.end]
        if report[section.start : stop].strip() and describes(rest) and not _is_of_patient(rest):
            titled = _titled_until(report, start, section.end)
            parts = [
                replace(section, end=start if name == NO_SECTION else stop),
                Section(NO_SECTION, "EXAMINATION", start, titled),
                Section(name, "FINDINGS", titled, section.end),
            ]
            return [part for part in parts if part.start < part.end]
    return [section]


def _is_of_patient(text: str) -> bool:
    return bool(PATIENT.match(text) or ASKED.match(text))


def _rescue(report: str, sections: list[Section], describes: Any) -> list[Section]:
    """Where nothing else reports on the study, describing text under another header does.

    Last of all a preliminary read: it is superseded only by a final one.
    """
    if _reports(report, sections):
        return sections
    sections = [part for s in sections for part in _split_findings(report, s, describes, 1)]
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


def _is_prose(text: str) -> bool:
    """Whether four words or more end in a full stop: "no change since then", not a title."""
    return any(len(word) > 1 and word.endswith(".") for word in text.split()[3:])


def _rescued(section: Section, text: str, describes: Any) -> Section:
    if section.type in ("RECOMMENDATION", "IGNORE"):
        is_prose = section.name == NO_SECTION and _is_prose(text)
        if is_prose or describes(text):
            return replace(section, type="FINDINGS")
    return section
