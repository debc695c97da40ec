"""The rules backend of the indication pass: the question and its answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cxrqba.config import SiteConfig
from cxrqba.extract.indication import IndicationExtractor, extract_shard
from cxrqba.extract.indication_request import parse_request
from cxrqba.reference.tables import load_reference
from cxrqba.schema import SENTENCES, STUDIES
from cxrqba.tables import frame

REFERENCE = Path(__file__).parents[2] / "resources" / "reference"


@pytest.fixture(scope="module")
def extractor() -> IndicationExtractor:
    return IndicationExtractor(load_reference(REFERENCE), SiteConfig())


def sentence_rows(*lines: tuple[str, str]) -> tuple[str, list[dict[str, Any]]]:
    report, rows = "", []
    for number, (section, text) in enumerate(lines, start=1):
        start = len(report)
        report += text + "\n"
        rows.append(
            {
                "study_id": "s1",
                "sent_id": f"S{number:02d}",
                "section": section,
                "section_type": section,
                "sentence": text,
                "start": start,
                "end": start + len(text),
                "cluster": None,
                "discarded": None,
            }
        )
    return report, rows


@pytest.mark.parametrize(
    ("text", "patient", "indication", "evaluation"),
    [
        (
            "54-year-old man with cough // eval for pneumonia",
            "54-year-old man",
            "cough",
            "pneumonia",
        ),
        ("72F with fever, rule out pneumonia.", "72F", "fever", "pneumonia"),
        ("woman with shortness of breath", "woman", "shortness of breath", None),
        ("Chest pain.", None, "Chest pain", None),
        ("r/o pneumothorax", None, None, "pneumothorax"),
        ("Preoperative evaluation", None, "Preoperative evaluation", None),
        ("___F with palpitations", "F", "palpitations", None),
        ("man // s/p drain removal, eval for PTX", "man", "s/p drain removal", "PTX"),
        (
            "Stroke, NG tube inserted. Safe to feed?",
            None,
            "Stroke, NG tube inserted",
            "Safe to feed",
        ),
        ("61M. Cough for weeks. ? TB", "61M", "Cough for weeks", "TB"),
    ],
)
def test_parts(
    text: str, patient: str | None, indication: str | None, evaluation: str | None
) -> None:
    request = parse_request(text)
    assert (request.patient_info, request.indication, request.evaluation) == (
        patient,
        indication,
        evaluation,
    )


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (
            "54-year-old man with cough // eval for pneumonia",
            "Is there any evidence of pneumonia in a 54-year-old man with cough?",
        ),
        (
            "___ year old woman with dyspnea",
            "Is there an acute cardiopulmonary explanation for dyspnea in a woman?",
        ),
        ("Evaluate for interval change", "Please evaluate the interval change."),
        ("Chest pain", "Is there an acute cardiopulmonary explanation for chest pain?"),
        ("Hypercalcemia", "What are the findings of this chest X-ray given hypercalcemia?"),
        (
            "Preoperative evaluation",
            "Is there any acute cardiopulmonary abnormality given preoperative evaluation?",
        ),
        ("?CHF", "Is there any evidence of congestive heart failure?"),
        ("r/o pneumonia", "Is there any evidence of pneumonia?"),
        (
            "48M s/p line placement",
            "Are there any complications in a 48-year-old man status post line placement?",
        ),
        (
            "___F with new PICC",
            "Please evaluate the position of the peripherally inserted central catheter in a woman "
            "with new peripherally inserted central catheter.",
        ),
        (
            "70M fall from ladder",
            "Is there any evidence of traumatic injury in a 70-year-old man with fall from ladder?",
        ),
        (
            "3 y/o M with fever",
            "Is there an acute cardiopulmonary explanation for fever in a 3-year-old boy?",
        ),
        ("Positive PPD", "Is there any evidence of tuberculosis given positive PPD?"),
        ("Cough. pna, ptx?", "Is there any evidence of pneumonia or pneumothorax given cough?"),
        (
            "___ year old man POD2 // acute process?",
            "Is there any evidence of an acute process in a man on postoperative day 2?",
        ),
        ("Cough // cause", "What is the cause of the symptoms given cough?"),
    ],
)
def test_question(extractor: IndicationExtractor, text: str, question: str) -> None:
    report, rows = sentence_rows(("INDICATION", text), ("IMPRESSION", "No pneumothorax."))
    row = extractor.extract("s1", report, rows)
    assert row is not None
    assert row["indication_summary"] == question


def test_the_answer_is_made_of_related_report_sentences(extractor: IndicationExtractor) -> None:
    report, rows = sentence_rows(
        ("INDICATION", "Fever, rule out pneumonia."),
        ("FINDINGS", "Right lower lobe consolidation."),
        ("FINDINGS", "The trachea is midline."),
        ("IMPRESSION", "1. Right lower lobe pneumonia."),
    )
    row = extractor.extract("s1", report, rows)
    assert row is not None
    assert row["sent_ids"] == ["S01"]
    assert row["associated_sentence_ids"] == ["S02", "S04"]
    assert row["answer_name"] == "Right lower lobe pneumonia"
    assert row["answer_sentence"] == ("Right lower lobe pneumonia. Right lower lobe consolidation.")


def test_without_common_terms_the_impression_answers(extractor: IndicationExtractor) -> None:
    report, rows = sentence_rows(
        ("HISTORY", "Chest pain."),
        ("FINDINGS", "The trachea is midline."),
        ("IMPRESSION", "No acute cardiopulmonary process."),
    )
    row = extractor.extract("s1", report, rows)
    assert row is not None
    assert row["associated_sentence_ids"] == ["S03"]


def test_no_indication_is_empty_and_not_lost() -> None:
    report, rows = sentence_rows(("INDICATION", "___"), ("FINDINGS", "No pneumothorax."))
    found, status, ledger = extract_shard(
        frame([{"study_id": "s1", "report": report}], STUDIES),
        frame(rows, SENTENCES),
        load_reference(REFERENCE),
        SiteConfig(),
    )
    assert found.height == 0
    assert status.select("study_id", "step", "status").rows() == [
        ("s1", "extract_indication", "empty")
    ]
    assert ledger.height == 0
