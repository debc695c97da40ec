"""Sections and sentences: spans reproduce the text, and every oddity of real layouts is read."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxrqba.config import SiteConfig
from cxrqba.extract.sentences import SentenceExtractor, extract_shard
from cxrqba.reference.tables import load_reference
from cxrqba.reports.sentences import split_sentences
from cxrqba.schema import SENTENCES, STUDIES
from cxrqba.tables import frame

ROOT = Path(__file__).resolve().parents[2]
EXTRACTOR = SentenceExtractor(load_reference(ROOT / "resources" / "reference"), SiteConfig())


def split(text: str) -> list[str]:
    return [" ".join(text[s:e].split()) for s, e in split_sentences(text)]


def kept(report: str) -> dict[str, list[str]]:
    """Section type -> kept sentences, white space folded."""
    found: dict[str, list[str]] = {}
    for row in EXTRACTOR.extract("s1", report):
        assert report[row["start"] : row["end"]] == row["sentence"]
        if row["discarded"] is None:
            found.setdefault(row["section_type"], []).append(" ".join(row["sentence"].split()))
    return found


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("ETT 4.5 cm above the carina. No PTX.", ["ETT 4.5 cm above the carina.", "No PTX."]),
        ("Seen by Dr. Smith. Clear.", ["Seen by Dr. Smith.", "Clear."]),
        ("Opacity, e.g. pneumonia. Clear.", ["Opacity, e.g. pneumonia.", "Clear."]),
        ("lungs are clear. heart is normal.", ["lungs are clear.", "heart is normal."]),
        ("No effusion; no edema.", ["No effusion; no edema."]),
        ("A line that is\n wrapped here. Next.", ["A line that is wrapped here.", "Next."]),
        ("1. Left effusion.\n2. No edema.", ["Left effusion.", "No edema."]),
        ("1. Left effusion. 2. No edema.", ["Left effusion.", "No edema."]),
        ("1) Left effusion\n2) No edema", ["Left effusion", "No edema"]),
        ("- Left effusion\n- No edema", ["Left effusion", "No edema"]),
        ("Seen on XXXX. No edema.", ["Seen on XXXX.", "No edema."]),
        ("Compared to ___. No edema.", ["Compared to ___.", "No edema."]),
        ("Heart: normal. Lungs: clear.", ["Heart: normal.", "Lungs: clear."]),
        ("Heart: normal\nLungs: clear", ["Heart: normal", "Lungs: clear"]),
        ("Opacity at the base ? aspiration.", ["Opacity at the base ? aspiration."]),
        ("One paragraph\n \n Another", ["One paragraph", "Another"]),
        ("Old rib fractures, incl. the fifth.", ["Old rib fractures, incl. the fifth."]),
        (" . \n ___ ", ["___"]),
        (" . \n _ ", []),
        (
            "1. Left effusion 2. No edema 3. 3 mm nodule",
            ["Left effusion", "No edema", "3 mm nodule"],
        ),
        ("1. Nodule, grade 2. No edema. 2. Rib.", ["Nodule, grade 2.", "No edema.", "Rib."]),
        ("Level 2. No edema.", ["Level 2.", "No edema."]),
        ("LUNGS:\n Clear.\n HEART:\n Normal.", ["LUNGS: Clear.", "HEART: Normal."]),
        ("Read at 8 p.m. No edema.", ["Read at 8 p.m.", "No edema."]),
        ("Read at 8 p.m. XXXX. No edema.", ["Read at 8 p.m. XXXX.", "No edema."]),
        ("By Dr. A. B. Smith. Clear.", ["By Dr. A. B. Smith.", "Clear."]),
        ("Hepatitis C. No edema.", ["Hepatitis C.", "No edema."]),
        ("No lesion to suggest. active TB. Clear.", ["No lesion to suggest. active TB.", "Clear."]),
        ("Toxicity (on drugs?) and edema. Clear.", ["Toxicity (on drugs?) and edema.", "Clear."]),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, sentences: list[str]) -> None:
    assert split(text) == sentences


def test_a_list_keeps_the_negation_of_its_lead_in() -> None:
    text = "Bones intact.\nThere is no\n  - pneumothorax\n  - pleural effusion\n  - edema\n\nEnd."
    assert split(text) == [
        "Bones intact.",
        "There is no - pneumothorax - pleural effusion - edema",
        "End.",
    ]


@given(st.text(alphabet="aB12. \n:;?-_()X", max_size=200))
@settings(max_examples=200, deadline=None)
def test_line_ends_of_any_system_are_read_alike(text: str) -> None:
    expected = split(text)
    assert split(text.replace("\n", "\r\n")) == expected
    assert split(text.replace("\n", "\r")) == expected


@given(st.text(alphabet="aB12. \n\r\u00a0:;?-_()X", max_size=200))
@settings(max_examples=300, deadline=None)
def test_spans_are_in_order_trimmed_and_lose_no_letter(text: str) -> None:
    spans = split_sentences(text)
    for (start, end), (following, _) in pairwise(spans):
        assert start < end <= following
    covered = "".join(text[s:e] for s, e in spans)
    assert sum(map(str.isalpha, covered)) == sum(map(str.isalpha, text))
    for start, end in spans:
        assert text[start:end] == text[start:end].strip()


MIMIC = """                                 FINAL REPORT
 EXAMINATION:  CHEST (PA AND LAT)
 
 INDICATION:  ___F with cough  // eval for pneumonia
 
 TECHNIQUE:  Chest PA and lateral
 
 COMPARISON:  ___
 
 FINDINGS: 
 
 The lungs are clear.  There is no pleural effusion or
 pneumothorax.
 
 IMPRESSION: 
 
 No acute cardiopulmonary process.
