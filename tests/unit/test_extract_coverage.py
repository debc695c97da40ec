"""Silence never looks like health: what is not read keeps a study from being complete."""

from __future__ import annotations

from functools import lru_cache

import pytest
from statement_fixtures import REFERENCE

from cxrqba.extract.drafts import ASSERTING
from cxrqba.extract.observations import ObservationExtractor
from cxrqba.ledger import Ledger
from cxrqba.reference.tables import load_reference

HIDDEN = (
    "The azygos arch is prominent and there is no effusion.",
    "No effusion, and the right hilum sits too low.",
    "The lungs are clear apart from something peculiar behind the heart.",
    "Heart size is normal, with a funny shape of its apex.",
    "No pneumothorax, but the left first rib looks moth-eaten.",
    "The lungs are clear except the right apex.",
    "No effusion on the left; the right is another matter.",
    "No focal consolidation, though the left base is hard to explain.",
    "The aortic knob is not where it should be, and there is no effusion.",
    "Compared to the prior study, there is a new zorblax at the left base.",
    "A zorblax at the right base, for which CT is recommended.",
    "Consider CT for the zorblax seen behind the heart.",
    "The patient has a zorblax and was discussed with Dr. ___.",
    "Zorblax, discussed with Dr. ___ by phone.",
    "Portable view of the chest shows a zorblax.",
    "PA and lateral views of the chest show two zorblaxes.",
    "Comparison is made with the prior study, which did not show the zorblax.",
    "As above, the zorblax has grown.",
    "No pneumothorax. Left lung is smaller than the right.",
    "The lungs are clear and the left breast is absent.",
    "There is no pneumothorax and the trachea is narrowed by a zorblax.",
    "Cardiac silhouette is normal but globular.",
    "No consolidation; the right paratracheal line is broad.",
    "The mediastinum is normal in width but its left border bulges.",
    "Bones are intact apart from the left scapula.",
    "No effusion; a coin projects over the esophagus.",
    "No acute fracture; the fourth rib ends abruptly.",
    "There is no edema, and the gastric bubble is displaced medially.",
    "No pneumothorax, left lung base not so good.",
    "The lungs are clear, the hila less convincing.",
    "No pleural effusion, both hemidiaphragms are poorly defined.",
    "Lungs are clear, with a needle in the right neck.",
    "The lungs are clear; a crescent of lucency follows the left heart border.",
    "There is no consolidation, and a dark band runs along the aorta.",
    "No effusion but the fissure is bowed.",
    "The right lung is clear and the left is white.",
    "The right lung is clear, the left is not.",
    "Clear lungs, though the left apex is darker than the right.",
    "No pneumonia, and the vertebral bodies have a bone-in-bone look.",
    "No infiltrate; the ribs are notched from below.",
    "Heart normal. The vessels are bigger at the top than at the bottom.",
    "No mass; the left hilum is denser than the right.",
    "No effusion or pneumothorax, and the liver is too high.",
    "The lungs are well expanded and streaked.",
    "There are no nodules larger than 5 mm; several smaller ones are scattered about.",
    "No consolidation, only a hint of something at the left base.",
    "Unremarkable chest save for the left shoulder.",
    "Lungs are clear, with the exception of the lingula.",
    "No pneumothorax; the drain has come out and lies on the skin.",
    "No effusion, trachea pushed to the left.",
    "The lungs are clear and the thyroid is big.",
    "No fracture, but the spine leans to the left.",
    "The heart is normal and there are rings around the bronchi.",
    "The lungs are clear. Images were obtained in expiration because of a swallowed tooth.",
    "No pneumothorax and gas in the wall of the neck.",
    "No consolidation; the pleura over the left apex is not smooth.",
    "The lungs are clear and the pulmonary trunk stands out.",
    "No edema; the superior mediastinum is fuller than before.",
    "Heart and lungs are normal; the clavicle is stepped.",
    "Lungs clear, heart tilted.",
    "The left lung has come up less than the right and there is no effusion.",
    "No effusion. Extra line along the left lung edge.",
    "There is no effusion, and something metallic lies at the thoracic inlet.",
)
"""Sentences with something abnormal in words that no table knows."""

