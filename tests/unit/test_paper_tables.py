"""Tables of the paper: right numbers from known rows, undefined stays undefined."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from paper_fixtures import (
    label_row,
    part,
    question,
    write_demo,
    write_parts,
    write_questions,
    write_rows,
)

from cxrqba import schema
from cxrqba.errors import UserError
from cxrqba.paper.accounting import accounting_table
from cxrqba.paper.label_tables import class_table
from cxrqba.paper.scan import scan
from cxrqba.paper.scores import label_table, region_table
from cxrqba.paper.settings import paper_settings
from cxrqba.paper.tables import (
    Block,
    Table,
    interval,
    number,
    percent,
    to_html,
    to_latex,
    to_markdown,
    write_outputs,
)
from cxrqba.paper.uniqueness import uniqueness, uniqueness_table

NAN = float("nan")


def test_numbers_print_undefined_as_dash_and_never_as_minus_zero():
    assert [number(v) for v in (0.714, 0.0, -0.001, NAN, None)] == [
        "0.71",
        "0.00",
        "0.00",
        "–",
        "–",
    ]
    assert interval(0.5, 0.4, 0.6) == "0.50 [0.40, 0.60]"
    assert interval(0.5, None, 0.6) == "0.50"
    assert interval(NAN, 0.1, 0.2) == "–"
    assert (percent(1, 8), percent(0, 8), percent(1, 0)) == ("12.5 %", "0.0 %", "–")


def test_readable_forms_escape_and_csv_leaves_undefined_empty(tmp_path: Path):
    frame = pl.DataFrame({"Name": ["a|b_c"], "Value": ["–"]})
    data = pl.DataFrame({"name": ["a"], "value": [NAN]})
    table = Table("Table 9", "Things", "Demo", data, [Block(frame, "Part", ("Name",))], ["50 %"])
    write_outputs(table, tmp_path / "t.csv", tmp_path / "t.md")
    assert (tmp_path / "t.csv").read_text() == "name,value\na,\n"
    markdown = (tmp_path / "t.md").read_text()
    assert markdown.startswith("# Table 9. Things (Demo)\n")
    assert "| a\\|b_c |     – |" in markdown
    assert "| :----- | ----: |" in markdown
    assert (tmp_path / "t.tex").read_text() == to_latex(table)
    assert r"a|b\_c & -- \\" in to_latex(table)
    assert r"50 \%" in to_latex(table)
    page = (tmp_path / "t.html").read_text()
    assert page == to_html(table)


def small_questions() -> list[dict]:
    """Three pairs, five parts; the expected numbers are counted by hand in the test."""

    def a(question_id: str, number: int, text: str, kind: str, *findings: str, **more):
        return part(
            question_id, number, text, answer_type=kind, obs_entities=list(findings), **more
        )

    return [
        question("s1", "q1", "D02_has_finding", "Is there edema?", [
            a("q1", 1, "No.", "main_answer", "edema", regions=["left lung", "right lung"]),
            a("q1", 2, "Clear.", "details"),
        ]),
        question("s2", "q1", "D02_has_finding", "Is there edema?", [
            a("q1", 1, "No.", "main_answer", "edema", regions=["right lung", "left lung"]),
            a("q1", 2, "Clear.", "details", "mass", "nodule"),
        ]),
        question("s2", "q2", "C01_describe_region", "Describe the left lung.", [
            a("q2", 1, "Clear.", "main_answer", "nodule", "mass", "mass"),
        ]),
    ]  # fmt: skip


def test_a_page_of_a_table_escapes_its_texts_and_has_no_script():
    data = pl.DataFrame({"<b>": ["</td><script>x</script>", None], "n": ["1", "2"]})
    page = to_html(Table("T", "<i>&", "d", data, (Block(data, "H <", ("<b>",)),), ("<u>",)))
    assert "<h1>T. &lt;i&gt;&amp; (d)</h1>" in page
    assert "<td>&lt;/td&gt;&lt;script&gt;x&lt;/script&gt;</td>" in page
    assert '<tr><td>–</td><td class="right">2</td></tr>' in page
    assert "<h2>H &lt;</h2>" in page
    assert "<p>&lt;u&gt;</p>" in page
    assert "<script" not in page
    assert "://" not in page


def test_uniqueness_counts_texts_and_tag_sets(tmp_path: Path):
    questions = write_questions(tmp_path / "q.parquet", small_questions())
    answers = write_parts(tmp_path / "a.parquet", small_questions())
    rows = {r["group"]: r for r in uniqueness([questions], [answers]).iter_rows(named=True)}
    overall = rows["overall"]
    assert (overall["qa_pairs"], overall["answer_parts"]) == (3, 5)
    assert (overall["unique_questions"], overall["questions_duplication"]) == (2, 1.5)
    assert (overall["unique_answers"], overall["answers_duplication"]) == (2, 1.5)
    assert (overall["unique_answer_texts"], overall["answer_texts_duplication"]) == (2, 2.5)
    assert overall["unique_finding_sets"] == 3  # {edema}, {}, {mass, nodule} in any order
    assert overall["unique_region_sets"] == 2  # both lungs in any order, none
    assert rows["finding"]["answers_duplication"] == 2.0
    main = rows["main_answer"]
    assert main["qa_pairs"] is None
    assert main["unique_questions"] is None
    assert (main["answer_parts"], main["unique_answer_texts"]) == (3, 2)
    assert "related_information" not in rows


def test_uniqueness_does_not_depend_on_shards(tmp_path: Path):
    one, three = (
        (paths["questions"], paths["answers"])
        for n in (1, 3)
        for paths in (write_demo(tmp_path / f"{n}", studies=6, shards=n),)
    )
    assert uniqueness(*one).equals(uniqueness(*three))
    assert uniqueness(*three).equals(uniqueness(*(paths[::-1] for paths in three)))


def test_label_table_orders_sets_and_keeps_undefined(tmp_path: Path):
    rows = [
        label_row("macro", "CXP-13", "mcc", 0.61, defined=11),
        label_row("macro", "CXP-5", "mcc", 0.8, defined=5),
        label_row("micro", "CXP-13", "mcc", 0.7),
        label_row("micro", "CXP-5", "mcc", 0.79),
        label_row("Edema", "", "mcc", NAN),
        label_row("Edema", "", "recall", 0.5),
    ]
    path = write_rows(tmp_path / "s.parquet", rows, schema.LABEL_SCORES)
    table = label_table([path], "Demo")
    (summary,) = (block.frame for block in table.blocks)
    assert summary.columns[3:] == ["Studies", "CXP-5 macro", "CXP-13 macro", "CXP-13 micro"]
    assert summary.row(0)[3:] == (
        "1,200", "0.80 [0.70, 0.90]", "0.61 [0.51, 0.71] (11 classes)", "0.70 [0.60, 0.80]",
    )  # fmt: skip
    assert "gold: -1 excluded." in to_markdown(table)
    assert "(Demo)" in table.title


def test_tables_of_label_classes_hold_their_own_sets_and_every_way(tmp_path: Path):
    rows = [
        label_row("Edema", "CXP-13", "mcc", NAN),
        label_row("Edema", "CXP-13", "recall", 0.5),
        label_row("macro", "CXP-13", "mcc", 0.6, defined=13),
        label_row("Hernia", "CXR-LT-25", "mcc", 0.4, reference="LT"),
        label_row("macro", "CXP-13", "mcc", 0.3, reference="LT", defined=13),
    ]
    scores = write_rows(tmp_path / "s.parquet", rows, schema.LABEL_SCORES)
    way = {"certainty": "uncertain", "uncertain_reference": "excluded", "classes": "fixed list"}
    way["sections"] = "any section"
    ways = [
        {**label_row("macro", "CXP-13", "mcc", 0.61, defined=11), **way, "without_graph": failed}
        for failed in ("negative", "excluded")
    ]
    known = [{k: v for k, v in row.items() if k in schema.LABEL_VARIANTS} for row in ways]
    variants = write_rows(tmp_path / "v.parquet", known, schema.LABEL_VARIANTS)
    table = class_table("Table 7", False, [scores], [variants], "Demo")
    classes, counted = (block.frame for block in table.blocks)
    assert classes.row(0) == ("Edema", "7", "–", "–", "0.50", "–")
    value = "0.61 (11 classes)"
    assert counted.rows() == [
        ("all", "excluded", failed, "fixed list", "any section", "ours", "1,200", value, "–")
        for failed in ("negative", "excluded")
    ]
    assert table.title == "Table 7. Finding tags per class of CheXpert (Demo)"
    tail = class_table("Table 8", True, [scores], [variants], "Demo")
    assert [block.frame["Class"].to_list() for block in tail.blocks] == [["Hernia"]]
    assert tail.data["reference"].unique().to_list() == ["LT"]


def test_without_cxr_lt_table_8_says_so(tmp_path: Path):
    rows = [label_row("Edema", "CXP-13", "mcc", 0.5)]
    scores = write_rows(tmp_path / "s.parquet", rows, schema.LABEL_SCORES)
    variants = write_rows(tmp_path / "v.parquet", [], schema.LABEL_VARIANTS)
    table = class_table("Table 8", True, [scores], [variants], "Demo")
    assert table.blocks == ()
    assert "no label reference in the format of CXR-LT" in to_markdown(table)


def test_region_table(tmp_path: Path):
    region = {
        "dataset": "Demo", "reference": "masks", "system": "ours", "structure": "heart",
        "metric": "iou_mean", "value": 0.8, "low": None, "high": None, "images": 20, "found": 19,
    }  # fmt: skip
    path = write_rows(tmp_path / "r.parquet", [region], schema.REGION_SCORES)
    assert region_table([path], "Demo").blocks[0].frame.row(0) == (
        "heart",
        "ours",
        "20",
        "19",
        "0.80",
    )


def test_accounting_follows_the_flow(tmp_path: Path):
    rows = [
        {"stage": "build_graphs", "what": "graphs", "reason": None, "count": 58},
        {"stage": "prepare_studies", "what": "studies in", "reason": None, "count": 60},
        {"stage": "prepare_studies", "what": "studies lost", "reason": "no_report", "count": 2},
    ]
    path = write_rows(tmp_path / "a.parquet", rows, schema.ACCOUNTING)
    table = accounting_table([path], "Demo")
    assert table.data["stage"].to_list() == ["prepare_studies", "prepare_studies", "build_graphs"]
    assert table.blocks[0].frame.row(1) == ("", "studies lost", "no report", "2")


@pytest.mark.parametrize("make", [label_table, region_table, uniqueness_table, accounting_table])
def test_without_data_a_table_says_why(make):
    files = ([], []) if make is uniqueness_table else ([],)
    text = to_markdown(make(*files, "Demo"))
    assert "No data: " in text
    assert "(Demo)" in text


def test_a_table_of_another_version_is_named(tmp_path: Path):
    path = tmp_path / "old.parquet"
    pl.DataFrame({"question_strategy": ["finding"]}).write_parquet(path)
    with pytest.raises(UserError, match=r"old\.parquet: .*'question'.*delete it"):
        scan([path], ["question_strategy", "question"], schema.QUESTIONS)
    with pytest.raises(UserError, match=r"none\.parquet"):
        scan([tmp_path / "none.parquet"], ["question"], schema.QUESTIONS)


def test_settings_need_a_title():
    with pytest.raises(UserError, match="'title'"):
        paper_settings({})
    assert paper_settings({"title": "Demo", "other": 1}).title == "Demo"
