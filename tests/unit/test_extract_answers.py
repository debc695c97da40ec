"""Answers of the sentence and the indication pass: aligned with the report, or in the ledger."""

from __future__ import annotations

import json
from typing import Any

import pytest
from graph_fixtures import reference

from cxrqba.config import SiteConfig
from cxrqba.extract.indication_records import IndicationReader
from cxrqba.extract.sentence_records import SentenceReader
from cxrqba.extract.sentences import SentenceExtractor
from cxrqba.ledger import Ledger
from cxrqba.schema import INDICATIONS, SENTENCES
from cxrqba.tables import frame

EXTRACTOR = SentenceExtractor(reference(), SiteConfig())
SENTENCE_READER = SentenceReader(reference(), EXTRACTOR)
INDICATION_READER = IndicationReader(reference())
REPORT = """FINAL REPORT
 INDICATION: ___ year old man with cough. Evaluate for pneumonia.

 FINDINGS: The heart is enlarged. There is no pleural effusion. ET tube in place.

 IMPRESSION: Cardiomegaly. No pneumonia.
"""
ANSWER = [
    {"id": "1", "section": "INDICATION", "sentence": "year old man with cough."},
    {"id": "2", "section": "INDICATION", "sentence": "Evaluate for pneumonia."},
    {"id": "3", "section": "FINDINGS", "sentence": "The heart is enlarged.", "related": ["6"]},
    {"id": "4", "section": "FINDINGS", "sentence": "There is no pleural effusion."},
    {"id": "5", "section": "FINDINGS", "sentence": "ET tube in place."},
    {"id": "6", "section": "IMPRESSION", "sentence": "Cardiomegaly."},
    {"id": "7", "section": "IMPRESSION", "sentence": "No pneumonia."},
]


