"""Thinking that is sent back must be as it was, and on bound llms its prefix too."""

from __future__ import annotations

from typing import Any

import pytest

from runs.engine.llm.rehearsal import thinking
from runs.engine.llm.rehearsal.wire import Invalid

from .asking import TOOL, ask, llm

GOAL = {"role": "user", "content": "Greet."}
ADAPTIVE = {"type": "adaptive"}
CALL = {"type": "tool_use", "id": "t1", "name": "read_file", "input": {}}
RESULTS = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]}


def answered(messages: list[Any], words: str = "I look.") -> dict[str, Any]:
    """The assistant's message whose thinking is signed for these messages."""
    prefix = thinking.prefix_of({"messages": messages, "tools": [TOOL]})
    block = {"type": "thinking", "thinking": words, "signature": thinking.sign(words, prefix)}
    return {"role": "assistant", "content": [block, CALL]}


def refused(messages: list[Any], *, bound: bool = True, **more: Any) -> str:
    try:
        thinking.check({"messages": messages, "tools": [TOOL], **more}, bound=bound)
    except Invalid as error:
        return str(error)
    return ""


def test_thinking_is_given_only_when_it_was_asked_for() -> None:
    assert [block["type"] for block in ask(llm()).content] == ["text", "tool_use"]
    content = ask(llm(), thinking=ADAPTIVE).content
    assert [block["type"] for block in content] == ["thinking", "text", "tool_use"]
    assert content[0]["signature"]


def test_an_answer_can_be_sent_back_as_it_came() -> None:
    connected = llm()
    first = ask(connected, thinking=ADAPTIVE)
    call = first.content[-1]
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "Wrote hello.py"}
    messages = [
        {"role": "user", "content": "Write a program that greets."},
        {"role": "assistant", "content": list(first.content)},
        {"role": "user", "content": [result]},
    ]
    second = ask(connected, thinking=ADAPTIVE, messages=messages, metadata={"user_id": "r-test:2"})
    assert second.stop_reason == "tool_use"


def test_what_is_unchanged_is_accepted() -> None:
    assert refused([GOAL, answered([GOAL]), RESULTS]) == ""


def test_a_cache_mark_or_a_string_for_a_block_is_no_change() -> None:
    marked = {
        "role": "user",
        "content": [{"type": "text", "text": "Greet.", "cache_control": {"type": "ephemeral"}}],
    }
    assert refused([marked, answered([GOAL]), RESULTS]) == ""


def test_thinking_may_be_left_out() -> None:
    first = answered([GOAL])
    second = answered([GOAL, first, RESULTS])
    without = {"role": "assistant", "content": first["content"][1:]}
    assert refused([GOAL, without, RESULTS, second, RESULTS]) == ""


def test_changed_thinking_in_the_latest_answer_is_named() -> None:
    changed = answered([GOAL])
    changed["content"][0]["thinking"] = "I look!"
    assert refused([GOAL, changed, RESULTS]) == (
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
        "modified. These blocks must remain as they were in the original response."
    )


def test_changed_thinking_further_back_has_an_invalid_signature() -> None:
    changed = answered([GOAL])
    changed["content"][0]["signature"] = "AAAA"
    second = {"role": "assistant", "content": [CALL]}
    problem = refused([GOAL, changed, RESULTS, second, RESULTS])
    assert problem == "messages.1.content.0: Invalid `signature` in `thinking` block"


@pytest.mark.parametrize("change", ["goal", "tools", "system", "result"])
def test_a_changed_prefix_is_a_different_conversation(change: str) -> None:
    first = answered([GOAL])
    second = answered([GOAL, first, RESULTS])
    messages: list[Any] = [GOAL, {"role": "assistant", "content": [CALL]}, RESULTS, second, RESULTS]
    more: dict[str, Any] = {}
    if change == "goal":
        messages[0] = {"role": "user", "content": "Greet me."}
    elif change == "result":
        short = [{"type": "tool_result", "tool_use_id": "t1", "content": "[left out]"}]
        messages[2] = {"role": "user", "content": short}
    elif change == "tools":
        more["tools"] = []
    else:
        more["system"] = "Another one."
    problem = refused(messages, **more)
    assert problem == (
        "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different "
        'conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
    )
    assert refused(messages, bound=False, **more) == ""


def test_the_server_drops_such_blocks_when_it_was_told_to() -> None:
    first = answered([GOAL])
    messages = [{"role": "user", "content": "Greet me."}, first, RESULTS]
    drop = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    assert ask(llm(), messages=messages, thinking=drop, metadata={"user_id": "r-test:2"}).content
