"""What lies about is rung again, and taken by hand where nobody else would come."""

from __future__ import annotations

import threading

import pytest

from agentdash import sweeper
from agentdash.sweeper import Sweeper
from runs import tasks
from runs.runner.watch import watch
from runs.store import lease, orders


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
        self.lying: dict[int, frozenset[int]] = {}
        self.answered: list[int] = []
        monkeypatch.setattr(orders, "lying", lambda: dict(self.lying))
        monkeypatch.setattr(tasks, "answer", self.answered.append)

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

    def answer(self, sweeping: Sweeper, **lying: int) -> list[int]:
        """One look for orders, of runs by number; the runs whose orders were answered."""
        self.lying = {int(run[1:]): frozenset(range(count)) for run, count in lying.items()}
        self.answered.clear()
        sweeping.answer()
        sweeping.rest(20)
        return sorted(self.answered)


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


def test_an_order_that_lies_before_nobody_is_answered_beside_everything_else(times: Times) -> None:
    """Whatever stands in line, and though every thread is taken."""
    sweeping = Sweeper(5, hands=0)
    assert times.answer(sweeping, r7=1, r8=2) == [7, 8]


def test_an_order_that_could_not_be_answered_is_not_tried_again_but_the_next_one_is(times: Times) -> None:
    """Else a run would be claimed and let go four times a second for as long as its order waits."""
    sweeping = Sweeper(5)
    assert times.answer(sweeping, r7=1) == [7]
    assert times.answer(sweeping, r7=1) == []
    assert times.answer(sweeping, r7=2) == [7]
    assert times.answer(sweeping) == []
    assert times.answer(sweeping, r7=2) == [7]


def test_who_stands_in_line_for_a_run_answers_its_orders(times: Times) -> None:
    sweeping = Sweeper(5)
    with watch.lined_up(7):
        assert times.answer(sweeping, r7=1) == []
    assert times.answer(sweeping, r7=1) == [7]


def test_so_many_answers_are_under_way_at_a_time(times: Times, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    sweeping = Sweeper(5)
    times.lying = {run: frozenset({run}) for run in range(9)}
    with monkeypatch.context() as long:
        long.setattr(tasks, "answer", lambda _: ended.wait(20))
        sweeping.answer()
        assert len(sweeping.answering) == sweeper.ORDERS_HANDS
        ended.set()
        sweeping.rest(20)
    assert times.answer(sweeping, r8=1) == [8]
