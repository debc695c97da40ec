"""The loop of a site: the worklist names a gap, one row fills it, the difference shows it."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import polars as pl
import pytest
from labels_fixtures import REFERENCE, Read, read

from cxrqba import cli
from cxrqba.label_changes import changes
from cxrqba.provenance.worklist import Shard, Worklist
from cxrqba.provenance.worklist_page import page
from cxrqba.reference.tables import load_reference
from cxrqba.schema import LABELS, MAPPINGS, WORKLIST
from cxrqba.tables import frame, write_table

REPORTS = {
    "s1": "FINDINGS: The lungs are clear. There is a small right quillosis.",
    "s2": "FINDINGS: Left quillosis is present. No pneumothorax.\n\nIMPRESSION: Left quillosis.",
    "s3": "ZZ ROOM <b>:\n4\n\nFINDINGS: Cardiomegaly with a fringed border. The XXXX are fine.",
    "s4": "FINDINGS: No pleural effusion or pneumothorax. Grumbling since XXXX.",
}
GRUMBLING = "Grumbling since XXXX."
TOKENS = ["XXXX"]


def worklist_of(found: Read, mappings: pl.DataFrame | None = None, top: int = 10) -> pl.DataFrame:
    worklist = Worklist(
        load_reference(REFERENCE),
        found.mappings if mappings is None else mappings,
        TOKENS,
        0.05,
        0.5,
    )
    worklist.add(Shard(found.studies, found.sentences, found.observations, found.ledgers))
    return worklist.table(top)


@pytest.fixture(scope="module")
def found() -> Read:
    """The reports as the project's reference definitions read them."""
    return read(REPORTS)


@pytest.fixture(scope="module")
def worklist(found: Read) -> pl.DataFrame:
    """Their worklist."""
    return worklist_of(found)


def entry(worklist: pl.DataFrame, kind: str, text: str) -> dict[str, object]:
    rows = worklist.filter(pl.col("kind") == kind, pl.col("text") == text)
    assert rows.height == 1, worklist.select("kind", "text").rows()
    return rows.row(0, named=True)


def test_an_unknown_term_is_counted_by_study_with_its_place(worklist: pl.DataFrame) -> None:
    assert worklist.schema == WORKLIST
    row = entry(worklist, "unknown words", "quillosis")
    assert (row["studies"], row["example_study"]) == (2, "s1")
    assert REPORTS["s1"][row["start"] : row["end"]] == "quillosis"
    assert "findings.csv" in str(row["edit"])
    assert worklist.filter(pl.col("kind") == "unknown words")["text"][0] == "quillosis"


def test_sentences_that_yield_nothing_are_listed_and_removed_words_are_no_gap(
    worklist: pl.DataFrame,
) -> None:
    row = entry(worklist, "uncovered sentence", "There is a small right quillosis.")
    assert (row["studies"], row["sent_id"]) == (1, "S02")
    kinds = worklist.filter(pl.col("kind") == "uncovered sentence")
    removed = kinds["edit"].str.contains("removed").to_list()
    assert removed == [False] * (kinds.height - 1) + [True]
    assert kinds["text"][-1] == "The XXXX are fine."
    assert "removed" not in str(entry(worklist, "uncovered sentence", GRUMBLING)["edit"])
    assert not worklist.filter(pl.col("kind") == "unknown words")["text"].str.contains("XXXX").any()


def test_words_of_a_sentence_that_yielded_something_are_listed_too(worklist: pl.DataFrame) -> None:
    assert entry(worklist, "unknown words", "fringed")["example_study"] == "s3"


def test_the_worklist_lists_what_the_extraction_left_unread() -> None:
    reports = {
        "s1": "FINDINGS: No pneumothorax, but the right is glimmish. Wubbled heart.",
        "s2": "FINDINGS: There is no pleural effusion and the lungs are clear.",
    }
    found = read(reports)
    unread = found.ledgers.filter(
        pl.col("reason").is_in(["partly_covered", "uncovered_sentence"])
    ).select("study_id", "item_id")
    listed = worklist_of(found).filter(pl.col("kind").is_in(["unknown words", "unread words"]))
    assert {"glimmish", "wubbled"} <= {t.lower() for t in listed["text"]}
    assert set(listed.select("example_study", "sent_id").rows()) <= set(unread.rows())


def test_known_words_are_no_gap(worklist: pl.DataFrame) -> None:
    texts = " ".join(worklist["text"].str.to_lowercase())
    assert "pneumothorax" not in texts
    assert "lungs" not in texts


def test_weak_decisions_are_listed_by_what_they_were_mapped_to(found: Read) -> None:
    used = (
        found.observations["entities"]
        .explode(empty_as_null=True)
        .drop_nulls()
        .unique()
        .sort()
        .to_list()
    )
    nowhere, near = used[:2]
    decided = [
        {"kind": "entity", "text": nowhere, "score": 0.3, "runner_up": "mass", "method": "lexical"},
        {"kind": "entity", "text": near, "reference": "mass", "score": 0.52, "method": "lexical"},
    ]
    rows = [{"count": 1, "runner_up_score": 0.3, **d} for d in decided]
    worklist = worklist_of(found, frame(rows, MAPPINGS))
    assert entry(worklist, "unmapped", nowhere)["runner_up"] == "mass"
    assert entry(worklist, "low margin", near)["reference"] == "mass"
    assert "nearest mass" in page(worklist, "x")


def test_the_page_escapes_what_reports_say(worklist: pl.DataFrame) -> None:
    text = page(worklist.with_columns(text=pl.lit("<script>x</script>")), "A & B")
    assert "<script>" not in text
    assert "A &amp; B" in text
    assert "Nothing:" in page(worklist.clear(), "x")


def test_only_the_top_entries_of_each_kind_are_kept(found: Read) -> None:
    assert worklist_of(found, top=1).group_by("kind").len()["len"].max() == 1


def with_synonym(folder: Path, name: str, synonym: str) -> Path:
    """A copy of the reference definitions in which one row has one synonym more."""
    target = shutil.copytree(REFERENCE, folder / "reference")
    path = target / "findings.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if row["name"] == name:
            row["synonyms"] += f"|{synonym}"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return target


def test_one_row_fills_the_gap_and_the_difference_is_exactly_that(
    found: Read, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    after = read(REPORTS, with_synonym(tmp_path, "pleural effusion", "quillosis"))
    gained = changes(found.labels, after.labels).filter(pl.col("class") != "No Finding")
    assert gained.select("study_id", "class", "change", "new", "new_certainty").rows() == [
        ("s1", "Pleural Effusion", "gained", "positive", "certain"),
        ("s2", "Pleural Effusion", "gained", "positive", "certain"),
    ]
    for name, labels in (("old", found.labels), ("new", after.labels)):
        write_table(labels, tmp_path / name / "labels.parquet", LABELS)
    differences = tmp_path / "differences.csv"
    cli.main(
        ["labels-diff", str(tmp_path / "old"), str(tmp_path / "new"), "--csv", str(differences)]
    )
    told = capsys.readouterr().out
    assert "s2  Pleural Effusion: not mentioned -> positive (certain)" in told
    assert "gained" in told
    assert pl.read_csv(differences).height == changes(found.labels, after.labels).height


def test_a_missing_copy_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["labels-diff", str(tmp_path), str(tmp_path)])
    assert "labels.parquet: no such file" in capsys.readouterr().err
