"""The gold phrases: valid, split by hash, and mapped well enough at the paper's threshold."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl
import pytest
from mapping_fixtures import ROOT, lexical, reference

from cxrqba.errors import UserError
from cxrqba.mapping.sweep import THRESHOLDS, Phrase, as_markdown, read_gold, sweep

GOLD = ROOT / "resources/mapping_gold/mapping.csv"


def scores(phrases: list[Phrase]) -> pl.DataFrame:
    return sweep(lexical(), phrases).filter(pl.col("kind") == "all")


def test_every_reference_exists_and_the_parts_are_drawn_by_hash() -> None:
    phrases = read_gold(GOLD, reference())
    assert len(phrases) == len({(p.kind, p.text) for p in phrases}) == 978
    for phrase in phrases:
        drawn = hashlib.sha256(f"{phrase.kind}\t{phrase.text}".encode()).digest()[0] % 2
        assert phrase.part == ("dev", "sealed")[drawn], phrase.text


def test_lexical_mapping_of_the_dev_phrases() -> None:
    found = scores([p for p in read_gold(GOLD, reference()) if p.part == "dev"])
    at_half = found.filter(pl.col("threshold") == 0.5).row(0, named=True)
    assert at_half["precision"] >= 0.94
    assert at_half["recall"] >= 0.94
    assert found["unresolved"].is_sorted()  # a higher threshold resolves no more


def test_a_sweep_counts_right_wrong_and_rightly_unresolved() -> None:
    phrases = [
        Phrase("entity", "pleural effusions", frozenset(["pleural effusion"]), "dev"),
        Phrase("entity", "cardiomegaly", frozenset(["pneumonia"]), "dev"),
        Phrase("entity", "blah", frozenset(), "dev"),
        Phrase("region", "left", frozenset(), "dev"),
    ]
    found = scores(phrases).row(0, named=True)
    assert (found["precision"], found["recall"], found["accuracy"]) == (0.5, 0.5, 0.75)
    assert found["unresolved"] == 0.5
    table = as_markdown(sweep(lexical(), phrases), "lexical", "dev")
    assert table.count("\n") == len(THRESHOLDS) + 4


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("entity,x,no such tag,dev", "line 2: no finding named 'no such tag'"),
        ("entity,x,,test", "line 2: unknown kind or part 'entity', 'test'"),
        ("finding,x,,dev", "line 2: unknown kind or part 'finding', 'dev'"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "gold.csv"
    path.write_text(f"kind,text,reference,part\n{row}\n", encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_gold(path, reference())