SILENT = (
    ("Comparison: None available.", "comparison"),
    ("Comparison is made with the prior study of ___.", "comparison"),
    ("No prior studies are available for comparison.", "comparison"),
    ("The prior CT was reviewed.", "comparison"),
    ("Two chest radiographs were obtained.", "technique"),
    ("Frontal and lateral views of the chest were acquired.", "technique"),
    ("Three total images.", "technique"),
    ("The examination consists of two frontal radiographs of the chest.", "technique"),
    ("Clinical correlation is recommended.", "recommendation"),
    ("Correlate clinically.", "recommendation"),
    ("Recommend follow-up CT in 3 months to document resolution.", "recommendation"),
    ("Consider a lateral decubitus view for further evaluation.", "recommendation"),
    ("If clinically indicated, CT of the chest with contrast may be helpful.", "recommendation"),
    ("Bronchoscopy could be obtained for further characterization.", "recommendation"),
    ("No further imaging is necessary.", "recommendation"),
    ("Discussed with Dr. Karl Maier by Dr. Anna Noel at 4 pm.", "notification"),
    ("Findings discussed with ___ by ___ by telephone at 10:15 a.m.", "notification"),
    ("The ordering physician was notified of these results.", "notification"),
    ("The critical result was called to the floor nurse immediately.", "notification"),
    ("I have personally reviewed the images and agree with the report.", "notification"),
    ("Please see above.", "reference"),
)

READ = (
    "The left lung is essentially clear.",
    "The lungs are essentially normal.",
    "The lungs are otherwise grossly clear.",
    "Vague opacity which appears to be within the left lower lobe.",
    "There is a nodule, which is in the right lower lobe, and no effusion.",
    "The heart is enlarged. The lungs are clear.",
    "There is a prominent patchy opacity at the right base.",
    "The left effusion is prominent.",
    "No discrete nodule and no appreciable effusion.",
    "Displaced left rib fracture.",
    "No pneumothorax, effusion or consolidation.",
    "The cardiomediastinal silhouette is unremarkable.",
)


@lru_cache(maxsize=1)
def extractor() -> ObservationExtractor:
    return ObservationExtractor(load_reference(REFERENCE))


def read(text: str) -> tuple[list[dict[str, object]], dict[str, str]]:
    """Observations of one FINDINGS sentence, and reason -> detail of its ledger."""
    row = {
        "study_id": "s1",
        "sent_id": "S01",
        "section": "FINDINGS",
        "section_type": "FINDINGS",
        "sentence": text,
        "start": 0,
        "end": len(text),
        "cluster": None,
        "discarded": None,
    }
    ledger = Ledger("test")
    rows = extractor().extract("s1", text, [row], ledger)
    return rows, {str(r["reason"]): str(r["detail"]) for r in ledger.rows}


@pytest.mark.parametrize("text", HIDDEN)
def test_what_is_not_read_is_asserted_or_keeps_the_study_incomplete(text: str) -> None:
    rows, reasons = read(text)
    if not {"partly_covered", "uncovered_sentence"} & set(reasons):
        assert any(r["probability"] in ASSERTING for r in rows)


@pytest.mark.parametrize(("text", "kind"), SILENT)
def test_sentences_that_describe_nothing_are_silent_by_right(text: str, kind: str) -> None:
    rows, reasons = read(text)
    assert reasons == {"non_observational": kind}
    assert rows == []


@pytest.mark.parametrize(("text", "kind"), SILENT)
def test_no_sentence_is_silent_by_right_if_it_names_something_unknown(text: str, kind: str) -> None:
    for hidden in (f"Zorblax. {text}", f"{text.rstrip('.')}, and a zorblax at the left base."):
        _, reasons = read(hidden)
        assert {"partly_covered", "uncovered_sentence"} & set(reasons), kind


@pytest.mark.parametrize("text", READ)
def test_ordinary_sentences_are_read_to_the_end(text: str) -> None:
    rows, reasons = read(text)
    assert rows
    assert reasons == {}


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("The azygos arch is prominent and there is no effusion.", "prominent"),
        ("The lungs are clear except the right apex.", "the right apex"),
        ("There is no nodule, which lies in the left lung.", "lies in the left lung"),
    ],
)
def test_the_ledger_points_at_what_was_not_read(text: str, unread: str) -> None:
    spans = read(text)[1]["partly_covered"].removeprefix("characters ").split(", ")
    assert any(unread in text[slice(*map(int, span.split("-")))] for span in spans)
