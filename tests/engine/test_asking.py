"""One answer, tries and troubles included."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runs.engine.errors import (
    AnswerTooLong,
    BadRequest,
    BudgetSpent,
    Cancelled,
    LlmTrouble,
    Overloaded,
    PromptTooLong,
    Rejected,
    StreamCut,
    WindowFull,
    WindowHeld,
)
from runs.engine.events import (
    LlmRetry,
    NoticeGiven,
    Repaired,
    TurnAnswered,
    TurnLost,
    TurnOpened,
    Usage,
    WindowEdited,
)
from runs.engine.messages import Kind, text
from runs.engine.middleware.base import Asked
from runs.engine.ports import Answer, Cancel, Request
from tests.cases.structure import problems

from .stage import Play, Probe, Step, answer, gave, lines, of, play, use

TOO_LONG = "400: prompt is too long: 31,337 tokens > 21000 maximum"


def walked(stage: Play, turns: int) -> Play:
    for _ in range(turns):
        stage.turn()
    return stage


def busy(turns: int) -> list[Step]:
    return [answer(f"Turn {at}.", use(f"c{at}", "probe", what=lines(str(at), 20))) for at in range(turns)]


def test_every_fault_in_mid_stream_is_tried_again_and_runs_no_tool() -> None:
    probe = Probe()
    cut = [StreamCut("cut"), Overloaded("529", status=529), StreamCut("cut again")]
    stage = play(*cut, answer(use("p", "probe")), tools=[probe])
    events = stage.turn()
    assert [event.attempt for event in of(TurnOpened, events)] == [1, 2, 3, 4]
    assert [event.data()["try"] for event in of(LlmRetry, events)] == [1, 2, 3]
    assert len(probe.ran) == 1
    assert stage.archive.turns == {(1, 1): "lost", (1, 2): "lost", (1, 3): "lost", (1, 4): "closed"}


def test_what_was_typed_before_the_cut_is_kept_with_the_lost_attempt() -> None:
    stage = play(StreamCut("cut"), answer("Done."))
    lost = of(TurnLost, stage.turn())[0]
    assert isinstance(lost, TurnLost)
    assert lost.partial == "typing"


def test_six_tries_then_the_trouble_is_the_persons_to_know() -> None:
    stage = play(*(Overloaded("529", status=529) for _ in range(6)), answer("Done."))
    with pytest.raises(Overloaded):
        stage.turn()
    assert len(stage.llm.asked) == 6
    stage.turn()
    assert stage.archive.turns[1, 7] == "closed"


def test_a_server_that_says_when_is_taken_at_its_word() -> None:
    stage = play(Overloaded("429", status=429, retry_after=17.5), answer("Done."))
    retry = of(LlmRetry, stage.turn())[0]
    assert retry.data() == {"status": 429, "wait_ms": 17500, "try": 1}
    assert stage.agent.desk.clock.now_ms() == 17500


def test_a_server_that_wants_an_hour_gets_a_person() -> None:
    stage = play(Overloaded("429", status=429, retry_after=3600))
    with pytest.raises(Overloaded):
        stage.turn()
    assert len(stage.llm.asked) == 1


def test_a_server_that_hangs_is_given_up_after_five_minutes_however_few_the_tries() -> None:
    def hangs(request: Request, cancel: Cancel) -> Answer:
        stage.agent.desk.clock.sleep(120, cancel)
        raise StreamCut("silent")

    stage = play(*([hangs] * 6))
    with pytest.raises(StreamCut):
        stage.turn()
    assert len(stage.llm.asked) == 4


def test_another_call_of_the_same_turn_passes_the_valves_too() -> None:
    dear = cut(input=1_000, output=500)
    stage = play(dear, answer("never"), window={"reserve": 500}, valves={"usd": 0.01})
    with pytest.raises(BudgetSpent):
        stage.turn()
    assert len(stage.llm.asked) == 1
    assert stage.archive.turns == {(1, 1): "lost"}


@pytest.mark.parametrize("trouble", [Rejected("401", status=401), BadRequest("400", status=400)])
def test_what_a_second_try_cannot_help_is_not_tried_twice(trouble: LlmTrouble) -> None:
    stage = play(trouble)
    with pytest.raises(type(trouble)):
        stage.turn()
    assert len(stage.llm.asked) == 1
    assert stage.archive.turns == {(1, 1): "lost"}


def test_a_stop_while_waiting_for_the_next_try_is_heard() -> None:
    def stop(request: Request, cancel: Cancel) -> Answer:
        cancel("stop_now")
        raise Overloaded("529", status=529)

    stage = play(stop, answer("never"))
    with pytest.raises(Cancelled):
        stage.turn()
    assert len(stage.llm.asked) == 1


def test_the_same_request_is_sent_at_every_try() -> None:
    stage = play(StreamCut("cut"), StreamCut("cut"), answer("Done."))
    stage.turn()
    assert len({request.sha256 for request in stage.llm.asked}) == 1


def test_a_request_called_too_long_is_made_shorter_and_sent_once_more() -> None:
    steps = [*busy(8), PromptTooLong(TOO_LONG), answer("A summary of what was done."), answer("Done.")]
    stage = play(*steps, tools=[Probe()])
    events = walked(stage, 8).turn()
    edits = of(WindowEdited, events)
    assert [edit.edit.kind for edit in edits] == ["compact"]
    assert len(stage.llm.asked[-1].body) < len(stage.llm.asked[-3].body)
    assert stage.archive.turns[9, 1] == "lost"
    assert stage.archive.turns[9, 2] == "closed"
    assert problems(stage.bodies()[-1]["messages"]) == []


def test_what_the_server_counted_is_what_the_gauge_says() -> None:
    stage = play(PromptTooLong(TOO_LONG))
    with pytest.raises(WindowFull):
        stage.turn()
    assert stage.agent.desk.read().tokens == 31_337
    assert not stage.agent.desk.read().estimated


def test_too_long_twice_is_the_persons_to_know_and_the_window_stays_valid() -> None:
    steps = [
        *busy(8),
        PromptTooLong(TOO_LONG),
        answer("A summary of what was done."),
        PromptTooLong(TOO_LONG),
    ]
    stage = walked(play(*steps, tools=[Probe()]), 8)
    with pytest.raises(WindowFull):
        stage.turn()
    assert problems(stage.window()) == []


def test_too_long_with_a_failing_summary_is_helped_by_code_alone() -> None:
    steps = [*busy(8), PromptTooLong(TOO_LONG), answer(" "), answer(" "), answer("Done.")]
    stage = walked(play(*steps, tools=[Probe()]), 8)
    stage.turn()
    assert stage.agent.finished
    assert "found by code" in str(stage.bodies()[-1]["messages"][0])


def test_too_long_right_after_a_compaction_does_not_compact_again() -> None:
    steps = [*busy(8), answer("A summary."), PromptTooLong("too long"), answer("never")]
    stage = walked(play(*steps, tools=[Probe()]), 8)
    stage.take(stage.agent.compact(Asked(keep=2)))
    version = stage.agent.desk.window.version.number
    with pytest.raises(WindowFull):
        stage.turn()
    assert stage.agent.desk.window.version.number == version
    assert len(stage.llm.asked) == 10


def test_where_only_a_person_may_compact_a_request_too_long_waits_for_one() -> None:
    stage = play(PromptTooLong(TOO_LONG), compact={"auto": "off"})
    with pytest.raises(WindowHeld):
        stage.turn()


def test_a_window_full_before_the_end_of_the_answer_is_made_room_in_and_paid_once() -> None:
    full = answer(
        "I was about to", stop="model_context_window_exceeded", usage=Usage(input=1000, output=1000)
    )
    stage = walked(play(*busy(8), full, answer("A summary."), answer("Done."), tools=[Probe()]), 8)
    spent = stage.agent.desk.spent.cost
    events = stage.turn()
    lost = of(TurnLost, events)[0]
    answered = of(TurnAnswered, events)[0]
    edit = of(WindowEdited, events)[0]
    assert lost.cost == stage.agent.desk.cost(full.usage)
    total = lost.cost + answered.cost + edit.edit.cost
    assert stage.agent.desk.spent.cost - spent == total


def cut(words: str = "I begin.", **usage: int) -> Answer:
    """Cut off in the middle of a call, which is left out."""
    half = answer(words, stop="max_tokens", usage=Usage(**usage) if usage else None)
    return replace(half, cut_call=True)


def test_an_answer_cut_off_in_a_call_is_asked_for_once_more_with_twice_the_tokens() -> None:
    probe = Probe()
    stage = play(
        cut(input=100, output=500), answer(use("p", "probe")), tools=[probe], window={"reserve": 500}
    )
    events = stage.turn()
    assert [body["max_tokens"] for body in stage.bodies()] == [500, 1000]
    assert len(probe.ran) == 1
    assert stage.archive.turns == {(1, 1): "lost", (1, 2): "closed"}
    opened = of(TurnOpened, events)
    assert [event.frame.params["request"]["max_tokens"] for event in opened] == [500, 1000]
    assert of(TurnLost, events)[0].cost == stage.agent.desk.cost(Usage(input=100, output=500))


def test_the_next_turn_has_the_usual_room_again() -> None:
    steps = [cut(), answer(use("p", "probe")), answer("Done.")]
    stage = play(*steps, tools=[Probe()], window={"reserve": 500})
    walked(stage, 2)
    assert [body["max_tokens"] for body in stage.bodies()] == [500, 1000, 500]


def test_a_whole_call_in_an_answer_that_was_cut_off_is_not_trusted_either() -> None:
    probe = Probe()
    whole = answer(use("p", "probe", what="half a path"), stop="max_tokens")
    stage = play(whole, answer(use("q", "probe")), tools=[probe], window={"reserve": 500})
    stage.turn()
    assert len(probe.ran) == len(stage.llm.asked) - 1 == 1


def test_cut_off_twice_the_agent_is_told_and_nothing_of_the_call_stands() -> None:
    probe = Probe()
    stage = play(cut(), cut("I begin again."), answer("Done."), tools=[probe], window={"reserve": 500})
    events = stage.turn()
    assert [event.message.content for event in of(TurnAnswered, events)] == [(text("I begin again."),)]
    assert "cut off" in str(of(NoticeGiven, events)[0].message.content)
    stage.turn()
    assert stage.agent.finished
    assert probe.ran == []


def test_where_the_llm_gives_no_more_tokens_it_is_told_at_once() -> None:
    stage = play(cut(), answer("Done."))
    events = stage.turn()
    assert len(stage.llm.asked) == 1
    assert of(NoticeGiven, events)


def test_nothing_is_kept_of_an_answer_that_is_far_too_long() -> None:
    stage = play(AnswerTooLong("5,000,000 bytes came"), answer("Done."))
    assert of(TurnLost, stage.turn())[0].partial == ""


def test_a_repair_is_told_once_and_made_every_time() -> None:
    stage = play(answer(use("a", "list_files", path=".")), answer(use("b", "list_files", path=".")))
    foreign = replace(
        stage.archive.history.messages[0], number=2, kind=Kind.RESULTS, content=(gave("ghost", "boo"),)
    )
    stage.archive.append(NoticeGiven(message=foreign))
    stage.agent.desk.window.append(foreign)
    stage.agent.desk.numbers.message = 3
    first, second = stage.turn(), stage.turn()
    assert len(of(Repaired, first)) == 1
    assert of(Repaired, second) == []
    assert "ghost" not in str(stage.bodies()[-1])


def test_why_the_cache_was_missed_is_said() -> None:
    big = {"input": 100, "output": 10}
    stage = play(
        answer(use("a", "list_files", path="."), usage=Usage(cache_write=5000, **big)),
        answer(use("b", "list_files", path="."), usage=Usage(cache_read=5000, **big)),
        answer("Done.", usage=Usage(cache_write=5200, **big)),
    )
    told = [of(TurnAnswered, stage.turn())[0].cache_miss for _ in range(3)]
    assert told[:2] == ["", ""]
    assert "no entry left" in told[2]
