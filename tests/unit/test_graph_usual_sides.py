"""Findings that lie on both sides unless a report says otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cxrqba.graph.sides import laterality_of
from cxrqba.graph.tags import Tags
from cxrqba.graph.vocabulary import Vocabulary
from cxrqba.reference.tables import load_reference

REFERENCE = Path(__file__).parents[2] / "resources" / "reference"


@pytest.mark.parametrize(
    ("finding", "text", "region", "side"),
    [
        ("pulmonary edema", "mild edema", None, "likely bilateral"),
        ("pulmonary vascular congestion", "no congestion", None, "likely bilateral"),
        ("pulmonary edema", "edema on the right", None, "right"),
        ("pulmonary edema", "edema", "left lower lobe", "left"),
        ("pulmonary edema", "edema", "lungs", "bilateral"),
        ("pleural effusion", "small effusion", None, "unknown"),
        ("cardiomegaly", "mild cardiomegaly", None, "unknown"),
    ],
)
def test_a_usual_side_is_taken_only_where_none_and_no_place_is_told(
    finding: str, text: str, region: str | None, side: str
) -> None:
    raw: dict[str, Any] = {"laterality_text": text, "entities": []}
    places = [region] if region else []
    told = Tags(
        entities=[finding],
        regions={r: [] for r in places},
        region_of={r: r for r in places},
    )
    assert laterality_of(raw, told, Vocabulary(load_reference(REFERENCE))) == side
