"""The watcher of a process lives as long as a run is in hand, whatever happens to it."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from runs.runner import watch as module
from runs.runner.watch import STOPPED, Watch
from runs.store.orders import Asked
from tests.conftest import wait_until

pytestmark = pytest.mark.django_db


def test_a_mistake_of_ours_does_not_end_the_watcher(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else every run of the process would lose its lease, and stop now would stop nothing."""
    looks: list[int] = []
    asked = Asked(id=1, run_id=7, kind="stop_now", args={}, by="ada", at=module.orders.sql.now())

    def look(run_ids: Collection[int]) -> list[Asked]:
        looks.append(len(run_ids))
        if len(looks) == 1:
            raise ValueError("what nobody thought of")
        return [asked]

    monkeypatch.setattr(module.orders, "waiting", look)
    monkeypatch.setattr(module, "POLL_S", 0.01)
    watching = Watch()
    with watching.holding(7):
        cancel = watching.fresh(7)
        wait_until(lambda: cancel.reason == STOPPED, what="the second look")
    wait_until(lambda: watching._thread is None, what="the watcher to end with its last run")


def test_who_stays_is_not_sent_away_when_the_grace_of_an_earlier_leaving_is_over() -> None:
    watching = Watch()
    watching.leave(grace=60)
    late = watching._late
    watching.stay()
    assert late is not None
    late.join(5)
    assert not late.is_alive()
    assert not watching.leaving
