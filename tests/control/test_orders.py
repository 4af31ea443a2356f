"""Orders: which state takes which, one answer each, and two people who press the same button."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection

from runs import control, tasks
from runs.models import Event, Order, Run, State
from runs.store import archive, lease, orders
from runs.store.archive import OrderAnswer, StateChange
from runs.store.transitions import Where
from tests.builders import a_person, a_run, an_order

pytestmark = pytest.mark.django_db

TAKES = {
    "ready": "pause stop stop_now say compact clear",
    "running": "pause stop stop_now say compact clear",
    "waiting": "pause resume stop stop_now say compact clear",
    "paused": "pause resume step stop stop_now say compact clear",
    "done": "say",
    "failed": "say resume",
    "stopped": "say",
}
WAITING_FOR = {
    "approval": f"{TAKES['waiting']} approve deny edit",
    "unknown_outcome": f"{TAKES['waiting']} answer",
    "person": TAKES["waiting"],
    "children": TAKES["waiting"],
    "llm": TAKES["waiting"],
    "budget": TAKES["waiting"],
    "draft": TAKES["waiting"],
}
A_CALL = {"call": "call_1", "input_sha256": "0" * 64}
ARGS: dict[str, dict[str, Any]] = {
    "say": {"text": "Go on."},
    "approve": A_CALL,
    "deny": {"call": "call_1"},
    "edit": {**A_CALL, "input": {"command": "true"}},
    "answer": {"call": "call_1", "outcome": "done"},
}


@pytest.fixture(autouse=True)
def hints(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    told: list[int] = []
    monkeypatch.setattr(tasks, "hint", told.append)
    return told


def in_state(state: str, reason: str = "") -> Run:
    run = a_run(turns=1, order="", state="done")
    Run.objects.filter(pk=run.pk).update(state=state, reason=reason)
    return Run.objects.get(pk=run.pk)


@pytest.mark.parametrize("kind", orders.KINDS)
@pytest.mark.parametrize("state", [state.value for state in State])
def test_every_state_takes_exactly_the_orders_of_the_table(state: str, kind: str) -> None:
    made = control.order(a_person(), in_state(state), kind, ARGS.get(kind, {}))
    taken = kind in TAKES[state].split()
    assert (made.state == "pending") == taken
    assert made.state in ("pending", "rejected")
    if not taken:
        assert made.reason == Where(state=state).takes(kind).why
        assert Order.objects.get(pk=made.pk).reason


@pytest.mark.parametrize("kind", orders.KINDS)
@pytest.mark.parametrize("waits_for", WAITING_FOR)
def test_every_wait_takes_exactly_the_orders_of_the_table(waits_for: str, kind: str) -> None:
    """A word on a call is taken only where one waits for it."""
    reason = f"{waits_for}: because"
    made = control.order(a_person(), in_state("waiting", reason), kind, ARGS.get(kind, {}))
    taken = kind in WAITING_FOR[waits_for].split()
    assert made.state == ("pending" if taken else "rejected")
    assert made.reason
    assert taken or made.reason == Where(state="waiting", reason=reason).takes(kind).why


@pytest.mark.parametrize(
    ("kind", "args", "sentence"),
    [
        ("approve", {"call": "c"}, "approve lacks 'input_sha256'"),
        ("approve", {**A_CALL, "always": "perhaps"}, "always is true or false"),
        ("deny", {"reason": "no"}, "deny lacks 'call'"),
        ("edit", {**A_CALL, "input": "{"}, "not valid JSON"),
        ("edit", {**A_CALL, "input": "[1]"}, "must be a JSON object"),
        ("answer", {"call": "c", "outcome": "maybe"}, "The outcome is one of done, again, leave"),
    ],
)
def test_a_word_on_a_call_says_which_and_what(kind: str, args: dict[str, Any], sentence: str) -> None:
    with pytest.raises(control.Invalid, match=sentence):
        control.order(a_person(), in_state("waiting", "approval: x"), kind, args)


def test_a_form_sends_an_input_as_text_and_a_flag_as_on() -> None:
    run = in_state("waiting", "approval: x")
    made = control.order(a_person(), run, "edit", {**A_CALL, "input": '{"command": "ls"}'})
    assert made.args["input"] == {"command": "ls"}
    assert control.order(a_person(), run, "approve", {**A_CALL, "always": "true"}).args["always"] is True


def test_an_order_is_a_row_an_event_and_a_hint(hints: list[int]) -> None:
    run = a_run(turns=2, order="")
    made = control.order(
        a_person("blas"), run, "say", {"text": "Use SQLite.\r\n", "how": "queue"}, seen_seq=7
    )
    stored = Order.objects.get(pk=made.pk)
    assert (stored.by, stored.args, stored.seen_seq) == ("blas", {"how": "queue", "text": "Use SQLite."}, 7)
    event = Event.objects.get(run=run, kind="order.asked")
    assert event.data == {"order": made.pk, "kind": "say", "state": "pending", "reason": ""}
    assert event.seq == run.next_seq
    assert hints == [run.pk]


def test_a_rejected_order_is_answered_by_its_own_event() -> None:
    run = in_state("done")
    made = control.order(a_person(), run, "compact")
    event = Event.objects.get(run=run, kind="order.asked")
    assert event.data["state"] == "rejected"
    assert event.data["reason"] == made.reason
    assert "done" in made.reason


def test_a_pending_order_says_what_it_waits_for() -> None:
    owned, idle = a_run(turns=1, order=""), in_state("paused")
    assert control.order(a_person(), owned, "compact").reason == "applies after this turn"
    assert control.order(a_person(), owned, "stop_now").reason == "applies at once"
    assert control.order(a_person(), idle, "compact").reason == "waiting for a worker"
    assert set(Order.objects.values_list("reason", flat=True)) == {""}


def test_the_second_to_press_gets_the_first_ones_order() -> None:
    run = a_run(turns=1, order="")
    first = control.order(a_person("ada"), run, "compact", {"keep": 4})
    second = control.order(a_person("blas"), run, "compact")
    assert second.pk == first.pk
    assert second.reason.startswith("already requested by ada, ")
    assert Order.objects.filter(run=run).count() == 1


def test_fifty_who_press_at_once_make_one_compaction() -> None:
    run = a_run(turns=1, order="")
    ada = a_person()
    found: list[int] = []
    gate = threading.Barrier(10)

    def press() -> None:
        gate.wait()
        for _ in range(5):
            found.append(control.order(ada, run, "compact").pk)
        connection.close()

    threads = [threading.Thread(target=press) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 50
    assert len(set(found)) == 1
    assert Event.objects.filter(run=run, kind="order.asked").count() == 1


def test_two_messages_may_wait_side_by_side() -> None:
    run = a_run(turns=1, order="")
    for words in ("First this.", "Then that."):
        control.order(a_person(), run, "say", {"text": words})
    assert [asked.args["text"] for asked in orders.pending(run.pk)] == ["First this.", "Then that."]


def test_the_same_key_gives_the_same_order() -> None:
    run = a_run(turns=1, order="")
    first = control.order(a_person(), run, "say", {"text": "Once."}, client_key="k-1")
    again = control.order(a_person(), run, "say", {"text": "Once."}, client_key="k-1")
    assert again.pk == first.pk
    assert Event.objects.filter(run=run, kind="order.asked").count() == 1


def test_a_key_cannot_stand_for_two_things() -> None:
    run = a_run(turns=1, order="")
    control.order(a_person(), run, "say", {"text": "Once."}, client_key="k-1")
    with pytest.raises(control.Invalid, match="another order"):
        control.order(a_person(), run, "pause", client_key="k-1")


def test_a_compaction_asked_for_on_an_old_screen_is_rejected() -> None:
    run = a_run(turns=20, order="")
    edit = Event.objects.filter(run=run, kind="window.edited", data__kind="compact").order_by("seq").first()
    assert edit is not None
    old = control.order(a_person(), run, "compact", seen_seq=edit.seq - 1)
    assert (old.state, old.reason) == ("rejected", f"the window was compacted at event {edit.seq}")


def test_a_compaction_asked_for_on_a_fresh_screen_is_taken() -> None:
    run = a_run(turns=20, order="")
    assert control.order(a_person(), run, "compact", seen_seq=run.next_seq - 1).state == "pending"


def test_a_message_is_never_too_late() -> None:
    run = a_run(turns=20, order="")
    assert control.order(a_person(), run, "say", {"text": "Well done."}, seen_seq=1).state == "pending"


@pytest.mark.parametrize(
    ("kind", "args", "words"),
    [
        ("compct", {}, "Did you mean 'compact'"),
        ("say", {}, "text is empty"),
        ("say", {"text": " \n"}, "text is empty"),
        ("say", {"text": "x" * 200_001}, "200,001 characters"),
        ("say", {"text": 5}, "must be text"),
        ("say", {"text": "x", "how": "shout"}, "steer, queue, interrupt"),
        ("compact", {"method": "magic"}, "summary, clear, both"),
        ("compact", {"keep": -1}, "from 0 to"),
        ("compact", {"keep": True}, "from 0 to"),
        ("compact", {"instructions": "x" * 4_001}, "4,001 characters"),
        ("compact", {"method": "both", "kep": 3}, "'kep'"),
        ("pause", {"n": 1}, "no arguments"),
        ("step", {"n": 0}, "from 1 to"),
    ],
)
def test_what_is_no_order_is_refused_with_a_sentence(kind: str, args: dict[str, Any], words: str) -> None:
    run = a_run(turns=1, order="")
    with pytest.raises(control.Invalid, match=words):
        control.order(a_person(), run, kind, args)
    assert not Order.objects.exists()


def test_retry_is_another_word_for_resume() -> None:
    assert control.order(a_person(), in_state("failed"), "retry").kind == "resume"


def test_orders_apply_by_kind_and_within_a_kind_as_they_came() -> None:
    run = a_run(turns=1, order="")
    for kind in ("compact", "say", "pause", "clear", "say", "stop"):
        an_order(run, kind)
    assert [asked.kind for asked in orders.pending(run.pk)] == [
        "stop",
        "pause",
        "say",
        "say",
        "clear",
        "compact",
    ]
    said = [asked.id for asked in orders.pending(run.pk) if asked.kind == "say"]
    assert said == sorted(said)


def test_an_answer_comes_with_its_event_and_only_once() -> None:
    run = a_run(turns=1, order="")
    made = control.order(a_person(), run, "pause")
    claim = lease.Claim(run_id=run.pk, slug=run.slug, owner="worker-1", term=1)
    applied = OrderAnswer(order_id=made.pk, state="applied", reason="")
    seq = archive.append(claim, answers=[applied], state=StateChange(state="paused", reason="ada"))
    archive.append(claim, answers=[OrderAnswer(order_id=made.pk, state="rejected", reason="too late")])
    found = control.wait_for(made, 1)
    assert (found.state, found.applied_seq, found.reason) == ("applied", seq - 1, "")
    assert Event.objects.get(run=run, seq=seq - 1).kind == "order.answered"
    assert Run.objects.get(pk=run.pk).state == "paused"


def test_waiting_ends_with_the_order_still_pending_when_nobody_answers() -> None:
    made = control.order(a_person(), in_state("paused"), "resume")
    assert control.wait_for(made, 0.2).state == "pending"
    assert control.wait_for(made, 0).reason == "waiting for a worker"


def test_a_worker_is_told_what_waits_for_it_and_what_of_that_cuts_a_call() -> None:
    run, other = a_run(turns=1, order=""), a_run(turns=1, order="")
    control.order(a_person(), run, "say", {"text": "Wait.", "how": "queue"})
    assert orders.waiting([run.pk, other.pk]) == [], "a queued message waits for the run, not for its worker"
    control.order(a_person(), other, "stop_now")
    control.order(a_person(), run, "say", {"text": "Wait!", "how": "interrupt"})
    control.order(a_person(), run, "pause")
    found = orders.waiting([run.pk, other.pk])
    assert [(asked.run_id, asked.kind, asked.cuts) for asked in found] == [
        (other.pk, "stop_now", True),
        (run.pk, "say", True),
        (run.pk, "pause", False),
    ]
    assert [asked.run_id for asked in orders.waiting([other.pk])] == [other.pk]
    assert orders.waiting([]) == []


def test_an_order_lies_before_nobody_until_a_worker_holds_its_run() -> None:
    held, free, later = in_state("paused"), in_state("paused"), in_state("paused")
    made = [control.order(a_person(), run, "resume") for run in (held, free)]
    control.order(a_person(), later, "say", {"text": "Then.", "how": "queue"})
    Run.objects.filter(pk=later.pk).update(state="running")
    assert lease.claim(held.pk, "worker-2", any_state=True)
    assert orders.lying() == {free.pk: frozenset({made[1].pk})}
