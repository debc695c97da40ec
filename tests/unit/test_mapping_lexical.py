"""Backend ``lexical``: spelling, word order, threshold, scores."""

from __future__ import annotations

from typing import Any

import pytest
from mapping_fixtures import lexical
from mapping_fixtures import mapped as mapped_by


def mapped(kind: str, *texts: str, threshold: float = 0.5) -> dict[str, dict[str, Any]]:
    return mapped_by(lexical(), kind, *texts, threshold=threshold)


def test_misspelling_maps_lexically_with_runner_up() -> None:
    found = mapped("entity", "pleural efusion")["pleural efusion"]
    assert found["reference"] == "pleural effusion"
    assert found["method"] == "lexical"
    assert 0.5 <= found["score"] < 1
    assert found["runner_up"] not in (None, "pleural effusion")
    assert found["runner_up_score"] <= found["score"]


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("entity", "pnemothorax", "pneumothorax"),  # not the nearer-looking hemothorax
        ("entity", "consoldation", "consolidation"),
        ("entity", "aorta, tortuous", "tortuous aorta"),
        ("entity", "The aorta is tortuous", "tortuous aorta"),
        ("region", "fourth posterior rib left", "left 4th posterior rib"),
        ("region", "lt midlung", "left mid lung zone"),
        ("modifier", "in a diffuse distribution", "diffuse"),
        ("change", "increase since the prior study", "worsened"),
    ],
)
def test_typing_errors_order_and_empty_words_do_not_matter(
    kind: str, text: str, expected: str
) -> None:
    assert mapped(kind, text)[text]["reference"] == expected


@pytest.mark.parametrize("text", ["hepatoma", "lung hepatoma"])
def test_words_of_their_own_are_not_corrected(text: str) -> None:
    assert "hematoma" not in str(mapped("entity", text)[text]["reference"])


def test_below_the_threshold_nothing_is_mapped_but_the_nearest_is_told() -> None:
    found = mapped("entity", "zzz effusion qqq xyz", threshold=0.99)["zzz effusion qqq xyz"]
    assert found["reference"] is None
    assert found["runner_up"] is not None
    assert found["score"] == found["runner_up_score"] < 0.99


@pytest.mark.parametrize("text", ["?", "日本語", "<b></b>", "{}", "x" * 5000])
def test_hostile_text_is_unresolved(text: str) -> None:
    assert mapped("entity", text)[text]["reference"] is None


def test_word_that_lacks_only_a_link_to_its_tag_is_not_vague() -> None:
    assert mapped("change", "resolution")["resolution"]["reference"] == "resolved"


def test_a_pair_is_not_guessed_from_its_region_alone() -> None:
    found = mapped("entity_region", "scarring | left lower lobe")["scarring | left lower lobe"]
    assert found["reference"] == "pulmonary scarring"


def test_part_of_the_words_of_a_modifier_is_not_the_modifier() -> None:
    assert mapped("modifier", "one")["one"]["reference"] is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("left chest wall pacemaker", "pacemaker"),  # not a dual-chamber one
        ("mild pulm edema", "pulmonary edema"),  # not an interstitial one
    ],
)
def test_no_more_is_mapped_than_was_said(text: str, expected: str) -> None:
    assert mapped("name", text)[text]["reference"] == expected


def test_a_finding_of_another_place_is_not_guessed() -> None:
    found = mapped("entity", "bibasilar opacities")["bibasilar opacities"]
    assert found["reference"] == "lung opacity"  # not "hilar opacity", which looks alike
