"""Files whose bytes depend on their content alone: zips, compressed CSV, checksums."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.checksum import sha256
from cxrqba.tables import atomic_path

DATE = (1980, 1, 1, 0, 0, 0)
"""Time of every member of a zip: the earliest that the format knows."""

SUMS = "SHA256SUMS.txt"


class ZipWriter:
    """Adds JSON members in the order of the calls; members bear no time, owner or mode."""

    def __init__(self, archive: zipfile.ZipFile):
        self._archive = archive

    def add(self, name: str, value: dict[str, Any]) -> None:
        """One JSON document as a member."""
        member = zipfile.ZipInfo(name, DATE)
        member.compress_type = zipfile.ZIP_DEFLATED
        member.external_attr = 0o644 << 16
        member.create_system = 3
        self._archive.writestr(member, json.dumps(value, ensure_ascii=False, separators=(",", ":")))


@contextmanager
def zip_writer(path: Path) -> Iterator[ZipWriter]:
    """A zip that appears by atomic rename."""
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        yield ZipWriter(archive)


def sink(table: pl.LazyFrame, folder: Path, name: str) -> None:
    """``name``.parquet and ``name``.csv.gz; a CSV joins lists by ``|``. Rows stream through."""
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / f"{name}.parquet") as temporary:
        table.sink_parquet(temporary, compression="zstd", statistics=True)
    whole = pl.scan_parquet(folder / f"{name}.parquet")
    lists = [n for n, kind in whole.collect_schema().items() if isinstance(kind, pl.List)]
    flat = whole.with_columns(pl.col(lists).list.join("|")) if lists else whole
    with atomic_path(folder / f"{name}.csv.gz") as temporary:
        flat.sink_csv(temporary, compression="gzip")


def place(source: Path, target: Path) -> None:
    """A second name for a file, or a copy where the file system has none."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def sums(folder: Path) -> str:
    """Text of SHA256SUMS.txt over all files of a release."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != SUMS)
    return "".join(f"{sha256(p)}  {p.relative_to(folder).as_posix()}\n" for p in files)


def study_path(patient_id: str | None, study_id: str, kind: str) -> str:
    """``p10/p10000032/s50414267.qa.json``; studies without patient lie under ``p/``."""
    folder = f"{patient_id[:3]}/{patient_id}" if patient_id else "p"
    return f"{folder}/{study_id}.{kind}.json"
