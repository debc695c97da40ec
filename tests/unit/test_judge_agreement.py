"""Agreement of a judge with people and with another judge; the review sheet, out and in again."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from qa_rows import qa_frames

from cxrqba.errors import UserError
from cxrqba.evaluate.agreement import ac1, agreement, is_model, judge_confusion, kappa, measures
from cxrqba.judge.prompts import SEES
from cxrqba.judge.review import COLUMNS, read_sheet, read_sheets, sample, sheet_csv, sheet_rows
from cxrqba.judge.review_page import review_page
from cxrqba.paper.judge_agreement import agreement_table
from cxrqba.paper.judge_confusion import confusion_data, confusion_figure
from cxrqba.paper.tables import to_markdown
from cxrqba.schema import (
    AGREEMENT,
    CONFUSION,
    HUMAN_RATINGS,
    IMAGES,
    JUDGEMENTS,
    PART_CRITERIA,
    TEXT_QUALITY,
)
from cxrqba.tables import frame, write_table


def test_kappa_and_ac1_of_known_tables() -> None:
    counts = np.array([[20.0, 5.0], [10.0, 15.0]])
    assert kappa(counts, 1 - np.eye(2)) == pytest.approx(0.4)
    # Gwet: chance = 2 p (1 - p) with p = 0.55 for two categories
    assert ac1(counts) == pytest.approx((0.7 - 0.495) / (1 - 0.495))
    skewed = np.array([[118.0, 5.0], [2.0, 0.0]])  # nearly all of one level
    assert kappa(skewed, 1 - np.eye(2)) < 0 < 0.9 < ac1(skewed)
    assert math.isnan(kappa(np.zeros((2, 2)), 1 - np.eye(2)))
    assert math.isnan(ac1(np.zeros((2, 2))))


def test_kappa_weighs_disagreement_by_grades() -> None:
    levels = list(TEXT_QUALITY["entailment"])
    near, far = (np.diag([5.0] * len(levels)) for _ in range(2))
    near[0, levels.index("ALIGNED_INFERABLE")] += 3  # both A++
    far[0, levels.index("NON_ALIGNED_CONTRADICTING")] += 3  # A++ against D
    weighted = measures("entailment")["weighted kappa"]
    assert weighted(near) == pytest.approx(1.0)
    assert weighted(far) < 0.9
    assert measures("entailment")["kappa"](near) == pytest.approx(
        measures("entailment")["kappa"](far)
    )


def test_over_and_under_rating_across_the_cuts() -> None:
    levels = list(TEXT_QUALITY["entailment"])
    counts = np.zeros((len(levels), len(levels)))
    good, b, d = (
        levels.index(x)
        for x in ("ALIGNED_MENTIONED", "NON_ALIGNED_NON_INFERABLE", "NON_ALIGNED_CONTRADICTING")
    )
    counts[good, good], counts[good, b], counts[b, d], counts[d, good] = 6, 2, 1, 1
    found = {name: measure(counts) for name, measure in measures("entailment").items()}
    assert found["agreement"] == pytest.approx(0.6)
    assert (found["over A"], found["under A"]) == (0.2, 0.1)
    assert (found["over B"], found["under B"]) == (0.1, 0.1)


def judgement(study: str, criterion: str, level: str | None, judge: str = "vllm/x") -> dict:  # type: ignore[type-arg]
    answer = "q.a1" if criterion in PART_CRITERIA else None
    return {
        "study_id": study, "question_id": "q", "answer_id": answer, "criterion": criterion,
        "level": level, "status": "ok", "judge": judge,
    }  # fmt: skip


def rating(study: str, criterion: str, level: str, rater: str = "R1") -> dict:  # type: ignore[type-arg]
    row = judgement(study, criterion, level)
    return {k: row[k] for k in ("study_id", "question_id", "answer_id", "criterion", "level")} | {
        "rater": rater
    }


def test_agreement_of_each_rater_and_criterion() -> None:
    good, bad = "ALIGNED_MENTIONED", "NON_ALIGNED_CONTRADICTING"
    judgements = frame(
        [judgement(f"s{i}", "entailment", good if i % 2 else bad) for i in range(10)]
        + [judgement("s1", "completeness", "FULLY_COMPLETE"), judgement("s11", "entailment", None)],
        JUDGEMENTS,
    )
    ratings = frame(
        [rating(f"s{i}", "entailment", good if i % 2 else bad) for i in range(10)]
        + [rating("s1", "completeness", "NOT_ANSWERED", "R2"), rating("s11", "entailment", good)],
        HUMAN_RATINGS,
    )
    rows = {(r["rater"], r["criterion"], r["metric"]): r
            for r in agreement(judgements, ratings, 20, 0).iter_rows(named=True)}  # fmt: skip
    assert rows["R1", "entailment", "kappa"]["value"] == 1.0
    assert rows["R1", "entailment", "kappa"]["cases"] == 10
    assert rows["R2", "completeness", "over A"]["value"] == 1.0
    assert {r[0] for r in rows} == {"R1", "R2"}


QUESTIONS_TABLE, ANSWERS_TABLE = qa_frames(
    [
        {
            "study_id": f"s{i}",
            "question_id": "q",
            "question_strategy": "finding" if i % 3 else "abnormal",
            "question": f'Is there "effusion", number {i}?',
            "answers": [{"answer_id": "q.a1", "text": "Yes,\nthere is <b>one</b>."}],
        }
        for i in range(60)
    ]
)
LEVELS = list(TEXT_QUALITY["relevance"])
JUDGED = frame(
    [
        judgement(f"s{i}", criterion, (LEVELS[0] if i > 5 else LEVELS[i % 4])
                  if criterion == "relevance" else next(iter(TEXT_QUALITY[criterion])))
        for i in range(60)
        for criterion in TEXT_QUALITY
    ],
    JUDGEMENTS,
)  # fmt: skip


def test_the_sample_holds_rare_levels_and_is_drawn_alike_again() -> None:
    chosen = sample(QUESTIONS_TABLE, JUDGED, 20, 0)
    counts = dict(chosen.group_by("criterion").len().iter_rows())
    assert counts == dict.fromkeys(TEXT_QUALITY, 20)
    relevance = chosen.filter(pl.col("criterion") == "relevance")
    assert set(relevance["level"]) == set(LEVELS)
    rare = relevance.filter(pl.col("level") != LEVELS[0]).height
    assert rare == JUDGED.filter(
        pl.col("criterion") == "relevance", pl.col("level") != LEVELS[0]
    ).height  # fmt: skip
    strategies = relevance.join(QUESTIONS_TABLE, on=["study_id", "question_id"])
    assert set(strategies["question_strategy"]) == {"finding", "abnormal"}
    shuffled = JUDGED.sample(fraction=1, shuffle=True, seed=1)
    assert sample(QUESTIONS_TABLE, shuffled, 20, 0).equals(chosen)
    assert not sample(QUESTIONS_TABLE, JUDGED, 20, 1).equals(chosen)


def rows_of_sheet() -> list[dict[str, str]]:
    chosen = sample(QUESTIONS_TABLE, JUDGED, 4, 0)
    reports = {f"s{i}": f"REPORT {i}. </script><script>alert(1)</script>" for i in range(60)}
    return sheet_rows(chosen, QUESTIONS_TABLE, ANSWERS_TABLE, reports)


def test_raters_see_what_the_judge_sees_and_not_what_it_said() -> None:
    for row in rows_of_sheet():
        sees = SEES[row["criterion"]]
        assert {k for k in ("report", "question", "parts") if row[k]} == set(sees)
        assert not row["level"]
        assert bool(row["part"]) == (row["criterion"] in PART_CRITERIA)


def test_a_filled_sheet_comes_in_again(tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(sheet_csv(rows_of_sheet()))))
    for row in rows[:6]:
        row.update(level=row["levels"].split()[0].lower(), rater="A. Reader", comment="x, y")
    path = tmp_path / "filled.csv"
    path.write_text(sheet_csv(rows), encoding="utf-8-sig")
    ratings = read_sheets([path])
    assert ratings.height == 6
    assert ratings.schema == HUMAN_RATINGS
    assert set(ratings["rater"]) == {"A. Reader"}
    assert read_sheets([]).is_empty()
    scores = agreement(JUDGED, ratings, 10, 0)
    assert scores.height > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"level": "ALIGNED_MENTIONNED"}, r"line 2: no level 'ALIGNED_MENTIONNED'"),
        ({"criterion": "entailmnt"}, r"line 2: no criterion 'entailmnt' .did you mean"),
        ({"rater": " "}, "line 2: a level without the name of a rater"),
    ],
)
def test_a_mistake_on_a_sheet_is_named(
    tmp_path: Path, change: dict[str, str], message: str
) -> None:
    row = dict.fromkeys(COLUMNS, "") | {
        "criterion": "entailment", "study_id": "s", "question_id": "q", "answer_id": "a",
        "level": "ALIGNED_MENTIONED", "rater": "R",
    }  # fmt: skip
    path = tmp_path / "sheet.csv"
    path.write_text(sheet_csv([row | change]), encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_sheet(path)
    path.write_text(sheet_csv([row, row]), encoding="utf-8")
    with pytest.raises(UserError, match="line 3: the case of line 2 again"):
        read_sheet(path)
    path.write_text("a,b\n", encoding="utf-8")
    with pytest.raises(UserError, match="no column 'criterion'; it is no review sheet"):
        read_sheet(path)


DRIVER = """<!DOCTYPE html><pre id="out">waiting</pre><iframe id="sheet" src="sheet.html"></iframe>
<script>
document.getElementById("sheet").addEventListener("load", function () {
  const page = this.contentDocument, view = this.contentWindow;
  const cards = page.querySelectorAll("section");
  page.getElementById("rater").value = 'R "1"';
  page.getElementById("rater").dispatchEvent(new view.Event("input"));
  cards[0].querySelectorAll("input[type=radio]")[0].click();
  cards[1].querySelectorAll("input[type=radio]")[1].click();
  const note = cards[1].querySelector("input[placeholder]");
  note.value = 'odd, "really"'; note.dispatchEvent(new view.Event("input"));
  page.getElementById("filter").value = "relevance";
  page.getElementById("filter").dispatchEvent(new view.Event("change"));
  document.getElementById("out").textContent = JSON.stringify({
    csv: view.eval("filledSheet()"), cards: cards.length,
    count: page.getElementById("count").textContent,
    shown: [...cards].filter(c => !c.hidden).length,
    scripts: page.querySelectorAll("main script").length
  });
});
</script>"""


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
def test_the_page_works_in_a_browser(tmp_path: Path) -> None:
    rows = rows_of_sheet()
    page = review_page(rows, "Title <1> & more", "store")
    # only the driver of this test needs eval; the page itself forbids it
    page = page.replace("script-src 'unsafe-inline'", "script-src 'unsafe-inline' 'unsafe-eval'")
    (tmp_path / "sheet.html").write_text(page, encoding="utf-8")
    (tmp_path / "driver.html").write_text(DRIVER, encoding="utf-8")
    done = subprocess.run(
        [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000",
            "--allow-file-access-from-files", f"--user-data-dir={tmp_path}/profile", "--dump-dom",
            (tmp_path / "driver.html").as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    text = done.stdout.split('<pre id="out">')[1].split("</pre>")[0]
    for entity, mark in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text.replace(entity, mark)
    found = json.loads(text)
    assert found["cards"] == len(rows)
    assert found["count"] == f"2 of {len(rows)} rated"
    assert found["shown"] == sum(r["criterion"] == "relevance" for r in rows)
    assert found["scripts"] == 0  # a report cannot bring one in
    path = tmp_path / "filled.csv"
    path.write_text(found["csv"], encoding="utf-8", newline="")
    ratings = read_sheet(path)
    assert ratings.select("level", "rater", "comment").rows() == [
        (rows[0]["levels"].split()[0], 'R "1"', None),
        (rows[1]["levels"].split()[1], 'R "1"', 'odd, "really"'),
    ]
    with path.open(encoding="utf-8", newline="") as file:
        assert [r["report"] for r in csv.DictReader(file)] == [r["report"] for r in rows]


def test_the_page_loads_nothing_from_elsewhere() -> None:
    page = review_page(rows_of_sheet(), "T", "store")
    assert "default-src 'none'" in page
    assert "://" not in page
    assert page.count("</script>") == 2


def scores_file(tmp_path: Path, judge: str) -> Path:
    good = "ALIGNED_MENTIONED"
    judgements = frame(
        [judgement(f"s{i}", "entailment", good, judge) for i in range(4)], JUDGEMENTS
    )
    ratings = frame([rating(f"s{i}", "entailment", good) for i in range(4)], HUMAN_RATINGS)
    path = tmp_path / f"{judge.partition('/')[0]}.parquet"
    write_table(agreement(judgements, ratings, 10, 0), path, AGREEMENT)
    return path


def test_table_5_speaks_of_language_models_alone(tmp_path: Path) -> None:
    text = to_markdown(agreement_table(scores_file(tmp_path, "vllm/llama"), "Title"))
    assert "| vllm/llama | R1" in text
    assert "1.00" in text
    rules = to_markdown(agreement_table(scores_file(tmp_path, "rules/2"), "Title"))
    assert "No data: people rated, but the judge is no language model." in rules
    empty = tmp_path / "empty.parquet"
    write_table(frame([], AGREEMENT), empty, AGREEMENT)
    assert "No data: no review sheet was imported" in to_markdown(agreement_table(empty, "T"))
    assert [is_model(j) for j in ("rules/2", "dummy/1", None, "", "endpoint/x")] == [
        False, False, False, False, True,
    ]  # fmt: skip


def judged_by(judge: str, entailment: str) -> pl.DataFrame:
    best = {c: next(iter(levels)) for c, levels in TEXT_QUALITY.items()} | {
        "entailment": entailment,
        "question_clarity": "OPTIMAL",
        "answer_clarity": "OPTIMAL",
    }
    return frame(
        [judgement(f"s{i}", c, level, judge) for i in range(3) for c, level in best.items()],
        JUDGEMENTS,
    )


def test_confusion_of_two_judges_and_its_figure(tmp_path: Path) -> None:
    images = frame([], IMAGES)
    ours = judged_by("vllm/a", "ALIGNED_MENTIONED")
    theirs = judged_by("vllm/b", "NON_ALIGNED_CONTRADICTING").head(10)  # two of three questions
    counts = judge_confusion(QUESTIONS_TABLE, ANSWERS_TABLE, images, ours, theirs)
    assert counts.select("first", "second", "count").rows() == [("A++", "D", 2)]
    path = tmp_path / "confusion.parquet"
    write_table(counts, path, CONFUSION)
    texts = {t.get_text() for t in confusion_figure(confusion_data(path), "T").axes[0].texts}
    assert "2" in texts
    mixed = judge_confusion(
        QUESTIONS_TABLE, ANSWERS_TABLE, images, judged_by("rules/2", "ALIGNED_MENTIONED"), ours
    )
    write_table(mixed, path, CONFUSION)
    assert confusion_data(path).is_empty()
    written = [t.get_text() for t in confusion_figure(confusion_data(path), "T").texts]
    assert any("no data" in t for t in written)
    assert judge_confusion(
        QUESTIONS_TABLE, ANSWERS_TABLE, images, ours, frame([], JUDGEMENTS)
    ).is_empty()
