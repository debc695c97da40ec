"""Hand-annotated reports: what they state, in plain words, and what that is in our names.

``observations.csv`` has one row per observation a report states: ``study_id``, ``evidence`` (a
character-exact piece of the report), ``finding`` in plain words, ``polarity`` pos or neg,
``certainty``, ``side`` (left, right, bilateral, none, unknown), ``region``, ``severity``,
``change`` in plain words. ``split.csv`` gives each study its part, dev or sealed.
``finding_names.csv`` translates the plain words once for all: ``reference`` lists, joined by
``|``, the names of ``findings.csv`` any of which says the same; ``name+`` stands for a finding and
all below it, ``@SUBCATEGORY`` for all findings of a subcategory, ``*`` for any. An empty cell says
that the reference has no such finding: the row counts as missed. Who fills the file sees the
distinct words alone, neither reports nor our output:
``python -m cxrqba.evaluate.extraction_gold observations.csv ...`` lists them.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cxrqba.config import ExtractionReference
from cxrqba.errors import UserError, nearest
from cxrqba.reference.tables import Reference
from cxrqba.schema import REPORTED_SECTION_TYPES, SECTION_TYPES

PARTS = ("dev", "sealed")
ANY = "*"
POLARITIES = ("pos", "neg")
CERTAINTIES = ("certain", "likely", "uncertain")
SILENT_SECTIONS = ("INDICATION", "HISTORY", "TECHNIQUE", "COMPARISON", "EXAMINATION")
SIDES = ("left", "right", "bilateral", "none", "unknown")

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class GoldRow:
    """One annotated observation; ``spans`` are the places of its evidence in the report."""

    study_id: str
    spans: Spans
    finding: str
    accepted: frozenset[str]  # reference names; empty: the reference has none
    polarity: str
    certainty: str
    side: str
    region: str
    severity: str
    change: str


@dataclass(frozen=True, slots=True)
class GoldSection:
    """[start, end) of the first words of a section, and the section's type."""

    study_id: str
    start: int
    end: int
    section_type: str


@dataclass(frozen=True)
class Gold:
    """One annotated set, as far as its reports are in the run and its parts are to be scored."""

    name: str
    part_of: dict[str, str]  # study -> part
    rows: list[GoldRow]
    sections: list[GoldSection]
    absent: int  # studies of the split that the run has not
    left_out: int  # rows in sections that describe no study or are superseded
    untranslated: int  # rows whose finding has no row in finding_names.csv


def read_gold(
    settings: ExtractionReference, reports: Mapping[str, str], reference: Reference
) -> Gold:
    """Read one set; ``reports`` is study id -> text of the run's studies."""
    part_of: dict[str, str] = {}
    absent = 0
    for where, row in _rows(settings.split, ("study_id", "part")):
        part = _one_of(row["part"], PARTS, f"{where}, part")
        study_id = _known_id(row["study_id"], reports)
        if study_id is None:
            absent += 1
        elif part in settings.parts:
            part_of[study_id] = part
    scored = {study_id: reports[study_id] for study_id in part_of}
    accepted = _read_names(settings.names, reference)
    rows = _read_observations(settings.observations, scored, accepted)
    sections = _read_sections(settings.sections, scored) if settings.sections else []
    kept = [row for row in rows if _describes(row, sections)]
    untranslated = sum(row.finding not in accepted for row in kept)
    return Gold(settings.name, part_of, kept, sections, absent, len(rows) - len(kept), untranslated)


def findings_to_translate(paths: Iterable[Path]) -> list[str]:
    """The distinct words for findings in all ``observations.csv``, sorted, and nothing else."""
    found = {row["finding"] for path in paths for _, row in _rows(path, ("finding",))}
    return sorted(found, key=lambda t: (t.casefold(), t))


def _read_observations(
    path: str, reports: Mapping[str, str], accepted: Mapping[str, frozenset[str]]
) -> list[GoldRow]:
    columns = ("study_id", "evidence", "finding", "polarity", "certainty", "side")
    found: list[GoldRow] = []
    for where, row in _rows(path, (*columns, "region", "severity", "change")):
        study_id = _known_id(row["study_id"], reports)
        if study_id is None:
            continue
        found.append(
            GoldRow(
                study_id,
                locate(row["evidence"], reports[study_id], f"{where}, evidence"),
                row["finding"],
                accepted.get(row["finding"], frozenset()),
                _one_of(row["polarity"], POLARITIES, f"{where}, polarity"),
                _one_of(row["certainty"], CERTAINTIES, f"{where}, certainty"),
                _one_of(row["side"], SIDES, f"{where}, side"),
                row["region"],
                row["severity"],
                row["change"],
            )
        )
    return found


