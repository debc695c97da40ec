"""Collecting free values: each kind once with its count, over shards."""

from __future__ import annotations

from typing import Any

import polars as pl
from mapping_fixtures import lexical

from cxrqba.mapping.mentions import collect, merge
from cxrqba.schema import INDICATIONS, MAPPINGS, RAW_OBSERVATIONS
from cxrqba.tables import frame


def observation(raw_id: str, **values: Any) -> dict[str, Any]:
    row = {
        "study_id": "s1",
        "raw_id": raw_id,
        "name": "Small left pleural effusion",
        "summary_sentence": "Small left pleural effusion.",
        "entities": ["pleural effusion"],
        "regions": [],
        "modifiers": [],
        "changes": [],
    }
    return {**row, **values}


def tables() -> tuple[pl.DataFrame, pl.DataFrame]:
    base = {"region": "left base", "distances": []}
    rows = [
        observation(
            "R01",
            regions=[base],
            modifiers=[{"type": "severity", "value": "small"}],
            changes=["new", "new"],
        ),
        observation("R02", regions=[base, {"region": "  left   base ", "distances": []}]),
    ]
    asked = [{"study_id": "s1", "answer_name": "Effusion", "answer_sentence": "An effusion."}]
    return frame(rows, RAW_OBSERVATIONS), frame(asked, INDICATIONS)


def test_collect_counts_each_kind_and_pairs_and_merges_shards() -> None:
    table, asked = tables()
    found = {
        (r["kind"], r["text"]): r["count"] for r in collect(table, asked).iter_rows(named=True)
    }
    assert found["entity", "pleural effusion"] == 2
    assert found["entity_region", "pleural effusion | left base"] == 2
    assert found["region", "left base"] == 2
    assert found["modifier", "small"] == 1
    assert found["change", "new"] == 1
    assert found["name", "Small left pleural effusion"] == 2
    assert found["summary", "An effusion."] == 1
    halves = [collect(table[:1], asked), collect(table[1:], asked.clear())]
    assert merge(halves).equals(collect(table, asked))
    assert merge([]).schema == pl.Schema(pl.Schema(collect(table, asked).schema))


def test_decisions_keep_how_often_a_text_occurs_and_shards_do_not_matter() -> None:
    table, asked = tables()
    halves = [collect(table[:1], asked), collect(table[1:], asked.clear())]
    whole = lexical().map(collect(table, asked), 0.5)
    assert lexical().map(pl.concat(halves), 0.5).equals(whole)
    assert whole.schema == MAPPINGS
    assert whole.filter(pl.col("text") == "pleural effusion")["count"].to_list() == [2]
    assert whole.equals(whole.sort("kind", "text"))


def test_no_mentions_give_an_empty_table() -> None:
    assert lexical().map(merge([]), 0.5).equals(pl.DataFrame(schema=MAPPINGS))
