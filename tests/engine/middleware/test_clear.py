"""Clear: the window restarts, and what a person wrote stays."""

from __future__ import annotations

import json

from runs.engine.events import Note, Trigger, WindowEdited
from runs.engine.messages import Kind
from runs.engine.middleware.base import Asked
from runs.engine.middleware.clear import clear
from tests.cases.ground import Ground
from tests.cases.structure import problems

from ..stage import GOAL, bot, laid, of, said, talk, thought, use


def cleared(ground: Ground) -> list[WindowEdited]:
    seen = len(ground.events)
    ground.take(clear(ground.desk, Asked(order=5, by="Ada")))
    return of(WindowEdited, ground.events[seen:])


def test_goal_words_and_notes_stand_and_nothing_else() -> None:
    ground = laid(talk(6, size=60))
    said(ground, "JSON only")
    given = {"section": "facts", "state": "open", "author": "llm", "by": "", "turn": 1}
    ground.desk.notes = {1: Note(number=1, revision=1, text="brass", **given)}  # type: ignore[arg-type]
    (event,) = cleared(ground)
    kinds = [entry.message.kind for entry in ground.desk.window]
    assert kinds == [Kind.GOAL, Kind.SAY, Kind.NOTES, Kind.NOTICE]
    (message,) = ground.request()["messages"]
    assert [block["text"] for block in message["content"]][:2] == [GOAL, "JSON only"]
    assert (event.edit.kind, event.edit.trigger, event.edit.order) == ("clear", Trigger.PERSON, 5)


def test_no_llm_is_asked() -> None:
    ground = laid(talk(6))
    cleared(ground)
    assert ground.llm.asked == []


def test_an_episode_is_dropped_as_well() -> None:
    ground = laid(talk(6, size=60), replies=["A tale of lamps."])
    ground.take(ground.technique("compact").compact(Asked(keep=2)))
    cleared(ground)
    assert "tale of lamps" not in json.dumps(ground.request())


def test_a_window_that_would_not_get_smaller_is_left_alone() -> None:
    ground = laid(talk(0))
    assert cleared(ground) == []
    assert ground.desk.window.version.number == 1


def test_twice_in_a_row_does_nothing_the_second_time() -> None:
    ground = laid(talk(4))
    assert len(cleared(ground)) == 1
    assert cleared(ground) == []


def test_a_turn_whose_results_are_to_come_keeps_its_answer() -> None:
    ground = laid([*talk(4), bot(thought(), "I look", use("open"))], thinking="bound")
    cleared(ground)
    sent = ground.request()["messages"]
    assert [block["type"] for block in sent[1]["content"]] == ["text", "tool_use"]
    assert sent[2]["content"][0]["tool_use_id"] == "open"
    assert problems(sent) == []
