"""Column scans over sharded tables: figures and tables never load a whole file.

Tables are read in slices of one row group; memory stays flat whether a dataset has a thousand or
forty million questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from cxrqba.errors import UserError
from cxrqba.tables import ROW_GROUP_SIZE

KEY = ["study_id", "question_id"]


def scan(paths: Sequence[Path], columns: Sequence[str], schema: pl.Schema) -> pl.LazyFrame:
    """Lazy scan of ``columns`` over all shards; no shards give an empty frame of that schema."""
    for path in paths:
        _check(path, columns, schema)
    if not paths:
        return pl.LazyFrame(schema={c: schema[c] for c in columns})
    return pl.concat([pl.scan_parquet(path).select(columns) for path in sorted(paths)])


def slices(
    paths: Sequence[Path], columns: Sequence[str], schema: pl.Schema
) -> Iterator[pl.DataFrame]:
    """Yield ``columns`` of all shards, at most one row group at a time."""
    for path in sorted(paths):
        _check(path, columns, schema)
        table = pl.scan_parquet(path)
        rows = int(table.select(pl.len()).collect().item())
        for offset in range(0, rows, ROW_GROUP_SIZE):
            yield table.slice(offset, ROW_GROUP_SIZE).select(columns).collect()


def whole_questions(
    paths: Sequence[Path], columns: Sequence[str], schema: pl.Schema
) -> Iterator[pl.DataFrame]:
    """As :func:`slices` of answer parts, but all parts of a question are in one slice.

    ``columns`` must hold ``KEY``; parts of one question stand together in the tables.
    """
    held: pl.DataFrame | None = None
    for table in slices(paths, columns, schema):
        table = table if held is None else pl.concat([held, table])
        last = table.select(KEY).tail(1)
        held = table.join(last, on=KEY, how="semi", maintain_order="left")
        if held.height < table.height:
            yield table.head(table.height - held.height)
    if held is not None and held.height:
        yield held


def _check(path: Path, columns: Sequence[str], schema: pl.Schema) -> None:
    """Fail on a file that lacks a column or has it with another type."""
    try:
        found = pl.scan_parquet(path).collect_schema()
    except (FileNotFoundError, OSError, pl.exceptions.ComputeError) as error:
        raise UserError(f"{path}: cannot be read as parquet ({type(error).__name__})") from None
    wrong = [c for c in columns if found.get(c) != schema[c]]
    if wrong:
        raise UserError(
            f"{path}: not a table of this version (missing or changed columns: {wrong}); "
            "delete it and run again"
        )
