"""The kinds of statements the observation pass must not misread, each in invented sentences."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cxrqba.config import SiteConfig
from cxrqba.extract.observations import ObservationExtractor
from cxrqba.ledger import Ledger
from cxrqba.reference.tables import load_reference

REFERENCE = load_reference(Path(__file__).parents[2] / "resources" / "reference")
EXTRACTOR = ObservationExtractor(REFERENCE)

Row = dict[str, Any]


def read(
    *texts: str, section: str = "FINDINGS", extractor: ObservationExtractor = EXTRACTOR
) -> tuple[list[Row], Ledger, str]:
    """Observations of sentences of one cluster; ``IMP:`` or ``ADD:`` in front changes section."""
    report, rows = "", []
    for number, text in enumerate(texts, start=1):
        kind, named, told = section, section, text
        if text.startswith(("IMP:", "ADD:")):
            kind, told = "IMPRESSION", text[4:].strip()
            named = "ADDENDUM" if text.startswith("ADD:") else kind
        rows.append(
            {
                "study_id": "s1",
                "sent_id": f"S{number:02d}",
                "section": named,
                "section_type": kind,
                "sentence": told,
                "start": len(report),
                "end": len(report) + len(told),
                "cluster": 1,
                "discarded": None,
            }
        )
        report += told + "\n"
    ledger = Ledger("extract_observations")
    return extractor.extract("s1", report, rows, ledger), ledger, report


def found(*texts: str) -> list[Row]:
    """Observations alone."""
    return read(*texts)[0]


def sides(row: Row) -> set[str]:
    """Plain side words of an observation's side text."""
    words = re.findall(r"[a-z]+", (row["laterality_text"] or "").lower())
    return {"left", "right"} & set(words)


def levels(text: str, finding: str) -> list[str]:
    """Levels of the observations that name ``finding``, a reference name, or one below it."""
    meant = {finding} | {
        name for name, above in REFERENCE.finding_ancestors.items() if finding in above
    }
    return [
        row["probability"]
        for row in found(text)
        for entity in row["entities"]
        if _names(entity) & meant
    ]


def _names(entity: str) -> set[str]:
    if entity in REFERENCE.findings:
        return {entity}
    return {m.value.finding.name for m in EXTRACTOR._lexicon.read(entity, 0).findings}


@pytest.mark.parametrize(
    ("text", "finding", "level"),
    [
        ("No effusion or pneumothorax but a new right basal opacity.", "lung opacity", "positive"),
        ("No effusion or pneumothorax but a new right basal opacity.", "pneumothorax", "negative"),
        ("Without pneumothorax; pleural effusion present.", "pleural effusion", "positive"),
        ("No evidence of pneumonia, however mild edema is seen.", "pulmonary edema", "positive"),
        ("No pneumothorax; nor is there an effusion.", "pleural effusion", "negative"),
        ("The aorta is neither tortuous nor dilated.", "aortic enlargement", "negative"),
        ("Nothing to indicate pneumonia.", "pneumonia", "negative"),
        ("I do not see any infiltrate.", "infiltrate", "negative"),
        ("This is atelectasis rather than pneumonia.", "pneumonia", "negative"),
        ("This is atelectasis rather than pneumonia.", "atelectasis", "positive"),
        ("The effusion has now completely resolved.", "pleural effusion", "negative"),
        ("The left effusion has nearly completely resolved.", "pleural effusion", "positive"),
        ("Near complete resolution of the right effusion.", "pleural effusion", "positive"),
        ("Partial clearing of the right effusion.", "pleural effusion", "positive"),
        ("Nodule at the right apex, not definitely seen previously.", "lung lesion", "positive"),
        ("The nodule is not seen on the prior study.", "lung lesion", "positive"),
        ("No new consolidation.", "consolidation", "negative"),
        ("Opacities seen on the prior study are not visualized now.", "lung opacity", "negative"),
        (
            "Heart size is enlarged, pulmonary vascularity within normal limits.",
            "cardiomegaly",
            "positive",
        ),
        ("No cavity to suggest. active tuberculosis.", "tuberculosis", "negative"),
        ("No worsening of the effusion.", "pleural effusion", "positive"),
        ("The study is not without evidence of pulmonary edema.", "pulmonary edema", "positive"),
        ("No effusion due to the old fibrosis.", "pulmonary fibrosis", "positive"),
        ("Tracheostomy: not yet.", "tracheostomy tube", "negative"),
        ("Tiny pneumothorax after chest tube removal.", "chest tube", "negative"),
        ("Tiny pneumothorax after chest tube removal.", "pneumothorax", "positive"),
        ("The NG tube has been exchanged for a Dobhoff tube.", "feeding tube", "positive"),
        ("The Swan-Ganz catheter has been withdrawn.", "Swan-Ganz catheter", "negative"),
        ("The PICC has been withdrawn by 3 cm.", "central venous catheter", "positive"),
        ("History of left upper lobectomy.", "lung resection", "positive"),
        ("Old healed left rib fractures.", "fracture", "positive"),
        ("Age-indeterminate fracture of the T8 vertebral body.", "fracture", "positive"),
    ],
)
def test_what_is_there_and_what_is_not(text: str, finding: str, level: str) -> None:
    told = levels(text, finding)
    assert told
    assert set(told) == {level}


