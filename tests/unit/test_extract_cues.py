"""Wordings that deny, doubt, recall or take back: each must mean the same of every finding."""

from __future__ import annotations

import pytest
from statement_fixtures import mirrored, mirrored_statements, statements

FINDINGS = ("pleural effusion", "consolidation", "pneumothorax", "rib fracture", "cardiomegaly")

WORDINGS = {
    "-": (
        *("A {} can be safely excluded.", "A {} is not a feature.", "Non-visualization of {}."),
        *("Formerly {}, now cleared.", "The {} is nonexistent.", "The previous {} gone."),
        *("The {} - none.", "A {} (-).", "No {}, old or new.", "The {} can be ruled out."),
        *("There isn't a {}.", "We don't see a {}.", "A {} isn't seen.", "There aren't any {}."),
        *("Nothing in the way of {}.", "A {} cannot be identified.", "A {} is not made out."),
        *("A {} could not be found.", "The {} has now fully cleared.", "The {} has gone away."),
        *("Appearances are inconsistent with {}.", "There has been resolution of the {}."),
        *("A {} was seen on the prior study and has resolved.", "No {} could be identified."),
        *("The {} was large but has resolved.", "The {} seen yesterday has resolved."),
        "The {} is no longer appreciated.",
    ),
    "-?": (
        *("A {} had been suggested, later not confirmed by CT.", "A {} is thus not borne out."),
        *("A {} is not convincingly shown.", "A {} cannot be clearly seen."),
        *("The {} has probably resolved.", "The {} appears to have cleared."),
        *("Hardly any {}.", "Minimal, if any, {}.", "Trace if any {}.", "Little or no {}."),
        *("A {} was considered but rejected.", "A {} is thought to be unlikely."),
        *("A {} is considered to be less likely.", "This argues against {}."),
        *("What appeared to be a {} is a nipple shadow.", "What looked like a {} is a skin fold."),
        *("The {} described earlier was a skin fold.", "The {} proved to be a skin fold."),
        *("The {} was artifactual.", "The apparent {} is spurious.", "A {} is improbable."),
    ),
    "?": (
        *("Maybe {}.", "Whether there is a {} cannot be said.", "I cannot tell if there is a {}."),
        *("A {} is less likely but possible.", "A {} is one consideration among others."),
        *("A {} is not proven.", "A {} must be excluded by CT.", "The {} may have resolved."),
        *("One can't exclude a {}.", "A {} can't be excluded.", "A {} has not been excluded."),
        *(
            "A {} is hard to rule out.",
            "A {} would be difficult to exclude.",
            "Hard to exclude {}.",
        ),
        *("A {} cannot be confidently ruled out.", "We cannot safely exclude a {}."),
        *("Exclusion of {} is not possible.", "It is not certain whether a {} is present."),
        *("It is unclear whether there is a {}.", "Unclear if there is a {}."),
        *("Uncertain whether this is {}.", "Consideration should be given to {}."),
        *("A {} is conceivable.", "A {} might well be present.", "In all likelihood {}."),
        *("This looks like {}.", "Appearances seem to represent {}.", "This appears to be {}."),
        *("I think this is {}.", "This could well reflect {}.", "This may in part be due to {}."),
        *("Suggestive of but not diagnostic of {}.", "The {} may be artifactual."),
        *("Very probably representing {}.", "More in line with {}.", "This may well be {}."),
    ),
    "+": (
        *("There is a {}, size can't be told.", "A {}, the extent of which cannot be judged."),
        *("There has been no clearing of the {}.", "No interval regression of the {}."),
        *("The {} is almost gone.", "The {} is barely visible.", "No doubt a {} is present."),
        *("There is no longer any doubt about the {}.", "There appears to be a {}."),
        *("No further increase in the {}.", "No appreciable interval change in the {}."),
        *("Not more than a mild {}.", "The {} hasn't resolved.", "The {} has mostly resolved."),
        *("In the absence of priors, the {} is of unknown age.", "The {} hasn't changed."),
        *("No definite worsening of the {}.", "The {} is stable and has not resolved."),
        *("Without a lateral view, the {} appears stable.", "The {} was not seen previously."),
    ),
    "=": (
        *("A {} was present on the prior study.", "A {} was seen on the previous radiograph."),
        *("A {} was noted previously.", "A {} was identified at the last examination."),
    ),
}


@pytest.mark.parametrize("finding", FINDINGS)
@pytest.mark.parametrize(
    ("sign", "wording"), [(sign, w) for sign, wordings in WORDINGS.items() for w in wordings]
)
def test_a_wording_means_the_same_of_every_finding(sign: str, wording: str, finding: str) -> None:
    text = wording.format(finding)
    found = {s.split("@")[0] for s in statements(text[0].upper() + text[1:])}
    assert {s for s in found if s.endswith(finding)} == {sign + finding}


@pytest.mark.parametrize("finding", FINDINGS[:3])
@pytest.mark.parametrize(
    ("wording", "sign"),
    [
        ("A left {} was seen on the prior study and has resolved.", "-"),
        ("A left {} can't be excluded.", "?"),
        ("There isn't a left {}.", "-"),
        ("A left {} was present on the prior study.", "="),
        ("It is unclear whether there is a left {}.", "?"),
        ("A left {} was considered but is felt unlikely.", "-?"),
        ("No further increase in the left {}.", "+"),
    ],
)
def test_the_side_stays_with_the_claim(wording: str, sign: str, finding: str) -> None:
    text = wording.format(finding)
    wanted = {f"{sign}{finding}@L"}
    assert statements(text) == wanted
    assert statements(mirrored(text)) == mirrored_statements(wanted)


