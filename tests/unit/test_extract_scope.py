"""How far "no" reaches, what ends it, and what only sounds like a denial."""

from __future__ import annotations

import pytest
from statement_fixtures import extractor, mirrored, mirrored_statements, statements

PAIRS = (
    ("pneumothorax", "pleural effusion"),
    ("consolidation", "cardiomegaly"),
    ("pulmonary edema", "atelectasis"),
)

AND_STILL_THERE = (
    "No {} despite the {}.",
    "No {} in a patient with {}.",
    "No {} in the setting of {}.",
    "No {} after treatment of the {}.",
    "No {} next to the {}.",
    "There is no {}, given the {}.",
    "No {} around the {}.",
    "No {} with stable {}.",
    "No {}, {} stable.",
    "No {}, {} unchanged.",
    "No {}, mild {}.",
    "No {} but mild {}.",
    "No {} besides mild {}.",
    "No {} other than mild {}.",
    "No {} except for mild {}.",
    "No {} along with unchanged {}.",
)


@pytest.mark.parametrize(("absent", "present"), PAIRS)
@pytest.mark.parametrize("sentence", AND_STILL_THERE)
def test_a_denial_ends_where_something_is_brought_in(
    sentence: str, absent: str, present: str
) -> None:
    assert statements(sentence.format(absent, present)) == {f"-{absent}", f"+{present}"}


DENIED_TOGETHER = (
    "No {} or {}.",
    "No {}, {}, or fracture.",
    "No {}, {}.",
    "No evidence of {} or {}.",
    "Neither {} nor {} is seen.",
    "There is no {} and no {}.",
    "No {}, nor is there {}.",
    "Without {} or {}.",
    "No {} or {} in the left lung.",
    "No {} or {} identified after the procedure.",
)


@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize("sentence", DENIED_TOGETHER)
def test_a_denial_reaches_over_its_list(sentence: str, one: str, other: str) -> None:
    found = {s.split("@")[0] for s in statements(sentence.format(one, other))}
    assert {f"-{one}", f"-{other}"} <= found
    assert not any(s.startswith("+") for s in found)


@pytest.mark.parametrize(
    "device", ["chest tube", "endotracheal tube", "pacemaker", "nasogastric tube"]
)
@pytest.mark.parametrize(
    "sentence",
    [
        "No pneumothorax with {} in place.",
        "No pneumothorax seen with the {} on suction.",
        "No pneumothorax around the {}.",
        "There is no pneumothorax, with a {} in place.",
        "No pneumothorax at the {}.",
        "No pneumothorax since placement of the {}.",
    ],
)
def test_a_device_beside_a_denied_finding_is_there(sentence: str, device: str) -> None:
    assert statements(sentence.format(device)) == {"-pneumothorax", f"+{device}"}


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("No focal consolidation with air bronchograms.", {"-consolidation", "~air bronchogram"}),
        ("No edema with cardiomegaly.", {"-pulmonary edema", "~cardiomegaly"}),
        (
            "No pneumothorax, bibasilar atelectasis, small effusions.",
            {"-pneumothorax", "~basal atelectasis@LR", "+pleural effusion"},
        ),
    ],
)
def test_what_may_or_may_not_be_denied_stays_open(sentence: str, wanted: set[str]) -> None:
    assert statements(sentence) == wanted


FINDINGS = ("pleural effusion", "consolidation", "pneumothorax", "pulmonary nodule")

