"""A model as judge, through the store and a backend without a server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from qa_rows import qa_frames

from cxrqba.judge.model import Model, ModelJudge, Round, answered, rounds
from cxrqba.judge.plan import IN_SHARD, bucket_views, shard_views
from cxrqba.judge.prompts import SEES, Prompts, View, load_prompts, view
from cxrqba.judge.replies import CODES, codes_of
from cxrqba.judge.run import judge_questions
from cxrqba.llm.backends import DummyBackend
from cxrqba.llm.infer import infer
from cxrqba.llm.messages import Reply, Request
from cxrqba.llm.store import Response
from cxrqba.schema import ANSWERS, QUESTIONS, STUDIES, TEXT_QUALITY
from cxrqba.tables import frame, write_table

ROOT = Path(__file__).parents[2]
FIRST, SECOND = Model("dummy", "tiny"), Model("dummy", "other", "r1")


@pytest.fixture(scope="module")
def prompts() -> Prompts:
    return load_prompts(ROOT / "resources" / "prompts")


def views() -> list[View]:
    return [view(c, "A report.", "Is it?", ["Yes.", "It is."]) for c in SEES]


def asking(texts: Mapping[str, str], asked: list[list[Request]]):  # type: ignore[no-untyped-def]
    """An ``ask`` that knows ``texts`` by request key and keeps what it was asked."""

    def ask(requests: Sequence[Request]) -> dict[str, Response]:
        asked.append(list(requests))
        return {
            r.key: Response.of(
                r, 1, "ok", "dummy", r, Reply(text=texts[r.key], finish_reason="stop")
            )
            for r in requests
            if r.key in texts
        }

    return ask


def good(shown: View) -> str:
    return codes_of([next(iter(TEXT_QUALITY[shown.criterion]))] * shown.count, shown.criterion)


def test_what_failed_is_asked_shorter_then_of_the_second_judge(prompts: Prompts) -> None:
    one, two, three, four, five = views()
    texts = {
        FIRST.request(prompts, one).key: good(one),
        FIRST.request(prompts, two).key: "I think it is fine.",
        FIRST.request(prompts, two, short=True).key: good(two),
        FIRST.request(prompts, three).key: '{"codes": []}',
        SECOND.request(prompts, three).key: f"```json\n{good(three)}\n```",
        FIRST.request(prompts, four).key: "no",
        FIRST.request(prompts, five).key: good(five),
    }
    asked: list[list[Request]] = []
    verdicts, recovery = answered(views(), prompts, rounds(FIRST, SECOND), asking(texts, asked))
    assert [len(requests) for requests in asked] == [5, 3, 2]
    assert (recovery.views, recovery.unrated) == (5, (3, 2, 1))
    assert recovery.shares() == (0.6, 0.4, 0.2)
    assert verdicts[one.key].judge == "dummy/tiny"
    assert (verdicts[two.key].judge, verdicts[two.key].status) == ("dummy/tiny (short)", "ok")
    assert (verdicts[three.key].judge, verdicts[three.key].status) == ("dummy/other@r1", "repaired")
    assert verdicts[four.key].levels is None
    assert verdicts[four.key].status == "invalid_json"  # that of the first round


def test_without_a_second_judge_there_are_two_rounds() -> None:
    assert rounds(FIRST) == (Round(FIRST), Round(FIRST, short=True))
    assert rounds(FIRST, SECOND)[2] == Round(SECOND)


def test_requests_ask_for_no_more_than_the_codes_take(prompts: Prompts) -> None:
    for shown in views():
        request = FIRST.request(prompts, shown)
        assert request.sampling.temperature == 0
        assert len(good(shown)) < 4 * request.sampling.max_tokens
        assert request.shape is not None
        assert request.key != FIRST.request(prompts, shown, short=True).key
        assert request.key != SECOND.request(prompts, shown).key


STUDY = frame([{"study_id": "s1", "report": "Small effusion."}, {"study_id": "s2"}], STUDIES)
ASKED, ANSWERED = qa_frames(
    [
        {
            "study_id": study,
            "question_id": question,
            "question": "Is there an effusion?",
            "answers": [{"answer_id": f"{question}.a{i}", "text": t} for i, t in enumerate(parts)],
        }
        for study, question, parts in (
            ("s1", "Q1", ["Yes.", "It is small."]),
            ("s1", "Q2", []),
            ("s2", "Q1", ["Yes.", "It is small."]),
        )
    ]
)


class Counting(DummyBackend):
    """Counts calls; answers the first code of each criterion."""

    calls = 0

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        Counting.calls += len(requests)
        for number, request in enumerate(requests):
            assert request.shape is not None
            codes = request.shape["properties"]["codes"]
            text = json.dumps({"codes": codes["items"]["enum"][:1] * codes["minItems"]})
            yield number, Reply(text=text, finish_reason="stop")


def test_a_shard_through_the_store_asks_every_view_once(tmp_path: Path, prompts: Prompts) -> None:
    path = tmp_path / "questions.parquet"
    answers = tmp_path / "answers.parquet"
    write_table(ASKED, path, QUESTIONS)
    write_table(ANSWERED, answers, ANSWERS)

    def verdicts():  # type: ignore[no-untyped-def]
        store = tmp_path / "responses"
        found = {}
        files = [(path, answers)]
        buckets = [v for c in SEES if c not in IN_SHARD for v in bucket_views(files, c)]
        for name, shown in (
            ("shard", list(shard_views({"s1": "Small effusion."}, ASKED, ANSWERED))),
            ("bucket", buckets),
        ):

            def ask(requests: Sequence[Request], name: str = name) -> dict[str, Response]:
                file = store / "judge" / f"{name}.jsonl"
                return infer(requests, store, file, Counting, sub_batch=2).responses

            found |= answered(shown, prompts, rounds(FIRST), ask)[0]
        return found

    Counting.calls = 0
    judgements, ledger = judge_questions(STUDY, ASKED, ANSWERED, ModelJudge(verdicts()))
    # s1: two questions by entailment (one has no parts) and completeness; distinct texts beside
    assert Counting.calls == (1 + 2) + (1 + 1 + 1)
    assert ledger.is_empty()
    rated = judgements.filter(judgements["level"].is_not_null())
    assert set(rated["judge"]) == {"dummy/tiny"}
    assert set(rated["level"]) == {next(iter(CODES[c].values())) for c in CODES}
    unrated = judgements.filter(judgements["level"].is_null())
    assert set(unrated["status"]) == {"no_report"}
    again = judge_questions(STUDY, ASKED, ANSWERED, ModelJudge(verdicts()))[0]
    assert Counting.calls == 6  # nothing is asked twice
    assert again.equals(judgements)


def test_what_was_never_asked_is_missing_and_told(prompts: Prompts) -> None:
    judgements, ledger = judge_questions(STUDY, ASKED, ANSWERED, ModelJudge({}))
    assert judgements["level"].null_count() == judgements.height
    assert set(judgements["status"]) == {"missing_response", "no_report"}
    assert set(ledger["reason"]) == {"not_judged"}
