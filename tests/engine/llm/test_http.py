"""The same stand-in over HTTP, started apart: the real SDK over loopback, and other clients' habits."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runs.engine.errors import BadRequest, Overloaded, StreamCut
from runs.engine.llm import connect
from runs.engine.llm.rehearsal.http import App
from runs.engine.messages import canonical
from runs.engine.ports import Answer, Cancel, Llm

from .asking import body, request
from .served import served

MARK = {"type": "ephemeral"}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a server for the tests of this file."""
    with served() as at:
        yield at


def reached(address: str, llm: str = "hello") -> Llm:
    return connect(llm, base_url=address)


def ask(llm: Llm, **changes: Any) -> Answer:
    answers = [item for item in llm.answer(request(**changes), Cancel()) if isinstance(item, Answer)]
    assert len(answers) == 1
    return answers[0]


def post(address: str, path: str, given: bytes, **headers: str) -> tuple[int, Any]:
    asked = urllib.request.Request(f"{address}{path}", data=given, headers=headers, method="POST")
    try:
        with urllib.request.urlopen(asked) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_the_server_says_what_its_llms_can_do(address: str) -> None:
    assert reached(address).capability.context == 250_000
    known = reached(address, "claude-haiku-4-5").capability
    assert (known.context, known.max_output) == (200_000, 64_000)
    assert known.price is not None


def test_answers_one_after_the_other_come_over_one_connection() -> None:
    """A new one for each would cost a handshake a turn."""
    seen: set[Any] = set()

    def door(inside: App) -> Callable[..., Any]:
        async def looked_at(scope: Any, receive: Any, send: Any) -> None:
            seen.add(tuple(scope.get("client") or ()))
            await inside(scope, receive, send)

        return looked_at

    with served(door=door) as at:
        llm = reached(at)
        seen.clear()
        for _ in range(3):
            ask(llm, model="hello")
    assert len(seen - {()}) == 1


def test_an_answer_over_http_is_that_of_the_process(address: str) -> None:
    answer = ask(reached(address), model="hello")
    assert answer.stop_reason == "tool_use"
    assert answer.content[-1]["input"]["path"] == "hello.py"


def test_any_llm_plays_what_the_server_was_started_with(address: str) -> None:
    answer = ask(reached(address, "claude-sonnet-5-5"), model="claude-sonnet-5-5")
    assert answer.content[-1]["input"]["path"] == "hello.py"


def test_the_cache_is_accounted_for(address: str) -> None:
    text = {"type": "text", "text": "word " * 3_000, "cache_control": MARK}
    first = ask(reached(address), model="hello", messages=[{"role": "user", "content": [text]}])
    second = ask(reached(address), model="hello", messages=[{"role": "user", "content": [text]}])
    assert (first.usage.cache_read, first.usage.input) == (0, 0)
    assert first.usage.cache_write == first.usage.prompt
    assert (second.usage.cache_read, second.usage.cache_write) == (first.usage.prompt, 0)


@pytest.mark.parametrize("fault", ["reset", "end", "no_stop", "reset:900", "end:900"])
def test_a_cut_stream_is_no_answer(address: str, fault: str) -> None:
    with pytest.raises(StreamCut):
        ask(
            reached(address),
            model=f"hello+{fault}",
            metadata={"user_id": f"r-{fault}:1".replace(":900", "-900")},
        )


def test_a_429_says_how_long_to_wait_and_then_it_works(address: str) -> None:
    with pytest.raises(Overloaded) as caught:
        ask(reached(address), model="hello+429", metadata={"user_id": "r-busy:1"})
    assert (caught.value.status, caught.value.retry_after) == (429, 1.0)
    assert (
        ask(reached(address), model="hello+429", metadata={"user_id": "r-busy:1"}).stop_reason == "tool_use"
    )


def test_a_400_is_told_in_the_words_of_the_api(address: str) -> None:
    with pytest.raises(BadRequest, match="messages: at least one message is required"):
        ask(reached(address), messages=[])


def test_tokens_are_counted(address: str) -> None:
    assert reached(address).count(request(model="hello")) == ask(reached(address), model="hello").usage.prompt


def test_a_client_may_not_stream(address: str) -> None:
    given = canonical(body(stream=None, model="hello"))
    status, answer = post(address, "/v1/messages", given, **{"content-type": "application/json"})
    assert status == 200
    assert answer["stop_reason"] == "tool_use"
    assert [block["type"] for block in answer["content"]] == ["text", "tool_use"]


def test_a_fault_can_be_asked_for_in_a_header(address: str) -> None:
    headers = {"x-rehearsal": "hello+529"}
    status, answer = post(
        address, "/v1/messages", canonical(body(metadata={"user_id": "r-head:1"})), **headers
    )
    assert (status, answer["error"]["type"]) == (529, "overloaded_error")


@pytest.mark.parametrize(
    ("path", "given", "status"),
    [
        ("/v1/messages", b"{", 400),
        ("/v1/messages", b"[]", 400),
        ("/v1/messages", b"[" * 100_000, 400),
        ("/v1/messages", b"\xff\xfe", 400),
        ("/v1/other", b"{}", 404),
        ("/v1/messages/count_tokens", b"{}", 400),
    ],
)
def test_nonsense_gets_an_error_body_and_the_server_lives_on(
    address: str, path: str, given: bytes, status: int
) -> None:
    got, answer = post(address, path, given)
    assert (got, answer["type"]) == (status, "error")
    assert ask(reached(address), model="hello").stop_reason == "tool_use"


def test_an_unknown_fault_is_named(address: str) -> None:
    status, answer = post(address, "/v1/messages", canonical(body(model="hello+oops")))
    assert status == 400
    assert "'oops'" in answer["error"]["message"]
