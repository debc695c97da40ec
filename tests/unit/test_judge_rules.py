"""The rules judge on planted errors: each case is a text a careful reader would fail or pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from cxrqba.judge.rules import RulesJudge
from cxrqba.judge.vocabulary import load_vocabulary
from cxrqba.schema import TEXT_QUALITY

VOCABULARY = Path(__file__).parents[2] / "resources" / "judge"

REPORT = """ FINAL REPORT
 INDICATION: Fever. Rule out pneumothorax and rib fracture.

 FINDINGS: There is a small left pleural effusion. No right pleural effusion.
 The heart is moderately enlarged. Patchy opacity in the right lower lobe, possibly pneumonia.
 No pneumothorax. The mediastinal contours are normal. No focal consolidation in the left lung.
 An endotracheal tube ends 4 cm above the carina. The upper lobes are clear.
 Lingular scarring is unchanged.

 IMPRESSION: Moderate cardiomegaly. No large pneumothorax.
"""

EXPANDED = "FINDINGS: The lungs are well expanded. Osseous structures are intact."

CORRECTED = """ FINAL ADDENDUM
 ADDENDUM: On review there is a tiny left apical pneumothorax.
 ______________________________________________________________________________
 FINAL REPORT
 FINDINGS: No pneumothorax. Lungs are clear. Heart size is normal.
