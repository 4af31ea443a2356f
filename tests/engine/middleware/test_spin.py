"""Spin: the same call with the same result."""

from __future__ import annotations

import pytest

from runs.engine.errors import Spinning
from runs.engine.events import NoticeGiven, SpinSeen
from runs.engine.messages import texts_of
from runs.engine.ports import ToolResult

from ..stage import Play, Probe, answer, of, play, use


def again(times: int) -> list[object]:
    return [answer(f"Try {at}.", use(f"p{at}", "probe", what="same")) for at in range(times)]


def nudged(stage: Play) -> list[NoticeGiven]:
    return of(NoticeGiven, stage.archive.events)


def test_a_nudge_at_the_third_time_and_a_pause_at_the_fifth() -> None:
    stage = play(*again(6), tools=[Probe()])  # type: ignore[arg-type]
    for _ in range(4):
        stage.turn()
    (notice,) = nudged(stage)
    assert "The last 3 calls of probe were the same" in texts_of(notice.message.content)
    with pytest.raises(Spinning, match="5 times"):
        stage.turn()
    assert [event.times for event in of(SpinSeen, stage.archive.events)] == [3, 5]


def test_another_result_is_no_spin() -> None:
    count = iter(range(99))
    probe = Probe(does=lambda context: ToolResult(content=f"result {next(count)}"))
    stage = play(*again(8), tools=[probe])  # type: ignore[arg-type]
    for _ in range(8):
        stage.turn()
    assert nudged(stage) == []


def test_another_input_is_no_spin() -> None:
    steps = [answer(use(f"p{at}", "probe", what=str(at))) for at in range(8)]
    stage = play(*steps, tools=[Probe()])
    for _ in range(8):
        stage.turn()
    assert nudged(stage) == []


def test_a_persons_word_starts_the_count_anew() -> None:
    stage = play(*again(8), tools=[Probe()])  # type: ignore[arg-type]
    for _ in range(4):
        stage.turn()
    stage.take(stage.agent.say("Once more, please.", "Ada"))
    for _ in range(4):
        stage.turn()
    assert len(nudged(stage)) == 2


def test_zero_turns_it_off() -> None:
    stage = play(*again(8), tools=[Probe()], valves={"spin_nudge": 0, "spin_pause": 0})  # type: ignore[arg-type]
    for _ in range(8):
        stage.turn()
    assert nudged(stage) == []


def test_the_turn_that_spins_is_closed_before_the_run_pauses() -> None:
    stage = play(*again(7), tools=[Probe()], valves={"spin_pause": 2})  # type: ignore[arg-type]
    stage.turn()
    with pytest.raises(Spinning):
        stage.turn()
    assert stage.archive.turns[2, 1] == "closed"
    assert stage.agent.open is None
