"""The feed: events become rows, the same for a page that opens and a page that watches."""

from __future__ import annotations

import pytest

from runs.engine import events as ev
from runs.present import feed
from runs.present.standing import Standing
from tests import story
from tests.present.conftest import READ, RED, Scene


def test_a_turn_is_a_row_a_block_and_says_its_number_once(scene: Scene) -> None:
    scene.turns(1, READ, words="I look.", thinking="What is there?")
    rows = feed.newest(scene.fresh).rows
    assert [row.kind for row in rows] == ["person", "thought", "text", "call"]
    assert [row.first for row in rows[1:]] == [True, False, False]
    assert rows[0].title == "Goal"
    assert rows[3].title == "read_file"
    assert rows[3].detail == "a.py"


def test_a_command_that_fails_says_its_error_aloud(scene: Scene) -> None:
    scene.turns(1, RED)
    row = feed.newest(scene.fresh).rows[-1]
    assert row.css == "err"
    assert row.note == "exit 1"
    assert row.loud[0] == "AssertionError: 41 != 40"


def test_a_call_that_runs_says_so_until_it_has_ended(scene: Scene) -> None:
    scene.turns(1)
    scene.turn += 1
    scene.open()
    call = scene._planned(RED, 0)
    scene.tell(*_answered(scene, call))
    assert feed.newest(scene.fresh).rows[-1].note == "waits"
    scene.tell(ev.CallStarted(turn=scene.turn, call=call))
    assert feed.newest(scene.fresh).rows[-1].note == "running"
    scene.tell(scene._ended(call, RED))
    assert feed.newest(scene.fresh).rows[-1].loud[0].startswith("AssertionError")


def test_what_a_compaction_folded_is_tagged_with_its_number(scene: Scene) -> None:
    scene.turns(10, READ)
    scene.compact()
    rows = feed.newest(scene.fresh).rows
    tags = [row.tag.text if row.tag else "" for row in rows if row.kind == "call"]
    assert tags[0] == "summarised in #1"
    assert tags[-1] == ""
    cut = next(row for row in rows if row.kind == "compaction")
    assert cut.title == "Compaction 1"
    assert cut.before is not None
    assert cut.after is not None
    assert cut.freed == cut.before - cut.after


def test_cleared_results_are_tagged_and_small_ones_are_not(scene: Scene) -> None:
    small = story.Call(name="list_files", input={"path": "."}, result="a.py")
    scene.turns(6, READ, small)
    scene.clear_results()
    tags = [
        (row.title, row.tag.text if row.tag else "")
        for row in feed.newest(scene.fresh).rows
        if row.kind == "call"
    ]
    assert tags[0] == ("read_file", "cleared")
    assert tags[1] == ("list_files", "")
    assert tags[-2] == ("read_file", "")


def test_the_feed_brings_the_newest_turns_and_older_ones_on_demand(scene: Scene) -> None:
    scene.turns(70)
    page = feed.newest(scene.fresh)
    assert {row.turn for row in page.rows} == set(range(21, 71))
    assert page.before is not None
    older = feed.newest(scene.fresh, before=page.before)
    assert {row.turn for row in older.rows if row.turn} == set(range(1, 21))
    assert older.before is None


def test_the_past_shows_its_own_window_and_what_came_later_as_later(scene: Scene) -> None:
    scene.turns(8, READ)
    scene.compact()
    scene.turns(3, READ)
    rows = feed.around(scene.fresh, 5).rows
    words = {row.turn: row.tag.text for row in rows if row.kind == "call" and row.tag}
    assert words[1] == "in window"
    assert words[7] == "later"
    assert all("sel" in row.css for row in rows if row.turn == 5)
    newer = next(row for row in rows if row.kind == "newer")
    assert newer.title == "6 newer turns below, not in this window"


@pytest.mark.parametrize(
    ("event", "title"),
    [
        (ev.LlmRetry(turn=1, status=529, wait_ms=4000, tries=2), "The llm answered 529"),
        (ev.Repaired(turn=1, what="a call without a result was answered"), "Repaired before sending"),
        (ev.SpinSeen(turn=1, name="read_file", times=3), "The same call again"),
        (ev.ValveReached(turn=1, which="usd"), "Valve reached"),
        (ev.CompactionStarted(turn=1, edit=1, why="61 % ≥ 60 %"), "Writing the summary"),
    ],
)
def test_what_else_happens_is_a_row_in_words(scene: Scene, event: ev.Event, title: str) -> None:
    scene.turns(1)
    scene.tell(event)
    assert feed.newest(scene.fresh).rows[-1].title == title


def test_a_compaction_under_way_is_shown_until_it_has_ended(scene: Scene) -> None:
    scene.turns(8, READ)
    scene.compact()
    assert "writing" not in [row.kind for row in feed.newest(scene.fresh).rows]


def test_a_failed_compaction_says_that_the_window_is_unchanged(scene: Scene) -> None:
    scene.turns(2)
    scene.tell(
        ev.CompactionFailed(turn=2, edit=1, method="summary", trigger=ev.Trigger.AUTO, why="it was empty")
    )
    row = feed.newest(scene.fresh).rows[-1]
    assert row.title == "Compaction failed, window unchanged"
    assert row.detail == "it was empty"


def test_rows_of_the_socket_are_the_rows_of_the_page(scene: Scene) -> None:
    scene.turns(4, READ, thinking="Hm.")
    scene.say("Keep the format.")
    run = scene.fresh
    streamed = [
        row
        for event in scene.events()
        if event.kind in feed.KINDS
        for row in feed.rows_of(run, [event], Standing.now(run))
    ]
    assert [row.id for row in streamed] == [row.id for row in feed.newest(run).rows]
    assert len({row.id for row in streamed}) == len(streamed)


def _answered(scene: Scene, call: ev.PlannedCall) -> list[ev.Event]:
    from runs.engine.messages import Author, Kind, Role

    block = {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.input)}
    message = scene._message(Role.ASSISTANT, Author.LLM, Kind.ANSWER, [block])
    return [
        ev.TurnAnswered(
            turn=scene.turn,
            attempt=1,
            stop_reason="tool_use",
            usage=ev.Usage(input=9, output=9),
            message=message,
            calls=(call,),
        )
    ]
