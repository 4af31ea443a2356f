"""What lies about is rung again, and taken by hand where nobody else would come."""

from __future__ import annotations

import pytest

from agentdash import sweeper
from agentdash.sweeper import Sweeper
from runs import tasks
from runs.runner.watch import watch
from runs.store import lease


class Times:
    """Waiting runs, a broker that answers or not, and a clock that is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.waiting, self.heard, self.others, self.now = [1, 2], True, False, 1000.0
        self.rung: list[int] = []
        self.taken: list[int] = []
        monkeypatch.setattr(lease, "waiting_runs", lambda: list(self.waiting))
        monkeypatch.setattr(lease, "others_work", lambda _: self.others)
        monkeypatch.setattr(sweeper.expiry, "expire_orders", lambda _: None)
        monkeypatch.setattr(sweeper.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(tasks, "hint", self.hint)
        monkeypatch.setattr(Sweeper, "_walk", lambda _, run_id: self.taken.append(run_id))

    def hint(self, run_id: int) -> bool:
        self.rung.append(run_id)
        return self.heard

    def look(self, sweeping: Sweeper, *, later: float = 0.0) -> list[int]:
        """One round; what it took by hand, once the hands have begun."""
        self.now += later
        self.taken.clear()
        before = set(sweeper.threading.enumerate())
        sweeping.look()
        for thread in set(sweeper.threading.enumerate()) - before:
            thread.join(20)
        sweeping.taken.clear()
        return sorted(self.taken)


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> Times:
    return Times(monkeypatch)


def test_a_waiting_run_is_rung_once_and_again_only_after_a_while(times: Times) -> None:
    sweeping = Sweeper(5, hands=8)
    assert times.look(sweeping) == []
    assert times.look(sweeping, later=5) == []
    assert times.rung == [1, 2]


def test_a_second_ring_that_brings_nobody_is_followed_by_hands(times: Times) -> None:
    sweeping = Sweeper(5, hands=8)
    times.look(sweeping)
    assert times.look(sweeping, later=11) == [1, 2]


def test_without_a_broker_hands_take_at_once(times: Times) -> None:
    times.heard = False
    assert times.look(Sweeper(5, hands=8)) == [1, 2]


def test_a_worker_whose_threads_are_all_taken_takes_nothing_more(
    times: Times, monkeypatch: pytest.MonkeyPatch
) -> None:
    times.heard = False
    monkeypatch.setattr(watch, "_hands", dict.fromkeys(range(8)))
    assert times.look(Sweeper(5, hands=8)) == []


def test_the_pages_take_only_what_no_worker_would(times: Times) -> None:
    times.heard, times.others = False, True
    pages = Sweeper(5, hands=8, last=True)
    assert times.look(pages) == []
    times.others = False
    assert times.look(pages, later=11) == [1, 2]


def test_the_embedded_sweeper_only_rings(times: Times) -> None:
    times.heard = False
    assert times.look(Sweeper(1)) == []
