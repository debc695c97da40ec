"""Pages: what they hold, that hostile text stays text, and that they work in a browser."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from browse_fixtures import REPORT, study_rows, write_run

from cxrqba.browse.build import file_name, index_page, study_page
from cxrqba.browse.choose import choose, strata
from cxrqba.browse.gather import read_studies
from cxrqba.browse.items import caption, figure_item, in_paper_order, table_item
from cxrqba.browse.page import Shown, as_json, fitting, page
from cxrqba.browse.shown import pieces, visible
from cxrqba.browse.study import study_data
from cxrqba.cli import main as cli
from cxrqba.errors import UserError
from cxrqba.paper.tables import Block, Table, to_markdown


def test_hidden_characters_are_shown_by_number() -> None:
    assert visible("no \u202emass\u202c\r\n") == "no ‹U+202E›mass‹U+202C›\n"
    assert visible("a\u200bb\x00\tc\u2028") == "a‹U+200B›b‹U+0000›\tc‹U+2028›"
    assert visible("größer ≥ 3 µm \u2013 äé") == "größer ≥ 3 µm \u2013 äé"


def test_pieces_join_to_the_report_and_know_their_evidence() -> None:
    report = "One two. Three."
    found = pieces(report, [("S01", 0, 8), ("S02", 9, 15)], [("O1", 4, 7), ("O2", 0, 7)])
    assert "".join(p.text for p in found) == report
    assert [(p.text, p.sentence, p.evidence) for p in found] == [
        ("One ", "S01", ["O2"]),
        ("two", "S01", ["O1", "O2"]),
        (".", "S01", []),
        (" ", None, []),
        ("Three.", "S02", []),
    ]
    assert pieces("", [], []) == []


def test_a_study_leads_from_answer_parts_to_characters(tmp_path: Path) -> None:
    data = study_data(study_rows(tmp_path))
    part = data["questions"][0]["parts"][0]
    content = data["contents"][part[0]]
    assert part[1:] == [0, "main_answer", "A++", None]
    observation = data["observations"][content["observations"][0]]
    assert observation["sentences"] == ["S01"]
    marked = [text for text, _, evidence in data["pieces"] if "O01" in evidence]
    assert marked == ["left effusion"]
    assert observation["boxes"] == {0: [[10, 20, 60, 80]]}
    assert observation["children"] == ["O01.01"]
    assert "".join(p[0] for p in data["pieces"]) == visible(REPORT)
    first, second = data["films"]
    assert (first["width"], first["height"]) == (200, 150)
    assert first["uri"].startswith("data:image/jpeg;base64,")
    assert second["uri"] is None
    assert "cannot open the file" in second["note"]


def test_a_study_without_report_or_graph_is_shown(tmp_path: Path) -> None:
    rows = replace(study_rows(tmp_path, report=None), graph=None, sentences=[], questions=[])
    data = study_data(rows)
    assert data["pieces"] == []
    assert data["complete"] is None
    assert data["regions"]["lungs"] == {0: [[5.0, 5.0, 90.0, 90.0]]}
    assert data["wider"] == {"left apex": "lungs"}


def strata_table(n: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "study_id": [f"s{i:04d}" for i in range(n)],
            "is_complete": [i % 50 == 0 for i in range(n)],
            "has_images": [i % 7 != 0 for i in range(n)],
        }
    )


def test_the_sample_is_seeded_and_holds_rare_strata() -> None:
    table = strata_table(1000)
    chosen = choose(table, 20, 0)
    assert chosen == choose(table.sample(fraction=1, shuffle=True, seed=5), 20, 0)
    assert chosen != choose(table, 20, 1)
    rows = table.filter(pl.col("study_id").is_in(chosen))
    counts = rows.group_by("is_complete", "has_images").len()["len"].sort().to_list()
    assert counts == [3, 5, 6, 6]  # only three studies are complete and without images
    assert len(choose(table, 5000, 0)) == 1000


def test_items_stand_in_the_order_of_the_paper() -> None:
    names = ["table_accounting.md", "table_10_b.md", "table_2b_boxes.md", "table_2a_labels.md"]
    assert [p.name for p in in_paper_order(map(Path, names))] == [
        "table_2a_labels.md", "table_2b_boxes.md", "table_10_b.md", "table_accounting.md",
    ]  # fmt: skip


def test_a_table_is_read_back_from_its_markdown(tmp_path: Path) -> None:
    data = pl.DataFrame({"A|B": ["x|y", None], "n": ["1", "2"]})
    blocks = (Block(data, "Part", ("A|B",)), Block(data))
    table = Table("Table 9", "Caption", "Title (a)", data, blocks, ("Note.",))
    path = tmp_path / "table_9_x.md"
    path.write_text(to_markdown(table), encoding="utf-8")
    rst = tmp_path / "table_9_x.rst"
    rst.write_text("**Bold** and *not* ``code``\nnext line.\n\nSecond.\n", encoding="utf-8")
    item = table_item(path, [rst])
    assert item["title"] == "Table 9. Caption (Title (a))"
    assert item["short"] == "Table 9. Caption"
    assert [b["heading"] for b in item["blocks"]] == ["Part", None]
    assert item["blocks"][0] == {
        "heading": "Part", "columns": ["A|B", "n"], "right": [False, True],
        "rows": [["x|y", "1"], ["–", "2"]],
    }  # fmt: skip
    assert item["notes"] == ["Note."]
    assert item["caption"] == [
        [["strong", "Bold"], ["", " and "], ["em", "not"], ["", " "], ["code", "code"],
         ["", " next line."]],
        [["", "Second."]],
    ]  # fmt: skip
    assert caption("other", [rst]) == []
    png = tmp_path / "figure_4_quality.png"
    png.write_bytes(b"png")
    assert figure_item(png, [])["title"] == "Figure 4: quality"


def test_studies_that_have_no_room_are_left_out_and_said(tmp_path: Path) -> None:
    rows = [study_rows(tmp_path, f"s{i}") for i in range(6)]
    files = write_run(tmp_path / "run", rows)
    whole = index_page("T", files, ([], [], []), (50, 0, 20.0))
    assert (whole.shown, whole.chosen, whole.known) == (6, 6, 6)
    assert "6 of 6 studies." in whole.text
    size = len(whole.text.encode())
    small = index_page("T", files, ([], [], []), (50, 0, size / 1e6))
    assert 0 < small.shown < 6
    assert len(small.text.encode()) <= size
    assert f"{6 - small.shown} more had no room" in small.text
    drawn = index_page("T", files, ([], [], []), (2, 0, 20.0))
    assert "2 of 6 studies, drawn at random" in drawn.text
    assert drawn.text == index_page("T", files, ([], [], []), (2, 0, 20.0)).text
    assert [s["id"] for s, _ in fitting([{"id": "a"}, {"id": "b"}], 10)] == ["a"]


def test_images_without_reports_have_a_page_too(tmp_path: Path) -> None:
    files = write_run(tmp_path / "run", [study_rows(tmp_path, report=None)])
    images = {name: files[name] for name in ("studies", "images", "boxes")}
    made = index_page("T", images, ([], [], []), (50, 0, 20.0))
    assert (made.shown, made.known) == (1, 1)
    assert '"complete":null' in made.text
    assert '"lungs":{"0":[[5.0,5.0,90.0,90.0]]}' in made.text
    none = index_page("T", {}, ([], [], []), (50, 0, 20.0))
    assert (none.shown, none.known) == (0, 0)


def test_rows_of_a_study_survive_the_tables(tmp_path: Path) -> None:
    rows = study_rows(tmp_path)
    files = write_run(tmp_path / "run", [rows, study_rows(tmp_path, "s2")])
    table = strata(files["studies"], files["graphs"])
    assert table.rows() == [("s1", False, True), ("s2", False, True)]
    read = read_studies(files, ["s1"])[0]
    assert study_data(read) == study_data(rows)


def test_show_writes_the_page_of_one_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path / "results" / "mine", [study_rows(tmp_path, "s50000001")], "0")
    write_run(tmp_path / "results" / "mine", [study_rows(tmp_path, "s50000002")], "1")
    (tmp_path / "mine.yaml").write_text(
        "name: mine\ntitle: Mine\nsource: {kind: text, reports: r}\n", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    cli(["show", "s50000002", "--config", "mine.yaml"])
    path = Path(capsys.readouterr().out.strip())
    assert path == Path("results/mine/show/s50000002.html")
    assert "s50000002" in path.read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        cli(["show", "s5000002", "--config", "mine.yaml"])
    assert capsys.readouterr().err.strip() == (
        "error: no study 's5000002' in results/mine (did you mean 's50000002'?)"
    )
    with pytest.raises(UserError, match="no studies here; run the workflow"):
        study_page(tmp_path / "empty", "s1", "T")
    (tmp_path / "results/mine/rate_qa/1.rated.parquet").unlink()
    with pytest.raises(UserError, match=r"1\.rated\.parquet: not made yet"):
        study_page(tmp_path / "results/mine", "s50000002", "T")


def test_any_study_id_gives_a_file_name_of_its_own() -> None:
    assert file_name("s50000001") == "s50000001.html"
    names = {file_name(i) for i in ("a/b", "a_b", "a\\b", "../a", "a b", ".a")}
    assert len(names) == 6
    assert not any("/" in n or n.startswith(".") for n in names)


def hostile_page(tmp_path: Path) -> str:
    rows = [study_rows(tmp_path, "s1"), study_rows(tmp_path, 's"><script>bad()</script>')]
    studies = [(d, as_json(d)) for d in map(study_data, rows)]
    table = {
        "name": "t", "title": "<b>T</b>", "short": "T", "notes": ["</script>"], "caption": [],
        "blocks": [{"heading": None, "columns": ["<i>"], "right": [False], "rows": [["<u>"]]}],
    }  # fmt: skip
    return page(Shown("T </title><script>bad()</script>", "two", [table]), studies)


def test_the_page_holds_no_markup_of_its_data_and_loads_nothing(tmp_path: Path) -> None:
    text = hostile_page(tmp_path)
    assert text.count("<script") == 4  # page, two studies, the page's own
    assert text.count("</script>") == 4
    assert "<b>" not in text
    assert "default-src 'none'" in text
    assert "unsafe" not in text
    assert "://" not in text.replace("data:image", "")
    assert "\u202e" not in text
    for block in re.findall(r'<script id="[^"]*" type="application/json">(.*?)</script>', text):
        json.loads(block)


DRIVER = """<!DOCTYPE html><pre id="out">waiting</pre><iframe id="page" src="page.html"></iframe>
<script>
document.getElementById("page").addEventListener("load", async function () {
  const page = this.contentDocument, view = this.contentWindow, found = {};
  const all = q => [...page.querySelectorAll(q)], one = q => page.querySelector(q);
  const texts = q => all(q).map(e => e.textContent);
  const key = (k, t) => (t || page.body).dispatchEvent(
    new view.KeyboardEvent("keydown", {key: k, bubbles: true}));
  const soon = () => new Promise(r => setTimeout(r, 50));
  found.report = one("#report").textContent;
  found.title = one("h1").textContent;
  found.faint = all("#films rect").map(r => r.getAttribute("class"));
  one(".tree .item").click();
  found.key = texts(".report .key"); found.on = texts(".report .on");
  found.rects = all("#films rect").length;
  found.box = one("#films rect.pos").getAttribute("width");
  found.status = one("#status").textContent;
  found.pressed = all("[aria-pressed=true]").length;
  key("Escape");
  found.cleared = all(".report .on").length + all("[aria-pressed=true]").length;
  all(".tree .item")[2].click(); found.denied = one("#status").textContent;
  found.dashed = all("#films rect.neg").length;
  one("#panel-Questions").click();
  const card = one("#questions details"); card.open = true; await soon();
  const parts = [...card.querySelectorAll(".item")];
  found.parts = parts.map(p => p.textContent);
  parts[0].click(); found.part = [one("#status").textContent, texts(".report .key")];
  parts[1].click(); found.added = one("#status").textContent;
  parts[2].click(); found.template = [one("#status").textContent, all("#films rect.pos").length];
  all(".report .sentence")[0].click(); found.sentence = one("#status").textContent;
  found.related = card.querySelectorAll(".item.related").length;
  one("#only").click();
  found.aboutIt = all("#questions details:not([hidden])").length;
  found.question = card.querySelector("summary").textContent;
  one("#panel-Questions").focus(); key("ArrowRight", one("#panel-Questions"));
  found.tab = page.activeElement.id;
  one(".study [role=tabpanel]:not([hidden]) .chips button").click();
  found.region = one("#status").textContent;
  const chips = one(".study [role=tabpanel]:not([hidden])").querySelectorAll(".chips button");
  chips[1].click(); found.wider = one("#status").textContent;
  key("n"); found.next = one("#study h2").textContent;
  key("p"); found.back = one("#study h2").textContent;
  one("#kind").value = "without images";
  one("#kind").dispatchEvent(new view.Event("change"));
  found.none = one("#study").textContent;
  one("#page-Tables").click();
  found.table = texts("section.entry td").concat(texts("section.entry h2"));
  found.bad = [view.bad, window.bad];
  found.scripts = all("main script, main b, main img:not([src^='data:'])").length;
  found.focusable = all("main button, main select, main summary").every(e => e.tabIndex >= -1);
  document.getElementById("out").textContent = JSON.stringify(found);
});
</script>"""


@pytest.fixture(scope="module")
def in_browser(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if shutil.which("chromium") is None:
        pytest.skip("needs chromium")
    folder = tmp_path_factory.mktemp("browser")
    (folder / "page.html").write_text(hostile_page(folder), encoding="utf-8")
    (folder / "driver.html").write_text(DRIVER, encoding="utf-8")
    done = subprocess.run(
        [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000",
            "--allow-file-access-from-files", f"--user-data-dir={folder}/profile", "--dump-dom",
            (folder / "driver.html").as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    text = done.stdout.split('<pre id="out">')[1].split("</pre>")[0]
    found: dict[str, Any] = json.loads(html.unescape(text))
    return found


def test_hostile_text_stays_text_in_a_browser(in_browser: dict[str, Any]) -> None:
    assert in_browser["report"] == visible(REPORT)
    assert in_browser["title"] == "T </title><script>bad()</script>"
    assert in_browser["bad"] == [None, None]
    assert in_browser["scripts"] == 0
    assert in_browser["question"] == "A+Is there </script><script>bad()?"
    assert "There is a <b>small</b> effusion." in in_browser["parts"][0]
    assert in_browser["table"] == ["<u>", "<b>T</b>"]
    assert in_browser["next"] == 'Study s"><script>bad()</script>'


def test_choosing_leads_to_sentences_boxes_and_answers(in_browser: dict[str, Any]) -> None:
    assert in_browser["faint"] == ["pos faint"]
    assert in_browser["key"] == ["left effusion"]
    assert "".join(in_browser["on"]) == "There is a small left effusion."
    assert in_browser["rects"] == 2  # the box and its dark edge
    assert in_browser["box"] == "50"
    assert in_browser["status"] == "O01 · stands in S01 · 1 box"
    assert in_browser["pressed"] == 1
    assert in_browser["cleared"] == 0
    assert in_browser["denied"] == (
        "O02 · stands in S02 · a wider region stands in for one without boxes · 2 boxes"
    )
    assert in_browser["dashed"] == 2
    status, key = in_browser["part"]
    assert status == "This answer part · from O01 · stands in S01 · 1 box"
    assert key == ["left effusion"]
    assert "it was added because the complete report does not mention it" in in_browser["added"]
    assert in_browser["template"][0].endswith("it follows from the whole report · 1 box")
    assert in_browser["template"][1] == 1
    assert in_browser["sentence"] == "Sentence S01 · gives O01, O01.01 · stands in S01 · 1 box"
    assert in_browser["related"] == 1
    assert in_browser["aboutIt"] == 1
    assert in_browser["region"] == "The region lungs · 1 box"
    assert in_browser["wider"] == "The region left apex, shown by lungs · 1 box"
    assert in_browser["none"] == "No study of this kind is shown."


def test_the_page_works_by_keyboard(in_browser: dict[str, Any]) -> None:
    assert in_browser["tab"] == "panel-Regions"
    assert in_browser["back"] == "Study s1"
    assert in_browser["focusable"]
