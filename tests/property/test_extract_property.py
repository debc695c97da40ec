"""Any text: extraction does not fail, spans stay in their sentence, the result is repeatable."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from cxrqba.extract.indication import IndicationExtractor
from cxrqba.extract.observations import ObservationExtractor
from cxrqba.reference.tables import load_reference
from cxrqba.schema import CHILD_TYPES

REFERENCE = load_reference(Path(__file__).parents[2] / "resources" / "reference")
OBSERVATIONS = ObservationExtractor(REFERENCE)
INDICATION = IndicationExtractor(REFERENCE)

FRAGMENTS = st.sampled_from(
    [
        "no",
        "without",
        "left",
        "right",
        "effusion",
        "pneumothorax",
        "and",
        ",",
        "or",
        "but",
        "the",
        "heart",
        "is",
        "enlarged",
        "lungs",
        "are",
        "clear",
        "unchanged",
        "cannot",
        "be",
        "excluded",
        "tip",
        "with",
        "ET",
        "tube",
        "4.5",
        "cm",
        "above",
        "carina",
        "possible",
        ";",
        ":",
        ".",
        "recommend",
        "CT",
        "which",
        "has",
        "resolved",
        "___",
        "(",
        ")",
        "<",
        "{",
        "}",
    ]
)
TEXTS = st.one_of(
    st.lists(FRAGMENTS, min_size=1, max_size=25).map(" ".join), st.text(min_size=1, max_size=80)
)


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(("FINDINGS", "INDICATION")))
def test_any_text(texts: list[str], first: str) -> None:
    report, rows = "", []
    for i, text in enumerate(texts):
        section = first if i == 0 else "IMPRESSION"
        rows.append(
            {
                "study_id": "s",
                "sent_id": f"S{i:02d}",
                "section": section,
                "section_type": section,
                "sentence": text,
                "start": len(report),
                "end": len(report) + len(text),
                "cluster": i // 2,
                "discarded": None,
            }
        )
        report += text + " "
    spans = {r["sent_id"]: (r["start"], r["end"]) for r in rows}
    found = OBSERVATIONS.extract("s", report, rows)
    assert found == OBSERVATIONS.extract("s", report, rows[::-1])
    ids = [r["raw_id"] for r in found]
    assert len(set(ids)) == len(ids)
    for row in found:
        assert row["probability"] in REFERENCE.levels
        assert row["name"]
        assert row["summary_sentence"]
        assert row["sent_ids"]
        assert row["spans"]
        assert (row["parent_raw_id"] is None) == (row["child_type"] is None)
        assert row["parent_raw_id"] is None or row["parent_raw_id"] in ids
        assert row["child_type"] is None or row["child_type"] in CHILD_TYPES
        for span in row["spans"]:
            start, end = spans[span["sent_id"]]
            assert start <= span["start"] < span["end"] <= end
    INDICATION.extract("s", report, rows)