"""  # noqa: W291, W293 - as MIMIC-CXR writes it


def test_the_usual_layout() -> None:
    assert kept(MIMIC) == {
        "INDICATION": ["___F with cough // eval for pneumonia"],
        "FINDINGS": ["The lungs are clear.", "There is no pleural effusion or pneumothorax."],
        "IMPRESSION": ["No acute cardiopulmonary process."],
    }


@pytest.mark.parametrize(
    ("report", "section_type", "sentences"),
    [
        pytest.param("FINDNGS: Lungs are clear.", "FINDINGS", ["Lungs are clear."], id="misspelt"),
        pytest.param("IMPRESSON: No edema.", "IMPRESSION", ["No edema."], id="misspelt impression"),
        pytest.param("Impression: No edema.", "IMPRESSION", ["No edema."], id="mixed case"),
        pytest.param("findings\n No edema.", "FINDINGS", ["No edema."], id="no colon"),
        pytest.param("PORTABLE CHEST: No edema.", "FINDINGS", ["No edema."], id="view header"),
        pytest.param(
            "CHEST, PA LATERAL:\n\n INDICATION: Cough.\n\n FINDINGS: No edema.",
            "FINDINGS",
            ["No edema."],
            id="title like a header",
        ),
        pytest.param(
            "FINDINGS:\n\n IMPRESSION: No edema.", "IMPRESSION", ["No edema."], id="empty findings"
        ),
        pytest.param(
            "FINAL REPORT\n The heart is enlarged. No edema.",
            "FINDINGS",
            ["The heart is enlarged.", "No edema."],
            id="no header",
        ),
        pytest.param(
            "In comparison with the study of ___, there is little overall change.",
            "FINDINGS",
            ["In comparison with the study of ___, there is little overall change."],
            id="nothing but a comparison",
        ),
        pytest.param(
            "COMPARISON: ___.\n\n The heart is enlarged. No edema.\n\n IMPRESSION: Cardiomegaly.",
            "FINDINGS",
            ["The heart is enlarged.", "No edema."],
            id="paragraph under comparison",
        ),
        pytest.param(
            "COMPARISON: ___. The heart is enlarged. There is no edema.\n IMPRESSION: Large heart.",
            "FINDINGS",
            ["The heart is enlarged.", "There is no edema."],
            id="sentences under comparison",
        ),
        pytest.param(
            "INDICATION: Cough. FINDINGS: No edema. IMPRESSION: Normal chest.",
            "FINDINGS",
            ["No edema."],
            id="all on one line",
        ),
        pytest.param(
            "Findings: No edema. Impression: Normal chest.",
            "IMPRESSION",
            ["Normal chest."],
            id="mixed case on one line",
        ),
        pytest.param(
            "CLINICAL HISTORY: Fall  EXAMINATION: CHEST  FINDINGS: No edema  IMPRESSION: Normal.",
            "FINDINGS",
            ["No edema"],
            id="flattened to one line",
        ),
        pytest.param("\ufeffFINDINGS: No edema.", "FINDINGS", ["No edema."], id="byte order mark"),
        pytest.param("FINDINGS - No edema.", "FINDINGS", ["No edema."], id="dash"),
        pytest.param("**FINDINGS:** No edema.", "FINDINGS", ["No edema."], id="starred"),
        pytest.param(
            "WET READ: ___ 8:10 PM\n Small left pneumothorax.",
            "FINDINGS",
            ["Small left pneumothorax."],
            id="nothing but a preliminary read",
        ),
        pytest.param(
            "FINDINGS: No edema.\n FINDINGS: Large heart.",
            "FINDINGS",
            ["No edema.", "Large heart."],
            id="repeated header",
        ),
    ],
)
def test_oddities_of_headers(report: str, section_type: str, sentences: list[str]) -> None:
    assert [s for s in kept(report)[section_type] if "PM" not in s] == sentences
    assert kept(report.replace("\n", "\r\n")) == kept(report)


def test_another_hospitals_line_ends_hide_no_final_report() -> None:
    report = "WET READ: ___ 8:10 PM\r\n no effusion\r\n FINAL REPORT\r\n Large effusion.\r\n"
    assert kept(report) == {"FINDINGS": ["Large effusion."]}


def test_a_preliminary_read_never_stands_in_for_a_final_report() -> None:
    report = "WET READ: ___ 8:10 PM\n no effusion\n FINAL REPORT\n As dictated.\n"
    assert kept(report) == {}


def test_an_addendum_below_counts_if_it_describes_the_study() -> None:
    report = "FINDINGS: No edema.\n\n ADDENDUM: There is a small left pneumothorax.\n"
    assert kept(report)["IMPRESSION"] == ["There is a small left pneumothorax."]
    report = "FINDINGS: No edema.\n\n ADDENDUM: Discussed with Dr. ___ at 8 PM.\n"
    assert kept(report) == {"FINDINGS": ["No edema."]}


@pytest.mark.parametrize(
    "asked",
    [
        "___F with known pneumothorax.",
        "CHEST, TWO VIEWS\n\n ___ year old man with pneumonia. Evaluate for effusion.",
        "Pneumonia on ___, please eval for effusion.",
        "67 M with CHF",
    ],
)
def test_what_is_asked_of_a_report_without_headers_is_no_finding(asked: str) -> None:
    found = kept(f"FINAL REPORT\n {asked}\n\n The heart is enlarged. No edema.\n")
    assert found["FINDINGS"] == ["The heart is enlarged.", "No edema."]
    assert found["INDICATION"]


@pytest.mark.parametrize(
    "first",
    [
        "14 F chest tube is in place.",
        "2 year interval stability of a nodule is noted.",
        "Evaluation is limited by rotation, large effusion is noted.",
        "There is a nodule; evaluate with CT.",
        "Status post sternotomy.",
    ],
)
def test_a_finding_that_resembles_a_request_stays_a_finding(first: str) -> None:
    assert kept(f"{first} The heart is enlarged.")["FINDINGS"] == [first, "The heart is enlarged."]


def test_a_second_paragraph_of_the_history_is_no_finding_where_findings_are_given() -> None:
    history = "HISTORY: Fall.\n\n There was a right pneumothorax in May.\n\n"
    assert "right pneumothorax" not in str(kept(f"{history} FINDINGS: No edema.")["FINDINGS"])


def test_the_impression_of_another_study_in_the_indication_is_not_this_ones() -> None:
    found = kept("INDICATION: Outside CT IMPRESSION: mass\n FINDINGS: Clear lungs.")
    assert "IMPRESSION" not in found


def test_an_addendum_on_top_is_read_and_a_wet_read_is_not() -> None:
    report = (
        "FINAL ADDENDUM\n ADDENDUM: There is a small left pneumothorax.\n"
        " " + "_" * 60 + "\n WET READ: ___ ___ ___ 8:10 PM\n no pneumothorax\n FINAL REPORT\n"
        " FINDINGS: No edema.\n"
    )
    found = kept(report)
    assert found["IMPRESSION"] == ["There is a small left pneumothorax."]
    assert found["FINDINGS"] == ["No edema."]
    assert "WET_READ" not in found


def test_three_underscores_are_a_removed_word_not_a_divider() -> None:
    report = "FINDINGS: Compared to\n ___\n the effusion is larger."
    assert "the effusion is larger." in " ".join(kept(report)["FINDINGS"])


def test_the_indication_never_becomes_a_finding() -> None:
    found = kept("INDICATION: Known large pneumothorax.\n\n IMPRESSION: No edema.")
    assert found["IMPRESSION"] == ["No edema."]
    assert "FINDINGS" not in found


def test_a_site_may_name_its_own_headers_and_removed_words() -> None:
    site = SiteConfig(header_aliases={"Befund": "FINDINGS"}, deid_tokens=["[**name**]"])
    extractor = SentenceExtractor(load_reference(ROOT / "resources" / "reference"), site)
    rows = extractor.extract("s1", "Befund: [**name**]. No edema.")
    assert [(r["section_type"], r["discarded"]) for r in rows] == [
        ("FINDINGS", "empty"),
        ("FINDINGS", None),
    ]


def test_sentences_on_the_same_finding_share_a_cluster_unless_the_sides_differ() -> None:
    rows = EXTRACTOR.extract(
        "s1",
        "FINDINGS: Small left pleural effusion. No pneumothorax. Right pleural effusion.\n"
        " IMPRESSION: Left pleural effusion.",
    )
    left, none, right, summary = (r["cluster"] for r in rows)
    assert left == summary
    assert len({left, none, right}) == 3


def test_a_label_without_text_is_set_aside_with_the_reason() -> None:
    rows = EXTRACTOR.extract("s1", "FINDINGS:\n LUNGS:\n HEART: Normal.")
    assert [(r["sentence"], r["discarded"]) for r in rows] == [
        ("LUNGS:", "header_only"),
        ("HEART: Normal.", None),
    ]


def test_statuses_and_the_ledger_account_for_every_study() -> None:
    reports = {"s1": "FINDINGS: No edema.", "s2": "FINAL REPORT\n CHEST, TWO VIEWS\n", "s3": None}
    studies = frame(({"study_id": k, "report": v} for k, v in reports.items()), STUDIES)
    result = extract_shard(studies, EXTRACTOR)
    assert result.sentences.schema == SENTENCES
    assert result.status.select("study_id", "status", "num_items").rows() == [
        ("s1", "ok", 1),
        ("s2", "empty", 0),
        ("s3", "failed", 0),
    ]
    assert result.ledger.select("study_id", "scope", "reason", "stage").rows() == [
        ("s3", "study", "no_report", "extract_sentences")
    ]
    parts = [extract_shard(studies[i : i + 1], EXTRACTOR).sentences for i in (2, 0, 1)]
    assert pl.concat(parts).sort("study_id", "start").equals(result.sentences)


def test_signatures_are_set_aside_with_the_reason() -> None:
    rows = EXTRACTOR.extract("s1", "IMPRESSION: No edema.\n Electronically signed by Dr. ___.")
    assert [r["discarded"] for r in rows] == [None, "signature"]


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_hostile_text_never_fails_and_spans_hold(report: str) -> None:
    for row in EXTRACTOR.extract("s1", report):
        assert report[row["start"] : row["end"]] == row["sentence"]