@pytest.mark.parametrize("finding", FINDINGS[:4])
@pytest.mark.parametrize(
    "sentence",
    ["{} is seen in neither lung.", "Neither hemithorax shows {}.", "Neither lung has {}."],
)
def test_neither_denies_both_sides(sentence: str, finding: str) -> None:
    text = sentence.format(finding)
    assert f"-{finding}@LR" in statements(text[0].upper() + text[1:])


DEVICES = ("endotracheal tube", "chest tube", "nasogastric tube", "pacemaker lead")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("sentence", "sign"),
    [
        ("The tip of the {} cannot be identified.", "+"),
        ("Tip of the {} is not seen.", "+"),
        ("The {} with its tip projecting over the chest has been removed.", "-"),
        ("The {} was present on the prior study and has been removed.", "-"),
        ("Interval removal of the mediastinal drain and of the {}.", "-"),
        ("No {} in place.", "-"),
        ("The {} isn't seen.", "-"),
        ("The {} hasn't moved.", "+"),
    ],
)
def test_a_device_is_there_until_it_is_removed(sentence: str, sign: str, device: str) -> None:
    found = {s.split("@")[0][: len(sign)] for s in statements(sentence.format(device))}
    assert found == {sign}


PAIRED = {
    "{} is seen, whereas {} is not.": ("+", "-"),
    "There is {}. This obscures any {}.": ("+", "~"),
    "No {} - {} unchanged.": ("-", "+"),
    "Neither {} nor {} has recurred.": ("-", "-"),
    "What was called {} is {}.": ("-?", "+"),
}


@pytest.mark.parametrize(
    ("one", "other"),
    [("consolidation", "pleural effusion"), ("pneumonia", "atelectasis")],
)
@pytest.mark.parametrize("sentence", PAIRED)
def test_two_findings_of_one_sentence(sentence: str, one: str, other: str) -> None:
    text = sentence.format(one, other)
    first, second = PAIRED[sentence]
    assert statements(text[0].upper() + text[1:]) == {first + one, second + other}


@pytest.mark.parametrize("finding", FINDINGS)
@pytest.mark.parametrize(
    ("sentence", "sign"),
    [
        ("A {} is not considered likely.", "-?"),
        ("A {} is not thought to be present.", "-?"),
        ("A {} is not in the differential.", "-?"),
        ("Cannot be certain whether there is a {}.", "?"),
        ("It is not clear that there is a {}.", "?"),
    ],
)
def test_a_denied_likelihood(sentence: str, sign: str, finding: str) -> None:
    assert statements(sentence.format(finding)) == {sign + finding}


@pytest.mark.parametrize("finding", FINDINGS)
@pytest.mark.parametrize(
    "sentence",
    [
        "Had there been a {}, it would be seen.",
        "Were there a {}, it would be visible.",
        "Unless there is a {}, nothing is needed.",
        "Please rule out {}.",
    ],
)
def test_what_is_only_supposed_is_no_statement(sentence: str, finding: str) -> None:
    assert not {s for s in statements(sentence.format(finding)) if finding in s}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "sentence",
    [
        "No pneumothorax, {} in place.",
        "No effusion, pneumothorax, {} in situ.",
        "No edema, {} projects over the chest.",
    ],
)
def test_a_device_in_place_ends_a_bare_list(sentence: str, device: str) -> None:
    found = [s.split("@")[0] for s in statements(sentence.format(device))]
    assert [s[0] for s in found if device in s] == ["+"]


@pytest.mark.parametrize(("one", "other"), [("left", "right"), ("right", "left")])
@pytest.mark.parametrize("finding", FINDINGS[:3])
@pytest.mark.parametrize(
    "sentence",
    [
        "{} {} resolved, {} {} increased.",
        "{} {} cleared, {} {} stable.",
        "{} {} resolved and {} {} is larger.",
    ],
)
def test_what_resolved_is_not_what_follows(
    sentence: str, finding: str, one: str, other: str
) -> None:
    text = sentence.format(one, finding, other, finding)
    sides = {one: one[0].upper(), other: other[0].upper()}
    wanted = {f"-{finding}@{sides[one]}", f"+{finding}@{sides[other]}"}
    assert statements(text[0].upper() + text[1:]) == wanted


@pytest.mark.parametrize("finding", FINDINGS[:4])
@pytest.mark.parametrize(
    ("sentence", "sign"),
    [
        ("Neither {} has resolved.", "+"),
        ("None of the {}s has cleared.", "+"),
        ("The trachea is not deviated, nor is there any {}.", "-"),
        ("The hila are not enlarged, nor is there evidence of {}.", "-"),
    ],
)
def test_neither_and_nor(sentence: str, sign: str, finding: str) -> None:
    found = {s.split("@")[0] for s in statements(sentence.format(finding))}
    assert {s for s in found if finding in s} == {sign + finding}