SINGLE = {
    "Neither lung shows {}.": "-",
    "In neither lung is there {}.": "-",
    "None of the lobes shows {}.": "-",
    "There is no evidence that the {} has increased.": "+",
    "There is no suggestion that the {} is larger.": "+",
    "There is no evidence that there is a {}.": "-",
    "Neither {} has changed.": "+",
    "No increase in the {}.": "+",
    "No worsening of the {}.": "+",
    "No more than a mild {}.": "+",
    "Minimal to no {}.": "-?",
    "Little if any {}.": "-?",
    "Suspicious but not diagnostic for {}.": "?",
    "Not excluded is a {}.": "?",
    "A {} is not excluded.": "?",
    "A {} is hard to judge.": "~",
    "Without the lateral view, a {} is difficult to assess.": "~",
    "A {} was considered but is thought unlikely.": "-?",
    "A {} was considered but unlikely.": "-?",
    "The suspected {} is not confirmed.": "-?",
    "On the prior study there was a {}.": "=",
    "Previously there was a {}.": "=",
    "The previous radiograph showed a large {}.": "=",
    "What was thought to be a {} is a skin fold.": "-?",
    "The density previously called a {} represents a nipple shadow.": "-?",
    "A skin fold mimics a {}.": "-?",
    "A skin fold simulating a {}.": "-?",
    "The {} has resolved.": "-",
    "The {} resolved since the prior study.": "-",
    "The {} has cleared compared to yesterday.": "-",
    "Previously seen {} is no longer visible.": "-",
    "The previously seen {} is unchanged.": "+",
    "The lungs are clear of {}.": "-",
    "Suspect a small {}.": "?",
    "Cannot be certain that there is no {}.": "?",
    "A {} cannot be confirmed.": "?",
    "A {} is neither confirmed nor excluded.": "?",
    "{}: No.": "-",
    "{}: None.": "-",
    "{}: Yes.": "+",
    "{}: No change.": "+",
    "{} absent.": "-",
    "{} not likely.": "-?",
    "Atypical for {}.": "-?",
    "Rule out {}.": "?",
    "A {} has been ruled out.": "-",
    "A {} would have to be considered.": "?",
    "Raises concern for {}.": "?",
    "{} versus xyzosis.": "?",
    "Small {} with or without scarring.": "+",
    "No evidence of line-related {}.": "-",
    "No acute change in the {}.": "+",
    "The {} has cleared in part.": "+",
    "{}, xyzosis cannot be excluded.": "+",
    "Suspicious for infection, and a {}.": "+",
    "A small {} could be missed on this supine film.": "~",
    "A tiny {} would be difficult to see.": "~",
    "The {} is likely unchanged.": "+",
    "Left {}, if any, is small.": "?",
    "No large {}.": "-",
    "No displaced {}.": "-?",
    "No significant interval change in the moderate {}.": "+",
}


@pytest.mark.parametrize("finding", FINDINGS)
@pytest.mark.parametrize("sentence", SINGLE)
def test_one_finding(sentence: str, finding: str) -> None:
    found = {s.split("@")[0] for s in statements(sentence.format(finding))}
    about = {s for s in found if s.endswith(finding)}
    assert about == {SINGLE[sentence] + finding}


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        (
            "Left effusion improved and right effusion resolved.",
            {"+pleural effusion@L", "-pleural effusion@R"},
        ),
        (
            "The left effusion is larger and the right pneumothorax has resolved.",
            {"+pleural effusion@L", "-pneumothorax@R"},
        ),
        ("Effusion and edema have resolved.", {"-pleural effusion", "-pulmonary edema"}),
        (
            "Left effusion and left pneumothorax resolved.",
            {"-pleural effusion@L", "-pneumothorax@L"},
        ),
        (
            "Endotracheal tube removed, nasogastric tube remains.",
            {"-endotracheal tube", "+nasogastric tube"},
        ),
    ],
)
def test_a_closing_word_speaks_of_its_own_subject(sentence: str, wanted: set[str]) -> None:
    assert statements(sentence) == wanted
    assert statements(mirrored(sentence)) == mirrored_statements(wanted)


PREFERRED = {
    "Appearances favor {} over {}.": "? -?",
    "{} is favored over {}.": "? -?",
    "More likely {} than {}.": "? -?",
    "Likely {}, less likely {}.": "? -?",
    "{} rather than {}.": "+ -",
    "{} versus {}.": "? ?",
    "Either {} or {}.": "? ?",
}


