"""Wording of template sentences."""

from __future__ import annotations

import pytest
from qa_fixtures import reference

from cxrqba.qa.language import finding_phrase, is_plural, listing, place, sentence, spoken


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (("pleural effusion", "left", "small"), "a small left pleural effusion"),
        (("pleural effusion", "bilateral"), "bilateral pleural effusions"),
        (("pneumothorax", "bilateral"), "bilateral pneumothoraces"),
        (("lung abscess", "bilateral"), "bilateral lung abscesses"),
        (("pneumonia",), "pneumonia"),
        (("cardiomegaly", None, "mild"), "mild cardiomegaly"),
        (("endotracheal tube",), "an endotracheal tube"),
        (("IVC filter",), "an IVC filter"),
        (("ECMO cannula",), "an ECMO cannula"),
        (("umbilical catheter",), "an umbilical catheter"),
        (("sternotomy wires",), "sternotomy wires"),
        (("mass (unspecified site)",), "a mass"),
    ],
)
def test_finding_phrase(arguments, phrase):
    assert finding_phrase(*arguments) == phrase


@pytest.mark.parametrize(
    ("name", "expected"),
    [("lungs", True), ("hila", True), ("diaphragm", False), ("esophagus", False),
     ("pelvis", False), ("costophrenic angles", True), ("ascites", False), ("thorax", False),
     ("sequelae of tuberculosis", True)],
)  # fmt: skip
def test_number(name, expected):
    assert is_plural(name) is expected


def test_places():
    assert place("carina", ["4 cm above"]) == "4 cm above the carina"
    about = "approximately 2.5-3 cm above"
    assert place("carina", [about]) == f"{about} the carina"
    assert place("carina", ["well above"]) == "near the carina"
    assert place("left lung", []) == "in the left lung"
    assert spoken("vertebra t8") == "T8 vertebra"
    assert listing(["a", "b", "c"]) == "a, b, and c"


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("small  effusion .", "Small effusion."),
        ("There is is a nodule..", "There is a nodule."),
        ("no pneumothorax", "No pneumothorax."),
        ("Seen on the the left ,, .", "Seen on the left."),
        ("Is there pneumonia?", "Is there pneumonia?"),
        ("Nodule of 3.5 cm", "Nodule of 3.5 cm."),
        ("He had had a fever.", "He had had a fever."),
        ("", ""),
        (" .", ""),
    ],
)
def test_sentence(raw, clean):
    assert sentence(raw) == clean


def test_every_name_of_the_reference_can_be_said():
    for name in (*reference().findings, *reference().regions):
        assert "(" not in spoken(name)
        assert finding_phrase(name).split()[0] not in ("the",)
