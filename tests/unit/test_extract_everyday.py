"""Everyday sentences of many houses and what they say, one kind of wording a group."""

from __future__ import annotations

import pytest
from statement_fixtures import extractor, mirrored, mirrored_statements, statements

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
    "Viral pattern or asthma.": "?viral pneumonia; ?asthma",
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

NOT_ASSESSED = {
    "Heart size difficult to assess.": "~cardiomegaly",
    "Fracture of the left humerus, incompletely evaluated.": "+humeral fracture@L",
    "Heart size cannot be assessed on this AP film.": "~cardiomegaly",
    "The right hemidiaphragm is poorly seen.": "~elevated hemidiaphragm@R",
    "Mediastinum is not well assessed due to rotation.": "+patient rotation; "
    "~mediastinal widening; ~enlarged cardiomediastinum",
}

NOTHING_FOUND = {
    "Nothing acute.": "-acute cardiopulmonary process",
    "Nil of note.": "-acute cardiopulmonary process",
    "No abnormality detected.": "-acute cardiopulmonary process",
    "Good inspiratory effort.": "-low lung volumes",
    "The airways are patent.": "-airway obstruction",
    "CT ratio within normal limits.": "-cardiomegaly",
    "No collapse/consolidation.": "-atelectasis; -consolidation",
}

DOUBTED = {
    "In the right clinical setting this is pneumonia.": "+pneumonia",
    "DDx: edema, infection.": "?pulmonary edema; ?infection",
    "A hint of interstitial edema.": "?interstitial pulmonary edema",
    "Raises the question of a nodule in the left upper lobe.": "?pulmonary nodule@L",
    "Impression of a nodule in the left upper lobe.": "?pulmonary nodule@L",
    "Appearances favour atelectasis.": "?atelectasis",
    "Possibly infective.": "?infection",
}

CLEAR = "{0}lung opacity{1}; {0}consolidation{1}; {0}pneumonia{1}; {0}pulmonary edema{1}"
ONE_SIDE_CLEAR = {
    "Effusion at the left base, right lung clear.": "+pleural effusion@L; "
    + CLEAR.format("-", "@R"),
    "Left effusion and right base clear.": "+pleural effusion@L; " + CLEAR.format("-", "@R"),
}

HEADED = {
    "Tubes and lines: ETT and NGT in place.": "+endotracheal tube; +nasogastric tube",
    "Support lines and tubes: stable in position.": "+tube or line",
}

SHORT_FORMS = {
    "B/L effusions.": "+pleural effusion@LR",
    "B/L lower zone consolidation.": "+consolidation@LR",
    "Lungs clear w/o effusion.": "-pleural effusion; " + CLEAR.format("-", ""),
    "Left rib fxs w/ tiny left ptx.": "+rib fracture@L; +pneumothorax@L",
    "Consolidation +/- effusion.": "+consolidation; ?pleural effusion",
    "No eff. No consol.": "-pleural effusion; -consolidation",
    "R basal consol with assoc. effusion.": "+consolidation@R; +pleural effusion@R",
    "Left-sided Port-A-Cath ends in the SVC.": "+chest port@L",
    "Pleura: No fluid, no pneumothorax.": "-pleural effusion; -pneumothorax",
    "Left lower lobe remains collapsed.": "+lobar atelectasis@L",
    "The nodule has grown.": "+pulmonary nodule",
    "Lungs over-expanded.": "+hyperinflation",
    "No pneumothorax following line insertion.": "-pneumothorax",
}

COMPANIONS = {
    "Right basal consolidation with effusion.": "+consolidation@R; +pleural effusion@R",
    "Left rib fractures with pneumothorax.": "+rib fracture@L; +pneumothorax@L",
    "Right effusion with cardiomegaly.": "+pleural effusion@R; +cardiomegaly",
    "Right effusion with left pneumothorax.": "+pleural effusion@R; +pneumothorax@L",
    "Opacity of the right upper lobe with volume loss.": "+lung opacity@R; +volume loss@R",
    "Left chest tube with pneumothorax.": "+chest tube@L; +pneumothorax",
}

GROUPS = (SHARED_PREDICATES, OF_BEFORE, REQUESTS, ALTERNATIVES, LEVELS)
GROUPS += (COMPANIONS, SHORT_FORMS, NOT_ASSESSED, NOTHING_FOUND, DOUBTED, ONE_SIDE_CLEAR, HEADED)
CASES = [case for group in GROUPS for case in group.items()]


@pytest.mark.parametrize(("text", "told"), CASES)
def test_what_is_said(text: str, told: str) -> None:
    wanted = {part for part in told.split("; ") if part}
    assert statements(text) == wanted
    if "right clinical" not in text and not text.startswith("R "):
        assert statements(mirrored(text)) == mirrored_statements(wanted)


@pytest.mark.parametrize(
    ("report", "finding", "side"),
    [
        ("Right basal consolidation. This may be infection.", "infection", "right"),
        ("Left basal opacity. Atelectasis just above it.", "Atelectasis", "left"),
        ("Left mass and right effusion. This may be infection.", "infection", ""),
        ("Bilateral effusions. This may be infection.", "infection", ""),
        ("Right effusion. The lungs show edema.", "edema", ""),
        ("Left effusion. No pneumothorax within it.", "pneumothorax", ""),
    ],
)
def test_this_is_on_the_side_of_what_was_told_before(report: str, finding: str, side: str) -> None:
    rows = []
    for number, sentence in enumerate(report.removesuffix(".").split(". ")):
        start = report.index(sentence)
        rows.append(
            {
                "sent_id": f"S{number}",
                "start": start,
                "end": start + len(sentence),
                "sentence": sentence,
                "section": "FINDINGS",
                "section_type": "FINDINGS",
                "discarded": None,
                "cluster": number,
            }
        )
    told = [r for r in extractor().extract("s", report, rows) if finding in r["entities"]]
    assert [
        side for r in told for side in ("left", "right") if side in (r["laterality_text"] or "")
    ] == ([side] if side else [])
    assert told
