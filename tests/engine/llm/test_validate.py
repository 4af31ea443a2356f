"""The stand-in refuses what the Messages API refuses, in its words: messages-api, validation messages, row by row."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest

from runs.engine.llm.rehearsal.validate import Rules, validate
from runs.engine.llm.rehearsal.wire import Invalid

from .asking import body

BOUND = Rules(llm="rehearsal", max_output=16_000, thinking="bound")
ADAPTIVE = Rules(llm="claude-opus-4-7", max_output=128_000, thinking="adaptive")
MANUAL = Rules(llm="claude-haiku-4-5", max_output=64_000, thinking="manual")

CALL = {"type": "tool_use", "id": "t1", "name": "read_file", "input": {}}
OTHER = {**CALL, "id": "t2"}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
TEXT = {"type": "text", "text": "go on"}
MARK = {"type": "ephemeral"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def assistant(*content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content)}


def refused(rules: Rules = BOUND, *, beta: str = "", **changes: Any) -> str:
    """The sentence with which a request is refused; '' when it is accepted."""
    try:
        validate(body(**changes), rules, beta=beta)
    except Invalid as error:
        return str(error)
    return ""


def said(*messages: dict[str, Any], rules: Rules = BOUND) -> str:
    return refused(rules, messages=list(messages))


def test_a_proper_conversation_is_accepted() -> None:
    assert (
        said(user(TEXT), assistant(TEXT, CALL, OTHER), user(RESULT, {**RESULT, "tool_use_id": "t2"}, TEXT))
        == ""
    )


def test_neighbours_of_one_role_are_one_message() -> None:
    assert said(user(TEXT), assistant(TEXT), assistant(CALL), user(RESULT), user(TEXT)) == ""


UNANSWERED = (
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)


@pytest.mark.parametrize(
    ("messages", "ids"),
    [
        ([user(TEXT), assistant(CALL), user(TEXT)], "t1"),
        ([user(TEXT), assistant(CALL), user(TEXT, RESULT)], "t1"),
        ([user(TEXT), assistant(CALL)], "t1"),
        ([user(TEXT), assistant(CALL, OTHER), user(TEXT)], "t1, t2"),
        ([user(TEXT), assistant(CALL, OTHER), user(RESULT)], "t2"),
    ],
)
def test_every_call_is_answered_in_the_next_message_results_first(messages: list[Any], ids: str) -> None:
    assert said(*messages) == UNANSWERED.format(ids=ids)


def test_a_result_needs_its_call() -> None:
    assert said(user(TEXT), assistant(TEXT), user(RESULT)) == (
        "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1. "
        "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
    )


def test_a_call_has_one_result() -> None:
    problem = said(user(TEXT), assistant(CALL), user(RESULT, RESULT))
    assert (
        "each tool_use must have a single result. Found multiple `tool_result` blocks with id: t1" in problem
    )


def test_ids_are_unique_in_the_whole_request() -> None:
    problem = said(user(TEXT), assistant(CALL), user(RESULT), assistant(CALL), user(RESULT))
    assert problem.endswith("`tool_use` ids must be unique")


def test_calls_need_the_tools() -> None:
    problem = refused(tools=None, messages=[user(TEXT), assistant(CALL), user(RESULT)])
    assert problem == "Requests which include `tool_use` or `tool_result` blocks must define tools"


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([user({"type": "text", "text": ""})], "messages: text content blocks must be non-empty"),
        (
            [user({"type": "text", "text": " \n"})],
            "messages: text content blocks must contain non-whitespace text",
        ),
        (
            [{"role": "user", "content": "  "}],
            "messages: text content blocks must contain non-whitespace text",
        ),
        (
            [user()],
            "messages.0: all messages must have non-empty content except for the optional final assistant message",
        ),
        ([], "messages: at least one message is required"),
    ],
)
def test_nothing_is_blank(messages: list[Any], problem: str) -> None:
    assert said(*messages) == problem


def test_a_blank_text_inside_a_result_is_refused_too() -> None:
    blank = {**RESULT, "content": [{"type": "text", "text": ""}]}
    assert said(user(TEXT), assistant(CALL), user(blank)) == "messages: text content blocks must be non-empty"


def test_newer_llms_take_no_prefill() -> None:
    problem = "This model does not support assistant message prefill. The conversation must end with a user message."
    assert said(user(TEXT), assistant(TEXT)) == problem
    assert said(user(TEXT), assistant(TEXT), rules=ADAPTIVE) == problem


def test_older_llms_take_a_prefill_without_trailing_space() -> None:
    assert said(user(TEXT), assistant(TEXT), rules=MANUAL) == ""
    problem = said(user(TEXT), assistant({"type": "text", "text": "So "}), rules=MANUAL)
    assert problem == "messages: final assistant content cannot end with trailing whitespace"


def test_the_assistant_may_come_first() -> None:
    assert said(assistant(TEXT), user(TEXT)) == ""


def test_a_system_message_needs_a_newer_llm() -> None:
    line = {"role": "system", "content": "Be brief."}
    assert said(user(TEXT), line, user(TEXT)) == ""
    assert said(user(TEXT), line, user(TEXT), rules=MANUAL).startswith('messages: Unexpected role "system".')


def test_sampling_is_for_older_llms() -> None:
    assert refused(MANUAL, temperature=0.5) == ""


def test_at_most_four_marks_wherever_they_are() -> None:
    marked = [{**TEXT, "cache_control": MARK} for _ in range(3)]
    system = [{"type": "text", "text": "You act.", "cache_control": MARK}]
    assert refused(system=system, messages=[user(*marked)]) == ""
    problem = "A maximum of 4 blocks with cache_control may be provided. Found 5."
    assert refused(system=system, messages=[user(*marked)], cache_control=MARK) == problem


def test_marks_of_an_hour_come_first() -> None:
    long = {"type": "ephemeral", "ttl": "1h"}
    assert said(user({**TEXT, "cache_control": long}, {**TEXT, "cache_control": MARK})) == ""
    assert "ttl='1h'" in said(user({**TEXT, "cache_control": MARK}, {**TEXT, "cache_control": long}))


def test_a_mark_on_an_empty_text_or_on_thinking_is_refused() -> None:
    empty = {"type": "text", "text": "", "cache_control": MARK}
    assert said(user(empty)) == "cache_control cannot be set for empty text blocks"
    thought = {**THOUGHT, "cache_control": MARK}
    assert said(user(TEXT), assistant(thought, TEXT), user(TEXT)).endswith(
        "thinking.cache_control: Extra inputs are not permitted"
    )


def test_thinking_stands_last_in_no_message() -> None:
    problem = "messages.1: The final block in an assistant message cannot be `thinking`."
    assert said(user(TEXT), assistant(THOUGHT), user(TEXT)) == problem


def test_unsigned_thinking_is_refused() -> None:
    problem = said(user(TEXT), assistant({"type": "thinking", "thinking": "hm"}, TEXT), user(TEXT))
    assert problem == "messages.1.content.0.thinking.signature: Field required"


def test_manual_thinking_begins_the_turn_that_calls() -> None:
    thinking = {"type": "enabled", "budget_tokens": 2_000}
    calls = [user(TEXT), assistant(CALL), user(RESULT)]
    assert refused(MANUAL, messages=calls, thinking=thinking).startswith(
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."
    )
    thought = [user(TEXT), assistant(THOUGHT, CALL), user(RESULT)]
    assert refused(MANUAL, messages=thought, thinking=thinking) == ""


@pytest.mark.parametrize(
    ("thinking", "tool_choice", "problem"),
    [
        ({"type": "enabled", "budget_tokens": 1_023}, None, "greater than or equal to 1024"),
        ({"type": "enabled", "budget_tokens": 4_000}, None, "`max_tokens` must be greater than"),
        ({"type": "enabled"}, None, "thinking.enabled.budget_tokens: Field required"),
        (
            {"type": "enabled", "budget_tokens": 2_000},
            {"type": "any"},
            "Thinking may not be enabled when tool_choice",
        ),
        ({"type": "adaptive"}, None, "adaptive thinking is not supported"),
    ],
)
def test_thinking_has_its_bounds(
    thinking: dict[str, Any], tool_choice: dict[str, Any] | None, problem: str
) -> None:
    assert problem in refused(MANUAL, thinking=thinking, tool_choice=tool_choice)


def picture(width: int, height: int) -> dict[str, Any]:
    head = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", width, height)
    data = base64.b64encode(head + bytes(40)).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def test_many_pictures_must_be_small_and_not_too_many() -> None:
    assert said(user(TEXT, *[picture(3_000, 10)] * 20)) == ""
    assert "2000 pixels" in said(user(TEXT, *[picture(3_000, 10)] * 21))
    assert said(user(TEXT, *[picture(1_000, 10)] * 100)) == ""
    assert "101 images > 100" in said(user(TEXT, *[picture(1_000, 10)] * 101))


def test_one_picture_alone_has_its_limits_too() -> None:
    assert said(user(TEXT, picture(8_000, 10))) == ""
    assert "8000 pixels" in said(user(TEXT, picture(8_001, 10)))
    heavy = {"type": "base64", "media_type": "image/png", "data": "A" * (5 * 1024 * 1024 + 4)}
    assert "exceeds 5 MB maximum" in said(user(TEXT, {"type": "image", "source": heavy}))


@pytest.mark.parametrize("content", ["", [], None])
def test_an_error_must_say_something(content: object) -> None:
    assert "cannot be empty" in said(
        user(TEXT), assistant(CALL), user({**RESULT, "content": content, "is_error": True})
    )


def test_each_side_says_only_what_is_its_own() -> None:
    assert "only be in `assistant` messages" in said(user(TEXT, THOUGHT))
    assert "only be in `assistant` messages" in said(user(TEXT, CALL))
    assert "only be in `user` messages" in said(user(TEXT), assistant(TEXT, RESULT), user(TEXT))
    assert "only be in `user` messages" in said(user(TEXT), assistant(picture(9, 9), TEXT), user(TEXT))
