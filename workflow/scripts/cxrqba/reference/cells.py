"""Reading the CSV and YAML files of ``resources/reference/`` and the links inside their cells.

A list inside a cell is separated by ``|``. Whatever is wrong ends in one :class:`UserError` that
names the file, the line and what is known instead.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from cxrqba.errors import UserError, nearest

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times faster where libyaml is there

Rows = list[tuple[int, dict[str, str]]]
"""(line number, column -> cell) of a CSV file."""


def read_rows(path: Path, columns: Sequence[str]) -> Rows:
    """The rows of a CSV file that has all ``columns`` and at least one row."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            header = list(reader.fieldnames or [])
            rows = [(reader.line_num, row) for row in reader]
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; it belongs to the reference definitions") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a readable CSV file ({type(error).__name__})") from None
    for column in columns:
        if column not in header:
            raise UserError(f"{path}: no column '{column}'{nearest(column, header)}")
    if not rows:
        raise UserError(f"{path}: no rows")
    for line, row in rows:
        if None in row or None in row.values():  # DictReader's mark of a surplus or missing cell
            raise UserError(
                f"{path}, line {line}: not the {len(header)} cells of the header; "
                'a cell that holds a comma stands in "double quotes"'
            )
    return rows


def read_yaml(path: Path) -> Any:
    """The content of a YAML file."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; it belongs to the reference definitions") from None
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"{path}: not valid YAML: {str(error).splitlines()[0]}") from None


def check_keys(content: object, keys: Collection[str], where: str) -> None:
    """Refuse a mapping with other keys than ``keys``: what nothing reads is lost in silence."""
    if not isinstance(content, Mapping):
        raise UserError(f"{where}: must hold the keys {', '.join(keys)}")
    for key in content:
        if key not in keys:
            raise UserError(f"{where}: unknown key '{key}'{nearest(str(key), keys)}")
    for key in keys:
        if key not in content:
            raise UserError(f"{where}: no key '{key}'")


def read_keyed(path: Path, keys: Collection[str]) -> dict[str, Any]:
    """The content of a YAML file that holds just ``keys``."""
    content = read_yaml(path)
    check_keys(content, keys, str(path))
    return dict(content)


def split(cell: str) -> tuple[str, ...]:
    """The parts of a list in a cell."""
    return tuple(part.strip() for part in cell.split("|") if part.strip())


def links(cell: str, names: Mapping[str, str], where: str) -> tuple[str, ...]:
    """The names that the ids in a cell stand for."""
    for part in split(cell):
        if part not in names:
            raise UserError(f"{where}: no row with id '{part}'{nearest(part, names)}")
    return tuple(names[part] for part in split(cell))


def link(cell: str, names: Mapping[str, str], where: str) -> str | None:
    """The name that one id stands for; None for an empty cell."""
    return links(cell, names, where)[0] if cell.strip() else None


def known(cell: str, names: Collection[str], where: str) -> tuple[str, ...]:
    """The names in a cell, all of which must be in ``names``."""
    for part in split(cell):
        if part not in names:
            raise UserError(f"{where}: no row named '{part}'{nearest(part, names)}")
    return split(cell)


def one_of(cell: str, choices: Collection[str], where: str, column: str) -> str:
    """The value of a cell that has a closed list of values."""
    if cell not in choices:
        raise UserError(
            f"{where}: {column} '{cell}' is none of {', '.join(choices)}{nearest(cell, choices)}"
        )
    return cell


def flag(cell: str, where: str, column: str) -> bool:
    """1 or 0."""
    return one_of(cell, ("0", "1"), where, column) == "1"
