"""The audit finds one changed byte anywhere, and wrong rows under right checksums."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from run_fixtures import make_project, record_run

from cxrqba.cli import main
from cxrqba.config import DatasetConfig, load_config
from cxrqba.errors import UserError
from cxrqba.provenance.audit import Report, audit, choose
from cxrqba.provenance.checksums import SUMS, check_sums, sums


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = make_project(tmp_path_factory.mktemp("audit"))
    record_run(results)
    return results


@pytest.fixture
def results(made: Path, tmp_path: Path) -> Path:
    """A copy of the run that a test may spoil; the source stays where it is."""
    project = tmp_path / "project"
    shutil.copytree(made.parents[1], project, symlinks=True)
    return project / "results" / "own"


def block(results: Path) -> DatasetConfig:
    return load_config({"dataset": "own"}, results.parents[1])[1]


def audited(results: Path, sample: int | None = None) -> Report:
    return audit(results, results.parents[1], block(results), sample)


def faults(results: Path, sample: int | None = None) -> str:
    return "\n".join(map(str, audited(results, sample).faults))


def resign(results: Path) -> None:
    """Write checksums anew, as somebody would who wants a change to go unseen."""
    (results / SUMS).write_text(sums(results), encoding="utf-8")


def test_a_sound_run_has_no_fault(made: Path) -> None:
    report = audited(made)
    assert report.faults == []
    assert report.notes == []
    assert (report.studies, report.known) == (4, 4)
    assert report.tables == 26
    assert "no fault: 4 of 4 studies derived again" in report.text()


FILES = [
    "prepare_studies/0.studies.parquet",
    "segment_anatomy/0.boxes.parquet",
    "extract_sentences/0.sentences.parquet",
    "extract_observations/0.observations.parquet",
    "extract_indication/0.indications.parquet",
    "map_entities/mappings.parquet",
    "build_graphs/0.graphs.parquet",
    "build_graphs/0.observations.parquet",
    "generate_qa/0.questions.parquet",
    "generate_qa/0.answers.parquet",
    "judge_qa/0.judgements.parquet",
    "rate_qa/0.rated.parquet",
    "tables/table_accounting.csv",
    "summary.txt",
    "provenance/run.json",
    "provenance/ro-crate-metadata.json",
]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("place", [0.3, 0.95])
def test_one_changed_byte_is_found(results: Path, name: str, place: float) -> None:
    path = results / name
    content = bytearray(path.read_bytes())
    content[int(len(content) * place)] ^= 1
    path.write_bytes(content)
    assert [(f.file, f.what) for f in check_sums(results)] == [
        (name, f"its bytes are not those of {SUMS}")
    ]


def test_a_damaged_table_is_a_fault_of_the_audit_and_no_stop(results: Path) -> None:
    path = results / "build_graphs" / "0.observations.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(content)
    assert f"build_graphs/0.observations.parquet: its bytes are not those of {SUMS}" in (
        faults(results, 1)
    )


def test_one_changed_byte_of_the_checksums_is_found(results: Path) -> None:
    path = results / SUMS
    text = path.read_text(encoding="utf-8")
    path.write_text(("1" if text[0] == "0" else "0") + text[1:], encoding="utf-8")
    assert [f.what for f in check_sums(results)] == [f"its bytes are not those of {SUMS}"]


def test_a_changed_report_is_found_at_the_source(results: Path) -> None:
    source = Path(block(results).source.reports)  # type: ignore[union-attr]
    text = source.read_text(encoding="utf-8")
    try:
        source.write_text(text.replace("small left", "small right"), encoding="utf-8")
        found = faults(results)
    finally:
        source.write_text(text, encoding="utf-8")
    what = "1 studies are not what the inputs give: s70000001 (report of s70000001)"
    assert f"prepare_studies/0.studies.parquet: {what}" in found
    assert f"{source}: this input is not the one the run read" in found


def test_gone_and_new_files_are_found(results: Path) -> None:
    (results / "rate_qa" / "0.rated.parquet").rename(results / "rate_qa" / "1.rated.parquet")
    found = "\n".join(map(str, check_sums(results)))
    assert "rate_qa/0.rated.parquet: is gone" in found
    assert "rate_qa/1.rated.parquet: is not in" in found


def edit(results: Path, name: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    path = results / name
    table = pl.read_parquet(path)
    changed = change(table)
    assert not changed.equals(table), "the test changes nothing"
    changed.write_parquet(path)


def swap(column: str, old: str, new: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    return lambda t: t.with_columns(pl.col(column).replace(old, new))


WRONG = [
    ("extract_sentences/0.sentences.parquet", swap("section_type", "FINDINGS", "IMPRESSION")),
    ("extract_observations/0.observations.parquet", swap("probability", "negative", "positive")),
    ("extract_indication/0.indications.parquet", lambda t: t.with_columns(evaluation=pl.lit("x"))),
    ("map_entities/mappings.parquet", swap("reference", "pleural effusion", "pneumothorax")),
    ("build_graphs/0.observations.parquet", swap("laterality", "left", "right")),
    ("build_graphs/0.graphs.parquet", lambda t: t.with_columns(is_complete=~pl.col("is_complete"))),
    ("graph_statistics/statistics.parquet", lambda t: t.with_columns(pl.col("positive") + 1)),
    ("generate_qa/0.questions.parquet", lambda t: t.with_columns(question=pl.lit("Is it so?"))),
    ("generate_qa/0.answers.parquet", swap("positiveness", "neg", "pos")),
    ("judge_qa/0.judgements.parquet", swap("level", "ALIGNED_MENTIONED", "ALIGNED_INFERABLE")),
    ("rate_qa/0.rated.parquet", lambda t: t.with_columns(rating=pl.lit("A++"))),
    ("rate_qa/0.rated_answers.parquet", lambda t: t.with_columns(rating=pl.lit("A++"))),
]


@pytest.mark.parametrize(("name", "change"), WRONG, ids=[name for name, _ in WRONG])
def test_wrong_rows_under_right_checksums_are_found(
    results: Path, name: str, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> None:
    edit(results, name, change)
    resign(results)
    assert f"{name}: " in faults(results)


def test_a_sentence_that_is_not_in_its_report_is_found(results: Path) -> None:
    edit(
        results,
        "extract_sentences/0.sentences.parquet",
        lambda t: t.with_columns(start=pl.col("start") + 1, end=pl.col("end") + 1),
    )
    resign(results)
    found = faults(results, 1)
    assert "sentences are not the words at their place in the report" in found
    assert "evidence outside its sentence" in found


def test_ids_that_refer_to_nothing_are_found(results: Path) -> None:
    edit(results, "generate_qa/0.questions.parquet", lambda t: t.slice(1))
    edit(results, "build_graphs/0.observations.parquet", lambda t: t.slice(1))
    resign(results)
    found = faults(results, 1)
    assert "answer parts name obs_ids that are not there" in found
    assert "belong to no question" in found
    assert "judge no question" in found
    assert "rate nothing that is there" in found


def test_faults_quote_no_report(results: Path) -> None:
    edit(results, "generate_qa/0.answers.parquet", swap("positiveness", "neg", "pos"))
    resign(results)
    assert "effusion" not in faults(results)


def test_the_sample_is_the_same_every_time_and_of_the_size_asked_for(made: Path) -> None:
    assert choose(made, 2) == choose(made, 2)
    assert sum(map(len, choose(made, 2).values())) == 2
    assert sum(map(len, choose(made, 100).values())) == 4


def test_a_run_without_record_is_refused(results: Path) -> None:
    (results / SUMS).unlink()
    with pytest.raises(UserError, match="not made yet"):
        audited(results)


def test_the_command_fails_on_a_fault(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(results.parents[1])
    with pytest.raises(SystemExit) as ended:
        main(["audit", "--config", "own", "--sample", "1"])
    assert ended.value.code == 0
    with (results / "summary.txt").open("a") as file:
        file.write(" ")
    with pytest.raises(SystemExit) as ended:
        main(["audit", "--config", "own", "--sample", "1"])
    assert ended.value.code == 1
    assert "fault: summary.txt: its bytes" in capsys.readouterr().out
