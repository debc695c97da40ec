"""Entity mapping of any text: a valid decision, the same in any company, never the other side."""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))
from mapping_fixtures import lexical, mapped, reference

KINDS = ("entity", "entity_region", "name", "summary", "region", "modifier", "change")
TAGS = (
    {*reference().findings, *reference().regions}
    | {v.name for v in reference().modifiers}
    | {v.name for v in reference().changes}
)
WORDS = sorted({w for name in TAGS for w in name.split()} | {"no", "not", "left", "right", "|"})
TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join),
)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(KINDS), st.lists(TEXTS, min_size=1, max_size=4, unique=True))
def test_every_text_gets_one_valid_decision(kind: str, texts: list[str]) -> None:
    found = mapped(lexical(), kind, *texts)
    assert found.keys() == set(texts)
    for row in found.values():
        assert row["reference"] is None or row["reference"] in TAGS
        assert 0 <= row["runner_up_score"] <= row["score"] <= 1
        assert row["reference"] is None or row["score"] >= 0.5
        assert row["reference"] is None or row["runner_up"] != row["reference"]
        assert (row["reference_type"] is not None) == (
            kind == "modifier" and row["reference"] is not None
        )
    for text in texts:
        assert mapped(lexical(), kind, text)[text] == found[text]


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(["left", "right"]), st.lists(st.sampled_from(WORDS), max_size=4))
def test_a_region_is_never_on_the_side_that_is_not_named(side: str, words: list[str]) -> None:
    other = {"left": "right", "right": "left"}[side]
    text = " ".join([side, *(w for w in words if w not in ("left", "right"))])
    found = mapped(lexical(), "region", text)[text]["reference"] or ""
    assert other not in found.split()


def test_the_denial_of_a_finding_is_never_the_finding() -> None:
    denials = [f"{no} {name}" for name in reference().findings for no in ("no", "without")]
    found = mapped(lexical(), "entity", *denials)
    assert {
        r["text"] for r in found.values() if r["reference"] not in (None, "no finding")
    } == set()
