"""Sections and sentences: spans reproduce the text, and every oddity of real layouts is read."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxrqba.config import SiteConfig
from cxrqba.extract.sentences import SentenceExtractor
from cxrqba.reference.tables import load_reference
from cxrqba.reports.sentences import split_sentences

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
        (" . \n ___ ", []),
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


@given(st.text(alphabet="aB1. \n:;?-_()X", max_size=200))
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
            "FINDINGS: No edema.\n FINDINGS: Large heart.",
            "FINDINGS",
            ["No edema.", "Large heart."],
            id="repeated header",
        ),
    ],
)
def test_oddities_of_headers(report: str, section_type: str, sentences: list[str]) -> None:
    assert kept(report)[section_type] == sentences


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


def test_signatures_are_set_aside_with_the_reason() -> None:
    rows = EXTRACTOR.extract("s1", "IMPRESSION: No edema.\n Electronically signed by Dr. ___.")
    assert [r["discarded"] for r in rows] == [None, "signature"]


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_hostile_text_never_fails_and_spans_hold(report: str) -> None:
    for row in EXTRACTOR.extract("s1", report):
        assert report[row["start"] : row["end"]] == row["sentence"]
