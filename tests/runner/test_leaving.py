"""A worker that leaves: what has not begun stays planned, what has begun may end, and nothing is skipped for good."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runs import runner
from runs.engine.events import CallEnded
from runs.engine.events import Event as EngineEvent
from runs.models import Call, Run, Turn
from runs.runner import crash
from runs.runner.watch import watch
from runs.store import archive, lease
from runs.store.verify import verify

from .conftest import Walk

Begin = Callable[..., Run]


@pytest.fixture
def leave_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """The process is asked to leave right after the first event of a kind is stored."""

    def arm(kind: str) -> None:
        real = archive.append

        def append(claim: Any, *events: EngineEvent, **rest: Any) -> int:
            seq = real(claim, *events, **rest)
            if any(event.kind == kind for event in events):
                runner.leave(grace=30)
            return seq

        monkeypatch.setattr(archive, "append", append)

    yield arm
    watch.stay()


@pytest.mark.parametrize(
    ("kind", "turn", "call"),
    [
        ("turn.opened", "cancelled", None),
        ("turn.answered", "answered", "planned"),
        ("call.started", "closed", "done"),
        ("turn.closed", "closed", "done"),
    ],
)
def test_the_next_worker_finds_it_whole(
    begin: Begin,
    walk: Walk,
    leave_at: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    turn: str,
    call: str | None,
) -> None:
    run = begin("rehearsal/errands-3")
    leave_at(kind)
    assert runner.advance(run.pk)
    monkeypatch.undo()
    left = Turn.objects.filter(run=run).order_by("-id")[0]
    assert left.status == turn
    assert Call.objects.filter(run=run).values_list("status", flat=True).first() == call
    run.refresh_from_db()
    assert (run.state, run.lease_owner) == ("running", "")
    watch.stay()
    run = walk(run)
    assert (run.state, run.crash_streak) == ("done", 0)
    assert set(Call.objects.filter(run=run).values_list("status", flat=True)) == {"done"}
    assert verify(run).ok


def test_a_late_result_is_kept_beside_the_call(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begin("rehearsal/errands-3")
    real = archive.append

    def append(claim: lease.Claim, *events: EngineEvent, **rest: Any) -> int:
        if any(event.kind == "call.ended" for event in events):
            monkeypatch.undo()
            Run.objects.filter(pk=run.pk).update(lease_until_ms=0)
            other = lease.claim(run.pk, "another")
            assert other
            ended = next(event for event in events if isinstance(event, CallEnded))
            told = {**ended.result, "content": "Outcome unknown: the worker stopped."}
            real(
                other,
                type(ended)(
                    turn=ended.turn, call=ended.call, status=type(ended.status)("unknown"), result=told
                ),
            )
        return real(claim, *events, **rest)

    monkeypatch.setattr(archive, "append", append)
    assert not runner.advance(run.pk)
    call = Call.objects.get(run=run)
    assert (call.status, call.late_result is not None) == ("unknown", True)


@pytest.mark.parametrize("text", ["after_tx7", "tx2", "after_tx2:2", "after_tx2:x", "before_tx0:0.5"])
def test_a_crash_point_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no crash point"):
        crash.read(text)


def test_crash_points_are_read_with_their_chance() -> None:
    assert crash.read("after_tx2:0.3, before_tx5") == {"after_tx2": 0.3, "before_tx5": 1.0}
    assert crash.read("") == {}