@pytest.mark.parametrize(
    ("text", "finding", "level"),
    [
        ("Pneumonia is considered less likely.", "pneumonia", "unlikely"),
        ("No effusion, which makes heart failure less attractive.", "heart failure", "unlikely"),
        ("Clear lungs without definite effusion.", "pleural effusion", "unlikely"),
        ("? left lower lobe pneumonia.", "pneumonia", "possible"),
        ("?Small left apical pneumothorax", "pneumothorax", "possible"),
        ("Right effusion?", "pleural effusion", "possible"),
        ("Bilateral effusions, if present, are small.", "pleural effusion", "possible"),
        ("Empyema should be considered.", "empyema", "possible"),
        ("Considerations: aspiration; hemorrhage; edema.", "pulmonary edema", "possible"),
        ("Opacities consistent with pulmonary edema.", "pulmonary edema", "likely"),
        ("It would not be unreasonable to see this as pneumonia.", "pneumonia", "likely"),
        (
            "The left basal opacity may be atelectasis, aspiration or edema.",
            "aspiration",
            "possible",
        ),
        ("Atelectasis and/or consolidation at the left base.", "consolidation", "possible"),
        ("The consolidation is difficult to exclude.", "consolidation", "cannot_exclude"),
        ("The heart is probably normal.", "cardiomegaly", "unlikely"),
        ("A normal film does not rule out pneumonia.", "pneumonia", "cannot_exclude"),
        ("Films cannot rule out empyema and CT is advised.", "empyema", "cannot_exclude"),
    ],
)
def test_degrees_of_doubt(text: str, finding: str, level: str) -> None:
    told = levels(text, finding)
    assert told
    assert set(told) == {level}


@pytest.mark.parametrize(
    "text",
    [
        "There is a clear basal gradient of the opacities.",
        "Azygos lobe, a normal variant.",
        "There has been a clear increase in the left effusion.",
        "Minimal atelectasis in the re-expanded right lung.",
        "The left base is not clear.",
    ],
)
def test_normal_words_inside_a_finding_deny_nothing(text: str) -> None:
    assert not [r for r in found(text) if r["probability"] in ("negative", "unlikely")]


def test_a_structure_called_normal_by_a_following_word_binds_that_alone() -> None:
    denied = {e for r in found("Mediastinum: Normal cardiac size.") for e in r["entities"]}
    assert denied == {"cardiomegaly"}
    (row,) = found("The lungs are well expanded and clear.")
    assert {"low lung volumes", "consolidation"} <= set(row["entities"])
    _, rest = found("The left lung is hyperexpanded but otherwise unremarkable.")
    assert sides(rest) == {"left"}
    assert [sides(r) for r in found("Right lung and pleura are normal.")] == [{"right"}] * 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Moderate right and small left pleural effusions.",
            [("right", "Moderate"), ("left", "small")],
        ),
        (
            "Pleural effusions, small on the left, trace on the right.",
            [("left", "small"), ("right", "trace")],
        ),
        (
            "Bilateral effusions, moderate on the right and small on the left.",
            [("right", "moderate"), ("left", "small")],
        ),
    ],
)
def test_each_side_has_its_own_degree(text: str, expected: list[tuple[str, str]]) -> None:
    told = [
        (*sides(row), *(m["value"] for m in row["modifiers"] if m["type"] == "severity"))
        for row in found(text)
    ]
    assert told == expected


