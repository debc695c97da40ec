"""Study labels: what is said of each class, where, and above all what is not said."""

from __future__ import annotations

import polars as pl
import pytest
from labels_fixtures import REFERENCE, read

from cxrqba.errors import UserError
from cxrqba.evaluate.study_labels import load_classes
from cxrqba.reference.tables import load_reference
from cxrqba.schema import LABELS

SAID = {
    "Small left pleural effusion.": ("Pleural Effusion", "positive"),
    "Linear atelectasis at the left base.": ("Atelectasis", "positive"),
    "Possible left pleural effusion.": ("Pleural Effusion", "uncertain"),
    "Probable left pleural effusion.": ("Pleural Effusion", "positive"),
    "No pleural effusion.": ("Pleural Effusion", "negative"),
    "No focal consolidation.": ("Consolidation", "negative"),
    "No focal airspace consolidation.": ("Consolidation", "negative"),
    "The heart is normal in size.": ("Cardiomegaly", "negative"),
    "No pneumonia.": ("Pneumonia", "negative"),
    "No pneumothorax.": ("Pleural Effusion", "not mentioned"),
    "Right chest tube in place.": ("Support Devices", "positive"),
    # a denial in part denies no class
    "No large pleural effusion.": ("Pleural Effusion", "not mentioned"),
    "No left pleural effusion.": ("Pleural Effusion", "not mentioned"),
    # what lies outside of the chest is no finding of the chest
    "Fracture of the distal left femur.": ("Fracture", "not mentioned"),
    "Old hip fracture.": ("Fracture", "not mentioned"),
    "On the other hand, there is a fracture of the left rib.": ("Fracture", "positive"),
    "No new pleural effusion.": ("Pleural Effusion", "not mentioned"),
    "No new or enlarging pneumothorax.": ("Pneumothorax", "not mentioned"),
    "No new focal consolidation.": ("Consolidation", "not mentioned"),
    "No significant pleural effusion.": ("Pleural Effusion", "not mentioned"),
    "No definite pneumothorax.": ("Pneumothorax", "negative"),
    "No acute fracture.": ("Fracture", "not mentioned"),
    "No loculated pleural effusion.": ("Pleural Effusion", "not mentioned"),
    "Unchanged compared with the prior study.": ("Pleural Effusion", "not mentioned"),
    # left and right denied are both denied
    "There is no left pleural effusion. There is no right pleural effusion.": (
        *("Pleural Effusion", "negative"),
    ),
    "There is no large left pleural effusion. There is no large right pleural effusion.": (
        *("Pleural Effusion", "not mentioned"),
    ),
    # what is asserted anywhere outweighs a denial
    "Small right pleural effusion. No left pleural effusion.": ("Pleural Effusion", "positive"),
    # "No Finding" needs a report that was understood and holds nothing abnormal
    "The lungs are clear. No pleural effusion.": ("No Finding", "positive"),
    "No pleural effusion. Hiatal hernia.": ("No Finding", "not mentioned"),
    "No pleural effusion. Zwergen quill.": ("No Finding", "not mentioned"),
    "Small bilateral pleural effusions.": ("No Finding", "not mentioned"),
    # what is added by default is no label
    "The lungs are clear.": ("Fracture", "not mentioned"),
}
"""Findings of a report -> a class and what it is."""


@pytest.fixture(scope="module")
def labels() -> pl.DataFrame:
    """LABELS of all cases, a study each."""
    return read({said: f"FINDINGS: {said}" for said in SAID}).labels


@pytest.mark.parametrize("said", SAID)
def test_a_class_is_what_the_report_says_of_it(labels: pl.DataFrame, said: str) -> None:
    name, value = SAID[said]
    row = labels.row(
        by_predicate=(pl.col("study_id") == said) & (pl.col("class") == name), named=True
    )
    assert row["value"] == value
    assert (row["certainty"] is None) == (value == "not mentioned" or name == "No Finding")
    if value != "not mentioned" and name != "No Finding":
        assert row["evidence"]


def test_evidence_is_the_place_that_says_it_and_what_decided_comes_first() -> None:
    report = "FINDINGS: No left pleural effusion.\n\nIMPRESSION: Small right pleural effusion."
    found = read({"s1": report})
    labels, sentences = found.labels, found.sentences
    assert labels.schema == LABELS
    row = labels.row(by_predicate=pl.col("class") == "Pleural Effusion", named=True)
    assert (row["value"], row["certainty"]) == ("positive", "certain")
    first, second = row["evidence"]
    assert (first["says"], first["laterality"]) == ("positive", "right")
    assert second["says"] == "one-sided denial"
    assert report[first["start"] : first["end"]].endswith("pleural effusion")
    of_sentence = sentences.row(by_predicate=pl.col("sent_id") == first["sent_id"], named=True)
    assert of_sentence["start"] <= first["start"] < first["end"] <= of_sentence["end"]


def test_every_class_of_every_study_is_there_whatever_the_class_set() -> None:
    reports = {"s1": "FINDINGS: Cardiomegaly.", "s2": "FINDINGS: Normal."}
    classes = list(load_reference(REFERENCE).labels["padchest"])
    found = read(reports, dataset="padchest").labels
    assert found["study_id"].to_list() == ["s1"] * len(classes) + ["s2"] * len(classes)
    assert found["class"].to_list() == [*classes, *classes]


def test_an_unknown_class_set_is_named_with_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean 'chexpert'"):
        load_classes(load_reference(REFERENCE), "chexprt", "nearest")