def read(content: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows of SENTENCES, and reasons in the ledger."""
    ledger = Ledger("extract_sentences")
    rows = SENTENCE_READER.read("s1", REPORT, content, ledger)
    assert rows is not None
    frame(rows, SENTENCES)
    for row in rows:
        assert REPORT[row["start"] : row["end"]] == row["sentence"]
    return rows, [line["reason"] or "" for line in ledger.rows]


def changed(number: int, **values: Any) -> list[dict[str, Any]]:
    return [{**r, **values} if r["id"] == str(number) else r for r in ANSWER]


def test_an_answer_becomes_the_rows_of_the_report() -> None:
    rows, reasons = read(json.dumps({"sentences": ANSWER}))
    assert reasons == []
    assert [(r["sent_id"], r["section_type"], r["sentence"], r["cluster"]) for r in rows] == [
        ("S01", "INDICATION", "___ year old man with cough.", None),
        ("S02", "INDICATION", "Evaluate for pneumonia.", None),
        ("S03", "FINDINGS", "The heart is enlarged.", 1),
        ("S04", "FINDINGS", "There is no pleural effusion.", 2),
        ("S05", "FINDINGS", "ET tube in place.", 3),
        ("S06", "IMPRESSION", "Cardiomegaly.", 1),
        ("S07", "IMPRESSION", "No pneumonia.", 4),
    ]
    assert all(r["discarded"] is None for r in rows)


def test_merged_sentences_are_split_again_and_keep_section_and_cluster() -> None:
    merged = "The heart is enlarged. There is no pleural effusion."
    answer = [r for r in changed(3, sentence=merged) if r["id"] != "4"]
    rows, reasons = read(answer)
    assert reasons == []
    assert [r["cluster"] for r in rows] == [None, None, 1, 1, 2, 1, 3]


def test_what_is_invented_is_no_sentence() -> None:
    rows, reasons = read([*ANSWER, {"id": "8", "section": "FINDINGS", "sentence": "Rib fracture."}])
    assert len(rows) == 7
    assert reasons == ["not_in_report"]


def test_a_suspicion_stays_an_indication_whatever_the_model_says() -> None:
    rows, reasons = read(changed(2, section="FINDINGS", section_type="FINDINGS"))
    assert rows[1]["section_type"] == "INDICATION"
    assert reasons == ["section_refused"]


def test_findings_are_neither_called_irrelevant_nor_passed_over() -> None:
    rows, reasons = read(changed(4, section_type="IGNORE", irrelevant=True))
    assert (rows[3]["section_type"], rows[3]["discarded"]) == ("FINDINGS", None)
    assert reasons == ["section_refused"]
    rows, reasons = read([r for r in ANSWER if r["id"] != "4"])
    assert [r["sentence"] for r in rows][3] == "There is no pleural effusion."
    assert rows[3]["cluster"] is not None
    assert reasons == ["passed_over"]


def test_what_was_left_out_of_a_sentence_is_read_with_it() -> None:
    report = "FINDINGS: Small left effusion, unchanged, and a large heart.\n"
    answer = [{"sentence": "left effusion"}, {"sentence": "a large heart"}]
    rows = SENTENCE_READER.read("s1", report, answer, Ledger("x"))
    assert rows is not None
    assert [r["sentence"] for r in rows] == [
        "Small left effusion, unchanged, and",
        "a large heart.",
    ]


def test_what_describes_nothing_may_be_irrelevant() -> None:
    report = "FINDINGS: No edema. Thank you."
    ledger = Ledger("x")
    answer = [{"sentence": "No edema."}, {"sentence": "Thank you.", "irrelevant": True}]
    rows = SENTENCE_READER.read("s1", report, answer, ledger)
    assert rows is not None
    assert [r["discarded"] for r in rows] == [None, "irrelevant"]


@pytest.mark.parametrize(
    ("content", "reasons"),
    [
        (ANSWER + ANSWER, []),
        ([r["sentence"] for r in ANSWER], ["repaired_sentence"] * 7),
        ([*ANSWER, None, 5], ["repaired_sentence", "repaired_sentence", *["not_in_report"] * 2]),
        (f"```json\n{json.dumps(ANSWER)}\n```", ["repaired_answer"]),
        (
            changed(3, related="[6]", sentence="<b>The heart is enlarged.</b>"),
            ["repaired_sentence"],
        ),
        (changed(3, related=[None, "S99", {"a": 1}]), ["repaired_sentence"]),
        (changed(5, section=None, section_type=7), ["repaired_sentence"]),
        ([{"sentence": "x" * 50_000}, *ANSWER], ["repaired_sentence", "not_in_report"]),
    ],
)
def test_oddities_of_sentences(content: Any, reasons: list[str]) -> None:
    rows, found = read(content)
    assert [r["sentence"] for r in rows][2:] == [r["sentence"] for r in ANSWER][2:]
    assert found == reasons


@pytest.mark.parametrize("content", ["", "No.", "[]", 5, {"a": 1}, None, "[" * 100_000])
def test_without_sentences_there_is_no_reading(content: Any) -> None:
    ledger = Ledger("x")
    assert SENTENCE_READER.read("s1", REPORT, content, ledger) is None
    assert "unreadable_answer" in [r["reason"] for r in ledger.rows]


# --- indication ---------------------------------------------------------------------------------

ROWS = EXTRACTOR.extract("s1", REPORT)
INDICATION = {
    "indication_summary": "Is there any evidence of pneumonia in a man with cough?",
    "patient_info": "year old man",
    "indication": "cough",
    "evaluation": "pneumonia",
    "sentence_ids": ["S07"],
    "answer_for_indication": {"name": "No pneumonia", "summary_sentence": "No pneumonia."},
}


def asked(content: Any) -> tuple[dict[str, Any] | None, list[str]]:
    ledger = Ledger("extract_indication")
    row = INDICATION_READER.read("s1", content, ROWS, "call-1", ledger)
    frame([row] if row else [], INDICATIONS)
    return row, [line["reason"] or "" for line in ledger.rows]


def test_an_indication_as_asked_for() -> None:
    row, reasons = asked(json.dumps(INDICATION))
    assert reasons == []
    assert row == {
        "study_id": "s1",
        "indication_summary": "Is there any evidence of pneumonia in a man with cough?",
        "patient_info": "year old man",
        "indication": "cough",
        "evaluation": "pneumonia",
        "sent_ids": ["S01", "S02"],
        "associated_sentence_ids": ["S07"],
        "answer_name": "No pneumonia",
        "answer_sentence": "No pneumonia.",
        "origin": "call-1",
    }


@pytest.mark.parametrize(
    ("values", "expected", "reason"),
    [
        ({"patient_info": "woman with a fractured hip"}, {"patient_info": None}, "not_in_report"),
        ({"sentence_ids": ["S07", "S99", "S01"]}, {"associated_sentence_ids": ["S07"]}, "repaired"),
        ({"sentence_ids": []}, {"answer_name": None}, "not_in_report"),
        ({"answer_for_indication": "Rib fracture."}, {"answer_sentence": None}, "not_in_report"),
        ({"answer_for_indication": 5}, {"answer_name": None}, "repaired"),
        ({"answer_for_indication": "No pneumonia."}, {"answer_name": "No pneumonia."}, "repaired"),
        ({"indication": ["cough"]}, {"indication": "cough"}, "repaired"),
    ],
)
def test_oddities_of_indications(
    values: dict[str, Any], expected: dict[str, Any], reason: str
) -> None:
    row, reasons = asked({**INDICATION, **values})
    assert row is not None
    assert {k: row[k] for k in expected} == expected
    assert any(r.startswith(reason) for r in reasons)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "No indication.",
        [],
        7,
        None,
        {},
        {**INDICATION, "indication_summary": None},
        {"indication_summary": "Is there a rib fracture?", "indication": "fall from a ladder"},
    ],
)
def test_nothing_that_was_not_asked_is_an_indication(content: Any) -> None:
    row, reasons = asked(content)
    assert row is None
    assert reasons in (["unreadable_answer"], ["not_in_report"])
