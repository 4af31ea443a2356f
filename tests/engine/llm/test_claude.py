"""The real SDK client against the stand-in: whole answers, every way a stream can break, cancelling."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from runs.engine.errors import (
    AnswerTooLong,
    BadRequest,
    Cancelled,
    LlmTrouble,
    Overloaded,
    PromptTooLong,
    Rejected,
    StreamCut,
    Unreachable,
)
from runs.engine.events import Delta
from runs.engine.llm import table
from runs.engine.llm.claude import Claude, make_client
from runs.engine.llm.rehearsal.transport import InProcess
from runs.engine.ports import Answer, Cancel

from .asking import ask, llm, request, stand_in, typed

SECONDS = 20


def playing(faults: str) -> str:
    return f"rehearsal/hello+{faults}"


def test_an_answer_comes_as_deltas_and_then_whole() -> None:
    items = list(llm().answer(request(thinking={"type": "adaptive"}), Cancel()))
    *deltas, answer = items
    assert isinstance(answer, Answer)
    assert all(isinstance(item, Delta) for item in deltas)
    assert [block["type"] for block in answer.content] == ["thinking", "text", "tool_use"]
    assert answer.stop_reason == "tool_use"
    typed_text = "".join(
        item.text for item in deltas if isinstance(item, Delta) and item.block_type == "text"
    )
    assert typed_text == answer.content[1]["text"]
    assert answer.usage.prompt > 0
    assert answer.usage.output > answer.usage.thinking > 0


def test_the_bytes_of_the_request_are_sent_as_they_are() -> None:
    standin = stand_in(keep=3)
    sent = request(messages=[{"role": "user", "content": "Ünïcode 😀"}])
    list(llm(standin).answer(sent, Cancel()))
    assert standin.requests == [sent.body]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, BadRequest),
        (401, Rejected),
        (402, Rejected),
        (403, Rejected),
        (404, Rejected),
        (408, Overloaded),
        (409, Overloaded),
        (413, PromptTooLong),
        (429, Overloaded),
        (500, Overloaded),
        (503, Overloaded),
        (504, Overloaded),
        (529, Overloaded),
    ],
)
def test_a_status_becomes_the_trouble_it_is(status: int, error: type[LlmTrouble]) -> None:
    with pytest.raises(error) as caught:
        ask(llm(), model=playing(str(status)))
    assert caught.value.status == status
    assert type(caught.value) is error
    assert caught.value.retry is (error is Overloaded)


def test_what_the_server_asks_us_to_wait_is_handed_on() -> None:
    with pytest.raises(Overloaded) as caught:
        ask(llm(), model=playing("429"))
    assert caught.value.retry_after == 1.0


def test_the_sdk_never_tries_again_by_itself() -> None:
    standin = stand_in(keep=9)
    with pytest.raises(Overloaded):
        ask(llm(standin), model=playing("529"))
    assert len(standin.requests) == 1
    assert ask(llm(standin), model=playing("529")).stop_reason == "tool_use"


def test_a_prompt_that_is_too_long_is_told_apart() -> None:
    with pytest.raises(PromptTooLong) as caught:
        ask(llm(), messages=[{"role": "user", "content": "word " * 300_000}])
    assert "prompt is too long: 300" in str(caught.value)


@pytest.mark.parametrize("fault", ["reset", "end", "garbage", "no_stop", "no_reason", "wrong_delta"])
def test_a_broken_stream_is_no_answer(fault: str) -> None:
    with pytest.raises(StreamCut):
        ask(llm(), model=playing(fault))


def test_an_error_event_in_the_stream_is_trouble() -> None:
    with pytest.raises(Overloaded) as caught:
        ask(llm(), model=playing("error"))
    assert caught.value.status == 529


def test_an_answer_cut_at_any_byte_is_no_answer() -> None:
    """Clean end and reset alike, at every byte of an answer with a tool call."""
    whole = bytes_of_answer()
    connected = llm()
    for at in range(1, whole):
        for fault in ("end", "reset"):
            turn = {"user_id": f"r-{fault}-{at}:1"}
            with pytest.raises(LlmTrouble):
                ask(connected, model=playing(f"{fault}:{at}"), metadata=turn)


def bytes_of_answer() -> int:
    """The length of the stream up to where message_stop is complete."""
    standin = stand_in()
    low, high = 1, 20_000
    while low < high:
        middle = (low + high) // 2
        try:
            ask(llm(standin), model=playing(f"end:{middle}"), metadata={"user_id": f"r-find-{middle}:1"})
            high = middle
        except LlmTrouble:
            low = middle + 1
    return low - len("\n\n")


def test_bytes_in_small_pieces_make_the_same_answer() -> None:
    whole = ask(llm())
    for size in (1, 3, 7):
        assert ask(llm(), model=playing(f"split:{size}")).content == whole.content


def test_a_long_answer_is_cut() -> None:
    with pytest.raises(AnswerTooLong, match="nothing of them is kept"):
        ask(llm(), model=playing("long"), max_tokens=1_000)


def test_bytes_that_are_no_utf8_are_shown_as_such_and_the_answer_stands() -> None:
    answer = ask(llm(), model=playing("bad_utf8"))
    assert answer.content[0]["text"].startswith("\ufffd\ufffd")
    assert answer.stop_reason == "tool_use"


@pytest.mark.parametrize("fault", ["hang", "slow"])
def test_a_stream_that_falls_silent_is_cut_by_our_patience(fault: str) -> None:
    with pytest.raises(StreamCut, match="silent"):
        ask(llm(quiet_s=0.2), model=playing(fault))


def test_a_stream_that_does_not_end_after_its_answer_does_not_keep_it_back() -> None:
    class Endless(InProcess):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            response = await super().handle_async_request(request)
            return httpx2.Response(200, headers=response.headers, stream=Unended(response.stream))

    connected = Claude(
        table.REHEARSAL, make_client(base_url="http://rehearsal", transport=Endless(stand_in()))
    )
    assert ask(connected).stop_reason == "tool_use"
    assert ask(connected).stop_reason == "tool_use"


class Unended(httpx2.AsyncByteStream):
    """A stream that is never over."""

    def __init__(self, inside: Any) -> None:
        self.inside = inside

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self.inside:
            yield piece
        await asyncio.Event().wait()


def test_a_hanging_call_is_cancelled_at_once() -> None:
    """The reader sits in another thread and would wait for an hour."""
    cancel, began, ended = Cancel(), threading.Event(), threading.Event()
    seen: list[Exception] = []
    connected = llm(quiet_s=3_600)

    def read() -> None:
        try:
            for _ in connected.answer(request(model=playing("hang:900")), cancel):
                began.set()
        except Cancelled as error:
            seen.append(error)
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    assert began.wait(SECONDS)
    cancel("stop now")
    assert ended.wait(SECONDS)
    assert str(seen[0]) == "stop now"


def test_a_call_that_is_cancelled_before_it_begins_gives_nothing() -> None:
    cancel = Cancel()
    cancel("stop now")
    with pytest.raises(Cancelled):
        list(llm().answer(request(), cancel))


def test_leaving_early_ends_the_request_and_the_next_one_works() -> None:
    connected = llm()
    stream = connected.answer(request(model=playing("hang:900")), Cancel())
    assert isinstance(next(stream), Delta)
    stream.close()
    assert ask(connected).stop_reason == "tool_use"


def test_a_server_that_is_not_there_is_unreachable() -> None:
    client = make_client(key="k", base_url="http://127.0.0.1:9")
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1"):
        ask(Claude(table.REHEARSAL, client))


def test_a_refusal_is_an_answer_with_its_reason() -> None:
    assert ask(llm(), model=playing("refusal")).stop_reason == "refusal"


def test_bad_answers_that_end_properly_are_answers() -> None:
    """What the loop has to deal with: nothing of it may look like a fault of the wire."""
    wanted = {
        "pause_turn": "pause_turn",
        "max_tokens": "max_tokens",
        "empty": "end_turn",
        "unknown_tool": "tool_use",
    }
    wanted |= {
        "duplicate_ids": "tool_use",
        "many_calls": "tool_use",
        "nul": "end_turn",
        "surrogates": "end_turn",
    }
    wanted |= {"nan": "tool_use", "not_object": "tool_use", "thinking_only": "end_turn", "markup": "end_turn"}
    wanted |= {"context_exceeded": "model_context_window_exceeded"}
    got = {fault: ask(llm(), model=playing(fault)).stop_reason for fault in wanted}
    assert got == wanted


def test_a_call_that_max_tokens_cut_is_not_in_the_answer() -> None:
    content = ask(llm(), model=playing("max_tokens")).content
    assert [block["type"] for block in content] == ["text"]


def test_text_is_heard_before_a_stream_breaks() -> None:
    heard: list[Delta] = []
    with pytest.raises(StreamCut):
        typed(llm(), heard.append, model=playing("end:900"))
    assert heard


def test_tokens_are_counted_by_the_server() -> None:
    connected = llm()
    counted = connected.count(request())
    assert counted == ask(connected).usage.prompt


def test_a_count_that_fails_is_no_number() -> None:
    assert llm().count(request(messages=[])) is None
