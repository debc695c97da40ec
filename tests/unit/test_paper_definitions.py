"""Tables 11 to 15 say what the code and the templates do."""

from __future__ import annotations

from pathlib import Path

import pytest
from paper_fixtures import question, write_questions

from cxrqba.paper.definitions import (
    STRATEGIES,
    extraction_quality_table,
    template_table,
    text_quality_table,
)
from cxrqba.paper.tables import to_latex, to_markdown
from cxrqba.qa.templates import load_templates
from cxrqba.schema import EXTRACTION_QUALITY, TEXT_QUALITY

ROOT = Path(__file__).resolve().parents[2]
FILES = load_templates(ROOT / "resources/templates")


def test_every_level_stands_with_the_grade_it_allows():
    rows = extraction_quality_table("Demo").data.rows()
    assert len(rows) == sum(map(len, EXTRACTION_QUALITY.values()))
    assert ("region quality", "DEFAULT_REGIONS_ONLY", "B") in rows
    text = text_quality_table("Demo").data
    assert text.height == sum(map(len, TEXT_QUALITY.values()))
    allowed = dict(text.select("Level", "Allows at best").iter_rows())
    assert allowed["RELEVANT_MAIN_ANSWER"] == "A++; A for related information"
    assert allowed["RELATED_INFO"] == "A++; A+ for main answer and details"
    units = dict(text.select("Aspect", "Judged of each").iter_rows())
    assert units["completeness"] == "question"
    assert units["entailment"] == "answer part"


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_template_is_in_one_table_with_its_questions(name: str, tmp_path: Path):
    asked = [question(f"s{i}", "q", "D02_has_finding", "Is there edema?", []) for i in range(3)]
    path = write_questions(tmp_path / "q.parquet", asked)
    table = template_table(name, FILES, [path], "Demo")
    expected = [t.id for f in FILES if f.strategy in STRATEGIES[name][1] for t in f.templates]
    assert table.data["Template"].to_list() == expected
    counts = dict(table.data.select("Template", "Questions").iter_rows())
    assert counts.get("D02_has_finding", 3) == 3
    assert sum(counts.values()) == (3 if name == "Table 15" else 0)
    text = to_markdown(table)
    assert "(Demo)" in text
    assert "main answer" in text
    assert to_latex(table).count("&") > 6 * len(expected)


def test_answers_and_parts_are_told_in_words():
    table = template_table("Table 15", FILES, [], "Demo").data
    row = next(r for r in table.iter_rows(named=True) if r["Template"] == "D03_where_is_finding")
    assert row["Answers"].startswith("present or likely and located: The {finding}")
    assert "details: finding pos" in row["Parts"]


def test_all_27_question_types_are_defined():
    tables = [template_table(name, FILES, [], "Demo").data for name in STRATEGIES]
    assert sum(t.height for t in tables) == 27