def test_a_comparative_is_a_change_or_a_distinction_of_places() -> None:
    (row,) = found("The right effusion is larger than on the prior study.")
    assert row["changes"] == ["larger"]
    assert row["modifiers"] == []
    assert row["name"] == "Right effusion"
    both, apart = found("Bilateral effusions, right greater than left.")
    assert (both["changes"], apart["child_type"]) == ([], "regional distinction")
    assert sides(apart) == {"right"}
    both, apart = found("Bilateral opacities, most pronounced at the left base.")
    assert not both["regions"]
    assert [r["region"] for r in apart["regions"]] == ["left base"]
    (row,) = found("Opacities predominantly in the left lower lobe.")
    assert [r["region"] for r in row["regions"]] == ["left lower lobe"]
    _, tracking = found("Right pleural effusion tracking into the minor fissure.")
    assert tracking["child_type"] == "related region"


@pytest.mark.parametrize(
    ("text", "finding", "side"),
    [
        ("Leftward shift of the mediastinum due to right effusion.", "effusion", {"right"}),
        ("Opacity due to left lung collapse.", "collapse", {"left"}),
        ("A left-sided PICC terminates in the right atrium.", "PICC", {"left"}),
        ("Right PICC ends in the left brachiocephalic vein.", "PICC", {"right"}),
        ("Mild dextroscoliosis of the thoracic spine.", "scoliosis", set()),
        ("The right heart border is obscured.", "silhouette", set()),
        ("The trachea is deviated to the right.", "trachea", {"right"}),
        ("Large zorblax on the left, no effusion.", "effusion", set()),
    ],
)
def test_sides_and_traps(text: str, finding: str, side: set[str]) -> None:
    rows = [r for r in found(text) if finding.lower() in " ".join(r["entities"]).lower()]
    assert rows
    assert sides(rows[0]) == side


def test_readings_and_companions_are_children_with_the_place_of_their_head() -> None:
    for text in (
        "Left basal opacity, atelectasis versus pneumonia.",
        "The left basal opacity may represent atelectasis or pneumonia.",
    ):
        head, *readings = found(text)
        assert len(readings) == 2
        assert {r["child_type"] for r in readings} == {"associated with"}
        assert all(sides(r) == {"left"} for r in readings), text
    head, reading = found("Right upper lobe opacity.", "This likely represents pneumonia.")
    assert reading["parent_raw_id"] == head["raw_id"]
    assert sides(reading) == {"right"}
    _, with_it = found("Left effusion with underlying volume loss.")
    assert sides(with_it) == {"left"}
    _, other = found("Left effusion with no pneumothorax.")
    assert (other["child_type"], other["probability"]) == (None, "negative")
    assert [r["child_type"] for r in found("Effusion, atelectasis or pneumonia.")] == [None] * 3


def test_devices_have_parts_positions_and_comparisons_as_children() -> None:
    line, bad = found("The right subclavian line tip is malpositioned in the azygos vein.")
    assert (bad["parent_raw_id"], bad["child_type"]) == (line["raw_id"], "device part")
    assert [r["region"] for r in bad["regions"]] == ["azygos vein"]
    line, end = found("There is a right PICC.", "It terminates in the low SVC.")
    assert end["child_type"] == "device part"
    assert [r["region"] for r in end["regions"]] == ["low SVC"]
    effusion, change = found("Small right effusion.", "It is unchanged from the prior study.")
    assert change["child_type"] == "comparison only"
    assert effusion["changes"] == ["unchanged"]


def test_the_finding_spoken_of_again_keeps_its_side() -> None:
    assert [sides(r) for r in found("Small left effusion.", "The effusion is unchanged.")] == [
        {"left"}
    ]
    rows = found("Left and right effusions.", "The pneumothorax is small.")
    assert sides(rows[-1]) == set()


