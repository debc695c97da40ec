"""Expert study labels as published, read into one shape.

MIMIC-CXR-JPG test set: one row a study, 1, 0, -1 (uncertain) or blank (not mentioned) per CheXpert
class; "Airspace Opacity" is what the other files call Lung Opacity. CXR-LT 2024 task 2: one row an
image, 1 or 0 per class; rows of one study are collapsed, and where they disagree the study is
uncertain. Open-i: manual MeSH terms
``head/qualifier/...``; what they mean as findings stands in ``labels.csv`` (head) and
``openi_qualifiers.csv`` (head with qualifier).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.errors import UserError, nearest
from cxrqba.reference.cells import known, read_rows
from cxrqba.reference.tables import Reference

RENAMED = {"airspace opacity": "lung opacity"}
NOT_INDEXED = "no indexing"
Gold = dict[str, dict[str, int | None]]
"""study id -> class -> 1, 0, -1 (uncertain) or None (not mentioned)"""


@dataclass(frozen=True)
class GoldSet:
    """Labels of one expert file, and where its rows contradict each other."""

    labels: Gold
    conflicts: list[tuple[str, str]] = field(default_factory=list)  # study id, what, never text


def read_mimic_labels(path: Path, classes: Sequence[str]) -> Gold:
    """Study id (s########) -> class -> 1, 0, -1 or None (blank), from the test-set CSV."""
    labels: Gold = {}
    for where, study_id, row in _label_rows(path, classes):
        found = {c: _value(row[c], f"{where}, {c}") for c in classes}
        if labels.setdefault(study_id, found) != found:
            raise UserError(f"{where}: {study_id} occurs twice with different labels")
    return labels


def read_cxr_lt(path: Path, classes: Sequence[str]) -> GoldSet:
    """Labels by study from the per-image rows of CXR-LT; images that disagree make it -1."""
    labels: Gold = {}
    conflicts: dict[tuple[str, str], None] = {}
    for where, study_id, row in _label_rows(path, classes):
        known = labels.setdefault(study_id, {})
        for name in classes:
            value = _value(row[name], f"{where}, {name}")
            if value not in (0, 1):
                raise UserError(f"{where}, {name}: '{row[name]}' is neither 1 nor 0")
            if known.setdefault(name, value) != value:
                known[name] = -1
                conflicts[study_id, name] = None
    detail = "{}: images of the study disagree on {}; scored as uncertain"
    return GoldSet(labels, [(study, detail.format(path, name)) for study, name in conflicts])


def _label_rows(path: Path, classes: Sequence[str]) -> Iterator[tuple[str, str, dict[str, str]]]:
    """(place in the file, study id, class -> cell) of every row."""
    header, rows = _csv(path)
    columns = {RENAMED.get(c.strip().lower(), c.strip().lower()): c for c in header}
    for wanted in ("study_id", *(c.lower() for c in classes)):
        if wanted not in columns:
            raise UserError(f"{path}: no column '{wanted}'{nearest(wanted, columns)}")
    for line, row in rows:
        where = f"{path}, line {line}"
        study_id = mimic_study_id(row[columns["study_id"]], where)
        yield where, study_id, {c: row[columns[c.lower()]] for c in classes}


def mimic_study_id(text: str, where: str) -> str:
    """``50000001``, ``50000001.0`` or ``s50000001`` -> ``s50000001``."""
    match = re.fullmatch(r"s?(\d{8})(?:\.0)?", text.strip())
    if match is None:
        raise UserError(f"{where}: '{text}' is no MIMIC study id (eight digits)")
    return f"s{match.group(1)}"


def _value(text: str | None, where: str) -> int | None:
    if text is None or not text.strip() or text.strip().lower() == "nan":
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if value not in (1, 0, -1):
        raise UserError(f"{where}: '{text}' is none of 1, 0, -1 or blank")
    return int(value)


class MeshFindings:
    """What a MeSH term of Open-i means as findings."""

    def __init__(self, reference: Reference):
        self._heads: dict[str, frozenset[str]] = {}
        for head, entry in reference.labels["openi_mesh"].items():
            if head.lower() != "normal":  # spellings of one head share their findings
                known = self._heads.get(plain(head), frozenset())
                self._heads[plain(head)] = known | frozenset(entry["exact"])
        self._qualified = _qualifiers(reference)

    def findings(self, terms: list[str]) -> frozenset[str] | None:
        """Findings of a study's terms; None if the study was not indexed."""
        split = [[plain(p) for p in term.split("/")] for term in terms]
        if any(parts[0] == NOT_INDEXED for parts in split):
            return None
        return frozenset(f for parts in split for f in self._findings(parts[0], parts[1:]))

    def _findings(self, head: str, qualifiers: list[str]) -> frozenset[str]:
        for qualifier, finding in self._qualified.get(head, {}).items():
            if qualifier in qualifiers:
                return frozenset({finding} if finding else ())
        return self._heads.get(head, frozenset())


def _qualifiers(reference: Reference) -> dict[str, dict[str, str]]:
    path = reference.folder / "openi_qualifiers.csv"
    qualified: dict[str, dict[str, str]] = {}
    for line, row in read_rows(path, ("head", "qualifier", "finding")):
        finding = known(row["finding"], reference.findings, f"{path}, line {line}")
        qualified.setdefault(plain(row["head"]), {})[plain(row["qualifier"])] = "".join(finding)
    return qualified


def plain(text: str) -> str:
    """A heading or qualifier without accidents of case and spacing."""
    return " ".join(text.lower().split())


def mesh_labels(
    studies: pl.DataFrame, reference: Reference, classes: Mapping[str, frozenset[str]]
) -> Gold:
    """Study id -> class -> 1 or 0; ``studies`` has study_id and the list of major MeSH terms.

    ``classes`` maps a class to the findings that make it positive. Studies that were not indexed
    have no labels.
    """
    mesh = MeshFindings(reference)
    labels: Gold = {}
    for study_id, terms in studies.select("study_id", "major").sort("study_id").iter_rows():
        findings = mesh.findings(list(terms or []))
        if findings is not None:
            labels[study_id] = {c: int(bool(findings & members)) for c, members in classes.items()}
    return labels


def _csv(path: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Header and rows with their line numbers; a row with too few or too many cells is refused."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader: csv.DictReader[str] = csv.DictReader(file)
            header = list(reader.fieldnames or [])
            _check_header(header, path)
            return header, [(reader.line_num, _whole(row, header, reader, path)) for row in reader]
    except FileNotFoundError:
        raise UserError(
            f"{path}: no such file; correct evaluate.labels in the dataset file"
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a readable CSV file ({type(error).__name__})") from None


def _check_header(header: Sequence[str], path: Path) -> None:
    names = [RENAMED.get(c.strip().lower(), c.strip().lower()) for c in header]
    for name in names:
        if name and names.count(name) > 1:
            raise UserError(f"{path}: column '{name}' occurs twice (a renamed one counts too)")


def _whole(
    row: dict[Any, Any], header: Sequence[str], reader: csv.DictReader[str], path: Path
) -> dict[str, str]:
    surplus = row.pop(None, [])
    cells = len(surplus) + sum(value is not None for value in row.values())
    if cells != len(header):
        raise UserError(
            f"{path}, line {reader.line_num}: {cells} cells where the header has {len(header)}; "
            "the file is cut short or damaged: get it again"
        )
    return row
