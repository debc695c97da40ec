"""Entity mapping: exact before approximate, never to an opposite, threshold, determinism."""

from __future__ import annotations

import polars as pl
import pytest
from graph_fixtures import indication, mapper, raw

from cxrqba.mapping.mentions import collect, merge
from cxrqba.schema import INDICATIONS, MENTIONS, RAW_OBSERVATIONS
from cxrqba.tables import frame


def mapped(kind: str, *texts: str, threshold: float = 0.5) -> dict[str, dict]:
    mentions = frame([{"kind": kind, "text": t, "count": 1} for t in texts], MENTIONS)
    table = mapper().map(mentions, threshold)
    return {r["text"]: r for r in table.iter_rows(named=True)}


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("entity", "Pleural Effusions", "pleural effusion"),
        ("entity", "air-space opacities", "airspace opacity"),
        ("entity", "enlarged hearts", "cardiomegaly"),
        ("region", "LLL", "left lower lobe"),
        ("region", "Left lungs", "left lung"),
        ("change", "unchanged", "stable"),
    ],
)
def test_normalised_names_and_synonyms_map_exactly(kind: str, text: str, expected: str) -> None:
    found = mapped(kind, text)[text]
    assert (found["reference"], found["method"], found["score"]) == (expected, "exact", 1.0)


def test_misspelling_maps_lexically_with_runner_up() -> None:
    found = mapped("entity", "pleural efusion")["pleural efusion"]
    assert found["reference"] == "pleural effusion"
    assert found["method"] == "lexical"
    assert 0.5 <= found["score"] < 1
    assert found["runner_up"] not in (None, "pleural effusion")
    assert found["runner_up_score"] <= found["score"]


def test_modifier_type_comes_from_the_reference() -> None:
    found = mapped("modifier", "small")["small"]
    assert (found["reference"], found["reference_type"]) == ("small", "severity")


@pytest.mark.parametrize(
    ("text", "forbidden"),
    [
        ("left lung basis", "right"),
        ("right upper lobes part", "left"),
        ("left lower lobe area", "upper"),
    ],
)
def test_no_region_of_the_other_side_or_level(text: str, forbidden: str) -> None:
    found = mapped("region", text)[text]
    assert forbidden not in (found["reference"] or "")
    assert forbidden not in (found["runner_up"] or "")


def test_unsided_text_maps_to_no_sided_region() -> None:
    found = mapped("region", "lower lobe area", threshold=0.1)["lower lobe area"]
    assert not {"left", "right"} & set((found["reference"] or "").split())


def test_other_vertebra_is_not_the_same() -> None:
    found = mapped("region", "vertebral body T7", "T8 vertebral")
    assert "8" not in (found["vertebral body T7"]["reference"] or "")
    assert "7" not in (found["T8 vertebral"]["reference"] or "")


def test_below_the_threshold_nothing_is_mapped_but_the_nearest_is_told() -> None:
    found = mapped("entity", "zzz effusion qqq xyz", threshold=0.99)["zzz effusion qqq xyz"]
    assert found["reference"] is None
    assert found["runner_up"] is not None
    assert found["score"] == found["runner_up_score"] < 0.99


@pytest.mark.parametrize("text", ["?", "日本語", "<b></b>", "{}", "x" * 5000])
def test_hostile_text_is_unresolved(text: str) -> None:
    assert mapped("entity", text)[text]["reference"] is None


def test_decisions_do_not_depend_on_other_mentions_or_their_order() -> None:
    texts = ["pleural efusion", "hazy stuff", "cardiac enlargment", "left basal thing"]
    together = mapped("entity", *texts)
    backwards = mapped("entity", *reversed(texts))
    alone = {t: mapped("entity", t)[t] for t in texts}
    assert together == alone == backwards


def test_collect_counts_each_kind_and_pairs_and_merges_shards() -> None:
    rows = [
        raw(regions=["left base"], modifiers=["small"], changes=["new", "new"]),
        raw("R02", regions=["left base", "  left   base "]),
    ]
    table = frame(rows, RAW_OBSERVATIONS)
    asked = frame([indication()], INDICATIONS)
    found = {
        (r["kind"], r["text"]): r["count"] for r in collect(table, asked).iter_rows(named=True)
    }
    assert found["entity", "pleural effusion"] == 2
    assert found["entity_region", "pleural effusion | left base"] == 2
    assert found["region", "left base"] == 2
    assert found["modifier", "small"] == 1
    assert found["change", "new"] == 1
    assert found["name", "Small left pleural effusion"] == 1
    halves = [collect(table[:1], asked), collect(table[1:], asked.clear())]
    assert merge(halves).equals(collect(table, asked))
    assert merge([]).schema == pl.Schema(MENTIONS)


@pytest.mark.parametrize("text", ["normal heart", "normal heart size", "no findings here", "clear"])
def test_no_finding_is_never_guessed(text: str) -> None:
    assert mapped("entity", text)[text]["reference"] != "no finding"
    assert mapped("entity", "No finding")["No finding"]["reference"] == "no finding"


@pytest.mark.parametrize("kind", ["entity", "region"])
@pytest.mark.parametrize("text", ["left", "Right", "left side", "bilateral", "lower"])
def test_bare_words_of_place_stay_unresolved(kind: str, text: str) -> None:
    assert mapped(kind, text)[text]["reference"] is None


@pytest.mark.parametrize("text", ["tube", "Tubes", "line"])
def test_word_common_to_several_tags_is_not_guessed_to_be_one_of_them(text: str) -> None:
    found = mapped("entity", text)[text]
    assert (found["reference"], found["method"]) == (None, "lexical")
    assert found["runner_up"] is not None


def test_word_that_lacks_only_a_link_to_its_tag_is_not_vague() -> None:
    assert mapped("change", "resolution")["resolution"]["reference"] == "resolved"


def test_part_of_the_words_of_a_modifier_is_not_the_modifier() -> None:
    assert mapped("modifier", "one")["one"]["reference"] is None
