"""A worker that takes up a run finds it as the last one left it."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.engine import events as ev
from runs.engine.messages import Author, Counted, Kind, Role
from runs.models import Message, Run, Turn
from runs.store import archive, resume, windows
from tests.builders import Building, a_person, a_run, an_order
from tests.story import Call

pytestmark = pytest.mark.django_db

READ = Call(name="read_file", input={"path": "a.py"}, result="text\n" * 99)
SHELL = Call(name="run_command", input={"command": "make"}, result="ok")


def building() -> Building:
    return Building.start(a_person(), limit=24_000, goal="Find it.", title="Find it", llm="rehearsal")


def test_a_fresh_run_stands_at_its_goal() -> None:
    stand = resume.standing(building().run.pk)
    assert [message.content[0]["text"] for message in stand.messages] == ["Find it."]
    assert (stand.open, stand.measured, stand.episode, stand.notes, stand.orders) == (
        None,
        None,
        None,
        (),
        (),
    )
    assert stand.next == resume.Numbers(message=2, edit=1, version=2, episode=1, note=1, turn=1, attempts=0)


def test_the_window_is_the_one_the_last_edit_left_and_what_came_after() -> None:
    run = a_run(turns=24, order="")
    stand = resume.standing(run.pk)
    shown = {item.message for item in stand.version.items}
    later = set(range(stand.version.base + 1, Message.objects.filter(run=run).count() + 1))
    assert {message.number for message in stand.messages} == shown | later
    assert stand.version.number == run.version
    assert stand.messages[0].kind is Kind.GOAL
    assert any(message.counted is Counted.USAGE for message in stand.messages)


def test_a_past_window_is_the_one_of_that_turn() -> None:
    run = a_run(turns=24, order="")
    turn = Turn.objects.get(run=run, number=9, status="closed")
    version, messages = windows.load(run, turn.version, turn.upto)
    assert version.number == turn.version == 1
    assert [message.number for message in messages] == list(range(1, turn.upto + 1))


def test_numbers_go_on_where_they_ended() -> None:
    run = a_run(turns=24, order="")
    after = resume.standing(run.pk).next
    assert after.message == Message.objects.filter(run=run).count() + 1
    assert (after.edit, after.version, after.episode) == (4, 5, 2)
    assert (after.turn, after.attempts) == (25, 0)


def test_notes_are_their_newest_revisions() -> None:
    made = building()
    for revision, words in ((1, "old"), (2, "new")):
        note = ev.Note(
            number=1,
            revision=revision,
            section="facts",
            text=words,
            state="open",
            author="llm",
            by="",
            turn=1,
        )
        archive.append(made.claim, ev.NoteChanged(turn=1, note=note))
    assert [(note.number, note.text) for note in resume.notes(made.run.pk)] == [(1, "new")]


def test_what_usage_last_told_is_known() -> None:
    run = a_run(turns=5, order="")
    measured = resume.standing(run.pk).measured
    last = Turn.objects.get(run=run, number=5)
    assert measured is not None
    assert (measured.turn, measured.version, measured.upto) == (5, last.version, last.upto)
    usage = last.usage
    assert measured.prompt == usage["input"] + usage["cache_read"] + usage["cache_write"]


def test_an_unanswered_turn_is_asked_again_as_the_next_attempt() -> None:
    made = building()
    made.turn = 1
    made.open()
    stand = resume.standing(made.run.pk)
    assert stand.open is not None
    assert (stand.open.number, stand.open.attempt, stand.open.answer, stand.open.calls) == (1, 1, None, ())
    assert stand.next.attempts == 1


def test_an_answered_turn_goes_on_with_its_calls_in_order() -> None:
    made = building()
    made.turn = 1
    made.open()
    calls = tuple(made._planned(call, at) for at, call in enumerate((READ, SHELL, SHELL)))
    blocks = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.input)} for call in calls
    ]
    answered = ev.TurnAnswered(
        turn=1,
        attempt=1,
        stop_reason="tool_use",
        usage=ev.Usage(input=10, output=5),
        message=made._message(Role.ASSISTANT, Author.LLM, Kind.ANSWER, blocks),
        calls=calls,
        cost=11,
    )
    archive.append(made.claim, answered)
    archive.append(made.claim, ev.CallStarted(turn=1, call=calls[1]))
    archive.append(made.claim, made._ended(calls[1], SHELL))
    archive.append(made.claim, ev.CallStarted(turn=1, call=calls[2]))
    stand = resume.standing(made.run.pk)
    found = stand.open
    assert found is not None
    assert (found.stop_reason, found.cost, found.usage.output) == ("tool_use", 11, 5)
    assert [call.call for call in found.calls] == list(calls)
    assert [call.status.value for call in found.calls] == ["planned", "done", "started"]
    assert found.calls[1].result == {"type": "tool_result", "tool_use_id": calls[1].id, "content": "ok"}
    assert found.calls[2].started_at is not None


def test_compactions_and_their_failures_are_remembered() -> None:
    run = a_run(turns=24, order="")
    stand = resume.standing(run.pk)
    assert stand.compacted == 16
    assert stand.failures == ()
    assert stand.episode is not None
    assert stand.episode.number == 1


def test_waiting_orders_come_along() -> None:
    run = a_run(turns=2, order="")
    an_order(run, "compact")
    an_order(run, "say", args={"text": "Hm.", "how": "steer"})
    assert [asked.kind for asked in resume.standing(run.pk).orders] == ["say", "compact"]


def test_taking_up_a_long_run_takes_no_more_queries_than_a_short_one() -> None:
    short, long = a_run(turns=3, order=""), a_run(turns=60, order="")
    counts = []
    for run in (short, long):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            resume.standing(run.pk)
        counts.append(len(queries))
    assert counts[1] <= counts[0] + 2
    assert counts[1] <= 20
    assert Run.objects.count() == 2
