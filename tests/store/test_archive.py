"""What an append leaves behind: rows, events and sums, all in one transaction or none of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError

from runs.engine import events as ev
from runs.engine.messages import Author, Kind, Role, canonical, sha256
from runs.models import Blob, Call, Edit, Episode, Event, Frame, Message, Note, Run, Spend, Turn, Version
from runs.store import archive, blobs
from runs.store.batch import OutOfStep
from tests.builders import Building, a_person, a_run
from tests.story import Call as Asked
from tests.story import Step

pytestmark = pytest.mark.django_db


def building() -> Building:
    return Building.start(a_person(), limit=24_000, goal="Find it.", title="Find it", llm="rehearsal")


READ = Asked(name="read_file", input={"path": "a.py"}, result="line\n" * 200)
SHELL = Asked(name="run_command", input={"command": "false"}, result="exit code 1\n" + "x" * 300, error=True)


def test_a_turn_leaves_its_events_in_order() -> None:
    made = building()
    made.take(Step(words="I look.", calls=(READ, SHELL)))
    kinds = list(Event.objects.filter(run=made.run, turn=1).order_by("seq").values_list("kind", flat=True))
    assert kinds == [
        "turn.opened",
        "turn.answered",
        "call.planned",
        "call.planned",
        "call.started",
        "call.ended",
        "call.ended",
        "turn.closed",
    ]


def test_a_turn_leaves_its_rows() -> None:
    made = building()
    made.take(Step(words="I look.", calls=(READ, SHELL)))
    turn = Turn.objects.get(run=made.run)
    assert (turn.status, turn.stop_reason, turn.version, turn.upto, turn.attempt) == (
        "closed",
        "tool_use",
        1,
        1,
        1,
    )
    assert sum(turn.parts.values()) == turn.window
    assert turn.closed_at is not None
    calls = {call.name: call for call in Call.objects.filter(run=made.run)}
    assert (calls["read_file"].status, calls["read_file"].started_at) == ("done", None)
    assert (calls["run_command"].status, calls["run_command"].worker) == ("error", "worker-1")
    assert calls["run_command"].started_at is not None
    numbers = Message.objects.filter(run=made.run).order_by("number").values_list("number", "kind", "turn")
    assert list(numbers) == [(1, "goal", 0), (2, "answer", 1), (3, "results", 1)]
    assert Frame.objects.count() == 1
    assert Run.objects.get(pk=made.run.pk).turn_no == 1


def test_a_result_is_stored_once_though_its_call_and_its_message_both_have_it() -> None:
    """Trap 8: once as a blob and again in its message doubled the bytes."""
    made = building()
    made.take(Step(words="I look.", calls=(READ, SHELL)))
    message = Message.objects.get(run=made.run, kind="results")
    blob = Blob.objects.get(pk=message.blob_id)
    assert blob.codec == "joined"
    assert len(blob.body) < 300
    content = blobs.read([blob.sha256])[blob.sha256]
    assert sha256(canonical(content)) == blob.sha256
    results = [blobs.read([call.result_id or ""])[call.result_id] for call in Call.objects.order_by("id")]
    assert results == content


def test_events_carry_references_and_never_bodies() -> None:
    run = a_run(turns=20, order="")
    for data in Event.objects.filter(run=run).values_list("data", flat=True):
        assert len(canonical(data)) < 500


def test_sums_are_those_of_the_rows() -> None:
    run = a_run(turns=30)
    sums = run.sums
    turns = Turn.objects.filter(run=run, status="closed")
    spends = Spend.objects.filter(run=run)
    assert sums["turns"] == turns.count() == 30
    assert sums["cost"] == sum(spends.values_list("cost", flat=True))
    assert sums["lost"] == sum(spends.filter(kind="lost").values_list("cost", flat=True)) == 900
    for kind, name in (("compact", "compactions"), ("clear_results", "clearings"), ("offload", "offloads")):
        assert sums[name] == Edit.objects.filter(run=run, kind=kind).count()
    usages = list(spends.values_list("usage", flat=True))
    for name in ("input", "output", "cache_read", "cache_write"):
        assert sums["tokens"][name] == sum(usage[name] for usage in usages)
    assert sums["window"]["final"] == turns.order_by("-number")[0].window
    assert sums["window"]["max"] >= max(turns.values_list("window", flat=True))
    assert sums["window"]["limit"] == 24_000


def test_an_edit_leaves_its_version_its_episode_and_its_messages() -> None:
    run = a_run(turns=20, order="")
    edit = Edit.objects.get(run=run, kind="compact")
    before, after = (Version.objects.get(run=run, number=number) for number in (edit.before, edit.after))
    episode = Episode.objects.get(run=run, number=edit.episode)
    assert (after.parent, after.edit) == (before.number, edit.number)
    assert (episode.first_turn, episode.folds) == (1, 0)
    assert after.items[0] == [1, "full", False]
    added = {item[0] for item in after.items} - {item[0] for item in before.items if item[0] <= before.base}
    kinds = set(
        Message.objects.filter(run=run, number__in=added, author="product").values_list("kind", flat=True)
    )
    assert kinds == {"notes", "episode", "notice"}
    assert (edit.tokens_after or 0) < edit.tokens_before
    assert run.version == Version.objects.filter(run=run).count()


def test_notes_keep_their_revisions() -> None:
    made = building()
    first = ev.Note(
        number=1, revision=1, section="facts", text="a\x00b", state="open", author="llm", by="", turn=1
    )
    second = ev.Note(
        number=1, revision=2, section="facts", text="c", state="done", author="person", by="ada", turn=1
    )
    archive.append(made.claim, ev.NoteChanged(turn=1, note=first), ev.NoteChanged(turn=1, note=second))
    assert list(Note.objects.values_list("revision", "text", "state")) == [
        (1, "a␀b", "open"),
        (2, "c", "done"),
    ]


def test_a_failed_compaction_is_an_edit_that_changed_nothing() -> None:
    made = building()
    failed = ev.CompactionFailed(
        turn=1,
        edit=1,
        method="summary",
        trigger=ev.Trigger.PERSON,
        why="empty",
        usage=ev.Usage(output=9),
        cost=7,
    )
    archive.append(made.claim, failed)
    edit = Edit.objects.get(run=made.run)
    assert (edit.state, edit.before, edit.after, edit.reason) == ("failed", 1, None, "empty")
    run = Run.objects.get(pk=made.run.pk)
    assert (run.version, run.sums["compactions"], run.sums["cost"]) == (1, 0, 7)
    assert Spend.objects.get(run=run).kind == "compaction"


def test_a_lost_attempt_keeps_what_was_seen_of_it() -> None:
    made = building()
    made.take(Step(words="Again.", trouble="the stream was cut"))
    lost, closed = Turn.objects.filter(run=made.run).order_by("attempt")
    assert (lost.status, lost.partial, lost.cost) == ("lost", "The writer looks", 900)
    assert (closed.status, closed.attempt) == ("closed", 2)
    assert Event.objects.get(run=made.run, kind="turn.lost").data == {"reason": "the stream was cut"}


def test_what_a_tool_reports_is_written_with_its_end_and_before_it() -> None:
    made = building()
    made.turn = 1
    made.open()
    call = made._planned(READ, 0)
    answer = ev.TurnAnswered(
        turn=1,
        attempt=1,
        stop_reason="tool_use",
        usage=ev.Usage(input=1),
        message=made._message(*_answer()),
        calls=(call,),
    )
    archive.append(made.claim, answer)
    recalled = ev.Recalled(turn=1, query="x", hits=0)
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "x"}
    archive.append(
        made.claim,
        ev.CallEnded(turn=1, call=call, status=ev.CallStatus.DONE, result=result, also=(recalled,)),
    )
    kinds = list(Event.objects.filter(run=made.run).order_by("-seq").values_list("kind", flat=True)[:2])
    assert kinds == ["call.ended", "recall.asked"]


def _answer() -> tuple[Any, ...]:
    return (Role.ASSISTANT, Author.LLM, Kind.ANSWER, [{"type": "text", "text": "ok"}])


def test_a_write_that_does_not_fit_leaves_nothing() -> None:
    made = building()
    before = Run.objects.get(pk=made.run.pk)
    checked = ev.Checked(
        technique="compact", value=0.1, threshold=0.6, verdict="not fired", why="10 % < 60 %"
    )
    lost = ev.TurnLost(turn=9, attempt=1, reason="there is no such turn")
    with pytest.raises(OutOfStep, match="Turn 9"):
        archive.append(made.claim, checked, lost)
    after = Run.objects.get(pk=made.run.pk)
    assert (after.next_seq, after.head_hash) == (before.next_seq, before.head_hash)
    assert not Event.objects.filter(run=made.run, kind="window.checked").exists()


def test_typing_is_never_stored() -> None:
    with pytest.raises(TypeError, match="never stored"):
        archive.append(building().claim, ev.Delta(turn=1, text="hel"))


def test_nothing_is_written_twice() -> None:
    made = building()
    made.take(Step(words="I look.", calls=(SHELL,)))
    before = Run.objects.get(pk=made.run.pk)
    call = made._planned(SHELL, 0)
    twice: list[ev.Event] = [
        ev.CallStarted(turn=1, call=call),
        made._ended(call, SHELL),
        ev.TurnLost(turn=1, attempt=1, reason="too late"),
        ev.TurnClosed(turn=1, message=None, window=1, limit=1, parts={}, cost=0, estimated=False),
    ]
    for event in twice:
        with pytest.raises(OutOfStep):
            archive.append(made.claim, event)
    after = Run.objects.get(pk=made.run.pk)
    assert (after.next_seq, after.sums, after.head_hash) == (before.next_seq, before.sums, before.head_hash)


def test_a_message_number_that_is_taken_is_refused_with_all_that_came_with_it() -> None:
    made = building()
    made.say("One.")
    before = Event.objects.count()
    made.message -= 1
    with pytest.raises(IntegrityError):
        made.say("Two.")
    assert Event.objects.count() == before
    assert Message.objects.filter(run=made.run).count() == 2
