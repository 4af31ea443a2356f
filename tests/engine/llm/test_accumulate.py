"""An answer counts only when its stream ended with message_stop; all else is a cut stream."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.engine.errors import AnswerTooLong, LlmTrouble, Overloaded, StreamCut
from runs.engine.events import Delta, Usage
from runs.engine.llm.accumulate import Accumulator, usage_of
from runs.engine.messages import UNREADABLE

START = {"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}}
STOP = {"type": "message_stop"}


def begin(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **parts: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **parts}}


def end(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def reason(stop_reason: str | None, output: int = 9) -> dict[str, Any]:
    return {
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason},
        "usage": {"output_tokens": output},
    }


def text_of(words: str) -> list[dict[str, Any]]:
    return [begin(0, type="text", text=""), delta(0, "text_delta", text=words), end(0)]


def call_of(*pieces: str, index: int = 0) -> list[dict[str, Any]]:
    deltas = [delta(index, "input_json_delta", partial_json=piece) for piece in pieces]
    return [begin(index, type="tool_use", id="t1", name="read_file", input={}), *deltas, end(index)]


def fed(*events: dict[str, Any], max_bytes: int = 10_000) -> tuple[Accumulator, list[Delta]]:
    got = Accumulator(turn=3, max_bytes=max_bytes)
    shown = [got.feed(json.dumps(event)) for event in events]
    return got, [item for item in shown if item]


def test_text_arrives_whole_with_the_last_usage() -> None:
    got, shown = fed(START, *text_of("Hello."), reason("end_turn"), STOP)
    assert got.done
    assert got.content() == ({"type": "text", "text": "Hello."},)
    assert got.usage == Usage(input=7, output=9)
    assert [(item.turn, item.block, item.offset, item.text) for item in shown] == [(3, 0, 0, "Hello.")]


def test_a_calls_input_is_put_together_and_read_once() -> None:
    got, shown = fed(START, *call_of('{"path": ', '"a.txt"}'), reason("tool_use"), STOP)
    assert got.content()[0]["input"] == {"path": "a.txt"}
    assert [(item.offset, item.block_type) for item in shown] == [(0, "tool_use"), (9, "tool_use")]


def test_thinking_keeps_its_signature_byte_for_byte() -> None:
    block = [
        begin(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="Let me "),
        delta(0, "thinking_delta", thinking="see."),
        delta(0, "signature_delta", signature="c2lnbmF0dXJl+/="),
        end(0),
    ]
    got, _ = fed(START, *block, reason("end_turn"), STOP)
    assert got.content() == ({"type": "thinking", "thinking": "Let me see.", "signature": "c2lnbmF0dXJl+/="},)


def test_pings_and_events_of_the_future_change_nothing() -> None:
    got, _ = fed(
        {"type": "ping"}, START, {"type": "ping"}, {"type": "new"}, *text_of("x"), reason("end_turn"), STOP
    )
    assert got.content() == ({"type": "text", "text": "x"},)


@pytest.mark.parametrize(
    "events",
    [
        [*text_of("x"), reason("end_turn"), STOP],
        [START, START],
        [START, STOP],
        [START, *text_of("x"), STOP],
        [START, *text_of("x"), reason(None), STOP],
        [START, begin(0, type="text", text=""), reason("end_turn"), STOP],
        [START, begin(1, type="text", text="")],
        [START, begin(0, type="text", text=""), begin(1, type="text", text="")],
        [START, delta(0, "text_delta", text="x")],
        [START, end(0)],
        [START, begin(0, type="text", text=""), delta(0, "text_delta")],
        [START, begin(0, type="text", text=""), delta(0, "text_delta", text=5)],
        [START, begin(0)],
        [{"type": "message_start"}],
        [START, begin(0, type="text", text=""), delta(0, "input_json_delta", partial_json="{}")],
        [START, begin(0, type="thinking"), delta(0, "text_delta", text="x")],
        [START, *call_of()[:1], delta(0, "text_delta", text="x")],
        [START, {"type": "content_block_start", "index": 0, "content_block": "text"}],
    ],
)
def test_every_irregularity_is_a_cut_stream(events: list[dict[str, Any]]) -> None:
    with pytest.raises(StreamCut):
        fed(*events)


@pytest.mark.parametrize("data", ["{", "[]", '"text"', "{" * 100_000, '{"a": ' * 5_000])
def test_a_line_that_is_no_event_is_a_cut_stream(data: str) -> None:
    with pytest.raises(StreamCut):
        Accumulator(turn=1, max_bytes=10).feed(data)


def test_an_answer_that_is_not_done_has_no_content() -> None:
    got, _ = fed(START, *text_of("x"), reason("end_turn"))
    with pytest.raises(StreamCut):
        got.content()


def test_a_call_cut_off_by_max_tokens_is_left_out() -> None:
    words = text_of("I read it.")
    got, _ = fed(START, *words, *call_of('{"path": "REA', index=1), reason("max_tokens"), STOP)
    assert got.content() == ({"type": "text", "text": "I read it."},)
    assert got.stop_reason == "max_tokens"


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ('["a.txt"]', ["a.txt"]),
        ('{"path": "a', '{"path": "a'),
        ("[" * 5_000, "[" * 5_000),
        ("9" * 5_000,) * 2,
    ],
)
def test_an_input_that_is_no_object_is_wrapped_so_that_no_tool_takes_it(raw: str, kept: object) -> None:
    got, _ = fed(START, *call_of(raw), reason("tool_use"), STOP)
    assert got.content()[0]["input"] == {UNREADABLE: kept}
    assert not got.cut_call


def test_only_the_last_call_of_a_cut_answer_is_taken_for_cut() -> None:
    calls = [*call_of('{"path": "a'), *call_of("{}", index=1)]
    got, _ = fed(START, *calls, reason("max_tokens"), STOP)
    assert not got.cut_call
    assert [block["input"] for block in got.content()] == [{UNREADABLE: '{"path": "a'}, {}]


@pytest.mark.parametrize(
    ("block", "kept"),
    [
        ({"type": "text"}, {"type": "text", "text": ""}),
        ({"type": "text", "text": None}, {"type": "text", "text": ""}),
        ({"type": "tool_use"}, {"type": "tool_use", "id": "", "name": ""}),
        ({"type": "tool_use", "id": 7, "name": []}, {"type": "tool_use", "id": "", "name": ""}),
        ({"type": "thinking"}, {"type": "thinking", "thinking": "", "signature": ""}),
    ],
)
def test_what_a_block_lacks_is_empty_and_no_accident(block: dict[str, Any], kept: dict[str, Any]) -> None:
    got, _ = fed(START, begin(0, **block), end(0), reason("end_turn"), STOP)
    assert got.content() == (kept,)


@pytest.mark.parametrize("told", [-1, 10**30, float("nan"), float("inf"), True, "many", None, []])
def test_a_number_that_counts_no_tokens_is_not_believed(told: object) -> None:
    start = {"type": "message_start", "message": {"usage": {"input_tokens": told, "output_tokens": 1}}}
    got, _ = fed(start, *text_of("x"), reason("end_turn"), STOP)
    assert got.usage == Usage(output=9)


def test_an_answer_that_says_nothing_of_its_cost_is_an_answer() -> None:
    got, _ = fed({"type": "message_start", "message": {}}, *text_of("x"), reason("end_turn"), STOP)
    assert got.usage == Usage(output=9)


def test_a_reason_of_any_length_becomes_one_that_every_database_takes() -> None:
    got, _ = fed(START, *text_of("x"), reason("tired\x00" + "!" * 100), STOP)
    assert got.stop_reason == "tired␀" + "!" * 34


def test_an_answer_without_input_has_an_empty_one() -> None:
    got, _ = fed(START, *call_of(), reason("tool_use"), STOP)
    assert got.content()[0]["input"] == {}


def test_what_comes_in_is_clean() -> None:
    got, _ = fed(START, *call_of('{"a": "x\\u0000y", "n": NaN, "s": "\\ud83d"}'), reason("tool_use"), STOP)
    assert got.content()[0]["input"] == {"a": "x␀y", "n": "nan", "s": "\ufffd"}


def test_a_character_that_came_in_halves_is_whole_again() -> None:
    halves = [
        begin(0, type="text", text=""),
        delta(0, "text_delta", text="\ud83d"),
        delta(0, "text_delta", text="\ude00"),
    ]
    got, _ = fed(START, *halves, end(0), reason("end_turn"), STOP)
    assert got.content()[0]["text"] == "😀"


@pytest.mark.parametrize(
    "events",
    [
        text_of("x" * 101),
        [begin(0, type="text", text="x" * 101)],
        call_of("x" * 101),
        [begin(0, type="tool_use", id="a", name="b", input={"c": "x" * 101})],
        [begin(0, type="thinking"), delta(0, "thinking_delta", thinking="x" * 101)],
        [begin(0, type="hologram", data="x" * 500)],
    ],
)
def test_an_endless_answer_is_cut_and_told_by_size_and_hash_only(events: list[dict[str, Any]]) -> None:
    with pytest.raises(AnswerTooLong, match=r"\d+ bytes came \(sha256 [0-9a-f]{64}\)") as caught:
        fed(START, *events, max_bytes=100)
    assert "xxx" not in str(caught.value)


def test_sealed_thinking_weighs_more_than_what_can_be_read_of_it() -> None:
    sealed = [begin(0, type="thinking"), delta(0, "signature_delta", signature="x" * 300), end(0)]
    assert fed(START, *sealed, reason("end_turn"), STOP, max_bytes=100)[0].done


@pytest.mark.parametrize(
    ("kind", "error"),
    [("overloaded_error", Overloaded), ("rate_limit_error", Overloaded), ("odd_error", StreamCut)],
)
def test_an_error_in_the_stream_is_trouble(kind: str, error: type[LlmTrouble]) -> None:
    with pytest.raises(error):
        fed(START, {"type": "error", "error": {"type": kind, "message": "no"}})


def test_cache_writes_of_an_hour_are_counted_apart() -> None:
    counted = {
        "input_tokens": 5,
        "cache_read_input_tokens": 20,
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
        "output_tokens": 4,
        "output_tokens_details": {"thinking_tokens": 3},
    }
    usage = usage_of(counted)
    assert usage == Usage(input=5, output=4, cache_read=20, cache_write=10, cache_write_1h=20, thinking=3)
    assert usage.prompt == 55


def test_cache_writes_that_are_told_by_their_split_alone_count_too() -> None:
    split = {"ephemeral_5m_input_tokens": 600, "ephemeral_1h_input_tokens": 400}
    assert usage_of({"cache_creation": split}).prompt == 1_000
    assert usage_of({"cache_creation": split, "cache_creation_input_tokens": 1_000}).cache_write == 600
