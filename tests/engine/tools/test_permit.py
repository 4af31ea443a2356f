"""One function decides which calls of an answer may run."""

from __future__ import annotations

import pytest

from runs.engine.tools import may_run

CALLS = [{"type": "tool_use", "id": f"t{number}", "name": "x", "input": {}} for number in range(40)]


def test_calls_run_when_the_llm_stopped_for_them_and_the_stream_ended() -> None:
    permit = may_run("tool_use", CALLS[:3], ended=True)
    assert (permit.run, permit.skip, permit.why) == (tuple(CALLS[:3]), (), "")


@pytest.mark.parametrize(
    "stop_reason",
    [
        "end_turn",
        "max_tokens",
        "stop_sequence",
        "pause_turn",
        "refusal",
        "model_context_window_exceeded",
        "",
        "new",
    ],
)
def test_no_other_stop_reason_lets_a_call_run(stop_reason: str) -> None:
    permit = may_run(stop_reason, CALLS[:2], ended=True)
    assert (permit.run, permit.skip) == ((), tuple(CALLS[:2]))
    assert permit.why.startswith("Not run: the answer ended with")


def test_nothing_of_a_cut_stream_runs() -> None:
    permit = may_run("tool_use", CALLS[:1], ended=False)
    assert (permit.run, permit.skip) == ((), tuple(CALLS[:1]))
    assert "broke off" in permit.why


def test_of_too_many_calls_the_first_32_run_and_the_rest_are_skipped() -> None:
    permit = may_run("tool_use", CALLS, ended=True)
    assert (permit.run, permit.skip) == (tuple(CALLS[:32]), tuple(CALLS[32:]))
    assert "at most 32" in permit.why
