"""The grammar of localisation rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from cxrqba.errors import UserError
from cxrqba.reference.tables import load_regions
from cxrqba.regions.rules import Compound, Found, Named, parse_rule, referenced_regions

REFERENCE = Path(__file__).parents[2] / "resources" / "reference"


def test_nested_rule_keeps_its_structure() -> None:
    rule = parse_rule("intersection(left upper lobe;superbox(left mid lung zone;left lung base))")
    assert rule == Compound(
        "intersection",
        (
            Named("left upper lobe"),
            Compound("superbox", (Named("left mid lung zone"), Named("left lung base"))),
        ),
    )
    assert referenced_regions(rule) == ("left upper lobe", "left mid lung zone", "left lung base")


def test_structures_and_none() -> None:
    assert parse_rule("cxas(heart atrium left)") == Found("cxas", "heart atrium left")
    assert parse_rule(" imagenome( svc ) ") == Found("imagenome", "svc")
    assert parse_rule("none") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("superbx(a;b)", "did you mean 'superbox'"),
        ("superbox(a;b", "not closed"),
        ("superbox(a;b))", "not opened"),
        ("superbox(a;(b)", "not closed"),
        ("superbox(a;)", "name is missing"),
        ("bilateral(a)", "two operands"),
        ("cxas(a;b)", "exactly one structure"),
        ("cxas()", "exactly one structure"),
        ("left lung", "expected cxas"),
    ],
)
def test_wrong_rules_say_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(UserError, match=r"rule") as error:
        parse_rule(text)
    assert message in str(error.value)


def test_every_rule_of_the_reference_parses_and_names_known_regions() -> None:
    regions = load_regions(REFERENCE)
    localized = [r for r in regions.values() if r.localized]
    assert len(localized) == 257
    for region in localized:
        rule = parse_rule(region.rule)
        assert rule is not None, region.name
        assert set(referenced_regions(rule)) <= regions.keys(), region.name
