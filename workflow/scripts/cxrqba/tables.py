"""Reading and writing the pipeline's tables: parquet, zstd, explicit schema, atomic rename."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.errors import UserError

ROW_GROUP_SIZE = 50_000
NESTED_GROUP_SIZE = 5_000
"""Rows of a group of a table too large to hold at once: a whole group is held while it is written,
and a graph has some 15 kB."""


def frame(rows: Iterable[Mapping[str, Any]], schema: pl.Schema) -> pl.DataFrame:
    """Build a table from row mappings; a missing key is null, an unknown key is an error."""
    rows = list(rows)
    for row in rows:
        unknown = row.keys() - schema.keys()
        if unknown:
            raise KeyError(f"columns not in the schema: {sorted(unknown)}")
    return pl.DataFrame(rows, schema=schema, orient="row")


def write_table(table: pl.DataFrame, path: str | Path, schema: pl.Schema) -> None:
    """Write ``table`` with exactly the columns of ``schema``; the file appears by atomic rename."""
    table = table.select(list(schema)).cast(dict(schema))  # type: ignore[arg-type]
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        table.write_parquet(
            temporary, compression="zstd", row_group_size=ROW_GROUP_SIZE, statistics=True
        )


def read_table(path: str | Path, schema: pl.Schema) -> pl.DataFrame:
    """Read one table and check its columns against ``schema``."""
    try:
        table = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError):
        raise UserError(f"{path}: damaged; delete it and run again") from None
    _check(table.schema, path, schema)
    return table


def _check(found: Mapping[str, pl.DataType], path: str | Path, schema: pl.Schema) -> None:
    if found != schema:
        missing = [c for c in schema if c not in found]
        raise UserError(
            f"{path}: not a table of this version (missing or changed columns: "
            f"{missing or [c for c in schema if found.get(c) != schema[c]]}); "
            "delete it and run again"
        )


def scan_table(path: str | Path, schema: pl.Schema) -> pl.LazyFrame:
    """As :func:`read_table`, but rows are read only when and as far as they are asked for."""
    try:
        found = pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, OSError):
        raise UserError(f"{path}: damaged; delete it and run again") from None
    _check(found, path, schema)
    return pl.scan_parquet(path)


def read_tables(paths: Sequence[str | Path], schema: pl.Schema) -> pl.DataFrame:
    """Read and concatenate the shards of one table."""
    parts = [read_table(path, schema) for path in paths]
    return pl.concat(parts) if parts else pl.DataFrame(schema=schema)


class TableWriter:
    """``with TableWriter(path, schema) as out: out.add(part)``: a table too large to hold at once.

    Parts lie in a hidden folder beside ``path`` until the whole appears by atomic rename; a table
    of one part never leaves memory.
    """

    def __init__(self, path: str | Path, schema: pl.Schema):
        self.path, self.schema = Path(path), schema
        self.rows = 0
        self._last: pl.DataFrame | None = None
        self._parts: list[Path] = []

    def __enter__(self) -> TableWriter:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._folder = tempfile.TemporaryDirectory(
            prefix=f".{self.path.name}.", dir=self.path.parent
        )
        return self

    def add(self, part: pl.DataFrame) -> None:
        """Append rows; ``part`` has the columns of the schema."""
        self.rows += part.height
        if self._last is not None:
            self._write(self._last)
        self._last = part

    def _write(self, part: pl.DataFrame) -> None:
        path = Path(self._folder.name) / f"{len(self._parts):06d}.parquet"
        columns = part.select(list(self.schema)).cast(dict(self.schema))  # type: ignore[arg-type]
        columns.write_parquet(path, compression="lz4", statistics=False)
        self._parts.append(path)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is not None:
                return
            last = pl.DataFrame(schema=self.schema) if self._last is None else self._last
            if not self._parts:
                write_table(last, self.path, self.schema)
                return
            self._write(last)
            with atomic_path(self.path) as temporary:
                pl.scan_parquet(self._parts).sink_parquet(
                    temporary,
                    compression="zstd",
                    row_group_size=NESTED_GROUP_SIZE,
                    statistics=True,
                )
        finally:
            self._folder.cleanup()


def write_text(text: str, path: str | Path) -> None:
    """Write a UTF-8 text file by atomic rename."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


class atomic_path:  # noqa: N801 - reads as a function in ``with``
    """``with atomic_path(final) as temporary:`` write to ``temporary``; renamed on success."""

    def __init__(self, path: str | Path):
        self.path = Path(path)

    def __enter__(self) -> Path:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            prefix=f".{self.path.name}.", suffix=self.path.suffix, dir=self.path.parent
        )
        os.close(handle)
        self.temporary = Path(name)
        return self.temporary

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            umask = os.umask(0)
            os.umask(umask)
            self.temporary.chmod(0o666 & ~umask)  # mkstemp makes files only the owner can read
            self.temporary.replace(self.path)
        else:
            self.temporary.unlink(missing_ok=True)
