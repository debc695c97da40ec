"""Open-i (Indiana University) reports: one XML a study, in a folder or a ``.tgz``.

The report text is assembled from the labelled XML fields as ``LABEL: text`` paragraphs; character
spans refer to that text. Patients are not named by this source.
"""

from __future__ import annotations

import tarfile
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

from cxrqba.config import OpeniSource
from cxrqba.errors import UserError
from cxrqba.reports.listing import ImageEntry, StudyEntry, require_folder
from cxrqba.schema import STR, STRINGS

MAX_PROLOG = 4_096
"""Bytes in which a document type would be declared."""

MESH: pl.Schema = pl.Schema({"study_id": STR, "major": STRINGS, "automatic": STRINGS})


def read(source: OpeniSource) -> tuple[Iterator[StudyEntry], Iterator[ImageEntry]]:
    """Studies of all XML files and, where a folder of images is given, their images."""
    if source.images is not None:
        require_folder(source.images, "source.images")
    documents = list(_documents(Path(source.reports)))
    return _studies(documents), _images(documents, source.images)


def read_mesh(path: str | Path) -> pl.DataFrame:
    """Manual (``major``) and automatic MeSH tags: study_id, list[str], list[str]."""
    rows = []
    for name, content in _documents(Path(path)):
        root = _parse(content)
        if root is not None:
            rows.append(
                {
                    "study_id": _study_id(root, name),
                    "major": _texts(root, "MeSH/major"),
                    "automatic": _texts(root, "MeSH/automatic"),
                }
            )
    return pl.DataFrame(rows, schema=MESH, orient="row").sort("study_id")


def report_text(root: ET.Element) -> str:
    """The report as text: each labelled field that is filled, as one paragraph."""
    parts = []
    for field in root.iter("AbstractText"):
        text = " ".join("".join(field.itertext()).split())
        if text:
            parts.append(f"{(field.get('Label') or 'REPORT').upper()}: {text}")
    return "\n\n".join(parts)


def _documents(path: Path) -> Iterator[tuple[str, bytes]]:
    """(path inside the source, content) of every XML file, sorted by path."""
    if path.is_dir():
        files = sorted(f for f in path.rglob("*.xml") if _is_document(f.name) and f.is_file())
        if not files:
            raise UserError(f"{path}: no .xml file in it; give Open-i's ecgen-radiology folder")
        yield from ((f.relative_to(path).as_posix(), f.read_bytes()) for f in files)
        return
    if not path.is_file():
        raise UserError(
            f"{path}: no such file or folder (source.reports); give Open-i's ecgen-radiology "
            "folder or .tgz, e.g. --config dataset=openi reports=PATH"
        )
    try:
        with tarfile.open(path) as archive:
            members = [
                m for m in archive.getmembers() if m.isfile() and _is_document(Path(m.name).name)
            ]
            found = []
            for member in sorted(members, key=lambda m: m.name):
                content = archive.extractfile(member)
                found.append((member.name, content.read() if content else b""))
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise UserError(
            f"{path}: not a readable tar archive ({type(error).__name__}); download it again"
        ) from None
    if not found:
        raise UserError(f"{path}: no .xml file in it; give Open-i's ecgen-radiology .tgz")
    yield from found


def _is_document(name: str) -> bool:
    """Whether a file is one of Open-i's; macOS leaves ``._1.xml`` beside ``1.xml`` in archives."""
    return name.endswith(".xml") and not name.startswith("._")


def _studies(documents: list[tuple[str, bytes]]) -> Iterator[StudyEntry]:
    for name, content in documents:
        root = _parse(content)
        study_id = Path(name).stem if root is None else _study_id(root, name)
        yield StudyEntry(
            study_id=study_id,
            patient_id=None,
            origin=name,
            report_path=name,
            load=_load(root),
        )


def _load(root: ET.Element | None) -> Callable[[], str]:
    def load() -> str:
        if root is None:
            raise OSError(0, "not well-formed XML; download it again")
        return report_text(root)

    return load


def _images(documents: list[tuple[str, bytes]], folder: str | None) -> Iterator[ImageEntry]:
    if folder is None:
        return
    for name, content in documents:
        root = _parse(content)
        if root is None:
            continue
        for picture in root.iter("parentImage"):
            image_id = (picture.get("id") or "").strip()
            yield ImageEntry(
                image_id=image_id,
                study_id=_study_id(root, name),
                patient_id=None,
                path=str(Path(folder) / f"{image_id}.png"),
                origin=name,
                wrong_id=None if image_id else "a parentImage without id",
            )


def _parse(content: bytes) -> ET.Element | None:
    """The document's root; None for what is no Open-i document.

    Open-i declares no document type. One that does could define entities that grow without bound.
    """
    if b"<!DOCTYPE" in content[:MAX_PROLOG]:
        return None
    try:
        return ET.fromstring(content)
    except (ET.ParseError, LookupError, ValueError):  # not XML, or in an unknown encoding
        return None


def _study_id(root: ET.Element, name: str) -> str:
    """The uId (``CXR123``); the file's name where it is missing."""
    element = root.find("uId")
    return (element.get("id") if element is not None else None) or Path(name).stem


def _texts(root: ET.Element, path: str) -> list[str]:
    return [e.text.strip() for e in root.iterfind(path) if e.text and e.text.strip()]
