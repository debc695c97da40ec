"""The sentence pass: layouts of archives, unknown headers, removed words, clusters, splitters."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from cxrqba.config import SentencesConfig, SiteConfig
from cxrqba.errors import UserError
from cxrqba.extract.sentences import (
    DISCARD_REASONS,
    DISCARDED_TYPES,
    SentenceExtractor,
    extract_shard,
)
from cxrqba.extract.splitters import RulesSplitter, StanzaSplitter, parts, split_further
from cxrqba.reference.tables import load_reference
from cxrqba.reports.deid import Deidentified
from cxrqba.schema import NO_SECTION, PRE_NO_SECTION, SECTION_TYPES, STUDIES
from cxrqba.tables import frame

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = load_reference(ROOT / "resources" / "reference")
EXTRACTOR = SentenceExtractor(REFERENCE, SiteConfig())
DIVIDER = " " + "_" * 70
FINAL = "                                 FINAL REPORT\n"


def rows(report: str, **site: Any) -> list[dict[str, Any]]:
    extractor = SentenceExtractor(REFERENCE, SiteConfig(**site)) if site else EXTRACTOR
    found = extractor.extract("s1", report)
    for row in found:
        assert report[row["start"] : row["end"]] == row["sentence"]
        assert row["section_type"] in SECTION_TYPES
        assert row["discarded"] is None or row["discarded"] in DISCARD_REASONS
    return found


def told(report: str, **site: Any) -> list[tuple[str, str, str]]:
    """(section, section type, sentence) of the sentences that are read."""
    return [
        (r["section"], r["section_type"], " ".join(r["sentence"].split()))
        for r in rows(report, **site)
        if r["discarded"] is None
    ]


LAYOUTS = {
    "addendum on top": (
        f"                                 FINAL ADDENDUM\n ADDENDUM:\n \n There is a small right "
        f"pneumothorax.\n \n{DIVIDER}\n{FINAL} FINDINGS: No edema.\n",
        [
            ("ADDENDUM", "IMPRESSION", "There is a small right pneumothorax."),
            ("FINDINGS", "FINDINGS", "No edema."),
        ],
    ),
    "addendum on top without title": (
        f" Addendum: The line ends in the SVC.\n{DIVIDER}\n{FINAL} FINDINGS: No edema.\n",
        [
            ("ADDENDUM", "IMPRESSION", "The line ends in the SVC."),
            ("FINDINGS", "FINDINGS", "No edema."),
        ],
    ),
    "wet read above a divider": (
        f" WET READ: ___ ___ ___ 8:10 PM\n  Small left effusion.\n{DIVIDER}\n{FINAL}"
        " FINDINGS: Clear lungs.\n",
        [("FINDINGS", "FINDINGS", "Clear lungs.")],
    ),
    "preliminary findings": (
        f" PROVISIONAL FINDINGS IMPRESSION (PFI): ___\n Large mass.\n{DIVIDER}\n{FINAL}"
        " FINDINGS: Clear lungs.\n",
        [("FINDINGS", "FINDINGS", "Clear lungs.")],
    ),
    "last paragraph": (
        f"{FINAL} HISTORY: Cough.\n \n Heart size is normal. No effusion.\n",
        [
            ("HISTORY", "HISTORY", "Cough."),
            (NO_SECTION, "FINDINGS", "Heart size is normal."),
            (NO_SECTION, "FINDINGS", "No effusion."),
        ],
    ),
    "last paragraph after an examination header": (
        f"{FINAL} REASON FOR EXAMINATION: Line placement.\n \n The ET tube is high.\n",
        [
            ("REASON FOR EXAMINATION", "INDICATION", "Line placement."),
            (NO_SECTION, "FINDINGS", "The ET tube is high."),
        ],
    ),
    "text above the final report": (
        f" Received from outside.\n{FINAL} FINDINGS: Clear lungs.\n",
        [("FINDINGS", "FINDINGS", "Clear lungs.")],
    ),
    "empty findings next to filled ones": (
        " FINDINGS:\n\n FINDINGS: Clear lungs.\n IMPRESSION:\n\n IMPRESSION: No edema.\n",
        [("FINDINGS", "FINDINGS", "Clear lungs."), ("IMPRESSION", "IMPRESSION", "No edema.")],
    ),
    "a header repeated loses neither text": (
        " FINDINGS: Clear lungs.\n IMPRESSION: No edema.\n FINDINGS: There is a nodule.\n",
        [
            ("FINDINGS", "FINDINGS", "Clear lungs."),
            ("IMPRESSION", "IMPRESSION", "No edema."),
            ("FINDINGS", "FINDINGS", "There is a nodule."),
        ],
    ),
    "findings and impression in one": (
        " FINDINGS AND IMPRESSION: No edema.\n",
        [("FINDINGS AND IMPRESSION", "IMPRESSION", "No edema.")],
    ),
    "view header": (
        " SINGLE FRONTAL VIEW OF THE CHEST: No edema.\n",
        [("SINGLE FRONTAL VIEW OF THE CHEST", "FINDINGS", "No edema.")],
    ),
    "title that looks like a header": (
        " CHEST, PA LATERAL:\n\n INDICATION: Cough.\n\n FINDINGS: No edema.\n",
        [("INDICATION", "INDICATION", "Cough."), ("FINDINGS", "FINDINGS", "No edema.")],
    ),
    "findings under recommendations": (
        " INDICATION: Cough.\n RECOMMENDATIONS: The heart is normal. There is no effusion.\n",
        [
            ("INDICATION", "INDICATION", "Cough."),
            ("RECOMMENDATIONS", "FINDINGS", "The heart is normal."),
            ("RECOMMENDATIONS", "FINDINGS", "There is no effusion."),
        ],
    ),
    "one sentence of findings under examination and nowhere else": (
        " EXAMINATION: CHEST (PORTABLE AP). There is a large effusion.\n",
        [("EXAMINATION", "FINDINGS", "There is a large effusion.")],
    ),
    "findings under technique": (
        " TECHNIQUE: Portable view. The heart is normal. There is no effusion.\n",
        [
            ("TECHNIQUE", "FINDINGS", "The heart is normal."),
            ("TECHNIQUE", "FINDINGS", "There is no effusion."),
        ],
    ),
    "headers without colons": (
        "INDICATION\nCough\nFINDINGS\nLungs are clear.\nIMPRESSION\nNo edema.\n",
        [
            ("INDICATION", "INDICATION", "Cough"),
            ("FINDINGS", "FINDINGS", "Lungs are clear."),
            ("IMPRESSION", "IMPRESSION", "No edema."),
        ],
    ),
    "lower case": (
        "indication: cough\nfindings: lungs are clear.\nimpression: no edema\n",
        [
            ("INDICATION", "INDICATION", "cough"),
            ("FINDINGS", "FINDINGS", "lungs are clear."),
            ("IMPRESSION", "IMPRESSION", "no edema"),
        ],
    ),
    "all on one line": (
        "Findings: Lungs clear. Impression: No edema. Recommendation: CT chest.",
        [("FINDINGS", "FINDINGS", "Lungs clear."), ("IMPRESSION", "IMPRESSION", "No edema.")],
    ),
    "capitals": (
        "FINDINGS: THE LUNGS ARE CLEAR.\nIMPRESSION:\n1. NO EDEMA.\n2. SMALL LEFT EFFUSION.\n",
        [
            ("FINDINGS", "FINDINGS", "THE LUNGS ARE CLEAR."),
            ("IMPRESSION", "IMPRESSION", "NO EDEMA."),
            ("IMPRESSION", "IMPRESSION", "SMALL LEFT EFFUSION."),
        ],
    ),
    "organ headers": (
        "INDICATION: Cough\nLUNGS: Clear.\nHEART: Normal size.\nLINES AND TUBES: Right PICC.\n",
        [
            ("INDICATION", "INDICATION", "Cough"),
            ("LUNGS", "FINDINGS", "LUNGS: Clear."),
            ("HEART", "FINDINGS", "HEART: Normal size."),
            ("LINES AND TUBES", "FINDINGS", "LINES AND TUBES: Right PICC."),
        ],
    ),
    "organ labels inside the findings": (
        "FINDINGS:\nLungs: Clear.\nPleura: No effusion.\n",
        [
            ("FINDINGS", "FINDINGS", "Lungs: Clear."),
            ("FINDINGS", "FINDINGS", "Pleura: No effusion."),
        ],
    ),
    "marked up": (
        "## Findings\n- Lungs clear\n- No effusion\n**Impression**\n* Normal\n",
        [
            ("FINDINGS", "FINDINGS", "Lungs clear"),
            ("FINDINGS", "FINDINGS", "No effusion"),
            ("IMPRESSION", "IMPRESSION", "Normal"),
        ],
    ),
    "tabs, form feeds, other blanks": (
        "FINDINGS:\f\tLungs\u2003clear.\x0cIMPRESSION:\tNo\u3000edema.\r\n",
        [("FINDINGS", "FINDINGS", "Lungs clear."), ("IMPRESSION", "IMPRESSION", "No edema.")],
    ),
    "not ASCII": (
        "FINDINGS: Nodule 3\u20134 mm. \u201cNo effusion.\u201d Tube \u2265 4 cm above carina.",
        [
            ("FINDINGS", "FINDINGS", "Nodule 3\u20134 mm."),
            ("FINDINGS", "FINDINGS", "\u201cNo effusion.\u201d"),
            ("FINDINGS", "FINDINGS", "Tube \u2265 4 cm above carina."),
        ],
    ),
    "unknown header under the indication": (
        "INDICATION: Cough\nBEFUND: There is a large effusion.\nIMPRESSION: No edema.\n",
        [
            ("INDICATION", "INDICATION", "Cough"),
            ("BEFUND", "FINDINGS", "There is a large effusion."),
            ("IMPRESSION", "IMPRESSION", "No edema."),
        ],
    ),
    "titles without a header": (
        "Chest, two views. Comparison: none. Clear lungs. Normal heart.\nIMPRESSION: Normal chest.",
        [
            ("COMPARISON", "FINDINGS", "Clear lungs."),
            ("COMPARISON", "FINDINGS", "Normal heart."),
            ("IMPRESSION", "IMPRESSION", "Normal chest."),
        ],
    ),
    "a title in a paragraph of its own": (
        "Clinical details: Cough.\n\nXR Chest PA:\n\nThe heart is not enlarged. No effusion.\n",
        [
            ("CLINICAL DETAILS", "INDICATION", "Cough."),
            (NO_SECTION, "FINDINGS", "The heart is not enlarged."),
            (NO_SECTION, "FINDINGS", "No effusion."),
        ],
    ),
    "a header set off by blanks": (
        f"{FINAL} FINDINGS  No edema.\n\n ADDENDUM  There is a small effusion.\n",
        [
            ("FINDINGS", "FINDINGS", "No edema."),
            ("ADDENDUM", "IMPRESSION", "There is a small effusion."),
        ],
    ),
    "numbered headers": (
        "1. FINDINGS: Clear lungs.\n2. IMPRESSION: No edema.\n",
        [("FINDINGS", "FINDINGS", "Clear lungs."), ("IMPRESSION", "IMPRESSION", "No edema.")],
    ),
    "a numbered addendum": (
        "FINDINGS: Clear lungs.\n\nADDENDUM #2: There is a small nodule.\n",
        [
            ("FINDINGS", "FINDINGS", "Clear lungs."),
            ("ADDENDUM #2", "IMPRESSION", "There is a small nodule."),
        ],
    ),
    "final report twice": (
        f"{FINAL} FINDINGS: Clear lungs.\n{FINAL} FINDINGS: There is a nodule.\n",
        [
            ("FINDINGS", "FINDINGS", "Clear lungs."),
            ("FINDINGS", "FINDINGS", "There is a nodule."),
        ],
    ),
    "headers inside the findings": (
        "FINDINGS: Comparison: ___. Technique: PA. The heart is enlarged.\nIMPRESSION: Edema.\n",
        [
            ("FINDINGS", "FINDINGS", "Comparison: ___."),
            ("TECHNIQUE", "FINDINGS", "The heart is enlarged."),
            ("IMPRESSION", "IMPRESSION", "Edema."),
        ],
    ),
    "letters and Roman numbers": (
        "FINDINGS:\na) No edema\nb) Clear lungs\nIMPRESSION:\nI. No edema.\nII. Clear lungs.\n",
        [
            ("FINDINGS", "FINDINGS", "No edema"),
            ("FINDINGS", "FINDINGS", "Clear lungs"),
            ("IMPRESSION", "IMPRESSION", "No edema."),
            ("IMPRESSION", "IMPRESSION", "Clear lungs."),
        ],
    ),
    "HTML": (
        "<p><b>FINDINGS:</b> Clear lungs.<br/>No edema.</p><b>IMPRESSION:</b> <i>Nodule.</i>",
        [
            ("FINDINGS", "FINDINGS", "Clear lungs."),
            ("FINDINGS", "FINDINGS", "No edema."),
            ("IMPRESSION", "IMPRESSION", "Nodule."),
        ],
    ),
    "longer name of a header": (
        "CHEST FINDINGS: No edema.\nIMPRESSION AND ADVICE: Clear lungs.\n",
        [
            ("CHEST FINDINGS", "FINDINGS", "No edema."),
            ("IMPRESSION AND ADVICE", "IMPRESSION", "Clear lungs."),
        ],
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_real_archives(layout: str) -> None:
    report, expected = LAYOUTS[layout]
    assert told(report) == expected


@pytest.mark.parametrize(
    ("header", "section_type"),
    [
        *((h, "IMPRESSION") for h in ("IMPRESSON", "IMPRSSION", "MPRESSION", "CONCLUSION")),
        *((h, "FINDINGS") for h in ("FINDINS", "FINDNGS", "CHEST, TWO VIEWS", "PORTABLE CHEST")),
        *((h, "INDICATION") for h in ("IDICATION", "REASON FOR EXAM", "CLINICAL INDICATION")),
        *((h, "HISTORY") for h in ("CLINICAL HISTORY", "CLINICAL INFORMATION", "PATIENT HISTORY")),
        *((h, "COMPARISON") for h in ("COMPARSION", "COMPARISONS", "REFERENCE EXAM")),
        *((h, "EXAMINATION") for h in ("EXAM", "TYPE OF EXAMINATION")),
        *((h, "RECOMMENDATION") for h in ("RECOMMENDATION(S)", "RECOMMENDATIONS")),
        ("NOTIFICATION", "NOTIFICATION"),
        ("FINDINGS/IMPRESSION", "IMPRESSION"),
        ("WETREAD", "WET_READ"),
        ("DATE", "IGNORE"),
    ],
)
def test_headers_of_the_archive(header: str, section_type: str) -> None:
    assert EXTRACTOR.headers.type_of(header) == section_type


def test_literals_for_text_under_no_header() -> None:
    found = rows(f" Received from outside.\n{FINAL} For dr ___\n\n FINDINGS: Clear.\n")
    assert [(r["section"], r["section_type"], r["discarded"]) for r in found] == [
        (PRE_NO_SECTION, "IGNORE", "no_section"),
        (NO_SECTION, "IGNORE", "no_section"),
        ("FINDINGS", "FINDINGS", None),
    ]
    assert (NO_SECTION, PRE_NO_SECTION) == (
        "FINAL_REPORT_NO_SECTION",
        "PRE_FINAL_REPORT_NO_SECTION",
    )


def test_an_organ_in_the_history_opens_no_findings() -> None:
    found = told("HISTORY:\n HEART: CHF\n LUNGS: COPD\n\nIMPRESSION: No edema.\n")
    assert [s for _, kind, s in found if kind == "FINDINGS"] == []


def test_a_comparison_with_another_study_is_never_a_finding() -> None:
    assert told("COMPARISON: CT chest of ___ with a nodule in the left lung.") == []


def test_every_reason_for_setting_a_sentence_aside_is_documented() -> None:
    assert set(DISCARDED_TYPES.values()) <= set(DISCARD_REASONS)
    report = (
        "TECHNIQUE: AP view.\n FINDINGS: XXXX.\n LUNGS:\n HEART: Normal.\n"
        " Electronically signed by Dr. ___.\n RECOMMENDATION: CT.\n"
    )
    assert [r["discarded"] for r in rows(report)] == [
        *("technique", "empty", "header_only", None, "signature", "recommendation")
    ]


def test_headers_nobody_knows_are_listed_for_the_worklist() -> None:
    report = (
        "FINDINGS: Clear.\nZUSATZ: Text.\nNurse Note:\n fine\nImpression note: at 8:30 PM\n"
        "LUNGS: Clear.\nZUSATZ: Again.\nIMPRESSION: Normal.\n"
    )
    assert EXTRACTOR.unknown_headers(report) == ["ZUSATZ", "NURSE NOTE"]
    studies = frame([{"study_id": "s1", "report": report}], STUDIES)
    ledger = extract_shard(studies, EXTRACTOR).ledger
    assert ledger.select("scope", "study_id", "item_id", "reason", "detail").rows() == [
        ("item", "s1", None, "unknown_header", "NURSE NOTE"),
        ("item", "s1", None, "unknown_header", "ZUSATZ"),
    ]
    site = SentenceExtractor(REFERENCE, SiteConfig(header_aliases={"Zusatz": "RECOMMENDATION"}))
    assert site.unknown_headers(report) == ["NURSE NOTE"]


# --- removed words ------------------------------------------------------------------------------


def test_what_brackets_of_removed_words_enclose_is_not_read() -> None:
    report = "FINDINGS: Seen by [**Dr. Name 12. FINDINGS: x**] at noon. No edema. [**2019-3-4**].\n"
    found = rows(report)
    assert [(r["sentence"], r["discarded"]) for r in found] == [
        ("Seen by [**Dr. Name 12. FINDINGS: x**] at noon.", None),
        ("No edema.", None),
        ("[**2019-3-4**].", "empty"),
    ]
    assert told("[**Name**] year old man with cough. The heart is enlarged.")[0][1] == "INDICATION"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("on [**5-1**] at", "on XXXXXXXXX at"),
        ("by ___ and XXXX", "by ___ and XXXX"),
        ("open [** bracket\nends **]", "open [** bracket\nends **]"),
        ("no [**", "no [**"),
    ],
)
def test_masking_keeps_every_place(text: str, masked: str) -> None:
    deid = Deidentified.of(SiteConfig().deid_tokens)
    assert deid.masked(text) == masked
    assert len(deid.masked(text)) == len(text)


def test_no_token_is_allowed() -> None:
    assert Deidentified.of([]).masked("___") == "___"


# --- standard phrases ---------------------------------------------------------------------------


def test_a_standard_phrase_describes_the_study() -> None:
    report = "FINAL REPORT\n CXR TEMPLATE A\n"
    assert told(report) == []
    phrases = {"CXR template A": ["lungs are clear", "heart size is normal"]}
    assert told(report, normal_phrases=phrases) == [(NO_SECTION, "FINDINGS", "CXR TEMPLATE A")]


@pytest.mark.parametrize("phrases", [{"": ["clear"]}, {"normal": []}, {"normal": [" "]}])
def test_a_standard_phrase_needs_a_meaning(phrases: dict[str, list[str]]) -> None:
    with pytest.raises(ValidationError):
        SiteConfig(normal_phrases=phrases)


# --- clusters -----------------------------------------------------------------------------------


def clusters(findings: str, impression: str) -> list[int]:
    return [r["cluster"] for r in rows(f"FINDINGS: {findings}\n IMPRESSION: {impression}")]


@pytest.mark.parametrize(
    ("findings", "impression", "expected"),
    [
        ("Small left effusion. No edema.", "Left pleural effusion.", [1, 2, 1]),
        ("No effusion, pneumothorax or edema.", "No pneumothorax.", [1, 1]),
        ("The heart is enlarged.", "Cardiomegaly.", [1, 1]),
        ("Left effusion. Right effusion.", "Bilateral effusions.", [1, 1, 1]),
        ("Left effusion. Right effusion.", "Right effusion.", [1, 2, 2]),
        ("The lungs are clear.", "Old rib fracture.", [1, 2]),
        ("ET tube is in place. Its tip is in the right bronchus.", "Edema.", [1, 1, 2]),
        ("Left nodule. Left effusion. Left nodule.", "No edema.", [1, 2, 3, 4]),
    ],
)
def test_sentences_on_the_same_finding_share_a_cluster(
    findings: str, impression: str, expected: list[int]
) -> None:
    assert clusters(findings, impression) == expected


def test_a_very_long_report_takes_no_square_of_the_time() -> None:
    sentence = "There is a small left pleural effusion and a nodule in the right upper lobe. "
    report = f"FINDINGS: {sentence * 200}\n IMPRESSION: {sentence * 200}"
    assert len(report) > 30_000
    start = time.perf_counter()
    found = rows(report)
    assert time.perf_counter() - start < 5
    assert len(found) == 400
    assert {r["cluster"] for r in found} == {1}


@pytest.mark.parametrize(
    "shape",
    [
        "FINDINGS: a\n",
        "ABC:\n",
        "<b>",
        "[**",
        "1. ",
        ".",
        " ",
        "\n",
        "no\n- a\n",
        "I. A\n",
        "Ab c ",
        "_",
    ],
)
def test_no_shape_of_text_takes_a_square_of_the_time(shape: str) -> None:
    report = (shape * 30_000)[:30_000]
    start = time.perf_counter()
    rows(report)
    EXTRACTOR.unknown_headers(report)
    assert time.perf_counter() - start < 15  # a second or two alone; minutes before


# --- splitting further --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "starts", "expected"),
    [
        ("No edema. Clear lungs.", [0, 10], ["No edema.", "Clear lungs."]),
        ("No edema. Clear lungs.", [10], ["No edema.", "Clear lungs."]),
        ("There is no edema.", [0, 12], ["There is no edema."]),
        ("Absence of edema.", [0, 11], ["Absence of edema."]),
        ("Left lung clear, no edema.", [0, 17], ["Left lung clear, no edema."]),
        ("Possible pleural mass.", [0, 17], ["Possible pleural mass."]),
        ("Infection incl. PJP.", [0, 16], ["Infection incl. PJP."]),
        ("Left lung clear; no edema.", [0, 17], ["Left lung clear;", "no edema."]),
        ("Large heart\nNo edema", [0, 12], ["Large heart", "No edema"]),
        ("There is no\n- edema\n- mass", [12, 20], ["There is no\n- edema\n- mass"]),
        ("A nodule of 3.5 mm.", [0, 14], ["A nodule of 3.5 mm."]),
        ("Edema. 1 .", [0, 7], ["Edema. 1 ."]),
        ("Edema.", [-5, 3, 99], ["Edema."]),
    ],
)
def test_no_cut_parts_a_negation_or_a_number(
    text: str, starts: list[int], expected: list[str]
) -> None:
    found = parts(text, [(start, start + 1) for start in starts])
    assert [text[a:b] for a, b in found] == expected


def test_parts_inherit_section_and_cluster() -> None:
    report = "FINDINGS: No edema. Clear lungs."
    whole = {**rows(report)[0], "sentence": report[10:], "end": len(report), "cluster": 7}
    deid = Deidentified.of(SiteConfig().deid_tokens)
    found = split_further([whole], report, RulesSplitter(), deid)
    assert [(r["sent_id"], r["sentence"], r["section"], r["cluster"]) for r in found] == [
        ("S01", "No edema.", "FINDINGS", 7),
        ("S02", "Clear lungs.", "FINDINGS", 7),
    ]


def test_stanza_needs_a_folder_and_the_extra(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="local folder"):
        SentencesConfig(backend="stanza")
    with pytest.raises(UserError, match=r"cxr-qba\[stanza\]|no resources.json"):
        StanzaSplitter(str(tmp_path), "en")
    assert SentencesConfig(backend="stanza", model=str(tmp_path)).files() == []
