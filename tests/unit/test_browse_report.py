"""The Snakemake report: what may enter it, in which order, and that all of it is explained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "workflow" / "rules"
CATEGORIES = [
    "1 What came in and what came out",
    "2 Scene graphs against experts (Sec. 4.1)",
    "3 Questions and answers (Sec. 3 and 4.2)",
    "4 The judge (Sec. 3.3 and 4.2)",
    "5 Leaks and balance",
    "6 Definitions (App. D and E)",
]
WITH_TEXT_OR_IMAGES = ["figure_1_examples", "figure_regions", "index", "review_sheet", "worklist"]


def rules() -> dict[str, str]:
    found = {}
    for path in sorted(RULES.glob("*.smk")):
        parts = re.split(r"^ *rule (?=\w+:)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        found |= {part.partition(":")[0]: part for part in parts[1:]}
    return found


REPORTED = {name: text for name, text in rules().items() if "report(" in text}


def test_what_holds_report_text_or_images_never_enters() -> None:
    found = rules()
    for name in WITH_TEXT_OR_IMAGES:
        assert name in found
        assert name not in REPORTED
    assert set(REPORTED) <= {n for n in found if n.startswith(("table_", "figure_"))}


@pytest.mark.parametrize("name", REPORTED)
def test_each_item_is_explained_and_has_a_place(name: str) -> None:
    text = REPORTED[name]
    caption = ROOT / "workflow" / "report" / f"{name}.rst"
    assert f'caption="../report/{name}.rst"' in text
    assert len(caption.read_text(encoding="utf-8").split()) >= 25, "explain the statistic"
    category = re.search(r'category="([^"]*)"', text)
    assert category
    assert category[1] in CATEGORIES
    item = re.search(r'labels=\{\s*"item": "([^"]*)",\s*"what": "[^"]+",?\s*\}', text)
    assert item
    kind = name.partition("_")[0].capitalize()
    number = re.match(r"(?:table|figure)_(\d+[a-z]?)_", name)
    if number is None:
        assert item[1] == f"{kind}, ours"
    else:  # a space as wide as a digit: the report sorts labels as text
        pad = "\\u2007" if len(number[1].rstrip("abc")) == 1 else ""
        assert item[1] == f"{kind} {pad}{number[1]}"


@pytest.mark.parametrize("name", [n for n in REPORTED if n.startswith("table_")])
def test_a_table_is_shown_and_not_downloaded(name: str) -> None:
    """A browser shows a page; it would save Markdown or CSV."""
    assert re.search(rf'html=report\(\s*"<results>/tables/{name}\.html"', REPORTED[name])