"""

ANY = "Describe the study."


@pytest.fixture(scope="module")
def judge() -> RulesJudge:
    return RulesJudge(load_vocabulary(VOCABULARY))


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        # right answers
        ("There is a small left pleural effusion.", "ALIGNED_MENTIONED"),
        ("Small left effusion.", "ALIGNED_MENTIONED"),
        ("There is no pneumothorax.", "ALIGNED_MENTIONED"),
        ("No right pleural effusion is seen.", "ALIGNED_MENTIONED"),
        ("The heart is enlarged.", "ALIGNED_MENTIONED"),
        ("Yes, there is cardiomegaly.", "ALIGNED_MENTIONED"),
        ("Possible pneumonia in the right lower lobe.", "ALIGNED_MENTIONED"),
        ("There is an endotracheal tube.", "ALIGNED_MENTIONED"),
        ("There is an opacity in the right lung.", "ALIGNED_MENTIONED"),
        ("The heart is not normal.", "ALIGNED_INFERABLE"),
        ("Yes, the study is abnormal.", "ALIGNED_INFERABLE"),
        ("There is no mediastinal widening.", "ALIGNED_INFERABLE"),
        ("No rib fracture is seen.", "ALIGNED_NEGATIVE_NOT_MENTIONED"),
        ("No hiatal hernia.", "ALIGNED_NEGATIVE_NOT_MENTIONED"),
        ("No further details are described.", "ALIGNED_GENERAL_STATEMENT"),
        ("Possibly, there may be an abnormality of the heart.", "ALIGNED_INFERABLE"),
        ("It cannot be determined whether there is pneumonia.", "ALIGNED_MENTIONED"),
        ("Yes, there is a device in the trachea.", "ALIGNED_INFERABLE"),
        ("There are no abnormalities of the vessels.", "ALIGNED_NEGATIVE_NOT_MENTIONED"),
        ("There are no signs of trauma.", "ALIGNED_NEGATIVE_NOT_MENTIONED"),
        ("Yes, the study shows airway tubes.", "ALIGNED_INFERABLE"),
        ("There are no devices in the left lung.", "ALIGNED_NEGATIVE_NOT_MENTIONED"),
        ("The severity of the possible pneumonia is not specified.", "ALIGNED_MENTIONED"),
        # flipped polarity
        ("There are no devices in the trachea.", "NON_ALIGNED_CONTRADICTING"),
        ("There are no airway tubes.", "NON_ALIGNED_CONTRADICTING"),
        ("There is no pleural effusion.", "NON_ALIGNED_CONTRADICTING"),
        ("There is no left pleural effusion.", "NON_ALIGNED_CONTRADICTING"),
        ("There is a pneumothorax.", "NON_ALIGNED_CONTRADICTING"),
        ("No, there is no cardiomegaly.", "NON_ALIGNED_CONTRADICTING"),
        ("The heart size is normal, without cardiomegaly.", "NON_ALIGNED_CONTRADICTING"),
        ("There is no endotracheal tube.", "NON_ALIGNED_CONTRADICTING"),
        ("The heart is normal.", "NON_ALIGNED_CONTRADICTING"),
        ("No, the study is normal.", "NON_ALIGNED_CONTRADICTING"),
        ("There is mediastinal widening.", "NON_ALIGNED_CONTRADICTING"),
        ("There is no opacity in the right lower lobe.", "NON_ALIGNED_CONTRADICTING"),
        # wrong side or zone
        ("There is a right pleural effusion.", "NON_ALIGNED_CONTRADICTING"),
        ("There are bilateral pleural effusions.", "NON_ALIGNED_CONTRADICTING"),
        ("Patchy opacity in the left lower lobe.", "NON_ALIGNED_CONTRADICTING"),
        ("Patchy opacity in the right upper lobe.", "NON_ALIGNED_CONTRADICTING"),
        ("There is consolidation in the left lung.", "NON_ALIGNED_CONTRADICTING"),
        # degree and certainty
        ("It cannot be determined whether there is a pneumothorax.", "NON_ALIGNED_CONTRADICTING"),
        ("There is a large left pleural effusion.", "NON_ALIGNED_MISLEADING"),
        ("There is severe cardiomegaly.", "NON_ALIGNED_MISLEADING"),
        ("There is pneumonia in the right lower lobe.", "NON_ALIGNED_MISLEADING"),
        ("There is no pneumonia.", "NON_ALIGNED_MISLEADING"),
        # invented
        ("There is a pulmonary nodule.", "NON_ALIGNED_NON_INFERABLE"),
        ("A right internal jugular line ends in the SVC.", "NON_ALIGNED_NON_INFERABLE"),
        ("A pacemaker is present.", "NON_ALIGNED_NON_INFERABLE"),
        ("There is a rib fracture.", "NON_ALIGNED_NON_INFERABLE"),  # named in the indication only
        ("The patient has a purple hat.", "NON_ALIGNED_NON_INFERABLE"),
        ("", "NON_ALIGNED_NON_INFERABLE"),
    ],
)
def test_entailment(judge: RulesJudge, part: str, expected: str) -> None:
    assert judge.entailment(REPORT, ANY, [part]) == [expected]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("There is a tiny left apical pneumothorax.", "ALIGNED_MENTIONED"),
        ("There is no pneumothorax.", "NON_ALIGNED_CONTRADICTING"),
        ("There is no consolidation.", "ALIGNED_INFERABLE"),
        ("There is consolidation in the right lung.", "NON_ALIGNED_CONTRADICTING"),
        ("There is cardiomegaly.", "NON_ALIGNED_CONTRADICTING"),
    ],
)
def test_an_addendum_corrects_the_report(judge: RulesJudge, part: str, expected: str) -> None:
    assert judge.entailment(CORRECTED, ANY, [part]) == [expected]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("There is pneumonia.", "NON_ALIGNED_NON_INFERABLE"),
        ("There is no pneumonia.", "ALIGNED_NEGATIVE_NOT_MENTIONED"),
        ("There is a rib fracture.", "NON_ALIGNED_CONTRADICTING"),
        ("There is no rib fracture.", "ALIGNED_INFERABLE"),
    ],
)
def test_well_expanded_is_not_clear(judge: RulesJudge, part: str, expected: str) -> None:
    assert judge.entailment(EXPANDED, ANY, [part]) == [expected]


@pytest.mark.parametrize(
    ("question", "part", "expected"),
    [
        ("Is there a pneumothorax?", "No.", "ALIGNED_MENTIONED"),
        ("Is there a pneumothorax?", "Yes.", "NON_ALIGNED_CONTRADICTING"),
        ("Is there a pleural effusion?", "No.", "NON_ALIGNED_CONTRADICTING"),
        ("Is there a pneumonia?", "Possibly.", "ALIGNED_MENTIONED"),
        ("Is the heart normal?", "Yes, it is normal.", "NON_ALIGNED_CONTRADICTING"),
        ("Is the heart abnormal?", "Yes, it is abnormal.", "ALIGNED_INFERABLE"),
    ],
)
def test_a_bare_answer_means_what_was_asked(
    judge: RulesJudge, question: str, part: str, expected: str
) -> None:
    assert judge.entailment(REPORT, question, [part]) == [expected]


@pytest.mark.parametrize(
    ("question", "parts", "expected"),
    [
        (
            "Is there a pleural effusion?",
            ["Yes, there is a pleural effusion.", "Small left effusion."],
            ["RELEVANT_MAIN_ANSWER", "RELEVANT_MAIN_ANSWER"],
        ),
        (
            "Is there a pleural effusion?",
            ["There is a small effusion.", "There is a small effusion."],
            ["RELEVANT_MAIN_ANSWER", "REDUNDANT_INFO"],
        ),
        (
            "Is there a pleural effusion?",
            ["There is pleural thickening.", "A rib fracture is seen."],
            ["RELATED_INFO", "IRRELEVANT_INFO"],
        ),
        (
            "Is the heart abnormal?",
            ["There is cardiomegaly.", "The stomach is dilated."],
            ["RELEVANT_MAIN_ANSWER", "IRRELEVANT_INFO"],
        ),
        (
            "Does this chest X-ray show cardiomegaly?",
            ["The heart size is normal.", "A follow-up film is recommended."],
            ["RELEVANT_MAIN_ANSWER", "RELATED_INFO"],
        ),
        (
            "Is the right lung normal?",
            ["There is an opacity at the left lung base."],
            ["RELATED_INFO"],
        ),
        ("Describe the study.", ["There is a nodule."], ["RELEVANT_MAIN_ANSWER"]),
        ("Describe the study.", ["The weather is fine."], ["IRRELEVANT_INFO"]),
    ],
)
def test_relevance(judge: RulesJudge, question: str, parts: list[str], expected: list[str]) -> None:
    assert judge.relevance(question, parts) == expected


@pytest.mark.parametrize(
    ("question", "parts", "expected"),
    [
        (
            "Is there a pleural effusion?",
            ["Yes, there is a small left pleural effusion."],
            "FULLY_COMPLETE",
        ),
        ("Is there a pleural effusion?", ["Yes, there is a pleural effusion."], "DETAILS_MISSING"),
        ("Is there a pleural effusion?", ["No, there is no effusion."], "INCOMPLETE_MISLEADING"),
        ("Is there a pleural effusion?", ["A rib fracture is seen."], "NOT_ANSWERED"),
        ("Is there a pneumothorax?", ["No, there is no pneumothorax."], "FULLY_COMPLETE"),
        (
            "Describe all abnormal findings.",
            [
                "Small left pleural effusion.",
                "Moderate cardiomegaly.",
                "Patchy opacity in the right lower lobe, possibly pneumonia.",
                "Scarring in the lingula.",
            ],
            "FULLY_COMPLETE",
        ),
        ("Describe all abnormal findings.", ["No abnormal findings."], "INCOMPLETE_MISLEADING"),
        (
            "Describe all abnormal findings.",
            ["Moderate cardiomegaly is seen."],
            "INCOMPLETE_NON_MISLEADING",
        ),
        ("Describe the hila in this chest X-ray.", ["The hila are normal."], "FULLY_COMPLETE"),
        ("Describe devices in the left lung.", ["There are no devices."], "FULLY_COMPLETE"),
        ("Describe any signs of trauma.", ["There are no signs of trauma."], "FULLY_COMPLETE"),
        ("Describe devices in the trachea.", ["There are no devices."], "INCOMPLETE_MISLEADING"),
        ("Where is the pleural effusion?", ["There is an effusion."], "NOT_ANSWERED"),
        ("How severe is the cardiomegaly?", ["There is cardiomegaly."], "NOT_ANSWERED"),
        ("How severe is the cardiomegaly?", ["The cardiomegaly is moderate."], "FULLY_COMPLETE"),
    ],
)
def test_completeness(judge: RulesJudge, question: str, parts: list[str], expected: str) -> None:
    assert judge.completeness(REPORT, question, parts) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Is there a pleural effusion?", "OPTIMAL"),
        ("Where is the endotracheal tube located?", "OPTIMAL"),
        ("Describe the given study.", "OPTIMAL"),
        ("Are there any abnormal findings in the left lung?", "OPTIMAL"),
        ("Is there there a pleural effusion?", "GRAMMATICAL_ERRORS"),
        ("Is there an pleural effusion?", "GRAMMATICAL_ERRORS"),
        ("is there a pleural effusion", "GRAMMATICAL_ERRORS"),
        ("Is there a pleural effusion??", "GRAMMATICAL_ERRORS"),
        ("Pleural effusion in the left lung?", "UNUSUAL_SENTENCE_STRUCTURE"),
        ("Is there a {finding}?", "UNCLEAR_QUESTION"),
        ("___ with fever?", "UNCLEAR_QUESTION"),
        ("", "UNCLEAR_QUESTION"),
        ("What is the capital of France?", "UNRELATED_TO_CHEST_XRAY"),
        ("Has the effusion changed since the prior study?", "UNANSWERABLE"),
    ],
)
def test_question_clarity(judge: RulesJudge, question: str, expected: str) -> None:
    assert judge.question_clarity(question) == expected


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("There is a small left pleural effusion.", "OPTIMAL"),
        ("No, there is no evidence of pneumothorax.", "OPTIMAL"),
        ("The lungs are clear.", "OPTIMAL"),
        ("An endotracheal tube ends 4.5 cm above the carina.", "OPTIMAL"),
        ("Small left pleural effusion.", "UNUSUAL_SENTENCE_STRUCTURE"),
        ("There is a effusion.", "GRAMMATICAL_ERRORS"),
        ("There is a small small effusion.", "GRAMMATICAL_ERRORS"),
        ("There is a small effusion", "GRAMMATICAL_ERRORS"),
        ("There is a small effusion..", "GRAMMATICAL_ERRORS"),
        ("There is a small effusion and.", "GRAMMATICAL_ERRORS"),
        ("The lungs is clear.", "GRAMMATICAL_ERRORS"),
        ("There is no no effusion.", "GRAMMATICAL_ERRORS"),
        ("The line ends in the ___.", "UNCLEAR_ANSWER"),
        ("There is a None effusion.", "UNCLEAR_ANSWER"),
        ("The XXXX is enlarged.", "UNCLEAR_ANSWER"),
        ("?!", "NOT_UNDERSTANDABLE"),
        ("", "NOT_UNDERSTANDABLE"),
    ],
)
def test_answer_clarity(judge: RulesJudge, part: str, expected: str) -> None:
    assert judge.answer_clarity([part]) == [expected]


def test_every_level_named_here_exists() -> None:
    assert {"ALIGNED_MENTIONED", "NON_ALIGNED_MISLEADING"} <= set(TEXT_QUALITY["entailment"])


def test_no_text_makes_the_judge_fail(judge: RulesJudge) -> None:
    hostile = ["", " ", "\n", "...", "{}", "<b>x</b>" * 50, "nein " * 300, "no " * 200, "a\x00b"]
    for text in hostile:
        judge.entailment(text, text, [text, REPORT])
        judge.relevance(text, [text, text])
        judge.completeness(text, text, [text])
        judge.question_clarity(text)
        judge.answer_clarity([text])