def test_vertebral_and_cardiac_terms_are_not_of_the_lung() -> None:
    assert levels("Mild collapse of the T7 vertebral body.", "atelectasis") == []
    assert levels("Mild collapse of the T7 vertebral body.", "vertebral compression deformity")
    assert levels("Calcified 4 mm right apical granuloma.", "calcified granuloma") == ["positive"]
    assert levels("Costophrenic ___ blunting.", "costophrenic angle blunting") == ["positive"]


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("There is a large zorblax in the left lung and no effusion.", ["zorblax"]),
        ("No pneumothorax, and the frumious gyre has wabed.", ["frumious gyre has wabed"]),
        ("No focal consolidation, pleural effusion, or pneumothorax is identified.", []),
        ("The heart size is within normal limits, and the lungs are clear bilaterally.", []),
        ("Compared with the prior study, the small left effusion has not changed.", []),
        ("Right IJ catheter with tip in the lower SVC, unchanged in position.", []),
    ],
)
def test_words_that_were_not_read_are_told_by_their_place(text: str, unread: list[str]) -> None:
    _, ledger, report = read(text)
    rows = [r for r in ledger.rows if r["reason"] == "partly_covered"]
    spans = [s for r in rows for s in re.findall(r"(\d+)-(\d+)", r["detail"] or "")]
    assert [report[int(a) : int(b)] for a, b in spans] == unread
    assert not any(word in str(rows) for word in ("zorblax", "gyre"))


def test_an_addendum_overrules_what_it_contradicts() -> None:
    rows, ledger, _ = read(
        "No left pneumothorax.",
        "Small right effusion.",
        "ADD: On further review there is a small left apical pneumothorax.",
    )
    assert [r["probability"] for r in rows] == ["positive", "positive"]
    assert [(r["item_id"], r["reason"]) for r in ledger.rows if "overruled" in r["reason"]] == [
        ("S01", "overruled_by_addendum")
    ]
    rows, ledger, _ = read("No left pneumothorax.", "ADD: Small right pneumothorax.")
    assert len(rows) == 2


def test_findings_and_impression_that_contradict_both_stay() -> None:
    rows = found("No effusion.", "IMP: Small left effusion.")
    assert [r["probability"] for r in rows] == ["negative", "positive"]


def test_site_phrases_and_masked_words() -> None:
    site = SiteConfig(normal_phrases={"Template  A": ["lungs are clear", "no pleural effusion"]})
    extractor = ObservationExtractor(REFERENCE, site)
    rows, ledger, report = read("TEMPLATE A. Small hiatal hernia.", extractor=extractor)
    assert [r["origin"] for r in rows].count("rules:site_phrase") == 2
    span = next(r for r in rows if r["origin"] == "rules:site_phrase")["spans"][0]
    assert report[span["start"] : span["end"]] == "TEMPLATE A"
    assert not ledger.rows
    (row,) = read("Effusion seen by [**Left Hospital**].")[0]
    assert sides(row) == set()


def test_what_is_gone_has_no_degree_and_the_later_degree_counts() -> None:
    (row,) = found("The tiny left effusion has resolved.")
    assert (row["name"], row["modifiers"]) == ("No left effusion", [])
    (row,) = found("The large right effusion has decreased markedly.", "IMP: Small right effusion.")
    assert [m["value"] for m in row["modifiers"]] == ["Small"]
    assert row["name"] == "Small right effusion"


def test_names_are_short_and_in_the_report_s_words() -> None:
    names = [
        r["name"] for r in found("No focal consolidation, large effusion or suspicious nodule.")
    ]
    assert names == ["No focal consolidation", "No large effusion", "No suspicious nodule"]
    names = [r["name"] for r in found("A small opacity with air bronchograms is seen on the left.")]
    assert names == ["Small opacity", "Air bronchograms on the left"]


def test_a_very_long_report_takes_time_in_proportion() -> None:
    sentence = "Small left effusion and no pneumothorax, likely with atelectasis or pneumonia. "
    rows = found(sentence * 380)  # 30,000 characters in one sentence
    assert rows
