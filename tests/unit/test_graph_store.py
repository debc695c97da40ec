"""Graphs as tables and JSON, statistics, and the accounting of a shard's studies."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest
from graph_fixtures import box, build, indication, mapper, raw, reference, sentence

from cxrqba.errors import UserError
from cxrqba.graph import run
from cxrqba.graph.run import ShardInput, build_shard
from cxrqba.graph.statistics import statistics, studies_of_split
from cxrqba.graph.store import from_tables, to_json, to_tables
from cxrqba.mapping.mentions import collect
from cxrqba.schema import (
    GRAPHS,
    IMAGE_STATUS,
    IMAGES,
    INDICATIONS,
    LEDGER,
    MENTIONS,
    OBSERVATIONS,
    PASS_STATUS,
    RAW_OBSERVATIONS,
    REGION_BOXES,
    REGIONS,
    SENTENCES,
    STUDIES,
)
from cxrqba.tables import frame, read_table, write_table

ROWS = [
    raw(laterality_text="left", modifiers=["small"], change_sentence="Worse.", changes=["worse"]),
    raw("R02", "qzxqzx", spans=[{"sent_id": "S01", "start": 0, "end": 4}]),
]
IMAGE = [{"image_id": "i1", "view": "frontal"}]


def test_round_trip_through_files_is_lossless(tmp_path) -> None:
    graphs = [
        build(ROWS, indication=indication(), images=IMAGE, boxes=[box("left pleural space")]),
        build([]),
        build([raw(name='日本 😀 "<b>\\', probability="negative")]),
    ]
    graphs[1].study_id, graphs[2].study_id = "s2", "s3"
    tables = to_tables(reversed(graphs))
    for table, schema in zip(tables, (GRAPHS, OBSERVATIONS, REGIONS), strict=True):
        write_table(table, tmp_path / "t.parquet", schema)
        assert read_table(tmp_path / "t.parquet", schema).equals(table)
    assert from_tables(*tables) == graphs
    assert from_tables(*to_tables([])) == []


def test_json_has_the_shape_of_the_release() -> None:
    graph = build(ROWS, indication=indication(), images=IMAGE, boxes=[box("left pleural space")])
    content = json.loads(json.dumps(to_json(graph)))
    assert content["sentences"]["S01"]["sent_id"] == "S01"
    one = content["observations"]["O01"]
    assert one["localization"]["i1"]["localization_quality"] == 2
    assert one["modifiers"] == {"severity": ["small"], "texture": [], "spread": [], "temporal": []}
    assert content["indication"]["answer_for_indication"]["obs_id"] == "OIND"
    assert isinstance(content["study_quality"]["issue_level"], int)
    assert content["regions"]["left lung"]["laterality"] == "left"


def test_statistics_count_a_study_once_and_leave_out_answers_and_defaults() -> None:
    graphs = [
        build([*ROWS[:1], raw("R02", "atelectasis"), raw("R03")], indication=indication()),
        build([raw(probability="negative"), raw("R02", "edema", probability="comparison_only")]),
    ]
    graphs[1].study_id = "s2"
    assert any(not o.from_report for o in graphs[1].observations.values())
    table = statistics([to_tables(graphs)[1]])
    counts = {(r["kind"], r["name"]): (r["positive"], r["negative"]) for r in table.to_dicts()}
    assert counts["finding", "pleural effusion"] == (1, 1)
    assert counts["finding", "atelectasis"] == (1, 0)
    assert counts["finding_pair", "atelectasis|pleural effusion"] == (1, 0)
    assert counts["region", "left pleural space"] == (1, 0)
    assert ("finding", "pneumothorax") not in counts
    assert not any("edema" in name for _, name in counts)
    tables = to_tables(graphs)[1]
    assert statistics([tables.filter(pl.col("study_id") == i) for i in ("s1", "s2")]).equals(table)
    assert statistics([]).schema == statistics([tables]).schema


def test_statistics_of_a_split_count_its_studies_alone() -> None:
    graphs = [build([raw("R01", "atelectasis")]), build([raw("R01", "edema")])]
    graphs[1].study_id = "s2"
    studies = frame(
        [{"study_id": "s1", "split": "train"}, {"study_id": "s2", "split": "test"}], STUDIES
    )
    among = studies_of_split([studies], "train")
    names = statistics([to_tables(graphs)[1]], among)["name"].to_list()
    assert "atelectasis" in names
    assert not any("edema" in name for name in names)
    assert studies_of_split([studies], "all") is None
    with pytest.raises(UserError, match="no study is of split 'tran'"):
        studies_of_split([studies], "tran")


def shard(rows, studies, statuses=(), ledgers=()) -> ShardInput:
    table = frame(rows, RAW_OBSERVATIONS)
    mentions = collect(table, pl.DataFrame(schema=INDICATIONS))
    sentences = [sentence(study_id=s["study_id"], start=0, end=5) for s in studies]
    return ShardInput(
        studies=frame(studies, STUDIES).lazy(),
        images=pl.LazyFrame(schema=IMAGES),
        boxes=pl.LazyFrame(schema=REGION_BOXES),
        image_status=pl.LazyFrame(schema=IMAGE_STATUS),
        sentences=frame(sentences, SENTENCES).lazy(),
        observations=table.lazy(),
        indications=pl.LazyFrame(schema=INDICATIONS),
        mentions=mentions.lazy(),
        mappings=mapper().map(mentions, 0.5).lazy(),
        statuses=frame(statuses, PASS_STATUS).lazy(),
        ledgers=frame(ledgers, LEDGER).lazy(),
    )


def test_every_study_has_a_graph_or_one_ledger_row() -> None:
    studies = [{"study_id": f"s{i}", "report": None if i == 3 else "Text."} for i in range(1, 7)]
    rows = [raw(study_id="s1"), raw(study_id="s4")]
    lost = {"stage": "extract_observations", "scope": "study", "study_id": "s2", "reason": "x"}
    failed = [
        {"study_id": "s2", "step": "extract_observations", "status": "failed"},
        {"study_id": "s5", "step": "extract_sentences", "status": "truncated"},
        {"study_id": "s6", "step": "extract_indication", "status": "failed"},
    ]
    graphs, _, _, ledger = build_shard(shard(rows, studies, failed, [lost]), reference())
    assert graphs["study_id"].to_list() == ["s1", "s4", "s6"]
    assert {r["study_id"]: r["reason"] for r in ledger.to_dicts()} == {
        "s3": "no_report",
        "s5": "failed_pass",
    }
    reasons = dict(graphs.select("study_id", "incomplete_reasons").iter_rows())
    assert "failed_pass: extract_indication" in reasons["s6"]


def test_output_does_not_depend_on_the_order_of_rows() -> None:
    studies = [{"study_id": "s1", "report": "Text."}, {"study_id": "s2", "report": "Text."}]
    rows = [
        raw(f"R{i:02d}", e, study_id=s)
        for s in ("s1", "s2")
        for i, e in enumerate(("pneumonia", "pleural effusion", "scoliosis"), start=1)
    ]
    ahead = build_shard(shard(rows, studies), reference())
    back = build_shard(shard(rows[::-1], studies[::-1]), reference())
    assert all(a.equals(b) for a, b in zip(ahead, back, strict=True))


def test_batches_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    studies = [{"study_id": f"s{i}", "report": "Text."} for i in range(1, 8)]
    rows = [raw(study_id=s["study_id"]) for s in studies]
    rows.append(raw("R02", "pneumothorax", study_id="s3"))
    whole = build_shard(shard(rows, studies), reference())
    monkeypatch.setattr(run, "STUDIES_AT_ONCE", 2)
    parts = build_shard(shard(rows, studies), reference())
    assert whole[0].height == 7
    assert all(a.equals(b) for a, b in zip(whole, parts, strict=True))


def test_only_mapping_decisions_of_the_shard_are_read() -> None:
    studies = [{"study_id": "s1", "report": "Text."}]
    given = shard([raw(study_id="s1")], studies)
    none = pl.DataFrame(schema=MENTIONS)
    unmapped = build_shard(replace(given, mentions=none), reference())[1]
    assert unmapped["obs_entities"].to_list() == [[]]
    assert build_shard(given, reference())[1]["obs_entities"][0].to_list() == ["pleural effusion"]


def test_losses_in_the_ledgers_keep_silence_from_denying() -> None:
    studies = [{"study_id": s, "report": "Text."} for s in ("s1", "s2", "s3", "s4")]
    rows = [raw(study_id=s["study_id"]) for s in studies]
    item = {"stage": "extract_observations", "scope": "item"}
    losses = [
        item | {"study_id": "s1", "item_id": "S01", "reason": "partly_covered"},
        item | {"study_id": "s2", "item_id": None, "reason": "failed_cluster"},
        item | {"study_id": "s3", "item_id": "S01", "reason": "non_observational"},
        item | {"study_id": "s4", "item_id": None, "reason": "unknown_header"},
    ]
    graphs = build_shard(shard(rows, studies, ledgers=losses), reference())[0]
    assert graphs["incomplete_reasons"].to_list() == [
        ["partly_covered: S01"],
        ["failed_cluster"],
        [],
        [],
    ]
