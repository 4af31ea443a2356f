"""Thinking that the llm's server does not take any more leaves the window, and the run goes on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from runs.engine.errors import BadRequest
from runs.engine.events import TurnLost, WindowEdited
from runs.engine.window.render import frame_of
from tests.cases.structure import problems

from .stage import Play, Probe, answer, of, play, thought, use

REFUSALS = (
    "400: messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different "
    'conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
    "400: messages.3.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
    "modified. These blocks must remain as they were in the original response.",
)


def thoughts(messages: list[dict[str, Any]]) -> list[str]:
    return [
        block["type"] for message in messages for block in message["content"] if "thinking" in block["type"]
    ]


def thinking(*steps: Any, capability: str) -> Play:
    """A run in the middle of a tool loop in which the llm has thought."""
    redacted = {"type": "redacted_thinking", "data": "cmVk"}
    stage = play(
        answer(thought(), redacted, "I look.", use("p", "probe")),
        *steps,
        thinking=capability,
        tools=[Probe()],
    )
    stage.turn()
    assert thoughts(stage.window()) == ["thinking", "redacted_thinking"]
    return stage


@pytest.mark.parametrize("capability", ["manual", "adaptive", "bound"])
@pytest.mark.parametrize("refusal", REFUSALS)
def test_thinking_that_is_refused_leaves_and_the_same_is_asked_again(refusal: str, capability: str) -> None:
    stage = thinking(BadRequest(refusal, status=400), answer("Done."), capability=capability)
    events = stage.turn()
    assert [edit.edit.kind for edit in of(WindowEdited, events)] == ["clear_thinking"]
    assert len(of(TurnLost, events)) == 1
    assert stage.agent.finished
    assert thoughts(stage.bodies()[-1]["messages"]) == []
    assert problems(stage.bodies()[-1]["messages"]) == []


def test_it_is_asked_again_once_only() -> None:
    refused = [BadRequest(REFUSALS[0], status=400)] * 2
    stage = thinking(*refused, answer("never"), capability="bound")
    with pytest.raises(BadRequest):
        stage.turn()


def test_any_other_refusal_changes_nothing() -> None:
    stage = thinking(BadRequest("400: messages.1: mistake", status=400), capability="bound")
    with pytest.raises(BadRequest):
        stage.turn()
    assert thoughts(stage.window()) == ["thinking", "redacted_thinking"]


def under_another(stage: Play, **changed: Any) -> None:
    """The run is taken up with another system prompt, or other tools, than it was asked with before."""
    desk = stage.agent.desk
    whole: dict[str, Any] = {
        "llm": desk.frame.llm,
        "system": "You are.",
        "tools": desk.frame.tools,
        **changed,
    }
    frame = frame_of(**whole, params=desk.frame.params["request"], shape=desk.shape)
    assert stage.agent.asking.before
    stage.agent.asking.before = replace(stage.agent.asking.before, frame=frame)


@pytest.mark.parametrize("changed", [{"system": "You were."}, {"tools": ()}, {"llm": "another"}])
def test_a_bound_llm_never_gets_what_was_thought_under_another_frame(changed: dict[str, Any]) -> None:
    stage = thinking(answer(thought("New."), "I look.", use("q", "probe")), capability="bound")
    under_another(stage, **changed)
    events = stage.turn()
    assert thoughts(stage.bodies()[-1]["messages"]) == []
    assert "changed" in of(WindowEdited, events)[0].edit.reason
    assert thoughts(stage.window()) == ["thinking"], "what is thought from now on stays"


def test_other_llms_keep_it() -> None:
    stage = thinking(answer("Done."), capability="adaptive")
    under_another(stage, system="You were.")
    assert not of(WindowEdited, stage.turn())
    assert thoughts(stage.bodies()[-1]["messages"])


def test_the_same_frame_changes_nothing() -> None:
    stage = thinking(answer("Done."), capability="bound")
    assert not of(WindowEdited, stage.turn())
    assert thoughts(stage.bodies()[-1]["messages"])
