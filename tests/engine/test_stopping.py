"""Stop now: whatever is under way ends, every call is answered, and nothing runs twice."""

from __future__ import annotations

import pytest

from runs.engine.errors import Cancelled
from runs.engine.events import CallStarted, CallStatus, TurnClosed
from runs.engine.ports import Answer, Cancel, Request, ToolContext, ToolResult
from tests.cases.structure import problems

from .stage import Play, Probe, answer, of, play, use


def stopper(stage: list[Play], reason: str = "stop_now") -> Probe:
    def stop(context: ToolContext) -> ToolResult:
        stage[0].agent.desk.cancel(reason)
        raise Cancelled(reason)

    return Probe(name="stopper", does=stop)


def test_stopped_in_the_middle_of_tools_the_turn_closes_with_killed_and_skipped_calls() -> None:
    held: list[Play] = []
    probe, stop = Probe(), stopper(held)
    calls = [use("a", "probe", what="x"), use("b", "stopper", what="x"), use("c", "probe", what="x")]
    held.append(play(answer(*calls), answer("Done."), tools=[probe, stop]))
    stage = held[0]
    events = stage.turn()
    assert [stage.archive.calls[1, name] for name in "abc"] == ["done", "killed", "skipped"]
    assert len(of(CallStarted, events)) == 2, "what is skipped was never started"
    assert isinstance(events[-1], TurnClosed)
    assert all(block.get("is_error") for block in stage.results()[1:])
    assert problems(stage.window()) == []
    assert not stage.agent.finished


def test_after_a_stop_the_same_agent_goes_on_with_tools_that_are_not_cancelled() -> None:
    held: list[Play] = []
    seen: list[str] = []

    def look(context: ToolContext) -> ToolResult:
        seen.append(context.cancel.reason)
        return ToolResult(content="ok")

    probe = Probe(does=look)
    held.append(play(answer(use("b", "stopper")), answer(use("c", "probe")), tools=[probe, stopper(held)]))
    held[0].turn()
    held[0].agent.desk.cancel = Cancel()
    held[0].turn()
    assert seen == [""]


def test_a_call_that_was_begun_is_not_begun_again_by_the_same_agent() -> None:
    class Held(Cancelled):
        """Leaves the loop with a call under way."""

    def leave(context: ToolContext) -> ToolResult:
        raise Held

    probe, leaver = Probe(), Probe(name="leaver", does=leave)
    stage = play(answer(use("a", "probe", what="x"), use("b", "leaver", what="x")), tools=[probe, leaver])
    stage.agent.acting._run = stage.agent.acting._run_tool  # type: ignore[method-assign]
    with pytest.raises(Held):
        stage.turn()
    stage.turn()
    assert len(probe.ran) == 1, "its result was known"
    assert len(leaver.ran) == 1, "whether it had an effect is not known"
    assert stage.archive.calls[1, "b"] == CallStatus.UNKNOWN


def test_cancelled_while_the_llm_answers_nothing_is_kept_but_that_it_was_tried() -> None:
    def stop(request: Request, cancel: Cancel) -> Answer:
        cancel("stop_now")
        raise Cancelled("stop_now")

    stage = play(stop, answer("Done."))
    with pytest.raises(Cancelled):
        stage.turn()
    assert stage.archive.turns == {(1, 1): "cancelled"}
    stage.agent.desk.cancel = Cancel()
    stage.turn()
    assert stage.archive.turns == {(1, 1): "cancelled", (1, 2): "closed"}


def test_a_run_that_is_stopped_already_asks_nobody() -> None:
    stage = play(answer("never"))
    stage.agent.desk.cancel("leaving")
    with pytest.raises(Cancelled):
        stage.turn()
    assert stage.llm.asked == []
    assert stage.archive.turns == {}
