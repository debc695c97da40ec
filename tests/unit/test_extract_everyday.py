"""Everyday sentences of many houses and what they say, one kind of wording a group."""

from __future__ import annotations

import pytest
from statement_fixtures import mirrored, mirrored_statements, statements

SHARED_PREDICATES = {
    "Neither the heart nor the aorta is enlarged.": "-cardiomegaly; -aortic enlargement",
    "The heart and mediastinum are not enlarged.": "-cardiomegaly; -mediastinal widening",
    "The heart and aorta are enlarged.": "+cardiomegaly; +aortic enlargement",
    "The heart is no longer enlarged.": "-cardiomegaly",
    "Heart no longer enlarged.": "-cardiomegaly",
    "The mediastinum is no longer widened.": "-mediastinal widening",
    "The heart is normal, the lungs less so.": "-cardiomegaly",
}

OF_BEFORE = {
    "Previously seen effusion.": "=pleural effusion",
    "There used to be an effusion.": "=pleural effusion",
    "Previously seen left effusion has resolved.": "-pleural effusion@L",
    "Previously seen right effusion is smaller.": "+pleural effusion@R",
    "No larger effusion.": "=pleural effusion",
    "No larger pneumothorax than previously.": "=pneumothorax",
}

REQUESTS = {
    "Exclude pneumothorax.": "",
    "Exclude rib fracture on the left.": "",
}

ALTERNATIVES = {
    "Summation versus nodule.": "?pulmonary nodule",
    "Viral pattern or asthma.": "?asthma",
    "Atelectasis vs. pneumonia.": "?atelectasis; ?pneumonia",
}

LEVELS = {
    "Fractures of the left 5th and 6th ribs.": "+rib fracture@L",
    "Fractures of the right 4th to 8th ribs.": "+rib fracture@R",
    "Fractures of the left fourth, fifth and sixth ribs.": "+rib fracture@L",
    "Right 3rd-6th rib fractures.": "+rib fracture@R",
    "Compression fractures of T7, T8 and T12.": "+vertebral compression fracture",
    "Bibasal atelectasis.": "+basal atelectasis@LR",
}

GROUPS = (SHARED_PREDICATES, OF_BEFORE, REQUESTS, ALTERNATIVES, LEVELS)
CASES = [case for group in GROUPS for case in group.items()]


@pytest.mark.parametrize(("text", "told"), CASES)
def test_what_is_said(text: str, told: str) -> None:
    wanted = {part for part in told.split("; ") if part}
    assert statements(text) == wanted
    assert statements(mirrored(text)) == mirrored_statements(wanted)
