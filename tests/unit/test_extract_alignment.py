"""Alignment: what a model returned is read where it stands in the report, or not at all."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxrqba.config import SiteConfig
from cxrqba.extract.alignment import Aligner
from cxrqba.reference.tables import load_reference
from cxrqba.reports.deid import Deidentified
from cxrqba.reports.sentences import split_sentences

ROOT = Path(__file__).resolve().parents[2]
ALIGNER = Aligner(
    load_reference(ROOT / "resources" / "reference"), Deidentified.of(SiteConfig().deid_tokens)
)
REPORT = """The heart is mildly enlarged. There is no pleural
 effusion or pneumothorax.  Compared to ___, the "small" opacity in the
 right lower lobe has resolved.

1. No edema.
2. A 3.5 mm nodule is unchanged; the lungs are otherwise clear.
"""


def aligned(*texts: str, report: str = REPORT) -> list[tuple[int, str, str]]:
    """(index, text of the report with single blanks, method)."""
    found = ALIGNER.align(report, split_sentences(report), texts)
    return [(a.index, " ".join(report[a.start : a.end].split()), a.method) for a in found]


def test_sentences_as_written_are_found_in_order() -> None:
    texts = [REPORT[a:b] for a, b in split_sentences(REPORT)]
    found = ALIGNER.align(REPORT, split_sentences(REPORT), texts)
    assert [(a.start, a.end) for a in found] == split_sentences(REPORT)
    assert {a.method for a in found} == {"exact"}


OPACITY = 'Compared to ___, the "small" opacity in the right lower lobe has resolved.'
EFFUSION = "There is no pleural effusion or pneumothorax."
NODULE = "A 3.5 mm nodule is unchanged; the lungs are otherwise clear."


@pytest.mark.parametrize(
    ("text", "expected", "method"),
    [
        pytest.param("the HEART is  mildly enlarged", None, "layout", id="case and blanks"),
        pytest.param(
            "There is no pleural effusion or pneumothorax.", EFFUSION, "layout", id="line"
        ),
        pytest.param(
            "Compared to , the \u201csmall\u201d opacity in the right lower lobe has resolved.",
            OPACITY,
            "layout",
            id="quotation marks and a removed word",
        ),
        pytest.param("1. No edema.", "No edema.", "exact", id="list number"),
        pytest.param("the lungs are otherwise clear.", None, "exact", id="second half"),
        pytest.param("pneumothorax", EFFUSION, "layout", id="a no that was cut off"),
        pytest.param("small opacity in the right lower lobe", OPACITY, "layout", id="resolved"),
        pytest.param("There is no pneumothorax.", EFFUSION, "shortened", id="shortened"),
        pytest.param("The heart is midly enlarged.", None, "fuzzy", id="misspelt"),
        pytest.param("A 3.5-mm nodule is unchanged", None, "layout", id="hyphen"),
    ],
)
def test_changed_texts_are_read_as_the_report_has_them(
    text: str, expected: str | None, method: str
) -> None:
    ((index, found, how),) = aligned(text)
    assert (index, how) == (0, method)
    if expected is not None:
        assert found == expected
    else:
        assert found in REPORT


@pytest.mark.parametrize(
    "text",
    [
        "There is a large left pneumothorax.",
        "Der Herzschatten ist vergr\u00f6\u00dfert.",
        "No acute cardiopulmonary process.",
        "",
        "...",
        "\x00",
        "the is",
        '{"sentence": "x"}',
    ],
)
def test_what_does_not_stand_in_the_report_has_no_place(text: str) -> None:
    assert aligned(text) == []


def test_merged_sentences_have_the_places_of_their_parts() -> None:
    merged = aligned("The heart is mildly enlarged; there is no pleural effusion or pneumothorax.")
    assert merged == [(0, f"The heart is mildly enlarged. {EFFUSION}", "layout")]
    apart = aligned("The heart is midly enlarged. No edema.")
    assert [text for _, text, _ in apart] == ["The heart is mildly enlarged.", "No edema."]


def test_a_repeated_sentence_is_given_each_of_its_places() -> None:
    report = "No edema. Clear lungs. No edema. Large heart. No edema."
    spans = split_sentences(report)
    texts = ["No edema.", "No edema", "large heart", "NO EDEMA"]
    found = ALIGNER.align(report, spans, texts)
    assert [(a.start, a.end) for a in found] == [spans[0], spans[2], spans[3], spans[4]]


def test_a_text_out_of_order_is_found_all_the_same() -> None:
    found = aligned(NODULE, "The heart is mildly enlarged.", EFFUSION)
    assert [text for _, text, _ in found] == [NODULE, "The heart is mildly enlarged.", EFFUSION]


def test_an_invented_sentence_takes_no_place_of_another() -> None:
    found = aligned(
        "The heart is mildly enlarged.", "The heart is mildly enlarged again.", "No edema."
    )
    assert [index for index, _, _ in found] == [0, 2]


def test_a_header_taken_along_is_left_behind() -> None:
    report = "FINDINGS: Clear lungs. No edema."
    found = ALIGNER.align(report, [(10, 22), (23, 32)], ["FINDINGS: Clear lungs."])
    assert [(a.start, a.end) for a in found] == [(10, 22)]


def test_a_very_long_report_is_aligned_in_seconds() -> None:
    draw = random.Random(0)
    names = ["effusion", "edema", "nodule", "opacity", "mass", "fracture", "catheter", "hernia"]
    report = "\n".join(
        f"There is a {draw.randint(1, 99)} mm {draw.choice(names)} at {draw.randint(1, 999)}."
        for _ in range(1000)
    )
    assert len(report) > 30_000
    spans = split_sentences(report)
    texts = [report[a:b].upper() for a, b in spans[::2]]
    texts += [f"Invented {draw.choice(names)} number {i}." for i in range(100)]
    start = time.perf_counter()
    found = ALIGNER.align(report, spans, texts)
    assert time.perf_counter() - start < 5
    assert [(a.start, a.end) for a in found] == spans[::2]
    same = ALIGNER.align(
        "No edema. " * 3000, split_sentences("No edema. " * 3000), ["No edema."] * 50
    )
    assert len(same) == 50
    assert time.perf_counter() - start < 10


WORDS = st.sampled_from(
    ["no", "edema", "mass", "___", ".", "left", "\n", ";", "\u00df", "3.5", "\u200b"]
)
TEXTS = st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=30)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.lists(TEXTS, max_size=5))
def test_spans_always_lie_in_the_report(report: str, texts: list[str]) -> None:
    sentences = split_sentences(report)
    for one in ALIGNER.align(report, sentences, [*texts, *(report[a:b] for a, b in sentences)]):
        assert 0 <= one.start < one.end <= len(report)
        assert any(a < one.end and one.start < b for a, b in sentences)
