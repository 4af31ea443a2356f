"""Spin: the same call with the same result."""

from __future__ import annotations

import pytest

from runs.engine.errors import Spinning, UnfitInputs
from runs.engine.events import NoticeGiven, SpinSeen
from runs.engine.messages import UNREADABLE, Author, Block, Kind, Message, Role, texts_of
from runs.engine.middleware.spin import NO_NEWS, Spin
from runs.engine.ports import ToolContext, ToolResult

from ..stage import Play, Probe, Step, answer, gave, laid, of, play, talk, use


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


def test_the_time_a_command_took_makes_no_other_result() -> None:
    took = iter(range(99))

    def fails(context: ToolContext) -> ToolResult:
        return ToolResult(content=f"exit code 1 · {next(took)}.1 s\n3 failed in 0.{next(took)}s")

    assert paused_at(play(*again(9), tools=[Probe(does=fails)]), 9) == 5  # type: ignore[arg-type]


def paused_at(stage: Play, turns: int) -> int:
    """The turn after which the run pauses, 0 for none of so many."""
    for turn in range(1, turns + 1):
        try:
            stage.turn()
        except Spinning:
            return turn
    return 0


def circling(names: str, turns: int = 24) -> list[Step]:
    """Turn after turn the calls of these letters, round and round."""
    return [answer(use(f"c{at}", "probe", what=names[at % len(names)])) for at in range(turns)]


def echoed(context: ToolContext) -> ToolResult:
    return ToolResult(content=f"result of {context.turn}")


@pytest.mark.parametrize(
    ("names", "turn"), [("ab", 6), ("abc", 9), ("aab", 9), ("abcd", 12), ("aabb", 12), ("abcde", NO_NEWS + 1)]
)
def test_up_to_four_turns_that_repeat_three_times_pause_the_run(names: str, turn: int) -> None:
    """Five are too many for a circle: they pause when nothing new has come for long."""
    assert paused_at(play(*circling(names), tools=[Probe()]), 24) == turn


def test_a_circle_with_other_results_is_none() -> None:
    stage = play(*circling("ab", 12), tools=[Probe(does=echoed)])
    assert paused_at(stage, 12) == 0


def test_slowly_changing_arguments_that_bring_nothing_new_pause_the_run() -> None:
    steps = [answer(use(f"c{at}", "probe", what=str(at))) for at in range(30)]
    assert paused_at(play(*steps, tools=[Probe()]), 30) == NO_NEWS + 1


def test_one_new_result_is_enough_to_go_on() -> None:
    def now_and_then(context: ToolContext) -> ToolResult:
        return ToolResult(content=f"news {context.turn}" if context.turn % NO_NEWS == 0 else "nothing")

    steps = [answer(use(f"c{at}", "probe", what=str(at))) for at in range(40)]
    assert paused_at(play(*steps, tools=[Probe(does=now_and_then)]), 40) == 0


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("edit_file", {"path": "a.py", "old": "{at}", "new": "x"}, "Edited a.py."),
        ("run_command", {"command": "mkdir {at}"}, "exit code 0 · 0.1 s · 0 bytes, 0 omitted"),
    ],
)
def test_what_changes_files_is_news_however_alike_it_is_told(
    name: str, given: dict[str, str], said: str
) -> None:
    spin, window = Spin(), laid(talk(1)).desk.window
    spin.start(laid(talk(1)).desk)
    for at in range(2 * NO_NEWS):
        call = use(f"x{at}", name, **{key: value.format(at=at) for key, value in given.items()})
        number = window.upto + 1
        made = message(number, Kind.ANSWER, call), message(number + 1, Kind.RESULTS, gave(f"x{at}", said))
        for one in made:
            window.append(one)
        assert list(spin.after_turn(window)) == []


def message(number: int, kind: Kind, block: Block) -> Message:
    role = Role.ASSISTANT if kind is Kind.ANSWER else Role.USER
    return Message(number=number, role=role, author=Author.LLM, kind=kind, turn=number, content=(block,))


@pytest.mark.parametrize("given", [{"wat": 1}, {UNREADABLE: "[1, 2"}])
def test_inputs_that_fit_no_tool_pause_the_run_at_the_third_turn(given: dict[str, object]) -> None:
    steps = [answer(use(f"c{at}", "read_file", n=at, **given)) for at in range(6)]
    stage = play(*steps)
    stage.turn()
    stage.turn()
    with pytest.raises(UnfitInputs, match="3 turns in a row"):
        stage.turn()


def test_one_input_that_fits_is_enough_to_go_on() -> None:
    bad, good = {"wat": 1}, {"path": "."}
    steps = [
        answer(use(f"c{at}", "list_files", **(good if at % 3 == 2 else {**bad, "n": at}))) for at in range(9)
    ]
    assert paused_at(play(*steps), 9) == 0


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
