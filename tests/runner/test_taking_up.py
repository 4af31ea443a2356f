"""A worker that dies at any boundary leaves a run that the next one takes up, and no effectful call runs twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runs.engine.events import Event as EngineEvent
from runs.models import Call, Message, Run, Turn
from runs.runner import slice as slices
from runs.store import archive, lease
from runs.store.verify import verify

from .conftest import Walk

Begin = Callable[..., Run]


class Died(BaseException):
    """As sudden as kill -9: nothing in the product catches it."""


@pytest.fixture
def die(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int, str], None]:
    """Die at the nth event of a kind, before or after it is stored."""

    def arm(kind: str, nth: int, when: str) -> None:
        seen: list[str] = []
        real = archive.append

        def append(claim: Any, *events: EngineEvent, **rest: Any) -> int:
            hit = any(event.kind == kind for event in events)
            if hit:
                seen.append(kind)
            if hit and len(seen) == nth and when == "before":
                raise Died
            seq = real(claim, *events, **rest)
            if hit and len(seen) == nth and when == "after":
                raise Died
            return seq

        monkeypatch.setattr(archive, "append", append)
        monkeypatch.setattr(lease, "release", lambda claim: False)

    return arm


POINTS = [
    (kind, nth, when)
    for kind in ("turn.opened", "turn.answered", "call.started", "call.ended", "turn.closed")
    for nth in (1, 2)
    for when in ("before", "after")
]


KINDS = tuple(dict.fromkeys(kind for kind, _, _ in POINTS))


@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_a_run_survives_the_death_of_the_next_worker_too(
    begin: Begin,
    walk: Walk,
    die: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    first: str,
    second: str,
) -> None:
    """Each attempt of a turn has the next number, whoever left the turn before unfinished."""
    run = begin()
    for kind in (first, second):
        die(kind, 1, "after")
        with pytest.raises(Died):
            slices.advance(run.pk)
        monkeypatch.undo()
        lease.take_over_all()
    run = walk(run)
    assert run.state == "done"
    for number in range(1, run.turn_no + 1):
        attempts = (
            Turn.objects.filter(run=run, number=number).order_by("attempt").values_list("attempt", flat=True)
        )
        assert list(attempts) == list(range(1, len(attempts) + 1))
    assert verify(run).ok


@pytest.mark.parametrize(("kind", "nth", "when"), POINTS)
def test_a_run_survives_the_death_of_its_worker(
    begin: Begin,
    walk: Walk,
    die: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    nth: int,
    when: str,
) -> None:
    run = begin()
    die(kind, nth, when)
    with pytest.raises(Died):
        slices.advance(run.pk)
    monkeypatch.undo()
    lease.take_over_all()
    run = walk(run)
    assert run.state == "done"
    closed = Turn.objects.filter(run=run, status="closed").order_by("number")
    assert [turn.number for turn in closed] == list(range(1, run.turn_no + 1))
    assert verify(run).ok
    for call in Call.objects.filter(run=run, effect="effectful"):
        assert call.status in ("done", "unknown")


def test_a_call_that_was_begun_and_left_is_told_as_unknown(
    begin: Begin, walk: Walk, die: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin()
    die("call.started", 2, "after")
    with pytest.raises(Died):
        slices.advance(run.pk)
    monkeypatch.undo()
    lease.take_over_all()
    walk(run)
    call = Call.objects.get(run=run, name="run_command")
    assert call.status == "unknown"
    results = Message.objects.filter(run=run, kind="results", turn=call.turn)
    assert results.count() == 1
