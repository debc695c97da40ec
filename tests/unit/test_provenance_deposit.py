"""A deposit holds a whole run in one file and gives back the same bytes, or nothing."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from cxrqba.errors import UserError
from cxrqba.provenance.checksums import SUMS, check_sums, sums
from cxrqba.provenance.deposit import pack, unpack


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results" / "own"
    for name, content in {
        "extract_sentences/0.sentences.parquet": b"\0sentences",
        "tables/table.csv": b"a,b\n1,2\n",
        "summary.txt": b"done\n",
        "release/qa/0.zip": b"made by name",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "provenance").mkdir()
    (folder / SUMS).write_text(sums(folder), encoding="utf-8")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_what_is_packed_comes_back_without_what_is_made_by_name(
    results: Path, tmp_path: Path
) -> None:
    archive = tmp_path / "own.tar"
    assert pack(results, archive) == 4
    target = tmp_path / "other" / "own"
    assert unpack(archive, target) == 4
    before = files(results)
    del before["release/qa/0.zip"]
    assert files(target) == before
    assert list(check_sums(target)) == []
    assert [p.name for p in target.parent.iterdir()] == ["own"]


def test_the_same_results_give_the_same_archive(results: Path, tmp_path: Path) -> None:
    pack(results, tmp_path / "1.tar")
    for path in results.rglob("*"):
        path.touch()
    pack(results, tmp_path / "2.tar")
    assert (tmp_path / "1.tar").read_bytes() == (tmp_path / "2.tar").read_bytes()


def test_changed_results_are_not_packed(results: Path, tmp_path: Path) -> None:
    (results / "summary.txt").write_text("other\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"summary\.txt: its bytes are not"):
        pack(results, tmp_path / "own.tar")
    assert not (tmp_path / "own.tar").exists()


def test_a_damaged_archive_gives_nothing(results: Path, tmp_path: Path) -> None:
    archive = tmp_path / "own.tar"
    pack(results, archive)
    content = archive.read_bytes()
    target = tmp_path / "other" / "own"
    archive.write_bytes(content.replace(b"a,b\n1,2\n", b"a,b\n1,3\n"))
    with pytest.raises(UserError, match=r"table\.csv: its bytes are not"):
        unpack(archive, target)
    archive.write_bytes(content[:1200])
    with pytest.raises(UserError, match="damaged"):
        unpack(archive, target)
    assert list(target.parent.iterdir()) == []


def test_results_that_are_there_are_not_overwritten(results: Path, tmp_path: Path) -> None:
    pack(results, tmp_path / "own.tar")
    with pytest.raises(UserError, match="is there already"):
        unpack(tmp_path / "own.tar", results)
    with pytest.raises(UserError, match="no such file"):
        unpack(tmp_path / "none.tar", tmp_path / "x")


def test_an_archive_of_another_dataset_is_refused(results: Path, tmp_path: Path) -> None:
    pack(results, tmp_path / "own.tar")
    with pytest.raises(UserError, match="results of 'own', not of 'mine'"):
        unpack(tmp_path / "own.tar", tmp_path / "mine")


@pytest.mark.parametrize("name", ["own/../../evil", "/evil"])
def test_an_archive_never_writes_elsewhere(tmp_path: Path, name: str) -> None:
    archive = tmp_path / "own.tar"
    with tarfile.open(archive, "w") as tar:
        member = tarfile.TarInfo(name)
        member.size = 1
        tar.addfile(member, io.BytesIO(b"x"))
    with pytest.raises(UserError, match="is no file of a deposit"):
        unpack(archive, tmp_path / "deep" / "own")
    assert not (tmp_path / "evil").exists()
