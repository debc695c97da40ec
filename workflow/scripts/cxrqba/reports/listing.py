"""What a reader lists: studies with a way to load their report, and images."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from cxrqba.errors import UserError, nearest

COLUMN_NAME = re.compile(r"[A-Za-z_][\w.-]{0,40}")
"""What a column may be called in a message: one word, so no sentence of a report."""

DOUBLED = "_duplicated_0"
"""What polars calls the second column of a name."""

FRONTAL = ("AP", "PA", "FRONTAL")
LATERAL = ("LATERAL", "LL", "LAT", "XTABLE LATERAL", "RL", "L", "R")


@dataclass(slots=True)
class StudyEntry:
    """A study the source names; ``load`` is None where it has no report."""

    study_id: str
    patient_id: str | None
    origin: str  # file and row, for messages
    report_path: str | None = None
    load: Callable[[], str] | None = None
    split: str | None = None
    study_date: str | None = None
    study_time: str | None = None
    procedure: str | None = None
    wrong_id: str | None = None  # what is wrong with its ids; such a study cannot be used


@dataclass(slots=True)
class ImageEntry:
    """An image the source names."""

    image_id: str
    study_id: str
    patient_id: str | None
    path: str
    origin: str
    view_position: str | None = None
    view: str = "unknown"
    height: int | None = None
    width: int | None = None
    split: str | None = None
    study_date: str | None = None
    study_time: str | None = None
    procedure: str | None = None
    wrong_id: str | None = None  # what is wrong with its ids; such an image cannot be used


def view_of(view_position: str | None) -> str:
    """frontal, lateral or unknown from a ViewPosition as sources write it."""
    if not view_position:
        return "unknown"
    word = view_position.strip().upper()
    if word.startswith(FRONTAL):
        return "frontal"
    if word in LATERAL or "LATERAL" in word:
        return "lateral"
    return "unknown"  # oblique, swimmer's ...: neither


def decode(data: bytes, encoding: str) -> str:
    """Text of ``data``; a byte order mark, as some editors write it, is no part of it."""
    return data.decode(encoding).removeprefix("\ufeff")


def require_folder(path: str | Path, key: str) -> Path:
    """``path`` if it is a folder; otherwise one line naming the configuration key."""
    path = Path(path)
    if not path.is_dir():
        raise UserError(
            f"{path}: no such folder ({key}); give it in the dataset file or on the command line, "
            f"e.g. --config {key.removeprefix('source.')}=PATH"
        )
    return path


def require_file(path: str | Path, what: str) -> Path:
    """``path`` if it is a file; otherwise one line saying what is missing."""
    path = Path(path)
    if not path.is_file():
        raise UserError(f"{path}: no such file ({what}); check the paths of the dataset file")
    return path


def read_csv(path: Path, columns: list[str], what: str) -> pl.DataFrame:
    """Read a CSV (or .gz) as text columns; the named ``columns`` must be there.

    All values come as text: identifiers keep leading zeros and nothing is guessed.
    """
    require_file(path, what)
    try:
        table = pl.read_csv(unzipped(path), infer_schema=False, encoding="utf8")
    except pl.exceptions.PolarsError as error:
        raise UserError(f"{path}: not a readable CSV ({table_fault(error)})") from None
    require_columns(table.columns, columns, str(path))
    return table


def table_fault(error: Exception) -> str:
    """What is wrong with a table, without the text of its cells that messages of polars quote."""
    message = str(error)
    if "more fields" in message:
        return "a row has more fields than the header; quote texts that hold the separator"
    if "empty data" in message or "empty CSV" in message:
        return "it is empty"
    if "could not parse" in message:
        return "a quoted text is not closed"
    return f"{type(error).__name__}; is it complete, and does its ending tell the format?"


def require_columns(present: list[str], wanted: list[str], where: str) -> None:
    """One line naming the first missing or doubled column, and the nearest present one."""
    for column in wanted:
        if column in present and column + DOUBLED in present:
            raise UserError(f"{where}: column '{column}' occurs twice; rename or drop one of them")
        if column not in present:
            names = [c for c in present if COLUMN_NAME.fullmatch(c)]
            if len(names) < len(present):  # never quote what may be a row of data
                names = []
            has = f"it has: {', '.join(names[:20])}" if names else "is its first row a header?"
            raise UserError(f"{where}: no column '{column}'{nearest(column, names)}; {has}")


def text_or_none(row: Mapping[str, object], column: str | None) -> str | None:
    """A cell as stripped text; blank and missing are None."""
    value = row.get(column) if column else None
    text = "" if value is None else str(value).strip()
    return text or None


def unzipped(path: Path) -> bytes:
    """Content of a file, or of what was packed in it if it ends in ``.gz``."""
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix.lower() == ".gz" else content
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or "damaged: copy it again"
        raise UserError(f"{path}: cannot be read ({reason})") from None
