"""The judge's own words: checked when read, and nothing of the extraction behind them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cxrqba.errors import UserError
from cxrqba.judge.knowledge import Knowledge
from cxrqba.judge.text import Reader
from cxrqba.judge.vocabulary import load_vocabulary
from cxrqba.provenance.code import import_closure

ROOT = Path(__file__).parents[2]
VOCABULARY = ROOT / "resources" / "judge"
SCRIPTS = ROOT / "workflow" / "scripts"


def test_the_judge_shares_no_decision_with_what_it_judges() -> None:
    """Neither the extraction, the mapping, the graph, the templates nor the reference tables."""
    package = SCRIPTS / "cxrqba"
    used = {
        path.relative_to(package)
        for path in import_closure(SCRIPTS / "judge_qa.py")
        if path.is_relative_to(package)
    }
    assert Path("judge/rules.py") in used
    rooms = {path.parts[0] for path in used if len(path.parts) > 1}
    assert rooms <= {"judge", "llm", "reference"}
    assert {path for path in used if path.parts[0] == "reference"} <= {
        Path("reference/__init__.py"),
        Path("reference/cells.py"),  # reads CSV files, knows none of them
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(VOCABULARY, tmp_path / "judge")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("findings.csv", "\nconsolidation,airspace opacity", "\nconsolidation,airspace opacty",
         r"findings.csv, line \d+: no row named 'airspace opacty'"),
        ("findings.csv", "\ninfiltrate,", "\nconsolidation,", "'consolidation' occurs twice"),
        ("findings.csv", "\nlung opacity,,", "\nlung opacity,consolidation,", "is above itself"),
        ("regions.csv", "\nhemithorax,thorax", "\nhemithorax,torax", "no row named 'torax'"),
        ("groups.csv", "\nlung,abnormal", "\nlung,anormal", "kind 'anormal' is none of"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_by_file_and_line(
    folder: Path, file: str, old: str, new: str, message: str
) -> None:
    edit(folder / file, old, new)
    with pytest.raises(UserError, match=message):
        load_vocabulary(folder)


def test_every_phrase_is_read_as_something() -> None:
    vocabulary = load_vocabulary(VOCABULARY)
    reader = Reader(vocabulary)
    for finding in vocabulary.findings.values():
        for phrase in (finding.name, *finding.phrases):
            reading = reader.read(f"There is {phrase}.")
            assert reading.mentions or reading.normals or reading.groups, phrase


def test_relatives_hang_together() -> None:
    known = Knowledge(load_vocabulary(VOCABULARY))
    assert "consolidation" in known.descendants["lung opacity"]
    assert "lung opacity" in known.ancestors["pneumonia"]
    assert known.linked["pneumonia"] >= {"consolidation"}
    assert "pleural effusion" in known.linked["heart failure"]
    assert "lung base" in known.region_below["lung"]
    assert "fracture" in known.normal_means["rib"]
