"""Expert study labels as published, read into one shape.

MIMIC-CXR-JPG test set: one row a study, 1, 0, -1 (uncertain) or blank (not mentioned) per CheXpert
class; "Airspace Opacity" is what the other files call Lung Opacity. Open-i: manual MeSH terms
``head/qualifier/...``; what they mean as findings stands in ``labels.csv`` (head) and
``openi_qualifiers.csv`` (head with qualifier).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from cxrqba.errors import UserError, nearest
from cxrqba.reference.cells import known, read_rows
from cxrqba.reference.tables import Reference

RENAMED = {"airspace opacity": "lung opacity"}
NOT_INDEXED = "no indexing"


def read_mimic_labels(path: Path, classes: list[str]) -> dict[str, dict[str, int | None]]:
    """Study id (s########) -> class -> 1, 0, -1 or None (blank), from the test-set CSV."""
    header, rows = _csv(path)
    columns = {RENAMED.get(c.strip().lower(), c.strip().lower()): c for c in header}
    for wanted in ("study_id", *(c.lower() for c in classes)):
        if wanted not in columns:
            raise UserError(f"{path}: no column '{wanted}'{nearest(wanted, columns)}")
    labels: dict[str, dict[str, int | None]] = {}
    for line, row in rows:
        study_id = mimic_study_id(row[columns["study_id"]], f"{path}, line {line}")
        found = {c: _value(row[columns[c.lower()]], f"{path}, line {line}, {c}") for c in classes}
        if labels.setdefault(study_id, found) != found:
            raise UserError(f"{path}, line {line}: {study_id} occurs twice with different labels")
    return labels


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
) -> dict[str, dict[str, int | None]]:
    """Study id -> class -> 1 or 0; ``studies`` has study_id and the list of major MeSH terms.

    ``classes`` maps a class to the findings that make it positive. Studies that were not indexed
    have no labels.
    """
    mesh = MeshFindings(reference)
    labels: dict[str, dict[str, int | None]] = {}
    for study_id, terms in studies.select("study_id", "major").sort("study_id").iter_rows():
        findings = mesh.findings(list(terms or []))
        if findings is not None:
            labels[study_id] = {c: int(bool(findings & members)) for c, members in classes.items()}
    return labels


def _csv(path: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows = [(reader.line_num, row) for row in reader]
            return list(reader.fieldnames or []), rows
    except FileNotFoundError:
        raise UserError(
            f"{path}: no such file; correct evaluate.labels in the dataset file"
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a readable CSV file ({type(error).__name__})") from None
