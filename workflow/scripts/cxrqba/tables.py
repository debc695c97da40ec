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
    if table.schema != schema:
        missing = [c for c in schema if c not in table.columns]
        raise UserError(
            f"{path}: not a table of this version (missing or changed columns: "
            f"{missing or [c for c in schema if table.schema.get(c) != schema[c]]}); "
            "delete it and run again"
        )
    return table


def read_tables(paths: Sequence[str | Path], schema: pl.Schema) -> pl.DataFrame:
    """Read and concatenate the shards of one table."""
    parts = [read_table(path, schema) for path in paths]
    return pl.concat(parts) if parts else pl.DataFrame(schema=schema)


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
