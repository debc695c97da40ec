"""One's own data: a table of reports, a folder of text files, a list of films.

Identifiers keep the form the source gives them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba.config import ImageSource, TableSource, TextSource
from cxrqba.errors import UserError, nearest
from cxrqba.reports.listing import (
    ImageEntry,
    StudyEntry,
    decode,
    read_csv,
    require_columns,
    require_file,
    require_folder,
    table_fault,
    text_or_none,
    unzipped,
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
MAX_EXACT = 2**53
"""Whole numbers up to here are exact as floats."""

PICTURES = {".png", ".jpg", ".jpeg", ".dcm"}


def read_table_source(source: TableSource) -> tuple[Iterator[StudyEntry], Iterator[ImageEntry]]:
    """One study a row; ``image`` may name several paths joined by ``|``."""
    path = require_file(source.reports, "source.reports")
    _check_fields(source.columns, TABLE_FIELDS, ("study_id", "report"))
    if source.images is not None:
        require_folder(source.images, "source.images")
    table = _read_any(path, source.encoding)
    require_columns(table.columns, list(source.columns.values()), str(path))
    table = _as_text(table, source.columns, path)
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
        has_no_report = report is None and bool(_paths(row, columns.get("image")))
        yield StudyEntry(
            study_id=text_or_none(row, columns["study_id"]) or "",
            patient_id=text_or_none(row, columns.get("patient_id")),
            origin=where,
            report_path=where,
            load=None if has_no_report else _given("" if report is None else str(report)),
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
    ids = image_ids(name for row in rows for name in _paths(row, columns["image"]))
    for number, row in enumerate(rows, start=1):
        study_id = text_or_none(row, columns["study_id"])
        view = text_or_none(row, columns.get("view"))
        for name in _paths(row, columns["image"]):
            if study_id:
                yield ImageEntry(
                    image_id=ids[name],
                    study_id=study_id,
                    patient_id=text_or_none(row, columns.get("patient_id")),
                    path=str(root / name),
                    origin=f"{path}, row {number}",
                    view_position=view,
                    view=view_of(view),
                )


def _given(text: str) -> Callable[[], str]:
    return lambda: text


def _paths(row: Mapping[str, Any], column: str | None) -> list[str]:
    """Image paths of a row, joined there by ``|``."""
    names = (n.strip() for n in (text_or_none(row, column) or "").split("|"))
    return [n for n in names if n]


def image_ids(paths: Iterable[str]) -> dict[str, str]:
    """Image id of each path: the file's name, with its folders where files share a name.

    Folders are joined by ``_``, or by ``__`` where ``a/b_c`` and ``a_b/c`` would be one.
    """
    ids = {p: Path(p).stem for p in paths}
    for joiner in ("_", "__"):
        times = Counter(ids.values())
        ids = {p: i if times[i] == 1 else joiner.join(_parts(Path(p))) for p, i in ids.items()}
    return ids


def _parts(path: Path) -> list[str]:
    return [p for p in path.with_suffix("").parts if p not in ("/", ".", "..")]


def _as_text(table: pl.DataFrame, columns: Mapping[str, str], path: Path) -> pl.DataFrame:
    """The columns in use as text, if they are plain values; :class:`UserError` names another.

    Where ids have gaps, many programs store them as 12345.0: a whole number is written as one.
    """
    for name, column in columns.items():
        kind = table.schema[column]
        if (
            kind.is_nested()
            or kind in (pl.Binary, pl.Object)
            or (name == "report" and _no_text(kind))
        ):
            raise UserError(
                f"{path}: column '{column}' ({name}) holds {str(kind).split('(')[0]} values, "
                "no text; write them as text or name another column"
            )
        if kind.is_float():
            table = table.with_columns(_whole_numbers(table[column], name, path))
    return table


def _no_text(kind: pl.DataType) -> bool:
    return kind.is_numeric() or kind.is_temporal() or kind == pl.Boolean


def _whole_numbers(values: pl.Series, name: str, path: Path) -> pl.Series:
    values = values.fill_nan(None)
    wrong = values.is_not_null() & ((values != values.floor()) | (values.abs() > MAX_EXACT))
    if wrong.any():
        row = wrong.to_list().index(True) + 1
        raise UserError(
            f"{path}, row {row}: column '{values.name}' ({name}) holds a number with decimals or "
            "too many digits to be exact; write it as text"
        )
    return values.cast(pl.Int64)


def _read_any(path: Path, encoding: str) -> pl.DataFrame:
    """A CSV, TSV, JSONL or parquet table; text values unless parquet or JSON say otherwise.

    All but parquet may be packed (``.csv.gz``).
    """
    ending = Path(path.stem).suffix.lower() if path.suffix.lower() == ".gz" else path.suffix.lower()
    try:
        if ending == ".parquet":
            return pl.read_parquet(path)
        text = decode(unzipped(path), encoding)
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
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except pl.exceptions.PolarsError as error:
        raise UserError(f"{path}: not a readable table ({table_fault(error)})") from None
    raise UserError(
        f"{path}: unknown kind of table; use .csv, .tsv or .jsonl (also with .gz), or .parquet"
    )


def read_text_source(source: TextSource) -> tuple[Iterator[StudyEntry], Iterator[ImageEntry]]:
    """One study a ``.txt`` file, also in sub-folders.

    Images lie in a sub-folder or in files named after the study.
    """
    folder = require_folder(source.reports, "source.reports")
    files = sorted(
        f for f in folder.rglob("*") if f.suffix.lower() == ".txt" and not f.name.startswith("._")
    )
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
            study_id=_readable(path.stem),
            patient_id=None,
            origin=_readable(str(path)),
            report_path=_readable(str(path)),
            load=_from_file(path, encoding),
        )


def _readable(name: str) -> str:
    """A file name as text: bytes that are no UTF-8 become replacement characters."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _from_file(path: Path, encoding: str) -> Callable[[], str]:
    return lambda: decode(path.read_bytes(), encoding)


