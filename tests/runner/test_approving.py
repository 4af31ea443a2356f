"""A call that asks: the run waits without a worker, and one word of a person lets it go on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runs import control, runner
from runs.engine.acting import Acting
from runs.engine.events import Verdict
from runs.engine.loop import Agent
from runs.models import Call, Event, Order, Run
from runs.store import approvals, page_reads
from runs.store.lease import Fenced
from runs.store.resume import standing
from runs.store.verify import verify
from tests.builders import a_person

from .conftest import Walk

Begin = Callable[..., Run]

POLICY = '[approval]\ntools = ["write_file", "effectful"]\n'


@pytest.fixture
def waiting(begin: Begin, walk: Walk, tmp_path: Path) -> Run:
    """The second turn of `hello` wants to write a file."""
    policy = tmp_path / "asks.toml"
    policy.write_text(POLICY)
    run = walk(begin(policy=str(policy)))
    assert run.state == "waiting", run.reason
    return run


def asks(run: Run) -> approvals.Question:
    found = approvals.question(run)
    assert found is not None
    return found


def asked(run: Run, kind: str, **args: object) -> Order:
    return control.order(a_person(), run, kind, args)


def shown(run: Run) -> dict[str, Any]:
    question = asks(run)
    return {"call": question.call.tool_use_id, "input_sha256": question.input_sha256}


def answered(order: Order) -> Order:
    order.refresh_from_db()
    return order


def result(run: Run, turn: int = 1) -> dict[str, Any]:
    """The first result of a turn, as the llm reads it."""
    return dict(page_reads.results_after(run, [turn])[turn].content[0])


def written(run: Run) -> list[str]:
    return sorted(path.name for path in Path(run.workspace).iterdir())


def test_the_run_waits_without_a_lease_and_says_for_what(waiting: Run) -> None:
    assert waiting.reason == "approval: write_file asks first."
    assert (waiting.lease_owner, waiting.lease_until_ms) == ("", None)
    assert asks(waiting).call.status == "planned"
    assert verify(waiting).ok


def test_what_is_allowed_runs_and_the_next_call_asks_anew(waiting: Run, walk: Walk) -> None:
    order = asked(waiting, "approve", **shown(waiting))
    walk(waiting)
    assert answered(order).state == "applied"
    assert Call.objects.get(run=waiting, turn=1).status == "done"
    assert written(waiting) == ["hello.py"]
    assert (waiting.state, waiting.reason) == ("waiting", "approval: run_command asks first.")
    asked(waiting, "approve", **shown(waiting))
    assert walk(waiting).state == "done"
    assert verify(waiting).ok


def test_each_step_is_an_event_in_order(waiting: Run, walk: Walk) -> None:
    asked(waiting, "approve", **shown(waiting))
    walk(waiting)
    kinds = list(Event.objects.filter(run=waiting).order_by("seq").values_list("kind", flat=True))
    first = kinds.index("approval.asked")
    told = [kind for kind in kinds[first:] if kind != "owner.claimed"]
    assert told[:8] == [
        "approval.asked",
        "run.state",
        "order.asked",
        "approval.answered",
        "order.answered",
        "run.state",
        "call.started",
        "call.ended",
    ]


def test_another_input_than_the_one_that_waits_is_refused(waiting: Run, walk: Walk) -> None:
    order = asked(waiting, "approve", call=shown(waiting)["call"], input_sha256="0" * 64)
    walk(waiting)
    assert answered(order).state == "rejected"
    assert "what was shown is not what waits" in order.reason
    assert (waiting.state, written(waiting)) == ("waiting", [])


def test_a_card_that_is_out_of_date_is_refused(waiting: Run, walk: Walk) -> None:
    old = shown(waiting)
    asked(waiting, "approve", **old)
    walk(waiting)
    order = asked(waiting, "deny", **old)
    walk(waiting)
    assert answered(order).state == "rejected"
    assert "another call waits now" in order.reason
    assert waiting.state == "waiting"


def test_allowing_twice_is_a_no_op(waiting: Run, walk: Walk) -> None:
    """Two people press Allow before the worker has looked; a third comes when all is over."""
    card = shown(waiting)
    first, second = asked(waiting, "approve", **card), asked(waiting, "approve", **card)
    walk(waiting)
    late = asked(waiting, "approve", **card)
    walk(waiting)
    assert [answered(order).state for order in (first, second, late)] == ["applied", "merged", "merged"]
    assert "said so already" in late.reason
    assert Event.objects.filter(run=waiting, kind="approval.answered").count() == 1
    assert Event.objects.filter(run=waiting, kind="call.started").count() == 1


def test_always_asks_no_more_for_that_tool_even_after_the_worker_is_gone(waiting: Run, walk: Walk) -> None:
    asked(waiting, "approve", **shown(waiting), always=True)
    walk(waiting)
    assert waiting.reason == "approval: run_command asks first."
    assert approvals.always(waiting.pk) == {"write_file"}


def test_a_refusal_reaches_the_agent_with_its_reason(waiting: Run, walk: Walk) -> None:
    asked(waiting, "deny", call=shown(waiting)["call"], reason="Call it greet.py.")
    walk(waiting)
    assert result(waiting)["content"].endswith("They wrote: Call it greet.py.")
    assert Call.objects.get(run=waiting, turn=1).status == "denied"
    assert not Event.objects.filter(run=waiting, kind="call.started", turn=1).exists()
    assert written(waiting) == []
    assert verify(waiting).ok


def test_what_a_person_wrote_runs_instead(waiting: Run, walk: Walk) -> None:
    asked(waiting, "edit", **shown(waiting), input={"path": "greet.py", "content": "print(1)\n"})
    walk(waiting)
    assert written(waiting) == ["greet.py"]
    assert "A person changed the input before this ran." in result(waiting)["content"]
    assert verify(waiting).ok


def test_an_input_that_does_not_fit_the_tool_is_refused_and_the_call_still_waits(
    waiting: Run, walk: Walk
) -> None:
    order = asked(waiting, "edit", **shown(waiting), input={"file": "greet.py"})
    walk(waiting)
    assert answered(order).state == "rejected"
    assert "The input does not fit write_file" in order.reason
    assert waiting.state == "waiting"


@pytest.mark.parametrize("kind", ["stop", "stop_now"])
def test_stop_works_while_it_waits_and_leaves_a_window_that_can_be_taken_up(
    waiting: Run, walk: Walk, kind: str
) -> None:
    asked(waiting, kind)
    assert walk(waiting).state == "stopped"
    assert Call.objects.get(run=waiting, turn=1).status == "skipped"
    asked(waiting, "say", text="Go on after all.")
    assert walk(waiting).state == "waiting"
    assert verify(waiting).ok


def test_a_message_answers_what_waits_and_is_read_next(waiting: Run, walk: Walk) -> None:
    order = asked(waiting, "say", text="Leave the file, tell me what you would write.")
    walk(waiting)
    assert answered(order).state == "applied"
    assert result(waiting)["content"].startswith("Not run: a person wrote instead")
    assert written(waiting) == []


def test_a_pause_keeps_the_question_and_going_on_asks_again(waiting: Run, walk: Walk) -> None:
    card = shown(waiting)
    asked(waiting, "pause")
    assert walk(waiting).state == "paused"
    assert asked(waiting, "approve", **card).state == "rejected"
    asked(waiting, "resume")
    assert walk(waiting).state == "waiting"
    assert shown(waiting) == card


def test_a_run_that_takes_steps_goes_on_taking_them(begin: Begin, walk: Walk, tmp_path: Path) -> None:
    policy = tmp_path / "asks.toml"
    policy.write_text('[approval]\ntools = ["write_file"]\n')
    run = begin(policy=str(policy))
    asked(run, "pause")
    walk(run)
    asked(run, "step", n=1)
    assert walk(run).state == "waiting"
    asked(run, "approve", **shown(run))
    assert walk(run).state == "paused"
    assert run.turn_no == 1


def test_a_policy_that_names_no_tool_is_refused_at_the_start(begin: Begin, tmp_path: Path) -> None:
    policy = tmp_path / "asks.toml"
    policy.write_text('[approval]\ntools = ["write_fil"]\n')
    with pytest.raises(control.Invalid, match="names the tool 'write_fil'"):
        begin(policy=str(policy))


def test_many_orders_while_it_waits_are_no_crashes(waiting: Run) -> None:
    """A turn that waits is not one that a worker died in."""
    for _ in range(5):
        asked(waiting, "deny", call="another")
        runner.advance(waiting.pk)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.crash_streak) == ("waiting", 0)


class Died(Fenced):
    """As if the worker were gone: nothing more is written, and its lease runs out."""


def dying(*args: object) -> None:
    raise Died


def die_in_a_tool(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Walk until a call has begun, and leave it there."""
    with monkeypatch.context() as patch:
        patch.setattr(Acting, "_run", dying)
        runner.advance(run.pk)
    Run.objects.filter(pk=run.pk).update(lease_until_ms=0)
    run.refresh_from_db()


