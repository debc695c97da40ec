"""One's own data: a table of reports, a folder of text files, a list of films.

Identifiers keep the form the source gives them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.config import ImageSource, TableSource, TextSource
from cxrqba.errors import UserError, nearest
from cxrqba.reports.listing import (
    ImageEntry,
    StudyEntry,
    read_csv,
    require_columns,
    require_file,
    text_or_none,
    view_of,
)

TABLE_FIELDS = (
    "study_id",
    "report",
    "patient_id",
    "study_date",
    "study_time",
    "procedure",
    "split",
    "image",
    "view",
)
IMAGE_FIELDS = ("image_id", "path", "patient_id", "study_id", "view")
PICTURES = {".png", ".jpg", ".jpeg", ".dcm"}


def read_table_source(source: TableSource) -> tuple[Iterator[StudyEntry], Iterator[ImageEntry]]:
    """One study a row; ``image`` may name several paths joined by ``|``."""
    path = require_file(source.reports, "source.reports")
    _check_fields(source.columns, TABLE_FIELDS, ("study_id", "report"))
    table = _read_any(path, source.encoding)
    require_columns(table.columns, list(source.columns.values()), str(path))
    if table.is_empty():
        raise UserError(f"{path}: the table has no rows")
    rows = list(table.iter_rows(named=True))
    return _table_studies(rows, source, path), _table_images(rows, source, path)


def _table_studies(
    rows: list[dict[str, Any]], source: TableSource, path: Path
) -> Iterator[StudyEntry]:
    columns = source.columns
    for number, row in enumerate(rows, start=1):
        where = f"{path}, row {number}"
        report = row[columns["report"]]
        yield StudyEntry(
            study_id=text_or_none(row, columns["study_id"]) or "",
            patient_id=text_or_none(row, columns.get("patient_id")),
            origin=where,
            report_path=where,
            load=(lambda text: lambda: text)("" if report is None else str(report)),
            split=text_or_none(row, columns.get("split")),
            study_date=text_or_none(row, columns.get("study_date")),
            study_time=text_or_none(row, columns.get("study_time")),
            procedure=text_or_none(row, columns.get("procedure")),
        )


def _table_images(
    rows: list[dict[str, Any]], source: TableSource, path: Path
) -> Iterator[ImageEntry]:
    columns = source.columns
    if "image" not in columns:
        return
    root = Path(source.images or ".")
    for number, row in enumerate(rows, start=1):
        study_id = text_or_none(row, columns["study_id"])
        names = (text_or_none(row, columns["image"]) or "").split("|")
        view = text_or_none(row, columns.get("view"))
        for name in (n.strip() for n in names):
            if study_id and name:
                yield ImageEntry(
                    image_id=Path(name).stem,
                    study_id=study_id,
                    patient_id=text_or_none(row, columns.get("patient_id")),
                    path=str(root / name),
                    origin=f"{path}, row {number}",
                    view_position=view,
                    view=view_of(view),
                )


def _read_any(path: Path, encoding: str) -> pl.DataFrame:
    """A CSV, TSV, JSONL or parquet table; text values unless parquet or JSON say otherwise."""
    ending = path.suffix.lower()
    try:
        if ending == ".parquet":
            return pl.read_parquet(path)
        text = path.read_bytes().decode(encoding)
        if ending in (".jsonl", ".ndjson"):
            return pl.read_ndjson(text.encode(), infer_schema_length=None)
        if ending in (".csv", ".tsv", ".txt"):
            separator = "\t" if ending == ".tsv" else ","
            return pl.read_csv(text.encode(), infer_schema=False, separator=separator)
    except LookupError:
        raise UserError(f"source.encoding: '{encoding}' is no known encoding") from None
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}: byte {error.start} is not {encoding}; set source.encoding (e.g. latin-1)"
        ) from None
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UserError(f"{path}: not a readable table ({str(error).splitlines()[0]})") from None
    raise UserError(f"{path}: unknown kind of table; use .csv, .tsv, .jsonl or .parquet")


def read_text_source(source: TextSource) -> tuple[Iterator[StudyEntry], Iterator[ImageEntry]]:
    """One study a ``.txt`` file; images lie in a sub-folder or in files named after the study."""
    folder = Path(source.reports)
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder (source.reports); check the dataset file")
    files = sorted(folder.glob("*.txt"))
    if not files:
        raise UserError(f"{folder}: no .txt file in it; one report a file is expected")
    try:
        "".encode(source.encoding)
    except LookupError:
        raise UserError(f"source.encoding: '{source.encoding}' is no known encoding") from None
    return _text_studies(files, source.encoding), _text_images(files, source.images)


def _text_studies(files: list[Path], encoding: str) -> Iterator[StudyEntry]:
    for path in files:
        yield StudyEntry(
            study_id=path.stem,
            patient_id=None,
            origin=str(path),
            report_path=str(path),
            load=(lambda p: lambda: p.read_bytes().decode(encoding))(path),
        )


def _text_images(files: list[Path], images: str | None) -> Iterator[ImageEntry]:
    if images is None:
        return
    root = Path(images)
    if not root.is_dir():
        raise UserError(f"{root}: no such folder (source.images); check the dataset file")
    studies = {path.stem for path in files}
    for path in sorted(p for p in root.rglob("*") if p.suffix.lower() in PICTURES):
        study = path.parent.name if path.parent != root else _longest_prefix(path.stem, studies)
        if study is not None:
            yield ImageEntry(
                image_id=path.stem,
                study_id=study,
                patient_id=None,
                path=str(path),
                origin=str(path),
            )


def _longest_prefix(stem: str, studies: set[str]) -> str | None:
    """The study a file belongs to: its name is the id, or starts with it and ``_`` or ``-``."""
    if stem in studies:
        return stem
    cuts = [i for i, letter in enumerate(stem) if letter in "_-"]
    return next((stem[:i] for i in reversed(cuts) if stem[:i] in studies), None)


def read_image_source(source: ImageSource) -> tuple[Iterator[StudyEntry], Iterator[ImageEntry]]:
    """Films listed by an index; each is a study of its own unless the index groups them."""
    folder = Path(source.images)
    if not folder.is_dir():
        raise UserError(
            f"{folder}: no such folder (source.images); give it in the dataset file or on the "
            "command line, e.g. --config dataset=jsrt images=PATH"
        )
    _check_fields(source.columns, IMAGE_FIELDS, ("image_id",))
    index = folder / source.index
    table = read_csv(index, list(source.columns.values()), "source.index")
    if table.is_empty():
        raise UserError(f"{index}: the index has no rows")
    entries = [
        _film(row, number, source, folder, index)
        for number, row in enumerate(table.iter_rows(named=True), start=2)
    ]
    return _film_studies(entries), iter(entries)


def _film(
    row: Mapping[str, Any], number: int, source: ImageSource, folder: Path, index: Path
) -> ImageEntry:
    columns = source.columns
    image_id = text_or_none(row, columns["image_id"])
    if image_id is None:
        raise UserError(f"{index}, row {number}: no image id in column '{columns['image_id']}'")
    path = text_or_none(row, columns.get("path")) or source.pattern.format(image_id=image_id)
    view = text_or_none(row, columns.get("view"))
    return ImageEntry(
        image_id=image_id,
        study_id=text_or_none(row, columns.get("study_id")) or image_id,
        patient_id=text_or_none(row, columns.get("patient_id")),
        path=str(folder / path),
        origin=f"{index}, row {number}",
        view_position=view,
        view=view_of(view) if view else source.view,
    )


def _film_studies(images: Iterable[ImageEntry]) -> Iterator[StudyEntry]:
    seen: set[str] = set()
    for image in images:
        if image.study_id not in seen:
            seen.add(image.study_id)
            yield StudyEntry(image.study_id, image.patient_id, image.origin)


def _check_fields(
    columns: Mapping[str, str], known: tuple[str, ...], required: tuple[str, ...]
) -> None:
    for name in columns:
        if name not in known:
            raise UserError(
                f"source.columns: unknown name '{name}'{nearest(name, known)}; "
                f"known: {', '.join(known)}"
            )
    for name in required:
        if name not in columns:
            raise UserError(f"source.columns: name the column of '{name}'")
