"""Croissant 1.0 metadata of a release: its files with checksums, its tables with their columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from cxrqba import __version__
from cxrqba.checksum import sha256
from cxrqba.config import DatasetConfig
from cxrqba.release.metadata import KEYS

NAME = "croissant.json"
PAPER = "MIMIC-Ext-CXR-QBA: A Structured, Tagged, and Localized Visual Question Answering Dataset"

_KINDS = {
    pl.String: "sc:Text",
    pl.Boolean: "sc:Boolean",
    pl.Int32: "sc:Integer",
    pl.Int64: "sc:Integer",
    pl.UInt32: "sc:Integer",
    pl.Float64: "sc:Float",
}
_FORMATS = {".parquet": "application/x-parquet", ".zip": "application/zip"}


def metadata(dataset: DatasetConfig, folder: Path) -> str:
    """croissant.json for the files below ``folder``."""
    files = sorted(
        p for p in folder.rglob("*") if p.suffix in _FORMATS and "exports" not in p.parts
    )
    value = {
        "@context": _context(),
        "@type": "sc:Dataset",
        "name": dataset.name,
        "description": f"{dataset.title}: question-answer pairs about chest X-rays with tags, "
        "boxes and ratings",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": dataset.release.licence,
        "version": __version__,
        "creator": [{"@type": "sc:Person", "name": a} for a in dataset.release.authors],
        "citeAs": PAPER,
        "distribution": [_file(p, folder) for p in files],
        "recordSet": [_records(name, folder) for name in KEYS],
    }
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _file(path: Path, folder: Path) -> dict[str, Any]:
    place = path.relative_to(folder).as_posix()
    return {
        "@type": "cr:FileObject",
        "@id": place,
        "name": place,
        "contentUrl": place,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": _FORMATS[path.suffix],
        "sha256": sha256(path),
    }


def _records(name: str, folder: Path) -> dict[str, Any]:
    place = f"metadata/{name}_metadata.parquet"
    columns = pl.read_parquet_schema(folder / place)
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "key": [{"@id": f"{name}/{column}"} for column in KEYS[name]],
        "field": [_field(name, place, c, kind) for c, kind in columns.items()],
    }


def _field(record: str, file: str, column: str, kind: pl.DataType) -> dict[str, Any]:
    is_list = isinstance(kind, pl.List)
    inner = kind.inner if isinstance(kind, pl.List) else kind
    field = {
        "@type": "cr:Field",
        "@id": f"{record}/{column}",
        "name": f"{record}/{column}",
        "dataType": next(v for k, v in _KINDS.items() if inner == k),
        "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
    }
    return {**field, "repeated": True} if is_list else field


def _context() -> dict[str, Any]:
    """The context that Croissant 1.0 asks for."""
    terms = ("citeAs", "column", "extract", "field", "fileObject", "fileProperty", "fileSet",
             "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField",
             "path", "recordSet", "references", "regex", "repeated", "replace", "separator",
             "source", "subField", "transform")  # fmt: skip
    return {
        "@language": "en",
        "@vocab": "https://schema.org/",
        **{term: f"cr:{term}" for term in terms},
        "conformsTo": "dct:conformsTo",
        "cr": "http://mlcommons.org/croissant/",
        "data": {"@id": "cr:data", "@type": "@json"},
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "dct": "http://purl.org/dc/terms/",
        "examples": {"@id": "cr:examples", "@type": "@json"},
        "rai": "http://mlcommons.org/croissant/RAI/",
        "sc": "https://schema.org/",
    }