def _text_images(files: list[Path], images: str | None) -> Iterator[ImageEntry]:
    if images is None:
        return
    root = require_folder(images, "source.images")
    studies = {path.stem for path in files}
    paths = sorted(p for p in root.rglob("*") if p.suffix.lower() in PICTURES)
    ids = image_ids(str(p.relative_to(root)) for p in paths)
    for path in paths:
        top = path.relative_to(root).parts[0]
        yield ImageEntry(
            image_id=ids[str(path.relative_to(root))],
            study_id=_longest_prefix(path.stem, studies) if path.parent == root else top,
            patient_id=None,
            path=str(path),
            origin=str(path),
        )


def _longest_prefix(stem: str, studies: set[str]) -> str:
    """The study a file belongs to: its name is the id, or starts with it and ``_`` or ``-``.

    A file of no study is listed under its own name, so that the ledger names it.
    """
    cuts = [len(stem), *(i for i, letter in reversed(list(enumerate(stem))) if letter in "_-")]
    return next((stem[:i] for i in cuts if stem[:i] in studies), stem)


def read_image_source(source: ImageSource) -> tuple[Iterator[StudyEntry], Iterator[ImageEntry]]:
    """Films listed by an index; each is a study of its own unless the index groups them."""
    folder = require_folder(source.images, "source.images")
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
    wrong_id = None if image_id else f"no image id in column '{columns['image_id']}'"
    path = text_or_none(row, columns.get("path")) or _from_pattern(source.pattern, image_id)
    view = text_or_none(row, columns.get("view"))
    return ImageEntry(
        image_id=image_id or "",
        study_id=text_or_none(row, columns.get("study_id")) or image_id or "",
        patient_id=text_or_none(row, columns.get("patient_id")),
        path=str(folder / path),
        origin=f"{index}, row {number}",
        view_position=view,
        view=view_of(view) if view else source.view,
        wrong_id=wrong_id,
    )


def _from_pattern(pattern: str, image_id: str | None) -> str:
    try:
        return pattern.format(image_id=image_id)
    except (KeyError, IndexError, ValueError):
        raise UserError(
            f"source.pattern: '{pattern}' may hold {{image_id}} alone in braces"
        ) from None


def _film_studies(images: Iterable[ImageEntry]) -> Iterator[StudyEntry]:
    seen: set[str] = set()
    for image in images:
        if not image.study_id:
            yield StudyEntry("", None, image.origin)
        elif image.study_id not in seen:
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
