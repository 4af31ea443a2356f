"""Compact: one path for the mark and for the button; what it decides, what it keeps, what it never does."""

from __future__ import annotations

from typing import Any

import pytest

from runs.engine.errors import WindowHeld
from runs.engine.events import (
    Checked,
    CompactionFailed,
    CompactionStarted,
    Event,
    Trigger,
    WindowEdited,
)
from runs.engine.messages import Author, Kind, Role, text
from runs.engine.middleware.base import Asked
from tests.cases.ground import Ground

from ..stage import GOAL, add, bot, gave, laid, lines, of, said, talk, use, user

BY_ADA = Asked(trigger=Trigger.PERSON, order=7, by="Ada", instructions="keep the shelf", reason="by order")


def before_call(ground: Ground) -> list[Event]:
    """The next turn is about to be asked."""
    seen = len(ground.events)
    ground.desk.turn += 1
    ground.take(ground.technique("compact").before_call(ground.desk.window))
    ground.desk.turn -= 1
    return ground.events[seen:]


def walk(ground: Ground, size: int = 60, count: int = 1) -> None:
    """A turn that is answered, and its results."""
    for _ in range(count):
        ground.desk.turn += 1
        number = ground.desk.numbers.message
        add(ground, Role.ASSISTANT, Author.LLM, Kind.ANSWER, [text(f"I look at {number}"), use(f"w{number}")])
        add(ground, Role.USER, Author.TOOL, Kind.RESULTS, [gave(f"w{number}", lines(str(number), size))])


def compact(ground: Ground, asked: Asked = BY_ADA) -> list[Event]:
    seen = len(ground.events)
    ground.take(ground.technique("compact").compact(asked))
    return ground.events[seen:]


def full(turns: int = 16, size: int = 68, **more: Any) -> Ground:
    """A window over its mark: about 12,000 of 20,000 tokens."""
    return laid(talk(turns, size=size), **{"replies": ["The lamp was sought; next: shelf four."], **more})


def why(events: list[Event]) -> str:
    return of(Checked, events)[0].why


def test_below_the_mark_it_says_so_and_does_nothing() -> None:
    (checked,) = before_call(full(turns=4))
    assert isinstance(checked, Checked)
    assert checked.verdict == "not fired"
    assert checked.why.endswith("< 60 %")


def test_at_the_mark_everything_but_the_tail_becomes_an_episode() -> None:
    ground = full()
    checked, started, edited = before_call(ground)
    assert isinstance(checked, Checked)
    assert isinstance(started, CompactionStarted)
    assert isinstance(edited, WindowEdited)
    assert checked.verdict == "fired"
    assert started.data() == {"edit": 1, "why": checked.why}
    kinds = [entry.message.kind for entry in ground.desk.window]
    assert kinds[:4] == [Kind.GOAL, Kind.EPISODE, Kind.NOTICE, Kind.ANSWER]
    assert edited.edit.tokens_after <= ground.desk.mark // 2, "W9"
    assert edited.edit.episode is not None
    assert (edited.edit.episode.first_turn, edited.edit.trigger) == (1, Trigger.AUTO)


def test_the_button_takes_the_same_path_with_its_gate_skipped() -> None:
    ground = full(turns=6)
    edit = of(WindowEdited, compact(ground))[0].edit
    assert (edit.trigger, edit.order, edit.by, edit.instructions) == (
        Trigger.PERSON,
        7,
        "Ada",
        "keep the shelf",
    )
    assert "The person asks for this summary: keep the shelf" in ground.llm.asked[0].body.decode()


def test_by_the_number_of_turns_below_the_mark() -> None:
    ground = full(turns=6, compact={"every_turns": 5, "min_new_turns": 1})
    assert of(WindowEdited, before_call(ground))
    walk(ground, count=3)
    assert "<" in why(before_call(ground))


def test_off_waits_for_a_person_and_holds_the_run_at_the_hard_mark() -> None:
    ground = full(compact={"auto": "off"})
    assert "only by order" in why(before_call(ground))
    walk(ground, count=8)
    with pytest.raises(WindowHeld):
        before_call(ground)
    assert ground.llm.asked == []
    assert of(WindowEdited, compact(ground))


def test_a_compaction_is_followed_by_none_without_new_turns_in_between() -> None:
    ground = full(compact={"min_new_turns": 3})
    before_call(ground)
    said(ground, lines("please", 1_500))
    assert ground.desk.share() > 0.85
    assert "no new turn" in why(before_call(ground)), "not even at the hard mark"


def test_after_a_manual_one_as_well() -> None:
    ground = full(compact={"min_new_turns": 3})
    compact(ground)
    said(ground, lines("please", 1_500))
    assert "no new turn" in why(before_call(ground))


def test_hysteresis_some_new_turns_must_have_come() -> None:
    ground = full(compact={"min_new_turns": 3})
    before_call(ground)
    walk(ground, size=400, count=2)
    assert 0.6 < ground.desk.share() < 0.85
    assert "only 2 new turns" in why(before_call(ground))
    walk(ground, size=1)
    assert of(WindowEdited, before_call(ground))


def test_nothing_to_compact_is_a_decision_and_no_failed_edit_every_turn() -> None:
    ground = laid([user(GOAL), bot("I look", use("a")), user(gave("a", lines("a", 1_300)))])
    assert ground.desk.share() > 0.6
    for _ in range(3):
        (checked,) = before_call(ground)
        assert isinstance(checked, Checked)
        assert checked.why == "nothing to compact"
    assert ground.desk.numbers.edit == 1


def test_asked_by_a_person_it_is_answered() -> None:
    (failed,) = compact(laid(talk(0)))
    assert isinstance(failed, CompactionFailed)
    assert (failed.why, failed.order) == ("nothing to compact", 7)
