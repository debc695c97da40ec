"""Tables and scripts' common ground: schemas are kept, files appear whole, errors are one line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from cxrqba import step
from cxrqba.errors import UserError
from cxrqba.ledger import Ledger
from cxrqba.schema import LEDGER, OBSERVATIONS, SENTENCES
from cxrqba.tables import (
    TableWriter,
    atomic_path,
    frame,
    read_table,
    read_tables,
    scan_table,
    write_table,
)


def test_empty_tables_keep_their_types_and_concatenate(tmp_path: Path) -> None:
    one = frame([{"study_id": "s1", "obs_id": "O01", "regions": []}], OBSERVATIONS)
    write_table(one, tmp_path / "a.parquet", OBSERVATIONS)
    write_table(frame([], OBSERVATIONS), tmp_path / "b.parquet", OBSERVATIONS)
    both = read_tables([tmp_path / "a.parquet", tmp_path / "b.parquet"], OBSERVATIONS)
    assert both.schema == OBSERVATIONS
    assert both["study_id"].to_list() == ["s1"]


def test_a_table_written_in_parts_is_the_table_written_at_once(tmp_path: Path) -> None:
    rows = [{"study_id": f"s{i}", "obs_id": "O01", "regions": []} for i in range(5)]
    whole = frame(rows, OBSERVATIONS)
    for name, cuts in (("none", []), ("one", [(0, 5)]), ("three", [(0, 2), (2, 0), (2, 3)])):
        for again in ("", "_again"):
            with TableWriter(tmp_path / f"{name}{again}", OBSERVATIONS) as out:
                for start, length in cuts:
                    out.add(whole.slice(start, length))
        assert out.rows == (whole.height if cuts else 0)
        assert read_table(tmp_path / name, OBSERVATIONS).equals(whole.head(out.rows))
        assert (tmp_path / name).read_bytes() == (tmp_path / f"{name}_again").read_bytes()
    assert len(list(tmp_path.iterdir())) == 6  # no part is left


def test_a_failed_table_leaves_no_part_behind(tmp_path: Path) -> None:
    part = frame([{"study_id": "s1"}], LEDGER)
    with pytest.raises(ZeroDivisionError), TableWriter(tmp_path / "x", LEDGER) as out:  # noqa: PT012
        out.add(part)
        out.add(part)
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_a_scan_reads_nothing_but_checks_the_columns(tmp_path: Path) -> None:
    write_table(frame([], LEDGER), tmp_path / "a.parquet", LEDGER)
    assert scan_table(tmp_path / "a.parquet", LEDGER).collect().schema == LEDGER
    with pytest.raises(UserError, match=r"a\.parquet.*sent_id"):
        scan_table(tmp_path / "a.parquet", SENTENCES)
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    with pytest.raises(UserError, match=r"b\.parquet: damaged"):
        scan_table(tmp_path / "b.parquet", LEDGER)


def test_a_table_of_another_version_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"study_id": ["s1"]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(UserError, match=r"a\.parquet.*sent_id"):
        read_table(tmp_path / "a.parquet", SENTENCES)


def test_an_unknown_column_is_a_fault_of_ours() -> None:
    with pytest.raises(KeyError, match="nonsense"):
        frame([{"nonsense": 1}], LEDGER)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old", encoding="utf-8")

    def fail() -> None:
        with atomic_path(path) as temporary:
            temporary.write_text("half", encoding="utf-8")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.txt"]


def test_same_rows_give_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        ledger = Ledger("prepare_studies")
        ledger.study("s2", "no_report", "x")
        ledger.study("s1", "no_report", "x")
        write_table(ledger.table(), tmp_path / f"{name}.parquet", LEDGER)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert read_table(tmp_path / "a.parquet", LEDGER)["study_id"].to_list() == ["s1", "s2"]


def test_a_user_error_is_one_line_and_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    def main() -> None:
        step.arguments("x", argv=[])
        raise UserError("reports.csv: no column 'report'")

    with pytest.raises(SystemExit) as status:
        step.run(main)
    assert status.value.code == 1
    assert capsys.readouterr().err == "error: reports.csv: no column 'report'\n"


def test_a_slow_loop_reports_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    step.arguments("x", argv=[])
    monkeypatch.setattr(step, "PROGRESS_SECONDS", 0.0)
    assert list(step.progress(iter("ab"), 2, "segment_anatomy 0: images")) == ["a", "b"]
    assert "segment_anatomy 0: images: 1/2" in capsys.readouterr().err


def test_settings_survive_braces_and_quotes() -> None:
    raw = {"pattern": "images/{image_id}.png", "odd": 'a "{x}" \\ }', "nested": {"n": 1}}
    text = step.settings(raw)
    assert json.loads(text) == raw
    assert not re.search(r"\{\w+\}", text)


def test_an_unexpected_fault_names_its_place_and_never_quotes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def main() -> None:
        step.arguments("x", argv=[])
        raise ValueError("large effusion of Mrs. Smith")

    with pytest.raises(SystemExit) as status:
        step.run(main)
    told = capsys.readouterr().err
    assert status.value.code == 1
    assert "unexpected ValueError" in told
    assert "test_tables.py:" in told
    assert "Smith" not in told


def test_a_damaged_table_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 torn")
    with pytest.raises(UserError, match=r"a\.parquet: damaged; delete it"):
        read_table(tmp_path / "a.parquet", SENTENCES)
