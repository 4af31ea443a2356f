"""The steering bar: which orders there are now, what waits, and how an answer reads."""

from __future__ import annotations

import pytest

from runs.models import Order, Run
from runs.present import steering
from runs.store import archive, sql
from tests.present.conftest import READ, Scene


def _order(scene: Scene, kind: str, **args: object) -> Order:
    key = f"k{Order.objects.count()}"
    return Order.objects.create(run=scene.run, kind=kind, args=args, by="ada", at=sql.now(), client_key=key)


@pytest.mark.parametrize(
    ("state", "reason", "resume"),
    [
        ("running", "", ""),
        ("ready", "", ""),
        ("paused", "person", "Resume"),
        ("waiting", "llm: 401", "Retry"),
        ("waiting", "person: Say something.", "Resume"),
        ("waiting", "approval: run_command asks first.", ""),
        ("waiting", "unknown_outcome: Nobody knows.", ""),
        ("failed", "It broke.", "Retry"),
        ("done", "", ""),
    ],
)
def test_pause_turns_into_what_makes_the_run_go_on(state: str, reason: str, resume: str) -> None:
    assert steering.controls(Run(state=state, reason=reason)).resume == resume


def test_a_button_that_is_off_says_why() -> None:
    assert steering.controls(Run(state="running")).step_off == "Works while the run is paused."
    assert steering.controls(Run(state="paused")).step_off == ""
    assert steering.controls(Run(state="done")).window_off == "The run is done."
    assert steering.controls(Run(state="running")).window_off == ""


def test_the_window_can_be_worked_on_while_a_call_waits_for_a_word() -> None:
    held = Run(state="waiting", reason="approval: run_command asks first.")
    assert steering.controls(held).window_off == ""


def test_an_order_that_waits_for_a_call_says_so(scene: Scene) -> None:
    _order(scene, "compact")
    _order(scene, "stop")
    Run.objects.filter(pk=scene.run.pk).update(state="waiting", reason="approval: x asks first.")
    assert [chip.rule for chip in steering.chips(scene.fresh)] == ["when the open turn closes", "at once"]
    assert steering.applied_when(scene.fresh, "clear").startswith("A call of this turn waits for your word.")


def test_chips_say_when_an_order_is_applied(scene: Scene) -> None:
    _order(scene, "say", text="Keep the format.", how="steer")
    _order(scene, "say", text="Then stop.", how="queue")
    _order(scene, "compact")
    rules = [(chip.word, chip.rule) for chip in steering.chips(scene.fresh)]
    assert rules == [
        ("Steer", "at the next safe point, after this reply"),
        ("Queued", "when the run stops"),
        ("Compact", "after this turn"),
    ]


def test_without_a_worker_an_order_waits_for_one(scene: Scene) -> None:
    _order(scene, "pause")
    Run.objects.filter(pk=scene.run.pk).update(lease_owner="")
    assert steering.chips(scene.fresh)[0].rule == "waits for a worker"


def test_an_applied_compaction_says_what_it_did_and_where_to_look(scene: Scene) -> None:
    scene.turns(9, READ)
    order = _order(scene, "compact")
    scene.compact(by="ada")
    scene.run.edits.update(order=order)
    told = steering.answer(scene.fresh, order.pk, {"state": "applied"})
    assert told is not None
    assert told.title == "Compacted"
    assert "→" in told.detail
    assert told.edit == 1


def test_a_refused_order_says_why(scene: Scene) -> None:
    order = _order(scene, "step")
    told = steering.answer(scene.fresh, order.pk, {"state": "rejected", "reason": "The run is running."})
    assert told is not None
    assert (told.title, told.detail) == ("Step: not done.", "The run is running.")


def test_no_order_no_answer(scene: Scene) -> None:
    assert steering.answer(scene.fresh, 4711, {}) is None


def test_a_delivered_message_is_quoted(scene: Scene) -> None:
    order = _order(scene, "say", text="Keep the format.")
    archive.append(scene.claim, answers=[archive.OrderAnswer(order_id=order.pk, state="applied")])
    told = steering.answer(scene.fresh, order.pk, {"state": "applied"})
    assert told is not None
    assert told.detail == "“Keep the format.”"
