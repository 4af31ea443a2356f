"""Orders meet the run at a boundary, and each gets one answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runs import control, runner
from runs.models import Edit, Event, Message, Order, Run
from runs.runner.slice import Slice
from runs.store.verify import verify
from tests.builders import a_person

from .conftest import Walk

Begin = Callable[..., Run]
pytestmark = pytest.mark.usefixtures("one_turn_a_slice")


def asked(run: Run, kind: str, **args: object) -> Order:
    return control.order(a_person(), run, kind, args)


def answered(order: Order) -> Order:
    order.refresh_from_db()
    return order


def test_pause_holds_the_run_and_resume_lets_it_go_on(begin: Begin, walk: Walk) -> None:
    run = begin()
    runner.advance(run.pk)
    pause = asked(run, "pause")
    assert walk(run).state == "paused"
    assert answered(pause).applied_seq
    assert run.turn_no == 1
    asked(run, "resume")
    assert walk(run).state == "done"


def test_step_takes_so_many_turns_and_pauses_again(begin: Begin, walk: Walk) -> None:
    run = begin()
    asked(run, "pause")
    walk(run)
    asked(run, "step", n=2)
    assert walk(run).state == "paused"
    assert run.turn_no == 2


def test_stop_ends_the_run_and_a_word_wakes_it(begin: Begin, walk: Walk) -> None:
    run = begin()
    runner.advance(run.pk)
    stop = asked(run, "stop")
    assert walk(run).state == "stopped"
    assert answered(stop).state == "applied"
    say = asked(run, "say", text="Go on after all.")
    assert walk(run).state == "done"
    assert answered(say).state == "applied"


def test_what_a_person_says_stands_in_the_next_request(begin: Begin, walk: Walk) -> None:
    run = begin()
    runner.advance(run.pk)
    asked(run, "say", text="Greet the moon, too.")
    walk(run)
    said = Message.objects.get(run=run, kind="say")
    assert said.number <= run.turns.get(number=2).upto


def test_a_queued_message_is_read_when_the_run_has_stopped_by_itself(begin: Begin, walk: Walk) -> None:
    run = begin()
    asked(run, "say", text="Then write a test.", how="queue")
    walk(run)
    said = Message.objects.get(run=run, kind="say")
    assert said.turn == 3
    assert run.state == "done"
    assert run.turn_no == 4


def test_clear_restarts_the_window_and_keeps_goal_and_words(begin: Begin, walk: Walk) -> None:
    run = begin()
    asked(run, "say", text="Mind the umlauts.")
    runner.advance(run.pk)
    clear = asked(run, "clear")
    walk(run)
    edit = Edit.objects.get(run=run, kind="clear")
    assert answered(clear).state == "applied"
    assert edit.tokens_after < edit.tokens_before
    kept = run.versions.get(number=edit.after).items
    kinds = [Message.objects.get(run=run, number=number).kind for number, _, _ in kept]
    assert kinds == ["goal", "say", "notice"]
    assert run.state == "done"
    assert verify(run).ok


def test_a_compaction_with_nothing_to_fold_is_refused_with_the_reason(begin: Begin, walk: Walk) -> None:
    run = begin()
    compact = asked(run, "compact", method="summary")
    walk(run)
    assert answered(compact).state == "rejected"
    assert "nothing to compact" in compact.reason
    assert Edit.objects.get(run=run).state == "failed"


def test_a_compaction_that_would_not_help_leaves_the_window_as_it_was(begin: Begin, walk: Walk) -> None:
    run = begin()
    for _ in range(2):
        runner.advance(run.pk)
    compact = asked(run, "compact", method="summary", keep=0)
    walk(run)
    order = answered(compact)
    assert order.state in ("applied", "rejected")
    assert order.state == "applied" or "window is unchanged" in order.reason
    assert verify(run).ok


def test_a_compaction_that_comes_about_while_one_is_asked_for_is_enough_for_both(
    begin: Begin, walk: Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody presses Compact while the mark's own summary is being written."""
    run, real, pressed = begin("rehearsal/job-12", limit=24_000), Slice.store, list[Order]()

    def store(self: Slice, *events: Any, **rest: Any) -> None:
        real(self, *events, **rest)
        if not pressed and any(event.kind == "compaction.started" for event in events):
            pressed.append(asked(run, "compact"))

    monkeypatch.setattr(Slice, "store", store)
    walk(run, 30)
    (order,) = map(answered, pressed)
    assert (order.state, "the window was compacted at event" in order.reason) == ("merged", True)
    assert all(edit.by == "" for edit in Edit.objects.filter(run=run))


def test_orders_of_an_idle_run_are_answered_without_waking_it(begin: Begin, walk: Walk) -> None:
    run = begin()
    asked(run, "stop")
    walk(run)
    before = run.turn_no
    order = asked(run, "pause")
    walk(run)
    assert answered(order).state == "rejected"
    assert run.turn_no == before


def test_each_order_has_one_answer_among_the_events(begin: Begin, walk: Walk) -> None:
    run = begin()
    orders = [asked(run, "say", text=word) for word in ("one", "two", "three")]
    walk(run)
    answers = Event.objects.filter(run=run, kind="order.answered")
    assert sorted(event.data["order"] for event in answers) == [order.pk for order in orders]


def test_an_order_is_answered_beside_the_slices_without_a_turn(begin: Begin, walk: Walk) -> None:
    """A thread that only answers has no time to walk the run: that is left to whoever comes next."""
    run = begin()
    runner.advance(run.pk)
    asked(run, "pause")
    walk(run)
    resume = asked(run, "resume")
    assert runner.answer(run.pk), "there is more to do"
    run.refresh_from_db()
    assert (answered(resume).state, run.state, run.turn_no, run.lease_owner) == ("applied", "running", 1, "")
    assert walk(run).state == "done"


def test_a_run_without_orders_is_let_go_of_as_it_was(begin: Begin) -> None:
    run = begin()
    runner.advance(run.pk)
    assert runner.answer(run.pk)
    run.refresh_from_db()
    assert (run.state, run.turn_no, run.lease_owner) == ("running", 1, "")