def _read_sections(path: str, reports: Mapping[str, str]) -> list[GoldSection]:
    """Sections in the order of the file, which is that of the text."""
    found: list[GoldSection] = []
    for where, row in _rows(path, ("study_id", "section_type", "start_text")):
        study_id = _known_id(row["study_id"], reports)
        if study_id is None:
            continue
        kind = _one_of(row["section_type"], SECTION_TYPES, f"{where}, section_type")
        report = reports[study_id]
        spans = locate(row["start_text"], report, f"{where}, start_text")
        last = found[-1].start if found and found[-1].study_id == study_id else -1
        start, end = _section_start(spans, report, last)
        found.append(GoldSection(study_id, start, end, kind))
    return found


def _section_start(spans: Spans, report: str, last: int) -> tuple[int, int]:
    """Of several places the first behind the section before, at best one that begins a line."""
    behind = [span for span in spans if span[0] > last] or list(spans)
    begins = re.compile(r"(?:^|[\n:])[ \t]*\Z")
    return next((span for span in behind if begins.search(report, 0, span[0])), behind[0])


def section_at(place: int, study_id: str, sections: Iterable[GoldSection]) -> str | None:
    """Type of the section that ``place`` of a report lies in; None before the first."""
    before = [(s.start, s.section_type) for s in sections if s.study_id == study_id]
    return max(((at, kind) for at, kind in before if at <= place), default=(0, None))[1]


def _describes(row: GoldRow, sections: Sequence[GoldSection]) -> bool:
    """Whether the row counts: not what was asked, done or compared, nor a superseded wet read."""
    types = {s.section_type for s in sections if s.study_id == row.study_id}
    silent = {*SILENT_SECTIONS, *(["WET_READ"] if types & set(REPORTED_SECTION_TYPES) else [])}
    return any(section_at(end - 1, row.study_id, sections) not in silent for _, end in row.spans)


def _read_names(path: str, reference: Reference) -> dict[str, frozenset[str]]:
    """Plain words -> acceptable reference names."""
    below: dict[str, set[str]] = {name: {name} for name in reference.findings}
    groups: dict[str, set[str]] = {ANY: set(reference.findings)}
    for name, finding in reference.findings.items():
        for ancestor in reference.finding_ancestors[name]:
            below[ancestor].add(name)
        for subcategory in finding.subcategories:
            groups.setdefault(f"@{subcategory}", set()).add(name)
    groups |= {f"{name}+": members for name, members in below.items()}
    groups |= {name: {name} for name in reference.findings}
    accepted: dict[str, frozenset[str]] = {}
    for where, row in _rows(path, ("finding", "reference")):
        entries = [e.strip() for e in row["reference"].split("|") if e.strip()]
        for entry in entries:
            if entry not in groups:
                raise UserError(f"{where}: no finding '{entry}'{nearest(entry, groups)}")
        if row["finding"] in accepted:
            raise UserError(f"{where}: '{row['finding']}' occurs twice")
        accepted[row["finding"]] = frozenset(n for e in entries for n in groups[e])
    return accepted


def locate(piece: str, report: str, where: str) -> Spans:
    """All [start, end) of ``piece`` in ``report``, whatever the white space between its words."""
    pattern = r"\s+".join(map(re.escape, piece.split()))
    spans = tuple(m.span() for m in re.finditer(pattern, report)) if pattern else ()
    if not spans:
        raise UserError(f"{where}: this text does not stand in the report of its study")
    return spans


def _known_id(text: str, reports: Mapping[str, object]) -> str | None:
    """The run's id of a study: as written, or with MIMIC's ``s`` before it."""
    return next((i for i in (text.strip(), f"s{text.strip()}") if i in reports), None)


def _one_of(value: str, known: Iterable[str], where: str) -> str:
    known = tuple(known)
    if value not in known:
        raise UserError(f"{where}: '{value}' is none of {', '.join(known)}")
    return value


def _rows(path: str | Path, columns: Iterable[str]) -> list[tuple[str, dict[str, str]]]:
    """(where, row) of a CSV file; cells are stripped of white space around them."""
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [c for c in columns if c not in (reader.fieldnames or ())]
            if missing:
                raise UserError(f"{path}: no column '{missing[0]}'")
            return [
                (
                    f"{path}, line {reader.line_num}",
                    {k: (v or "").strip() for k, v in row.items() if isinstance(k, str)},
                )
                for row in reader
            ]
    except FileNotFoundError:
        raise UserError(
            f"{path}: no such file; correct evaluate.extraction in the dataset file"
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a readable CSV file ({type(error).__name__})") from None


if __name__ == "__main__":
    print("\n".join(findings_to_translate(map(Path, sys.argv[1:]))))
