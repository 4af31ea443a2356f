"""A run from its first turn to its end, and what keeps it from getting there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runs import control
from runs.engine.events import Event as EngineEvent
from runs.engine.loop import Agent
from runs.models import Call, Event, Run, Spend, Turn
from runs.store import archive, lease
from runs.store.verify import verify
from tests.builders import a_person

from .conftest import Walk

Begin = Callable[..., Run]


def test_a_run_is_done_when_the_llm_asks_for_nothing_more(begin: Begin, walk: Walk) -> None:
    run = walk(begin())
    assert (run.state, run.turn_no) == ("done", 3)
    assert [turn.status for turn in run.turns.order_by("number")] == ["closed"] * 3
    assert run.ended_at is not None
    assert verify(run).ok


def test_every_turn_knows_what_its_request_cost(begin: Begin, walk: Walk) -> None:
    run = walk(begin())
    assert run.sums["cost"] == sum(Spend.objects.filter(run=run).values_list("cost", flat=True)) > 0
    turns = Turn.objects.filter(run=run)
    assert all(sum(turn.parts.values()) == turn.window and not turn.estimated for turn in turns)


def test_a_run_that_somebody_holds_is_left_alone(begin: Begin, walk: Walk) -> None:
    run = begin()
    assert lease.claim(run.pk, "somebody else")
    assert walk(run, slices=1).turn_no == 0


def test_a_key_that_is_refused_makes_the_run_wait_and_retry_goes_on(begin: Begin, walk: Walk) -> None:
    run = walk(begin("rehearsal/hello+401:1@2"))
    assert run.state == "waiting"
    assert run.reason.startswith("llm: ")
    order = control.order(a_person(), run, "retry")
    run = walk(run)
    order.refresh_from_db()
    assert (run.state, order.state) == ("done", "applied")
    assert run.turn_no == 3


def test_a_cut_stream_runs_no_tool_and_is_tried_again(begin: Begin, walk: Walk) -> None:
    run = walk(begin("rehearsal/hello+no_stop@1"))
    assert run.state == "done"
    attempts = Turn.objects.filter(run=run, number=1).order_by("attempt").values_list("status", flat=True)
    assert list(attempts) == ["lost", "closed"]
    assert Call.objects.filter(run=run, turn=1).count() == 1


def test_a_refusal_waits_for_a_person_whose_word_makes_it_go_on(begin: Begin, walk: Walk) -> None:
    run = walk(begin("rehearsal/hello+refusal:1@2"))
    assert (run.state, run.reason.split(":")[0]) == ("waiting", "person")
    control.order(a_person(), run, "say", {"text": "It is only a greeting."})
    assert walk(run).state == "done"


def test_a_valve_makes_the_run_wait_before_it_is_passed(begin: Begin, walk: Walk) -> None:
    run = walk(begin(max_turns=2))
    assert (run.state, run.turn_no) == ("waiting", 2)
    assert run.reason.startswith("budget: ")
    assert Event.objects.filter(run=run, kind="valve.reached").exists()


def test_resume_opens_the_valve_that_is_reached_and_the_policy_says_so(begin: Begin, walk: Walk) -> None:
    run = walk(begin(max_turns=2))
    control.order(a_person(), run, "resume")
    run = walk(run)
    assert (run.state, run.turn_no) == ("done", 3)
    assert run.policy["valves"]["turns"] == 4
    assert Event.objects.get(run=run, kind="policy.changed").data["values"]["turns"] == 4
    assert verify(run).ok


def test_an_effectful_call_has_a_started_row_before_it_runs(begin: Begin, walk: Walk) -> None:
    run = walk(begin())
    call = Call.objects.get(run=run, name="run_command")
    assert call.started_at is not None
    kinds = list(Event.objects.filter(run=run, turn=call.turn).order_by("seq").values_list("kind", flat=True))
    assert kinds.index("call.started") < kinds.index("call.ended") < kinds.index("turn.closed")


def test_a_mistake_of_ours_fails_the_run_with_its_name_and_retry_goes_on(
    begin: Begin, walk: Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Agent) -> None:
        raise TypeError("three and not two")

    run = begin()
    with monkeypatch.context() as patch:
        patch.setattr(Agent, "turn", broken)
        walk(run)
    assert run.state == "failed"
    assert "TypeError: three and not two" in run.reason
    control.order(a_person(), run, "retry")
    assert walk(run).state == "done"


def test_a_turn_that_reads_costs_three_commits(
    begin: Begin, walk: Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits: list[list[str]] = []
    real = archive.append

    def append(claim: lease.Claim, *events: EngineEvent, **rest: Any) -> int:
        commits.append([event.kind for event in events])
        return real(claim, *events, **rest)

    monkeypatch.setattr(archive, "append", append)
    run = walk(begin("rehearsal/job-3"))
    assert run.state == "done"
    looked = ["window.checked", "window.checked", "turn.opened"]
    assert commits[:6] == [looked, ["turn.answered"], ["turn.closed"]] * 2
    assert Event.objects.filter(run=run, kind="window.checked").count() == 8
