"""One contract for all backends; what a server may do wrong, and what each fault is taken for."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from llm_fixtures import GOOD, SHAPE, FakeServer, fake_vllm, request

from cxrqba.errors import UserError
from cxrqba.llm import endpoint
from cxrqba.llm.backends import Backend, DummyBackend, ReplayBackend, emptiest
from cxrqba.llm.endpoint import EndpointBackend, Limits
from cxrqba.llm.infer import status_of
from cxrqba.llm.offline import VllmBackend

QUICK = Limits(concurrency=4, timeout=0.5, tries=2, pause=0.01)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


@pytest.fixture(params=["endpoint", "vllm", "replay", "dummy"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    if request.param == "endpoint":
        with FakeServer() as running:
            yield EndpointBackend(running.url, QUICK)
    elif request.param == "vllm":
        with fake_vllm():
            yield VllmBackend("tiny")
    else:
        yield ReplayBackend() if request.param == "replay" else DummyBackend()


class TestContract:
    def test_each_request_has_one_reply(self, backend: Backend) -> None:
        found = dict(backend.ask([request(f"report {n}") for n in range(9)]))
        assert sorted(found) == list(range(9))
        wanted = "missing_response" if backend.name == "replay" else "ok"
        assert {status_of(reply, SHAPE) for reply in found.values()} == {wanted}

    def test_nothing_asked_is_nothing_done(self, backend: Backend) -> None:
        assert list(backend.ask([])) == []

    def test_it_can_be_closed_and_asked_again(self, backend: Backend) -> None:
        first = dict(backend.ask([request()]))
        backend.close()
        assert dict(backend.ask([request()])) == first

    def test_structured_output_can_be_asked_for(self, backend: Backend) -> None:
        assert len(dict(backend.ask([request(structured=True)]))) == 1

    def test_odd_characters_pass(self, backend: Backend) -> None:
        assert len(dict(backend.ask([request("\ud800 \x00 naïve \u202e")]))) == 1


@pytest.mark.parametrize(
    ("fault", "status", "tries"),
    [
        ("fine", "ok", 1),
        ("once 500", "ok", 2),
        ("http500", "error", 2),
        ("http503", "error", 2),
        ("http429", "error", 2),
        ("http400", "error", 1),
        ("http413", "error", 1),
        ("hang", "error", 2),
        ("drip", "error", 2),
        ("half json", "error", 2),
        ("no choices", "error", 2),
        ("closes", "error", 2),
        ("filter", "refused", 1),
        ("prose", "invalid_json", 1),
        ("cut", "truncated", 1),
    ],
)
def test_faults_of_a_server(server: FakeServer, fault: str, status: str, tries: int) -> None:
    found = dict(EndpointBackend(server.url, QUICK).ask([request(fault), request("fine")]))
    assert status_of(found[0], SHAPE) == status
    assert found[1].text == GOOD  # one request's fault is not another's
    assert server.seen[fault] >= tries
    assert found[0].permanent == (fault in ("http400", "http413"))


def test_a_hanging_server_costs_its_time_out_and_no_more(server: FakeServer) -> None:
    start = time.monotonic()
    found = dict(EndpointBackend(server.url, QUICK).ask([request("drip")]))
    assert found[0].failure == "timeout"
    assert time.monotonic() - start < 4


@pytest.mark.parametrize(("fault", "hint"), [("http401", "llm.key_env"), ("http404", "llm.url")])
def test_no_access_and_no_such_place_end_the_job(server: FakeServer, fault: str, hint: str) -> None:
    with pytest.raises(UserError, match=hint):
        list(EndpointBackend(server.url, QUICK).ask([request(fault)]))


def test_a_wrong_model_is_named_with_the_nearest(server: FakeServer) -> None:
    server.models = ["tinny"]
    with pytest.raises(UserError, match="did you mean 'tinny'"):
        list(EndpointBackend(server.url, QUICK).ask([request()]))
    assert not server.seen


def test_a_server_that_lists_no_models_is_asked(server: FakeServer) -> None:
    server.models = None
    assert dict(EndpointBackend(server.url, QUICK).ask([request()]))[0].text == GOOD


def test_a_dead_server_ends_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer() as gone:
        url = gone.url
    monkeypatch.setattr(endpoint, "DEAD_AFTER", 3)
    with pytest.raises(UserError, match="3 requests in a row were not answered"):
        list(EndpointBackend(url, QUICK).ask([request(str(n)) for n in range(8)]))


def test_no_more_at_once_than_allowed(server: FakeServer) -> None:
    list(EndpointBackend(server.url, QUICK).ask([request("slow") for _ in range(20)]))
    assert 1 < server.most_at_once <= QUICK.concurrency


def test_what_the_server_is_sent(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    list(EndpointBackend(server.url, QUICK).ask([request("fine", structured=True)]))
    body = server.bodies[0]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("tiny", 0.0, 1024)
    assert [m["role"] for m in body["messages"]] == ["system", "user", "assistant", "user"]
    assert body["response_format"]["json_schema"]["schema"] == SHAPE
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(UserError, match="NO_SUCH_KEY is not set"):
        EndpointBackend(server.url, key_env="NO_SUCH_KEY")


def test_an_address_that_is_none() -> None:
    with pytest.raises(UserError, match="is no address"):
        EndpointBackend("localhost:8000")


class TestVllm:
    def test_a_request_the_engine_refuses_takes_no_other_with_it(self) -> None:
        with fake_vllm():
            texts = ("fine", "too long", "fine too")
            found = dict(VllmBackend("tiny").ask([request(t) for t in texts]))
        assert [status_of(found[n], SHAPE) for n in range(3)] == ["ok", "error", "ok"]
        assert found[1].permanent

    def test_a_dead_engine_ends_the_job(self) -> None:
        with fake_vllm(), pytest.raises(UserError, match="vLLM stopped"):
            list(VllmBackend("tiny").ask([request("dies")]))

    def test_an_engine_that_cannot_start_is_one_line(self) -> None:
        with fake_vllm(), pytest.raises(UserError, match="cannot start with 'broken'"):
            list(VllmBackend("broken").ask([request()]))

    def test_without_the_library_the_line_says_what_to_do(self) -> None:
        with pytest.raises(UserError, match="install vllm"):
            list(VllmBackend("tiny").ask([request()]))

    def test_one_engine_without_white_space(self) -> None:
        with fake_vllm() as module:
            backend = VllmBackend("tiny", {"max_model_len": 512})
            list(backend.ask([request("1")]))
            list(backend.ask([request("2")]))
        ((model, options),) = module.started
        assert (model, options["max_model_len"]) == ("tiny", 512)
        assert options["structured_outputs_config"]["disable_any_whitespace"] is True


def test_the_emptiest_value_of_a_shape() -> None:
    shape = {
        "type": "object",
        "required": ["a", "b", "c", "d"],
        "properties": {
            "a": {"type": "array", "items": {"type": "string"}},
            "b": {"enum": ["x", "y"]},
            "c": {"type": ["string", "null"]},
            "d": {"type": "array", "minItems": 1, "items": {"type": "boolean"}},
            "e": {"type": "number"},
        },
    }
    assert emptiest(shape) == {"a": [], "b": "x", "c": "", "d": [False]}
