"""A run as one file to be archived, and back: tables and figures can be made again from it.

The archive holds the files of SHA256SUMS, so no raw source, neither images of a source nor report
files; but its tables hold report text and are to be kept as the source is. The same results give
the same bytes.
"""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

from cxrqba.errors import UserError
from cxrqba.provenance.checksums import SUMS, check_sums, read_sums
from cxrqba.tables import atomic_path

MODE = 0o644


def pack(results: Path, archive: Path) -> int:
    """Write ``results`` as a tar file, parquet being compressed already; returns how many files.

    :class:`UserError` if a file is not the recorded one.
    """
    _verify(results, "the run is not as it was recorded; run the workflow again")
    names = [*sorted(read_sums(results / SUMS)), SUMS]
    with atomic_path(archive) as temporary, tarfile.open(temporary, "w") as tar:
        for name in names:
            path = results / name
            member = tarfile.TarInfo(f"{results.name}/{name}")
            member.size, member.mode = path.stat().st_size, MODE
            with path.open("rb") as file:
                tar.addfile(member, file)
    return len(names)


def unpack(archive: Path, results: Path) -> int:
    """Write the files of an archive into ``results``, which must not exist; returns how many.

    They appear at once, after all were found to be what the archive's checksums say.
    """
    if results.exists():
        raise UserError(f"{results}: is there already; move it away to restore the archive")
    if not archive.is_file():
        raise UserError(f"{archive}: no such file; `make deposit` writes one")
    results.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{results.name}.", dir=results.parent) as folder:
        target = Path(folder) / results.name
        try:
            count = _extract(archive, target)
        except (tarfile.TarError, EOFError) as error:
            raise UserError(f"{archive}: damaged ({error}); copy it again") from None
        _verify(target, f"{archive} is damaged; copy it again")
        target.rename(results)
    return count


def _extract(archive: Path, target: Path) -> int:
    """Plain files below the dataset's folder, with the time of now: Snakemake compares times."""
    count = 0
    with tarfile.open(archive) as tar:
        for member in tar:
            place = PurePosixPath(member.name)
            content = tar.extractfile(member) if member.isreg() else None
            if content is None or place.is_absolute() or ".." in place.parts:
                raise UserError(f"{archive}: '{member.name}' is no file of a deposit")
            if place.parts[0] != target.name:
                raise UserError(
                    f"{archive}: holds the results of '{place.parts[0]}', not of '{target.name}'; "
                    f"give its dataset with --config"
                )
            path = target.joinpath(*place.parts[1:])
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                shutil.copyfileobj(content, file)
            count += 1
    return count


def _verify(results: Path, advice: str) -> None:
    fault = next(check_sums(results), None)
    if fault is not None:
        raise UserError(f"{results}/{fault}; {advice}")
