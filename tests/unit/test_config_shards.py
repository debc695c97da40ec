"""Names of shards as people write them, and the source files that are watched."""

from __future__ import annotations

from pathlib import Path

import pytest

from cxrqba.config import MAX_SOURCE_FILES, load_config
from cxrqba.errors import UserError


def dataset(folder: Path, text: str = "", count: int = 20) -> dict[str, str]:
    """What selects a dataset of text files with ``count`` shards."""
    path = folder / "own.yaml"
    path.write_text(
        f"name: own\ntitle: T\nsource: {{kind: text, reports: {folder}}}\n"
        f"shards: {{by: hash, count: {count}}}\n{text}",
        encoding="utf-8",
    )
    return {"dataset": str(path)}


@pytest.mark.parametrize("given", [7, "7", "07", [7], ["07"]])
def test_a_leading_zero_may_be_left_out(tmp_path: Path, given: object) -> None:
    _, config = load_config({**dataset(tmp_path), "only": given}, tmp_path)  # type: ignore[dict-item]
    assert config.shard_names() == ["07"]


def test_a_number_with_a_leading_zero_is_not_octal(tmp_path: Path) -> None:
    _, config = load_config(dataset(tmp_path, "only: [010, 9]\n"), tmp_path)
    with pytest.raises(UserError, match="no shard '010'"):
        config.shard_names()
    _, config = load_config(dataset(tmp_path, "only: [010, 9]\n", count=101), tmp_path)
    assert config.shard_names() == ["010", "009"]


def test_files_in_sub_folders_are_watched_up_to_a_number(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.txt").touch()
    _, config = load_config(dataset(tmp_path), tmp_path)
    assert str(tmp_path / "a" / "1.txt") in config.source_files()
    for number in range(MAX_SOURCE_FILES + 5):
        (tmp_path / "a" / f"{number}.txt").touch()
    assert len(config.source_files()) == MAX_SOURCE_FILES
