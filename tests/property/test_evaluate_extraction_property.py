"""Any rows and claims: matching is one to one, complete, and does not depend on their order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cxrqba.evaluate.extraction_claims import Claim
from cxrqba.evaluate.extraction_gold import GoldRow
from cxrqba.evaluate.extraction_match import holding, match

SENTENCES = {"S1": (0, 10), "S2": (10, 20)}
FINDINGS = ("effusion", "edema", "fracture")
SIDES = ("left", "right", "bilateral", "unknown")

ROWS = st.builds(
    lambda at, accepted, polarity, certainty, side: GoldRow(
        "s", ((at, at + 2),), "words", frozenset(accepted), polarity, certainty, side, "", "", ""
    ),
    st.integers(0, 18),
    st.sets(st.sampled_from(FINDINGS), max_size=2),
    st.sampled_from(("pos", "neg")),
    st.sampled_from(("certain", "likely", "uncertain")),
    st.sampled_from(SIDES),
)
CLAIMS = st.builds(
    lambda findings, sent_ids, polarity, certainty, side: Claim(
        "O1", None, tuple(findings), tuple(sent_ids), (), polarity, certainty, side
    ),
    st.lists(st.sampled_from(FINDINGS), unique=True, max_size=2),
    st.lists(st.sampled_from(sorted(SENTENCES)), unique=True, min_size=1),
    st.sampled_from(("pos", "neg")),
    st.sampled_from(("certain", "likely", "uncertain")),
    st.sampled_from(SIDES),
)


def answers(row: GoldRow, claim: Claim) -> bool:
    return (
        row.polarity == claim.polarity
        and bool(row.accepted & set(claim.findings))
        and bool(holding(row.spans, SENTENCES) & set(claim.sent_ids))
    )


@given(st.lists(ROWS, max_size=6), st.lists(CLAIMS, max_size=6))
def test_pairs_are_answers_and_no_free_answer_is_left(
    rows: list[GoldRow], claims: list[Claim]
) -> None:
    matching = match(rows, claims, SENTENCES)
    assert len(matching.rows) == len(matching.pairs), "a row is answered once"
    assert all(answers(rows[p.row], claims[p.claim]) for p in matching.pairs)
    assert not matching.repeated & matching.claims
    for number, row in enumerate(rows):
        free = set(range(len(claims))) - matching.claims
        assert number in matching.rows or not any(answers(row, claims[n]) for n in free)


@given(st.lists(ROWS, max_size=6), st.lists(CLAIMS, max_size=6), st.randoms())
def test_as_many_rows_are_found_in_any_order(
    rows: list[GoldRow], claims: list[Claim], random: object
) -> None:
    found = len(_assigned(rows, claims))
    shuffled, others = list(rows), list(claims)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    random.shuffle(others)  # type: ignore[attr-defined]
    assert len(_assigned(shuffled, others)) == found


def _assigned(rows: list[GoldRow], claims: list[Claim]) -> frozenset[int]:
    """Rows found without the leave for left and right, which depends on who is matched first."""
    one_sided = [c for c in claims if c.side != "bilateral"]
    return match(rows, one_sided, SENTENCES).rows
