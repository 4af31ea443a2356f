"""Every state of a run, and everything it can wait for, × every order: what design.md §6 says is what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from runs import control, runner
from runs.engine.acting import Acting
from runs.models import Event, Order, Run
from runs.runner.warm import warm
from runs.store import approvals, archive, lease, orders
from runs.store.archive import StateChange
from runs.store.lease import Fenced
from runs.store.transitions import TABLE, Where
from runs.store.verify import verify
from tests.builders import a_person
from tests.order_table import COLUMNS, HERE, WANTED
from tests.twins import Twin

from .conftest import Walk

Begin = Callable[..., Run]
pytestmark = pytest.mark.usefixtures("one_turn_a_slice")

ASKS = '[approval]\ntools = ["read_file"]\n'
UNSURE = '[approval]\non_unknown = "wait"\n'
TURNS = 3


@pytest.fixture
def begun(begin: Begin, walk: Walk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Run]:
    """A run in that row of the table; where it can, it has two turns behind it that a compaction folds."""

    def policy(text: str) -> str:
        file = tmp_path / "policy.toml"
        file.write_text(text)
        return str(file)

    def walked(*orders: str, turns: int = 2, llm: str = "rehearsal/job-9", **asked: Any) -> Run:
        run = begin(llm, **asked)
        for _ in range(turns):
            runner.advance(run.pk)
        for kind in orders:
            control.order(a_person(), run, kind)
            walk(run, 2)
        return run

    def asking() -> Run:
        run = walked(turns=1, policy=policy(ASKS))
        for _ in range(2):
            question = approvals.question(run := Run.objects.get(pk=run.pk))
            assert question is not None
            shown = {"call": question.call.tool_use_id, "input_sha256": question.input_sha256}
            control.order(a_person(), run, "approve", shown)
            walk(run)
        return run

    def unsure() -> Run:
        run = walked(llm="rehearsal/errands-9", policy=policy(UNSURE))
        with monkeypatch.context() as patch:
            patch.setattr(Acting, "_run", _dying)
            runner.advance(run.pk)
        Run.objects.filter(pk=run.pk).update(lease_until_ms=0)
        return walk(run)

    def put(state: str, reason: str) -> Run:
        """What nothing leads to yet."""
        run = walked()
        claim = lease.claim(run.pk, "test")
        assert claim is not None
        archive.append(claim, state=StateChange(state=state, reason=reason))
        lease.release(claim)
        return run

    makes: Mapping[str, Callable[[], Run]] = {
        "ready": lambda: begin("rehearsal/job-9"),
        "running": walked,
        "waiting: approval": asking,
        "waiting: unknown_outcome": unsure,
        "waiting: person": lambda: walk(walked(llm="rehearsal/job-9+refusal@3")),
        "waiting: children": lambda: put("waiting", "children: two of them"),
        "waiting: llm": lambda: walk(walked(llm="rehearsal/job-9+401:99@3")),
        "waiting: budget": lambda: walk(walked(max_turns=2)),
        "waiting: draft": lambda: put("waiting", "draft: of a compaction"),
        "paused": lambda: walked("pause"),
        "paused in a turn": lambda: _paused(asking(), walk),
        "done": lambda: walk(walked(llm="rehearsal/job-2")),
        "failed": lambda: walk(walked(llm="rehearsal/job-9+400:99@3")),
        "stopped": lambda: walked("stop"),
    }
    return lambda row: makes[row]()


def _dying(*args: object) -> None:
    raise Fenced("as if the worker were gone")


def _paused(run: Run, walk: Walk) -> Run:
    control.order(a_person(), run, "pause")
    return walk(run, 2)


def given(run: Run, column: str) -> tuple[str, dict[str, Any]]:
    """The order of a column, with what it needs: the words on a call are on the one that waits, or that would."""
    kind, _, how = column.partition(" ")
    question = approvals.question(Run.objects.get(pk=run.pk))
    call = {"call": question.call.tool_use_id if question else "none"}
    shown = call | {"input_sha256": question.input_sha256 if question else "0" * 64}
    args: dict[str, dict[str, Any]] = {
        "say": {"text": "Mind the umlauts."} | ({"how": how} if how else {}),
        "compact": {"keep": 0},
        "approve": shown,
        "deny": call,
        "edit": shown | {"input": {"path": "pieces/0001.txt"}},
        "answer": call | {"outcome": "leave"},
    }
    return kind, args.get(kind, {})


def came_of(order: Order, here: Where) -> str:
    """What the order came to, in the words of WANTED. A change of state is the event after the answer."""
    if order.state == "rejected":
        return "no" if order.reason == here.takes(order.kind).why else "nothing"
    changed = Event.objects.filter(run=order.run, kind="run.state", seq=(order.applied_seq or 0) + 1).first()
    return order.state if order.state != "applied" else changed.data["to"] if changed else HERE


@pytest.mark.parametrize("row", WANTED)
def test_what_comes_of_an_order_is_what_the_table_says(
    row: str, begun: Callable[[str], Run], twin: Twin
) -> None:
    made = begun(row)
    here = orders.where(Run.objects.get(pk=made.pk))
    assert row in (here.state, here.row) or here.state in row
    stands, found = connections.settings["default"]["NAME"], {}
    connections.close_all()
    for column in COLUMNS:
        with twin.copy(stands):
            warm.forget()
            kind, args = given(made, column)
            order = control.order(a_person(), Run.objects.get(pk=made.pk), kind, args)
            runner.advance(made.pk)
            order.refresh_from_db()
            found[column] = came_of(order, here)
            assert verify(made).ok
    twin.point_to(stands)
    assert found == dict(WANTED[row])


def test_every_row_of_the_table_is_one_that_is_tried() -> None:
    """`waiting in a turn` is any other wait there; `in a turn` of one that works is where a worker takes it up."""
    tried = {*WANTED, "waiting", "waiting in a turn", "ready in a turn", "running in a turn"}
    assert set(TABLE) <= tried
    assert all(set(row) == set(COLUMNS) for row in TABLE.values())
    assert all(set(row) == set(COLUMNS) for row in WANTED.values())