def test_what_was_allowed_still_is_when_the_worker_dies_before_it_runs(
    waiting: Run, walk: Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(waiting, "approve", **shown(waiting))
    with monkeypatch.context() as patch:
        patch.setattr(Agent, "turn", dying)
        runner.advance(waiting.pk)
    Run.objects.filter(pk=waiting.pk).update(lease_until_ms=0)
    (word,) = standing(waiting.pk).said.words
    assert (word.verdict, word.by) == (Verdict.ALLOW, "ada")
    walk(waiting)
    assert written(waiting) == ["hello.py"]
    assert Event.objects.filter(run=waiting, kind="approval.asked", turn=1).count() == 1


def test_run_again_is_said_of_one_interruption_only(
    begin: Begin, walk: Walk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    policy = tmp_path / "waits.toml"
    policy.write_text('[approval]\non_unknown = "wait"\n')
    run = begin("rehearsal/errands", policy=str(policy))
    die_in_a_tool(run, monkeypatch)
    assert walk(run).reason.startswith("unknown_outcome: Nobody knows how run_command ended")
    asked(run, "answer", call=asks(run).call.tool_use_id, outcome="again")
    die_in_a_tool(run, monkeypatch)
    assert walk(run).reason.startswith("unknown_outcome: ")
    assert Event.objects.filter(run=run, kind="call.started", turn=1).count() == 2
    assert written(run) == []


def test_stop_leaves_an_unknown_outcome_unknown(
    begin: Begin, walk: Walk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    policy = tmp_path / "waits.toml"
    policy.write_text('[approval]\non_unknown = "wait"\n')
    run = begin("rehearsal/errands", policy=str(policy))
    die_in_a_tool(run, monkeypatch)
    walk(run)
    asked(run, "stop")
    assert walk(run).state == "stopped"
    assert Call.objects.get(run=run, turn=1).status == "unknown"
    assert verify(run).ok
