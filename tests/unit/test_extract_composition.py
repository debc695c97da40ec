"""What belongs to which finding: readings, places, sides, degrees, parts of devices, names."""

from __future__ import annotations

import itertools

import pytest
from statement_fixtures import extractor, mirrored, mirrored_statements, statements

from cxrqba.extract.drafts import Draft, with_children
from cxrqba.ledger import Ledger

READINGS = (
    ("Opacity at the right base is likely atelectasis.", "lung opacity", "atelectasis", "?"),
    ("Opacity at the right base may be atelectasis.", "lung opacity", "atelectasis", "?"),
    ("Opacity at the right base probably is pneumonia.", "lung opacity", "pneumonia", "?"),
    ("The opacity at the right base is atelectasis.", "lung opacity", "atelectasis", "+"),
    ("The nodule at the right apex is most likely a granuloma.",
     "pulmonary nodule", "granuloma", "?"),
    ("The nodule in the right lung could be a small hamartoma.",
     "pulmonary nodule", "hamartoma", "?"),
    ("Patchy right basal opacity likely pneumonia.", "lung opacity", "pneumonia", "?"),
    ("The right basal opacity might be aspiration.", "lung opacity", "aspiration", "?"),
    ("The opacity in the right lung is probably pneumonia.", "lung opacity", "pneumonia", "?"),
    ("A line over the right chest is seen. The right opacity is likely a skin fold.",
     "lung opacity", "skin fold", "?"),
    ("A faint opacity in the right lung, which could represent early pneumonia.",
     "lung opacity", "pneumonia", "?"),
    ("Blunting of the right costophrenic angle is likely pleural thickening.",
     "costophrenic angle blunting", "pleural thickening", "?"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "seen", "taken_for", "sign"), READINGS)
@pytest.mark.parametrize("turn", [False, True])
def test_a_reading_is_doubted_and_not_what_is_seen(
    text: str, seen: str, taken_for: str, sign: str, turn: bool
) -> None:
    side = "L" if turn else "R"
    found = statements(mirrored(text) if turn else text)
    assert f"+{seen}@{side}" in found
    assert f"{sign}{taken_for}@{side}" in found


@pytest.mark.parametrize(
    "text",
    [
        "The opacities at both bases are probably atelectasis or aspiration.",
        "The density in the right lower lobe is a pneumonia or an infarct.",
        "The nodule in the left lung may be a granuloma or a metastasis.",
    ],
)
def test_both_of_two_readings_belong_to_what_is_seen(text: str) -> None:
    (seen,) = extractor().read_sentence("S1", text, 0)
    assert [c.child_type for c in seen.children] == ["associated with"] * 2
    assert all([p.text for p in c.regions] == [p.text for p in seen.regions] for c in seen.children)


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("The left effusion is likely small.", "?"),
        ("Left effusion is likely and there is right atelectasis.", "?"),
        ("Effusion is possible.", "?"),
        ("A left effusion is present.", "+"),
    ],
)
def test_a_doubt_without_a_reading_is_of_the_finding(text: str, sign: str) -> None:
    assert any(s.startswith(f"{sign}pleural effusion") for s in statements(text))


ENTRIES = (
    ("Tip of the left subclavian line in the right brachiocephalic vein.", "subclavian line"),
    ("The left subclavian line ends in the right brachiocephalic vein.", "subclavian line"),
    ("In the right atrium is the tip of a left PICC.", "peripherally inserted central catheter"),
    ("A central line from the left ends in the right brachiocephalic vein.",
     "central venous catheter"),
    ("The chest tube on the left has its tip at the right apex.", "chest tube"),
    ("Left PICC with tip in the right innominate vein.", "peripherally inserted central catheter"),
    ("A left IJ line crosses to the right brachiocephalic vein.", "internal jugular line"),
    ("Left-sided port whose tip lies in the right atrium.", "chest port"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "device"), ENTRIES)
@pytest.mark.parametrize("turn", [False, True])
def test_a_device_has_the_side_it_enters(text: str, device: str, turn: bool) -> None:
    read = [d for d in _drafts(mirrored(text) if turn else text) if d.child_type is None]
    assert [d.key for d in read] == [(device,)]
    assert _sides(read[0]) == ({"right"} if turn else {"left"})


