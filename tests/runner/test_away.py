"""The database fails in the middle of a slice: the run is handed back, or set aside with a reason a person reads."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError

from runs import control
from runs.engine.events import Event as EngineEvent
from runs.models import Run, Turn
from runs.runner import away
from runs.store import archive, lease, reserve
from runs.store.lease import Claim
from runs.store.verify import verify
from tests.builders import a_person
from tests.conftest import PAUSE

from .conftest import Walk

Begin = Callable[..., Run]
Fail = Callable[[BaseException], None]


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Fail:
    """The next answer that is stored fails so, once."""

    def arm(error: BaseException) -> None:
        due, real = [error], archive.append

        def append(claim: Any, *events: EngineEvent, **rest: Any) -> int:
            if due and any(event.kind == "turn.answered" for event in events):
                raise due.pop()
            return real(claim, *events, **rest)

        monkeypatch.setattr(archive, "append", append)

    return arm


def test_a_database_that_is_away_for_a_moment_costs_one_llm_call(
    begin: Begin, walk: Walk, fail: Fail
) -> None:
    run = begin()
    fail(OperationalError("server closed the connection unexpectedly"))
    run = walk(run)
    assert (run.state, run.turn_no, run.crash_streak) == ("done", 3, 0)
    assert Turn.objects.filter(run=run, status="lost").count() == 1
    assert verify(run).ok


def test_one_that_was_away_for_long_pauses_the_run_with_the_reason(
    begin: Begin, walk: Walk, fail: Fail, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(away, "PATIENCE_S", -1.0)
    run = begin()
    fail(OperationalError("database is locked"))
    run = walk(run)
    assert run.state == "paused"
    assert run.reason.startswith("database: it did not answer for 0 s (database is locked).")
    control.order(a_person(), run, "resume")
    assert walk(run).state == "done"


def test_a_lock_that_lasts_through_the_last_try_counts_as_long_as_it_lasted(
    begin: Begin, walk: Walk, fail: Fail, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write that ends the wait may itself have waited for most of it."""
    run, real = begin(), away.lease.fence

    def late(claim: Claim) -> lease.Fence:
        PAUSE.wait(0.3)
        return real(claim)

    fail(OperationalError("database is locked"))
    monkeypatch.setattr(away, "PATIENCE_S", 0.2)
    monkeypatch.setattr(away.lease, "fence", late)
    run = walk(run)
    assert (run.state, run.reason.split(" s ")[0]) == ("paused", "database: it did not answer for 0")


@pytest.mark.parametrize(
    "error", [OperationalError("database or disk is full"), OSError(errno.ENOSPC, "No space left on device")]
)
def test_a_full_disk_pauses_the_run_and_its_reserve_is_taken_again(
    begin: Begin, walk: Walk, fail: Fail, error: Exception
) -> None:
    run = begin()
    fail(error)
    run = walk(run)
    assert (run.state, run.reason) == ("paused", away.FULL)
    assert not reserve._path().exists()
    control.order(a_person(), run, "resume")
    assert walk(run).state == "done"
    assert reserve._path().exists()


def test_a_row_that_does_not_fit_is_our_mistake_and_fails_the_run(
    begin: Begin, walk: Walk, fail: Fail
) -> None:
    run = begin()
    fail(IntegrityError("UNIQUE constraint failed"))
    assert walk(run).state == "failed"
