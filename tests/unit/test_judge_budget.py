"""What judging would cost: prefixes in whole blocks, distinct views once, sums that add up."""

from __future__ import annotations

from pathlib import Path

import pytest
from qa_rows import qa_frames

from cxrqba.errors import UserError
from cxrqba.judge.budget import BLOCK, Cost, PrefixCache, Rates, budget, costs, tokenizer
from cxrqba.judge.prompts import load_prompts, view
from cxrqba.schema import ANSWERS, JUDGEMENTS, QUESTIONS, STUDIES
from cxrqba.tables import frame, write_table

ROOT = Path(__file__).parents[2]


def test_only_whole_blocks_of_a_common_start_are_cached() -> None:
    cache = PrefixCache()
    first = list(range(3 * BLOCK + 5))
    assert cache.add(first) == 0
    assert cache.add(first) == 3 * BLOCK
    assert cache.add([*first[: 2 * BLOCK + 3], -1, *first[2 * BLOCK + 4 :]]) == 2 * BLOCK
    assert cache.add([-1, *first[1:]]) == 0  # a later equal block follows other tokens
    assert cache.add(first[: BLOCK - 1]) == 0


def test_equal_views_cost_once_and_the_report_is_computed_once() -> None:
    prompts = load_prompts(ROOT / "resources" / "prompts")
    report = "The heart is large. " * 40
    asked = [
        (view(c, report, q, ["Yes, it is."]), '{"codes": ["M"]}')
        for q in ("Is it?", "Is it large?")
        for c in ("entailment", "completeness")
    ]
    split = tokenizer(None)
    found = costs([*asked, asked[0]], prompts, split)
    entailment = found["entailment"]
    assert (entailment.requests, entailment.distinct) == (3, 2)
    static = sum(len(split(m["content"])) for m in prompts.static("entailment"))
    assert entailment.prompt > 2 * (static + 160)
    # the second question computes neither the instructions nor the report again
    assert entailment.uncached < static + 5 * 30 + 200 + 2 * BLOCK + 60
    assert found["completeness"].uncached < 2 * (2 * BLOCK + 20)
    assert found["relevance"] == Cost()


def test_hours_need_both_rates() -> None:
    cost = Cost(requests=1, distinct=1, prompt=7_200, cached=3_600, output=3_600)
    assert cost.hours(1.0, 2.0) == pytest.approx(1.5)
    assert cost.hours(None, 2.0) is None


def test_without_a_run_by_rules_it_is_said_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="run the dataset, or a shard of it"):
        budget("demo", str(tmp_path), 5, ROOT, None, Rates())


def test_a_table_of_the_sample(tmp_path: Path) -> None:
    studies = [{"study_id": f"s{i}", "report": f"Small effusion, film {i}."} for i in range(3)]
    questions = [
        {
            "study_id": f"s{i}",
            "question_id": "Q1",
            "question": "Is there an effusion?",
            "answers": [{"answer_id": "Q1.a1", "text": "Yes."}],
        }
        for i in range(3)
    ]
    judgements = [
        {"study_id": "s0", "question_id": "Q1", "answer_id": "Q1.a1", "criterion": "entailment",
         "level": "ALIGNED_MENTIONED"}
    ]  # fmt: skip
    asked, answered = qa_frames(questions)
    for step, name, table, schema in (
        ("prepare_studies", "studies", frame(studies, STUDIES), STUDIES),
        ("generate_qa", "questions", asked, QUESTIONS),
        ("generate_qa", "answers", answered, ANSWERS),
        ("judge_qa", "judgements", frame(judgements, JUDGEMENTS), JUDGEMENTS),
    ):
        write_table(table, tmp_path / "demo" / step / f"0.{name}.parquet", schema)
    text = budget("demo", str(tmp_path), 2, ROOT, None, Rates(1000.0, 100.0))
    lines = {line.split("  ")[0]: line.split() for line in text.splitlines()}
    assert lines["entailment"][1:3] == ["2", "2"]
    assert lines["relevance"][1:3] == ["2", "1"]
    assert lines["all"][1:3] == ["10", "7"]
    assert "counted on 2 of 3 studies with 2 QA pairs" in text
    assert "GPU-hours" in text
    assert "estimates: output tokens" in text


def test_a_file_that_is_no_tokenizer_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match="tokenizer"):
        tokenizer(path)
