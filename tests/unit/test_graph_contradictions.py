"""Statements that contradict each other: both kept, both marked, nothing denied around them."""

from __future__ import annotations

from typing import Any

import pytest
from graph_fixtures import build, denied_by_silence, raw, read, reasons

from cxrqba.graph.model import SceneGraph
from cxrqba.ledger import Ledger


def marked(graph: SceneGraph) -> dict[str, list[str]]:
    return {
        i: [s.removeprefix("contradicts:") for s in o.origin if s.startswith("contradicts:")]
        for i, o in graph.observations.items()
        if o.from_report
    }


def test_both_statements_are_kept_marked_and_rated() -> None:
    ledger = Ledger("build_graphs")
    graph = build([raw(), raw("R02", probability="negative")], ledger)
    assert marked(graph) == {"O01": ["O02"], "O02": ["O01"]}
    told = [o for o in graph.observations.values() if o.from_report]
    assert {o.positiveness for o in told} == {"pos", "neg"}
    assert {o.obs_quality["issue_level"] for o in told} == {"MOSTLY_INTERPRETABLE"}
    assert reasons(ledger) == ["contradicting_statements"]
    assert not {"pleural effusion", "pleural abnormality"} & denied_by_silence(graph)


@pytest.mark.parametrize(
    ("positive", "negative", "opposed"),
    [
        ({}, {}, True),
        ({"probability": "possible"}, {}, True),
        ({"laterality_text": "left"}, {}, True),
        ({"laterality_text": "left"}, {"laterality_text": "left"}, True),
        ({"laterality_text": "left"}, {"laterality_text": "right"}, False),
        ({}, {"laterality_text": "right"}, False),
        ({"laterality_text": "both"}, {"laterality_text": "right"}, True),
        ({"modifiers": ["small"]}, {"modifiers": ["large"]}, False),
        ({"modifiers": ["large"]}, {"modifiers": ["large"]}, True),
        ({}, {"changes": ["no new"]}, False),
        ({}, {"probability": "indeterminate"}, False),
        ({"probability": "comparison_only"}, {}, False),
        ({}, {"entity": "pneumothorax"}, False),
    ],
)
def test_what_contradicts(
    positive: dict[str, Any], negative: dict[str, Any], opposed: bool
) -> None:
    rows = [raw(**positive), raw("R02", **({"probability": "negative"} | negative))]
    assert any(marked(build(rows)).values()) is opposed


@pytest.mark.parametrize(
    ("place", "denied_at", "opposed"),
    [
        ("right lower lobe", "right lung", True),
        ("right lower lobe", "right upper lobe", False),
        ("right lung", "right apex", False),
    ],
)
def test_a_denial_reaches_as_far_as_its_place(place: str, denied_at: str, opposed: bool) -> None:
    rows = [
        raw(entity="consolidation", regions=[place]),
        raw("R02", "consolidation", regions=[denied_at], probability="negative"),
    ]
    assert any(marked(build(rows)).values()) is opposed


def test_findings_against_impression() -> None:
    graph = read(
        "FINDINGS: There is no pneumothorax.\n\nIMPRESSION: Small left apical pneumothorax.\n"
    )
    told = {
        o.positiveness
        for o in graph.observations.values()
        if o.from_report and "pneumothorax" in o.obs_entities
    }
    assert told >= {"pos"}
    assert "pneumothorax" not in denied_by_silence(graph)
