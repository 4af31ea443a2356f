"""One turn after the other: what is stored, in which order, whatever the llm and its tools do."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.engine.errors import CutOff, PausedAgain, Refused, StreamCut
from runs.engine.events import (
    CallEnded,
    Effect,
    Event,
    NoticeGiven,
    Said,
    TurnAnswered,
    TurnClosed,
    TurnLost,
    TurnOpened,
    Usage,
)
from runs.engine.loop import MOST_CUTS, MOST_PAUSES
from runs.engine.messages import Kind, texts_of
from runs.engine.middleware.base import Asked
from tests.cases.structure import problems

from .stage import Probe, answer, of, play, thought, use


def kinds(events: list[Event]) -> list[str]:
    return [event.kind for event in events if event.kind not in ("delta", "window.checked")]


def test_a_turn_opens_is_answered_and_closes_with_all_results(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one lamp")
    stage = play(
        answer("I look.", use("a", path="a.txt"), use("b", "list_files", path=".")), workspace=tmp_path
    )
    assert kinds(stage.turn()) == ["turn.opened", "turn.answered", "turn.closed"]
    assert [block["tool_use_id"] for block in stage.results()] == ["a", "b"]
    assert "one lamp" in str(stage.results()[0]["content"])


def test_a_run_is_finished_when_the_llm_asks_for_nothing_more() -> None:
    stage = play(answer(use("a", "read_notes", section="facts")), answer("It is found."))
    stage.turn()
    assert not stage.agent.finished
    closed = of(TurnClosed, stage.turn())[0]
    assert stage.agent.finished
    assert closed.final


def test_an_effectful_call_is_started_before_it_runs_and_a_pure_one_ends_with_the_turn() -> None:
    probe = Probe()
    stage = play(answer(use("p", "probe", what="x"), use("r", "read_notes", section="facts")), tools=[probe])
    events = stage.turn()
    assert kinds(events) == ["turn.opened", "turn.answered", "call.started", "call.ended", "turn.closed"]
    closed = of(TurnClosed, events)[0]
    assert [end.call.id for end in closed.ended] == ["r"]


def test_a_refusal_is_lost_and_leaves_the_window_as_it_was() -> None:
    stage = play(answer("No.", stop="refusal"), answer("All right."))
    before = stage.window()
    with pytest.raises(Refused):
        stage.turn()
    assert isinstance(stage.archive.events[-1], TurnLost)
    assert stage.window() == before
    stage.take(stage.agent.say("Please do.", "Ada", 7))
    assert of(TurnAnswered, stage.turn())[0].turn == 1


def test_a_lost_answer_is_paid_once() -> None:
    usage = Usage(input=1_000_000, output=1_000_000)
    stage = play(answer("No.", stop="refusal", usage=usage))
    with pytest.raises(Refused):
        stage.turn()
    lost = stage.archive.events[-1]
    assert isinstance(lost, TurnLost)
    assert lost.cost == stage.agent.desk.spent.cost == 30_000_000


def test_an_empty_answer_is_nudged_once_then_the_run_is_done() -> None:
    stage = play(answer("  "), answer(thought()), answer("never"))
    assert kinds(stage.turn()) == ["turn.opened", "turn.lost", "notice.given"]
    assert not stage.agent.finished
    assert kinds(stage.turn()) == ["turn.opened", "turn.lost"]
    assert stage.agent.finished
    assert [message.kind for message in stage.archive.history.messages] == [Kind.GOAL, Kind.NOTICE]


def test_a_good_answer_earns_another_nudge() -> None:
    stage = play(answer(" "), answer(use("a", "read_notes", section="facts")), answer(" "), answer("Done."))
    for _ in range(3):
        stage.turn()
    assert not stage.agent.finished
    stage.turn()
    assert stage.agent.finished


def test_a_cut_answer_keeps_its_text_runs_nothing_and_is_told_so() -> None:
    probe = Probe()
    cut = answer("I begin", thought(), use("p", "probe", what="half"), stop="max_tokens")
    stage = play(cut, answer("Done."), tools=[probe])
    events = stage.turn()
    assert probe.ran == []
    answered = of(TurnAnswered, events)[0]
    assert [block["type"] for block in answered.message.content] == ["text"]
    assert isinstance(events[-1], NoticeGiven)
    assert "cut off" in texts_of(events[-1].message.content)
    stage.turn()
    assert problems(stage.bodies()[-1]["messages"]) == []


def test_answers_cut_off_again_and_again_ask_a_person() -> None:
    stage = play(*(answer(f"part {at}", stop="max_tokens") for at in range(MOST_CUTS)), answer("Done."))
    for _ in range(MOST_CUTS - 1):
        stage.turn()
    with pytest.raises(CutOff):
        stage.turn()
    stage.turn()
    assert stage.agent.finished


def test_an_answer_cut_before_it_said_anything_is_not_taken_for_the_end() -> None:
    half = answer(use("p", "probe", what="half"), stop="max_tokens")
    stage = play(half, half)
    stage.turn()
    with pytest.raises(CutOff):
        stage.turn()
    assert not stage.agent.finished


def test_a_pause_is_asked_to_go_on_and_what_follows_keeps_its_prefix() -> None:
    stage = play(answer("Searching.", stop="pause_turn"), answer("Found."), thinking="bound")
    stage.turn()
    assert not stage.agent.finished
    stage.turn()
    first, second = (body["messages"] for body in stage.bodies())
    assert [part["role"] for part in second] == ["user", "assistant", "user"]
    stage.take(stage.agent.say("And now?", "Ada"))
    assert [part["role"] for part in stage.window()][:4] == ["user", "assistant", "user", "assistant"]
    assert first[0]["content"][0]["text"] == second[0]["content"][0]["text"]


def test_five_pauses_in_a_row_ask_a_person_and_are_not_taken_for_the_end() -> None:
    stage = play(*(answer(f"pause {at}", stop="pause_turn") for at in range(MOST_PAUSES)), answer("Found."))
    for _ in range(MOST_PAUSES - 1):
        stage.turn()
    with pytest.raises(PausedAgain):
        stage.turn()
    assert not stage.agent.finished
    stage.turn()
    assert stage.agent.finished


def test_an_unknown_stop_reason_ends_the_run_instead_of_looping() -> None:
    stage = play(answer("Whatever.", stop="compaction"))
    stage.turn()
    assert stage.agent.finished


def test_a_used_id_gets_a_fresh_one_in_the_same_and_in_a_later_turn() -> None:
    stage = play(
        answer(use("x", "read_notes", section="facts"), use("x", "read_notes", section="errors")),
        answer(use("x", "read_notes", section="pending")),
    )
    stage.turn()
    stage.turn()
    ids = [
        block["tool_use_id"]
        for message in stage.window()
        for block in message["content"]
        if "tool_use_id" in block
    ]
    assert ids == ["x", "x_2", "x_3"]
    assert problems(stage.window()) == []


def test_more_than_32_calls_are_skipped_and_answered() -> None:
    probe = Probe()
    stage = play(answer(*(use(f"p{at}", "probe", what="x") for at in range(40))), tools=[probe])
    stage.turn()
    assert len(probe.ran) == 32
    assert len(stage.results()) == 40
    assert stage.archive.started == 32
    assert [stage.archive.calls[1, f"p{at}"] for at in (31, 32, 39)] == ["done", "skipped", "skipped"]
    assert problems(stage.window()) == []


def test_what_a_person_says_is_cleaned_and_stands_verbatim() -> None:
    stage = play(answer(use("a", "read_notes", section="facts")), answer("Done."))
    stage.turn()
    events = stage.take(stage.agent.say("half \ud835 and nul \x00, JSON only", "Ada", 3))
    assert isinstance(events[0], Said)
    assert events[0].data() == {"message": 4}
    stage.turn()
    assert stage.bodies()[-1]["messages"][-1]["content"][-1]["text"] == "half � and nul ␀, JSON only"


def test_numbers_follow_each_other_through_lost_turns_failed_edits_and_clears() -> None:
    steps = [
        StreamCut("cut"),
        answer(use("a", "list_files", path=".")),
        StreamCut("cut"),
        answer("  "),
        answer(use("b", "list_files", path=".")),
        answer(use("c", "list_files", path=".")),
        answer("Summary of it all."),
        answer("Done."),
    ]
    stage = play(*steps)
    stage.turn()
    stage.turn()
    stage.take(stage.agent.compact(Asked(keep=9, by="Ada", order=1)))
    stage.turn()
    stage.take(stage.agent.say("faster", "Ada"))
    stage.turn()
    stage.take(stage.agent.compact(Asked(keep=0, by="Ada", order=2)))
    stage.take(stage.agent.clear(Asked(by="Ada", order=3)))
    stage.turn()
    assert stage.archive.turns[1, 1] == "lost"
    assert stage.archive.turn_no == stage.agent.desk.turn
    assert stage.archive.originals_stand()


def test_a_turn_taken_up_again_closes_with_what_is_known_and_runs_the_rest() -> None:
    probe, pure = Probe(), Probe(name="pure", effect=Effect.PURE)
    stage = play(answer(use("a", "probe"), use("b", "pure"), use("c", "probe")), tools=[probe, pure])
    walk = stage.agent.turn()
    for event in walk:
        stage.archive.append(event)
        if isinstance(event, CallEnded):
            break
    walk.close()
    stage.archive.calls[1, "a"] = "started"  # the worker went before its end was stored
    stage.turn()
    assert len(probe.ran) == 2
    assert [block["tool_use_id"] for block in stage.results()] == ["a", "b", "c"]
    assert "unknown" in str(stage.results()[0]["content"])


def test_the_window_that_a_closed_turn_tells_is_what_the_llm_counted() -> None:
    usage = Usage(input=10, cache_read=4000, cache_write=90, output=50)
    stage = play(answer(use("a", "list_files", path="."), usage=usage))
    closed = stage.turn()[-1]
    assert (closed.window, closed.estimated) == (4100, False)
    assert closed.cost == stage.agent.desk.cost(usage)


def test_events_carry_references_and_never_bodies() -> None:
    stage = play(answer("A sentence that is stored once.", use("a", "list_files", path=".")))
    for event in stage.turn():
        if not isinstance(event, TurnOpened):
            assert "stored once" not in str(event.data())