@pytest.mark.parametrize(
    "text",
    [
        "OG tube passes below the diaphragm into the stomach, tip not seen.",
        "NG tube courses below the diaphragm with the tip not visualized.",
        "The ET tube tip is not well seen.",
        "The PICC tip is not identified.",
        "The enteric tube enters the stomach, side port not seen.",
        "The feeding tube tip is obscured.",
    ],
)
def test_a_part_that_is_not_seen_leaves_its_device(text: str) -> None:
    assert {s[0] for s in statements(text)} == {"+"}


@pytest.mark.parametrize(
    "text",
    [
        "The PICC is no longer seen.",
        "The chest tube has been removed.",
        "The enteric tube has been removed, tip and all.",
    ],
)
def test_a_device_that_is_gone_is_absent(text: str) -> None:
    assert any(s.startswith("-") for s in statements(text))


COMPOSED = (
    ("Healed fracture of the left sixth rib.", "healed rib fracture", "L"),
    ("Fracture of the left lateral 4th rib.", "rib fracture", "L"),
    ("Old fracture of the right eighth rib.", "healed rib fracture", "R"),
    ("Focal lesion in the right fifth rib.", "bone lesion", "R"),
    ("Sclerotic lesion in the left scapula.", "sclerotic bone lesion", "L"),
    ("Lytic lesion of the right clavicle.", "lytic bone lesion", "R"),
    ("Fluid tracks in the right minor fissure.", "fissural fluid", "R"),
    ("Free fluid in the left pleural space.", "pleural effusion", "L"),
    ("Fluid at the left costophrenic angle.", "pleural effusion", "L"),
    ("Elevation of the right hemidiaphragm.", "elevated hemidiaphragm", "R"),
    ("The left hemidiaphragm is elevated.", "elevated hemidiaphragm", "L"),
    ("Blunting of the left costophrenic angle.", "costophrenic angle blunting", "L"),
    ("Thickening of the right minor fissure.", "fissure thickening", "R"),
    ("Calcification of a left hilar node.", "calcified lymph nodes", "L"),
    ("Prominence of the right hilum.", "hilar enlargement", "R"),
    ("Fracture of the left clavicle.", "clavicle fracture", "L"),
    ("Widening of the mediastinum.", "mediastinal widening", ""),
    ("Tortuosity of the aorta.", "tortuous aorta", ""),
    ("Calcification of the aorta.", "aortic calcification", ""),
    ("Wedging of the T8 vertebral body.", "vertebral compression deformity", ""),
    ("Distension of the stomach.", "gastric distension", ""),
    ("Curvature of the thoracic spine.", "scoliosis", ""),
)


@pytest.mark.parametrize(("text", "finding", "side"), COMPOSED)
@pytest.mark.parametrize("turn", [False, True])
def test_findings_are_put_together_across_of(
    text: str, finding: str, side: str, turn: bool
) -> None:
    found = statements(mirrored(text) if turn else text)
    expected = {f"+{finding}@{side}" if side else f"+{finding}"}
    assert found == (mirrored_statements(expected) if turn else expected)


ITEMS = {
    "pleural effusion": "pleural effusion",
    "pneumothorax": "pneumothorax",
    "consolidation": "consolidation",
    "nodule": "pulmonary nodule",
}


@pytest.mark.parametrize("items", list(itertools.permutations(ITEMS, 3)))
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_side_in_front_of_a_denied_list_is_that_of_all(items: tuple[str, ...], side: str) -> None:
    one, two, three = items
    expected = {f"-{ITEMS[item]}@{side[0].upper()}" for item in items}
    assert statements(f"No {side} {one}, {two} or {three}.") == expected