@pytest.mark.parametrize(("one", "other"), [("atelectasis", "pneumonia"), ("scar", "mass")])
@pytest.mark.parametrize("sentence", PREFERRED)
def test_what_is_preferred_and_what_is_not(sentence: str, one: str, other: str) -> None:
    names = {"scar": "pulmonary scarring", "mass": "pulmonary mass"}
    first, second = PREFERRED[sentence].split()
    wanted = {first + names.get(one, one), second + names.get(other, other)}
    assert statements(sentence.format(one, other)) == wanted


@pytest.mark.parametrize(
    ("sentence", "sides"),
    [
        ("Atelectasis, pneumonia, or both.", set()),
        ("Both atelectasis and pneumonia are present.", set()),
        ("Both lung bases show atelectasis.", {"LR"}),
        ("Both effusions are small.", {"LR"}),
    ],
)
def test_both_of_two_findings_is_no_side(sentence: str, sides: set[str]) -> None:
    assert {s.split("@")[1] for s in statements(sentence) if "@" in s} == sides


def test_a_degree_of_a_cue_is_not_the_findings() -> None:
    sentence = "No significant interval change in moderate cardiomegaly."
    (draft,) = extractor().read_sentence("S1", sentence, 0)
    assert draft.modifiers == [("severity", "moderate")]
    assert draft.changes == ["No significant interval change"]


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("Lt pleural effusion.", {"+pleural effusion@L"}),
        ("Small R pleural effusion.", {"+pleural effusion@R"}),
        ("L base atelectasis.", {"+atelectasis@L"}),
        ("R > L effusions.", {"+pleural effusion@LR"}),
        ("L1 compression fracture.", {"+vertebral compression fracture"}),
        ("R/O pneumonia.", {"?pneumonia"}),
        ("Heart: Enlarged.", {"+cardiomegaly"}),
        ("Aorta: Tortuous and calcified.", {"+tortuous aorta", "+aortic calcification"}),
        ("Lungs: no nodule.", {"-pulmonary nodule"}),
        ("There has been interval extubation.", {"-endotracheal tube"}),
        ("The patient has been extubated.", {"-endotracheal tube"}),
        ("The patient is no longer intubated.", {"-endotracheal tube"}),
        (
            "The left PICC has been withdrawn and terminates in the axilla.",
            {"+peripherally inserted central catheter@L"},
        ),
        ("The left PICC has been withdrawn.", {"-peripherally inserted central catheter@L"}),
        ("No consolidation in either lung.", {"-consolidation@LR"}),
        ("Acute fx of L 5th and 6th ribs.", {"+acute fracture@L"}),
        ("Scoliosis convex to the right.", {"+scoliosis@R"}),
        (
            "Mediastinum is displaced to the left and the right apex is hidden.",
            {"+mediastinal shift@L"},
        ),
    ],
)
def test_short_forms_of_everyday_reports(sentence: str, wanted: set[str]) -> None:
    assert statements(sentence) == wanted


@pytest.mark.parametrize(
    ("sentence", "degrees"),
    [
        ("The large effusion is now small.", ["small"]),
        ("Moderate, now small, effusion.", ["small"]),
        ("The effusion is small now.", ["small"]),
        ("Small effusion, now large.", ["large"]),
    ],
)
def test_the_degree_of_now_counts(sentence: str, degrees: list[str]) -> None:
    (draft,) = extractor().read_sentence("S1", sentence, 0)
    assert [value.lower() for kind, value in draft.modifiers if kind == "severity"] == degrees


def test_clear_of_one_finding_denies_no_other() -> None:
    assert statements("The lungs are clear of edema.") == {"-pulmonary edema"}


@pytest.mark.parametrize("border", ["Right heart border crisp.", "Left heart border is sharp."])
def test_a_sharp_border_says_nothing_of_the_size(border: str) -> None:
    assert statements(border) == {"-silhouette sign"}


@pytest.mark.parametrize(
    "sentence",
    ["The right lung base is not imaged.", "The lung apices are not included on this image."],
)
def test_what_is_not_imaged_is_told(sentence: str) -> None:
    assert {s.split("@")[0] for s in statements(sentence)} == {"+incomplete field of view"}
