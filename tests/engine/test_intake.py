"""What of an answer may stand in the archive, and which of its calls may run."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from runs.engine.events import Effect, Usage
from runs.engine.intake import is_cut, message, original, sent_back, take
from runs.engine.messages import UNREADABLE, Block, Counted, text
from runs.engine.ports import Answer, Capability
from runs.engine.tools import Toolbox, standard

from .stage import answer, laid, talk, thought, use

BOX = Toolbox(standard())


def taken(given: Answer, used: tuple[str, ...] = ()) -> tuple[list[Block], list[str]]:
    found = take(given, BOX, used, 3, "r-stage")
    return list(found.content), [call.id for call in found.calls]


def test_an_answer_is_kept_as_it_is_and_its_calls_are_planned() -> None:
    given = answer(thought(), "I look", use("a"), use("b", "run_command", command="ls"))
    content, calls = taken(given)
    assert content == list(given.content)
    assert calls == ["a", "b"]
    plan = take(given, BOX, (), 3, "r-stage").calls
    assert [call.effect for call in plan] == [Effect.PURE, Effect.EFFECTFUL]
    assert len({call.key for call in plan}) == 2


@pytest.mark.parametrize(
    "stop", ["max_tokens", "model_context_window_exceeded", "end_turn", "pause_turn", "refusal"]
)
def test_calls_run_only_when_the_llm_stopped_in_order_to_call(stop: str) -> None:
    content, calls = taken(answer("I begin", use("a"), stop=stop))
    assert content == [text("I begin")]
    assert calls == []


def test_thinking_before_a_call_that_is_dropped_goes_with_it() -> None:
    assert taken(answer("I begin", thought(), use("a"), stop="max_tokens"))[0] == [text("I begin")]


def test_nothing_but_thinking_or_blanks_is_nothing() -> None:
    assert taken(answer(thought(), "  \n", stop="end_turn"))[0] == []
    assert taken(answer())[0] == []


def test_blank_text_is_left_out() -> None:
    assert taken(answer(" ", "I look", ""))[0] == [text("I look")]


def test_ids_are_unique_within_the_answer_and_the_run() -> None:
    content, calls = taken(answer(use("x"), use("x"), use("y"), use("")), used=("y", "x_2"))
    assert calls == ["x", "x_3", "y_2", "call_2"]
    assert [block["id"] for block in content] == calls


@pytest.mark.parametrize("given", ["a string", ["a", "list"], None, 7])
def test_an_input_that_is_no_object_is_marked_as_one_that_no_tool_takes(given: object) -> None:
    found = take(answer({**use("a", "run_command"), "input": given}), BOX, (), 1, "r")
    assert found.content[0]["input"] == found.calls[0].input == {UNREADABLE: given}
    assert found.calls[0].effect is Effect.PURE, "it can do no harm, for it never runs"


@pytest.mark.parametrize(
    ("given", "stands"),
    [
        ("call:1/ü", "call_1__"),
        ("", "call_2"),
        ("x" * 300, "x" * 100),
        ("toolu_01-A", "toolu_01-A"),
    ],
)
def test_an_id_that_the_api_would_refuse_stands_as_one_it_takes(given: str, stands: str) -> None:
    found = take(answer({**use("a"), "id": given}), BOX, (), 1, "r")
    assert [found.content[0]["id"], found.calls[0].id] == [stands, stands]
    assert bool(found.repairs) is (given != stands)


def test_two_long_ids_that_look_alike_when_cut_stay_apart() -> None:
    _, calls = taken(answer({**use("a"), "id": "x" * 300}, {**use("a"), "id": "x" * 200}))
    assert calls == ["x" * 100, "x" * 100 + "_2"]


@pytest.mark.parametrize(
    ("given", "stands"), [("read file!", "read_file_"), ("", "unnamed"), ("n" * 999, "n" * 100)]
)
def test_a_name_that_the_api_would_refuse_names_no_tool(given: str, stands: str) -> None:
    found = take(answer({**use("a"), "name": given}), BOX, (), 1, "r")
    assert [found.content[0]["name"], found.calls[0].name] == [stands, stands]
    assert "stands as" in found.repairs[0]


@pytest.mark.parametrize("kind", ["hologram", "tool_result", "image", ""])
def test_a_block_that_no_answer_may_hold_is_left_out_and_named(kind: str) -> None:
    found = take(answer({"type": kind, "x": 1}, "Words.", {"type": kind, "x": 2}), BOX, (), 1, "r")
    assert found.content == (text("Words."),)
    assert found.repairs == (f"a block of the type {kind!r} was left out of an answer",)


def test_what_the_providers_own_tools_leave_stays() -> None:
    server = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    result = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    assert taken(answer(server, result, "Found."))[0] == [server, result, text("Found.")]


def test_keys_that_nobody_knows_are_left_out_but_of_thinking() -> None:
    seen = {**thought(), "mood": "good"}
    found = take(answer(seen, {**text("Hm."), "mood": "good"}, {**use("a"), "index": 0}), BOX, (), 1, "r")
    assert list(found.content) == [seen, text("Hm."), use("a")]
    assert len(found.repairs) == 2


def test_what_no_database_takes_is_made_visible() -> None:
    content, _ = taken(answer("bad \ud835 end\x00", use("a", n=float("nan"))))
    assert content[0]["text"] == "bad � end␀"
    assert content[1]["input"] == {"n": "nan"}


def test_an_unknown_tool_is_planned_and_will_only_be_told_so() -> None:
    plan = take(answer(use("a", "levitate")), BOX, (), 1, "r").calls
    assert plan[0].effect is Effect.PURE


def test_what_is_not_kept_as_it_came_is_kept_beside_it() -> None:
    whole = answer("I look", use("a"))
    assert original(whole, whole.content) == ""
    cut = answer("I look", use("a"), stop="max_tokens")
    assert json.loads(original(cut, take(cut, BOX, (), 1, "r").content)) == list(cut.content)
    assert original(replace(whole, raw="as it came"), whole.content) == "as it came"


def test_which_answers_are_cut() -> None:
    assert [
        is_cut(answer("x", stop=stop)) for stop in ("max_tokens", "model_context_window_exceeded", "end_turn")
    ] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("thinking", "told"), [("none", 1_000), ("manual", 1_000), ("adaptive", 30_000), ("bound", 30_000)]
)
def test_thinking_counts_for_the_next_prompt_only_where_it_is_sent_back(thinking: str, told: int) -> None:
    capability = Capability(llm="x", context=1, max_output=1, thinking=thinking)
    assert sent_back(Usage(output=30_000, thinking=29_000), capability) == told


def test_a_whole_answer_is_measured_and_a_part_of_one_estimated() -> None:
    desk = laid(talk(1)).desk
    given = answer("I look", use("a"), usage=Usage(output=77))
    whole = message(desk, given, given.content)
    assert (whole.tokens, whole.counted, whole.number) == (77, Counted.USAGE, 4)
    part = message(desk, given, given.content[:1])
    assert part.counted is Counted.ESTIMATE
    assert 0 < part.tokens < 20


SPOILED: dict[str, list[Block]] = {
    "a sign that no archive keeps": [thought("nul \x00 here"), use("a")],
    "half a character": [thought("bad \ud835 end"), use("a")],
    "behind what could not stay": [text("nul \x00"), thought("later"), use("a")],
    "behind blank text": [text(" "), thought("later"), use("a")],
}


@pytest.mark.parametrize("what", SPOILED)
def test_thinking_that_could_not_stay_as_it_came_is_kept_and_never_sent_back(what: str) -> None:
    found = take(answer(*SPOILED[what]), BOX, (), 3, "r-stage")
    thoughts = [block for block in found.content if block["type"] == "thinking"]
    assert [block["signature"] for block in thoughts] == [""]
    assert any("thinking is not sent back" in line for line in found.repairs)


def test_thinking_before_what_is_put_right_keeps_its_signature() -> None:
    found = take(answer(thought("first"), text("nul \x00"), use("a")), BOX, (), 3, "r-stage")
    assert found.content[0] == thought("first")