@pytest.mark.parametrize("items", list(itertools.permutations(ITEMS, 2)))
@pytest.mark.parametrize("form", ["No {} {} or {}.", "There is no {} {} or {}."])
def test_a_side_in_front_of_two_denied_findings_is_that_of_both(
    items: tuple[str, ...], form: str
) -> None:
    one, two = items
    assert statements(form.format("left", one, two)) == {f"-{ITEMS[item]}@L" for item in items}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Right effusion and atelectasis.", {"+pleural effusion@R", "+atelectasis@R"}),
        ("Left lower lobe collapse and effusion.", {"+lobar atelectasis@L", "+pleural effusion@L"}),
        ("Left effusion and pulmonary edema.", {"+pleural effusion@L", "+pulmonary edema"}),
        ("Left effusion and cardiomegaly.", {"+pleural effusion@L", "+cardiomegaly"}),
        ("Left effusion and a right nodule.", {"+pleural effusion@L", "+pulmonary nodule@R"}),
        ("Left effusion and small pneumothorax.", {"+pleural effusion@L", "+pneumothorax"}),
        ("No right effusion or left pneumothorax.", {"-pleural effusion@R", "-pneumothorax@L"}),
        ("No effusion or left pneumothorax.", {"-pleural effusion", "-pneumothorax@L"}),
        ("No left effusion, but there is a pneumothorax.",
         {"-pleural effusion@L", "+pneumothorax"}),
        ("Right IJ line and NG tube.", {"+internal jugular line@R", "+nasogastric tube"}),
        ("The right base shows atelectasis and a small effusion.",
         {"+atelectasis@R", "+pleural effusion@R"}),
        ("In the left upper lobe there is a nodule and scarring.",
         {"+pulmonary nodule@L", "+pulmonary scarring@L"}),
        ("Right lung: consolidation, effusion and nodules.",
         {"+consolidation@R", "+pleural effusion@R", "+pulmonary nodule@R"}),
        ("Effusion and atelectasis on the left.", {"+pleural effusion@L", "+atelectasis@L"}),
        ("A mass in the left upper lobe with associated mediastinal lymphadenopathy.",
         {"+pulmonary mass@L", "+mediastinal lymphadenopathy"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("turn", [False, True])
def test_what_is_shared_and_what_is_not(text: str, expected: set[str], turn: bool) -> None:
    found = statements(mirrored(text) if turn else text)
    assert found == (mirrored_statements(expected) if turn else expected)


TAKEN_BACK = (
    "There is a right rather than left effusion.",
    "There is a right, not left, effusion.",
    "The effusion is on the right rather than the left.",
    "The effusion is on the right, not on the left.",
    "The effusion is right-sided and not left-sided.",
    "Right instead of left effusion.",
    "Effusion on the right but not on the left.",
    "Left effusion should read right effusion.",
    "The left effusion should read right.",
    "Correction: the left effusion should have read right effusion.",
)


@pytest.mark.parametrize("text", TAKEN_BACK)
@pytest.mark.parametrize("turn", [False, True])
def test_a_side_that_is_taken_back_is_denied(text: str, turn: bool) -> None:
    found = statements(mirrored(text) if turn else text)
    expected = {"+pleural effusion@R", "-pleural effusion@L"}
    assert found == (mirrored_statements(expected) if turn else expected)


@pytest.mark.parametrize("text", TAKEN_BACK)
def test_an_addendum_that_takes_a_side_back_overrules(text: str) -> None:
    before = "There is a small left effusion.\n"
    rows = [
        {
            "study_id": "s1",
            "sent_id": f"S{number:02d}",
            "section": section,
            "section_type": "IMPRESSION",
            "sentence": sentence,
            "start": start,
            "end": start + len(sentence),
            "cluster": None,
            "discarded": None,
        }
        for number, section, sentence, start in (
            (1, "IMPRESSION", before.strip(), 0),
            (2, "ADDENDUM", text, len(before)),
        )
    ]
    ledger = Ledger("test")
    found = extractor().extract("s1", before + text, rows, ledger)
    told = {(r["probability"], "left" in r["laterality_text"].lower()) for r in found}
    assert told == {("positive", False), ("negative", True)}
    assert {r["reason"] for r in ledger.rows} == {"overruled_by_addendum", "non_observational"}


@pytest.mark.parametrize("text", ["The effusion is not on the left.", "No effusion on the left."])
def test_what_is_not_on_a_side_is_denied_there(text: str) -> None:
    assert statements(text) == {"-pleural effusion@L"}


def _drafts(text: str) -> list[Draft]:
    return with_children(extractor().read_sentence("S1", text, 0))


def _sides(draft: Draft) -> set[str]:
    return {s for s in ("left", "right") if s in draft.side_text.lower().split()} | {
        s for s in ("left", "right") if f"{s}-sided" in draft.side_text.lower()
    }
