"""The store of responses and the asking loop: nothing is asked twice, nothing is lost by a kill."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from llm_fixtures import GOOD, SHAPE, Counting, request

from cxrqba.errors import UserError
from cxrqba.llm.backends import DummyBackend, ReplayBackend
from cxrqba.llm.infer import Outcome, check_bad_rate, infer, status_of
from cxrqba.llm.messages import Reply, Sampling
from cxrqba.llm.store import Writer, files, stored

TEXTS = ["one", "two", "three", "four", "five"]
REQUESTS = [request(text) for text in TEXTS]


def ask(folder: Path, backend: Counting, texts: list[str] = TEXTS, shard: str = "0") -> Outcome:
    path = folder / "sentences" / f"{shard}.jsonl"
    return infer([request(t) for t in texts], folder, path, backend, sub_batch=2)


class TestKey:
    def test_all_that_decides_an_answer_is_in_it(self) -> None:
        one = request("a")
        assert one.key == request("a").key
        others = [
            request("b"),
            request("a", structured=True),
            request("a", revision="main"),
            request("a", sampling=Sampling(temperature=1)),
            one.model_copy(update={"shape": None}),
            one.model_copy(update={"model": "large"}),
        ]
        assert len({one.key, *(r.key for r in others)}) == 7


class TestAsking:
    def test_a_rerun_asks_nothing_and_makes_no_backend(self, tmp_path: Path) -> None:
        first, second = Counting(), Counting()
        outcome = ask(tmp_path, first)
        assert (outcome.calls, outcome.statuses) == (5, {"ok": 5})
        again = ask(tmp_path, second)
        assert (again.calls, second.made) == (0, 0)
        assert again.responses == outcome.responses

    def test_equal_requests_are_asked_once(self, tmp_path: Path) -> None:
        backend = Counting()
        ask(tmp_path, backend, ["same", "same", "other"])
        assert len(backend.asked) == 2

    def test_only_what_is_missing_is_asked(self, tmp_path: Path) -> None:
        ask(tmp_path, Counting(), TEXTS[:3])
        backend = Counting()
        ask(tmp_path, backend)
        assert [r.messages[-1].content for r in backend.asked] == TEXTS[3:]

    def test_other_shards_find_what_was_answered(self, tmp_path: Path) -> None:
        ask(tmp_path, Counting(), shard="0")
        backend = Counting()
        ask(tmp_path, backend, shard="11")
        assert not backend.asked

    def test_unreadable_is_asked_once_more_with_the_answer_shown(self, tmp_path: Path) -> None:
        backend = Counting(lambda text: "No JSON." if text == "one" else GOOD)
        outcome = ask(tmp_path, backend, ["one", "two"])
        assert [len(r.messages) for r in backend.asked] == [4, 4, 6]
        assert backend.asked[-1].messages[-2].content == "No JSON."
        assert outcome.statuses == {"ok": 2}
        assert {r.attempt for r in outcome.responses.values()} == {1, 2}

    def test_cut_off_is_asked_once_more_with_twice_the_tokens(self, tmp_path: Path) -> None:
        backend = Counting(lambda text: Reply(text='{"items": [', finish_reason="length"))
        outcome = ask(tmp_path, backend, ["one"])
        assert [r.sampling.max_tokens for r in backend.asked] == [1024, 2048]
        assert outcome.statuses == {"truncated": 1}
        assert not ask(tmp_path, backend, ["one"]).calls

    def test_a_failed_connection_is_not_stored_and_asked_by_the_next_run(
        self, tmp_path: Path
    ) -> None:
        backend = Counting(lambda text: Reply(failure="timeout"))
        outcome = ask(tmp_path, backend, ["one"])
        assert outcome.statuses == {"missing_response": 1}
        assert outcome.faults == {"timeout": 2}  # a second round, then the next run
        assert not (tmp_path / "sentences" / "0.jsonl").read_bytes()
        assert ask(tmp_path, Counting(), ["one"]).statuses == {"ok": 1}

    def test_what_the_server_refuses_is_stored(self, tmp_path: Path) -> None:
        backend = Counting(lambda text: Reply(failure="http_400", permanent=True))
        assert ask(tmp_path, backend, ["one"]).statuses == {"error": 1}
        assert ask(tmp_path, backend, ["one"]).calls == 0

    def test_what_was_answered_before_the_server_died_is_kept(self, tmp_path: Path) -> None:
        def answer(text: str) -> str:
            if text == "four":
                raise UserError("dead")
            return GOOD

        with pytest.raises(UserError):
            ask(tmp_path, Counting(answer))
        backend = Counting()
        ask(tmp_path, backend)
        assert [r.messages[-1].content for r in backend.asked] == ["four", "five"]

    def test_replay_finds_all_shards_and_names_what_is_missing(self, tmp_path: Path) -> None:
        ask(tmp_path, Counting(), TEXTS[:2], shard="0")
        ask(tmp_path, Counting(), TEXTS[2:4], shard="1")
        path = tmp_path / "sentences" / "0.jsonl"
        found = infer(REQUESTS, tmp_path, path, ReplayBackend, sub_batch=2, everywhere=True)
        assert found.statuses == {"ok": 4, "missing_response": 1}
        with pytest.raises(UserError, match=r"shard 0: 20.0% .*1 missing_response.*quarantine"):
            check_bad_rate(found, "0", 0.1)
        check_bad_rate(found, "0", 0.2)


class TestStore:
    def test_a_torn_last_line_is_dropped_and_asked_again(self, tmp_path: Path) -> None:
        ask(tmp_path, Counting())
        path = tmp_path / "sentences" / "0.jsonl"
        whole = path.read_bytes()
        path.write_bytes(whole[:-7])
        backend = Counting()
        ask(tmp_path, backend)
        assert len(backend.asked) == 1
        assert path.read_bytes() == whole

    def test_a_damaged_line_inside_is_asked_again(self, tmp_path: Path) -> None:
        ask(tmp_path, Counting())
        path = tmp_path / "sentences" / "0.jsonl"
        lines = path.read_text().splitlines()
        path.write_text("\n".join([lines[0][:20], *lines[1:]]) + "\n")
        assert ask(tmp_path, Counting()).calls == 1

    def test_two_writers_of_a_file_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "0.jsonl"
        with Writer(path), pytest.raises(UserError, match=f"process {os.getpid()} on"):
            Writer(path).__enter__()
        with Writer(path):
            pass

    def test_a_line_holds_what_an_audit_needs(self, tmp_path: Path) -> None:
        ask(tmp_path, Counting(), ["one"])
        (line,) = (tmp_path / "sentences" / "0.jsonl").read_text().splitlines()
        found = json.loads(line)
        assert found["key"] == request("one").key
        assert (found["attempt"], found["status"], found["backend"]) == (1, "ok", "counting")
        assert (found["model"], found["sampling"]["max_tokens"]) == ("tiny", 1024)
        assert found["reply"]["text"] == GOOD


FENCE = "```"
OUTPUTS = {
    "plain": (GOOD, "stop", "ok"),
    "with blanks": (f"\n  {GOOD} \n", "stop", "ok"),
    "byte order mark": (f"\ufeff{GOOD}", "stop", "ok"),
    "bare list": ("[]", "stop", "ok"),
    "more keys": ('{"items": [], "note": 1}', "stop", "ok"),
    "NaN": ('{"items": [{"p": NaN}]}', "stop", "ok"),
    "infinity": ('{"items": [{"p": -Infinity}]}', "stop", "ok"),
    "duplicate keys": ('{"items": [], "items": [{}]}', "stop", "ok"),
    "control characters": ('{"items": [{"a": "\x01\n"}]}', "stop", "ok"),
    "half surrogate": ('{"items": [{"a": "\\ud800"}]}', "stop", "ok"),
    "huge integer": ('{"items": [{"a": ' + "9" * 5000 + "}]}", "stop", "ok"),
    "cut by count, yet whole": (GOOD, "length", "ok"),
    "fence": (f"{FENCE}json\n{GOOD}\n{FENCE}", "stop", "repaired"),
    "open fence": (f"{FENCE}\n{GOOD}", "stop", "repaired"),
    "words before": (f"Here it is: {GOOD}", "stop", "repaired"),
    "words behind": (f"{GOOD} I hope this helps.", "stop", "repaired"),
    "trailing comma": ('{"items": [{"a": 1},]}', "stop", "repaired"),
    "objects in a row": ('{"a": 1}\n{"a": 2}', "stop", "repaired"),
    "cut inside": ('{"items": [{"a": 1}, {"a"', "length", "truncated"),
    "ends inside": ('{"items": [{"a": 1}, {"a"', "stop", "truncated"),
    "white space loop": ('{"items":' + " \n" * 20_000, "length", "truncated"),
    "nothing, by count": ("", "length", "truncated"),
    "nothing": ("", "stop", "invalid_json"),
    "prose": ("The lungs are clear.", "stop", "invalid_json"),
    "python": ("{'items': []}", "stop", "invalid_json"),
    "python with a field": ("{'name': 'effusion', 'regions': []}", "stop", "invalid_json"),
    "yaml": ("items:\n  - name: effusion", "stop", "invalid_json"),
    "megabyte": ("effusion " * 120_000, "stop", "invalid_json"),
    "deep nesting": ("[" * 100_000, "stop", "invalid_json"),
    "echo of the prompt": ("Answer in JSON.\na\nLungs are clear.", "stop", "invalid_json"),
    "null": ("null", "stop", "schema_error"),
    "a number": ("3", "stop", "schema_error"),
    "a text": ('"items"', "stop", "schema_error"),
    "other keys": ('{"result": []}', "stop", "schema_error"),
    "refusal of the server": ("", "content_filter", "refused"),
}


@pytest.mark.parametrize("kind", OUTPUTS)
def test_status_of_an_output(kind: str) -> None:
    text, reason, status = OUTPUTS[kind]
    assert status_of(Reply(text=text, finish_reason=reason), SHAPE) == status


def test_ten_thousand_fuzzed_outputs_each_have_a_status() -> None:
    draw = random.Random(5)
    counts: dict[str, int] = {}
    texts = [text for text, _, _ in OUTPUTS.values() if len(text) < 10_000]
    for _ in range(10_000):
        text = draw.choice(texts)
        for _ in range(draw.randrange(1, 4)):
            at = draw.randrange(len(text) + 1)
            text = (
                text[:at]
                + draw.choice(['"', "{", "]", "\x00", "\ud800", "`" * 3, ""])
                + (text[at + draw.randrange(3) :])
            )
        reason = draw.choice(["stop", "length", None])
        status = status_of(Reply(text=text, finish_reason=reason), SHAPE)
        counts[status] = counts.get(status, 0) + 1
    assert set(counts) == {"ok", "repaired", "truncated", "invalid_json", "schema_error"}


_KILLED = """
import sys
from pathlib import Path
from cxrqba.llm.backends import DummyBackend, ReplayBackend
from cxrqba.llm.infer import infer
from llm_fixtures import request
folder, backend = Path(sys.argv[1]), {"dummy": DummyBackend, "replay": ReplayBackend}[sys.argv[2]]
asked = [request(f"report {n}") for n in range(400)]
infer(asked, folder, folder / "s" / "0.jsonl", backend, sub_batch=4, everywhere=True)
"""


def test_killed_at_twenty_moments_the_store_ends_with_the_same_bytes(tmp_path: Path) -> None:
    places = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "workflow" / "scripts")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}

    def start(folder: Path, backend: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", _KILLED, str(folder), backend]
        return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    began = time.monotonic()
    assert start(whole, "dummy").wait() == 0
    takes = time.monotonic() - began
    draw = random.Random(7)
    for number in range(20):
        process = start(killed, "replay" if number % 5 == 4 else "dummy")
        time.sleep(draw.uniform(0.5, 1.0) * takes)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert start(killed, "dummy").wait() == 0
    expected = (whole / "s" / "0.jsonl").read_bytes()
    assert (killed / "s" / "0.jsonl").read_bytes() == expected
    assert len(stored(files(killed), {request(f"report {n}").key for n in range(400)})) == 400


def test_canned_answers_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "canned.json"
    path.write_text("[]")
    with pytest.raises(UserError, match="JSON object"):
        DummyBackend.from_file(path)
    path.write_text(json.dumps({request("a").key: "canned"}))
    assert dict(DummyBackend.from_file(path).ask([request("a")]))[0].text == "canned"
