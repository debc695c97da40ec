"""What a sentence leaves out is read as if it were said: the second half is not silence."""

from __future__ import annotations

import pytest
from statement_fixtures import extractor, mirrored, mirrored_statements, statements

from cxrqba.ledger import Ledger

FINDINGS = ("pleural effusion", "pneumothorax", "consolidation", "atelectasis")

HALVES = {
    "Small left and no right {}.": "+{}@L -{}@R",
    "No right and small left {}.": "-{}@R +{}@L",
    "Large left, no right, {}.": "+{}@L -{}@R",
    "Moderate right but no left {}.": "+{}@R -{}@L",
    "There is a small left {} and none on the right.": "+{}@L -{}@R",
    "There is a small left {} but not on the right.": "+{}@L -{}@R",
    "A {} is seen on the right, not on the left.": "+{}@R -{}@L",
    "The {} on the left has resolved, but that on the right persists.": "-{}@L +{}@R",
    "The left {} is small and the right is moderate.": "+{}@L +{}@R",
    "The left {} is small and the right moderate.": "+{}@L +{}@R",
    "Left {} is larger, right unchanged.": "+{}@L +{}@R",
    "The right {} has resolved while the left is unchanged.": "-{}@R +{}@L",
    "The right {} has resolved whereas the left persists.": "-{}@R +{}@L",
    "No {} on the left but a small one on the right.": "-{}@L +{}@R",
    "The right {} is larger than that on the left.": "+{}@R +{}@L",
    "The right {} is unchanged; that on the left has resolved.": "+{}@R -{}@L",
    "No {} on the left, trace on the right.": "-{}@L +{}@R",
    "Left {} - moderate; right - small.": "+{}@L +{}@R",
    "Smaller right {}; left side unchanged.": "+{}@R +{}@L",
}


@pytest.mark.parametrize("finding", FINDINGS)
@pytest.mark.parametrize("sentence", HALVES)
def test_both_sides_are_told(sentence: str, finding: str) -> None:
    wanted = set(HALVES[sentence].replace("{}", finding.replace(" ", "\0")).split())
    wanted = {w.replace("\0", " ") for w in wanted}
    text = sentence.format(finding)
    assert statements(text) == wanted
    assert statements(mirrored(text)) == mirrored_statements(wanted)


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("No left or right pleural effusion.", {"-pleural effusion@LR"}),
        ("Left and right pleural effusions.", {"+pleural effusion@LR"}),
        ("Right lower lobe opacity that is unchanged.", {"+lung opacity@R"}),
        (
            "The heart is enlarged and the right hemidiaphragm is elevated.",
            {"+cardiomegaly", "+elevated hemidiaphragm@R"},
        ),
        ("Left lower lobe atelectasis is noted and the right is clear.", {"+atelectasis@L"}),
        ("No pleural or pericardial effusion.", {"-pleural effusion", "-pericardial effusion"}),
    ],
)
def test_nothing_is_supplied_where_nothing_is_left_out(sentence: str, wanted: set[str]) -> None:
    assert statements(sentence) == wanted


def test_former_and_latter_are_the_two_named_last() -> None:
    found = extractor().read_sentence(
        "S1", "Effusion and consolidation; the former is small, the latter is extensive.", 0
    )
    degrees = {d.key[0]: [v for _, v in d.modifiers] for d in found if d.modifiers}
    assert degrees == {"pleural effusion": ["small"], "consolidation": ["extensive"]}


def _sentences(*texts: str) -> tuple[str, list[dict[str, object]]]:
    report = " ".join(texts)
    rows = []
    for number, text in enumerate(texts):
        start = report.index(text)
        rows.append(
            {
                "sent_id": f"S{number}",
                "start": start,
                "end": start + len(text),
                "sentence": text,
                "section": "FINDINGS",
                "section_type": "FINDINGS",
                "discarded": False,
                "cluster": None,
            }
        )
    return report, rows


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_bare_side_speaks_of_the_sentence_before(side: str) -> None:
    other = "right" if side == "left" else "left"
    report, rows = _sentences(f"The {side} pneumothorax is small.", f"The {other} has resolved.")
    found = extractor().extract("s1", report, rows, Ledger("test"))
    told = {(r["entities"][0], r["probability"], other in r["laterality_text"]) for r in found}
    assert told == {("pneumothorax", "positive", False), ("pneumothorax", "negative", True)}
    for row in found:
        for span in row["spans"]:
            inside = next(r for r in rows if r["sent_id"] == span["sent_id"])
            assert inside["start"] <= span["start"] < span["end"] <= inside["end"]
