"""Who waits holds nothing: a few threads compute, the others queue, and who was called goes first."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from runs.engine.ports import Cancel
from runs.runner import waiting
from runs.runner.waiting import Aside, Seats
from runs.runner.watch import Watch
from tests.conftest import wait_until


class Crowd:
    """Threads that want a seat and keep it until they are told."""

    def __init__(self, seats: Seats) -> None:
        self.seats = seats
        self.sat: list[str] = []
        self.rise = {name: threading.Event() for name in "abcdef"}
        self.threads: list[threading.Thread] = []

    def comes(self, name: str, *, first: bool = False) -> None:
        """And has sat down, or stands in the queue, when this returns."""

        def sit() -> None:
            self.seats.take(first=first)
            self.sat.append(name)
            self.rise[name].wait(20)
            self.seats.give()

        before = self.standing
        self.threads.append(threading.Thread(target=sit, daemon=True))
        self.threads[-1].start()
        wait_until(lambda: name in self.sat or self.standing > before, what=f"{name} to come")

    @property
    def standing(self) -> int:
        return len(self.seats._first) + len(self.seats._then)

    def leaves(self, name: str, then: str) -> None:
        self.rise[name].set()
        wait_until(lambda: then in self.sat, what=f"{then} to sit down")


@pytest.fixture
def crowd() -> Iterator[Crowd]:
    made = Crowd(Seats(2))
    yield made
    for rise in made.rise.values():
        rise.set()
    for thread in made.threads:
        thread.join(20)


def test_so_many_sit_and_the_others_follow_in_their_order(crowd: Crowd) -> None:
    for name in "abcd":
        crowd.comes(name)
    assert crowd.sat == ["a", "b"]
    crowd.leaves("b", then="c")
    crowd.leaves("a", then="d")
    assert crowd.sat == ["a", "b", "c", "d"]


def test_who_was_called_by_a_person_goes_before_all_others(crowd: Crowd) -> None:
    for name in "abcd":
        crowd.comes(name)
    crowd.comes("e", first=True)
    crowd.leaves("a", then="e")
    assert crowd.sat == ["a", "b", "e"]


def test_taking_twice_takes_one_seat_and_giving_twice_gives_one(crowd: Crowd) -> None:
    for _ in range(2):
        crowd.seats.take()
    crowd.comes("a")
    crowd.comes("b")
    assert crowd.sat == ["a"]
    for _ in range(2):
        crowd.seats.give()
    wait_until(lambda: crowd.sat == ["a", "b"], what="one seat to be free")
    crowd.comes("c")
    assert crowd.sat == ["a", "b"]


class Asked:
    """An llm that looks whether its caller holds a seat while it answers."""

    capability: Any = "known"

    def __init__(self, seats: Seats) -> None:
        self.seats = seats
        self.seated: list[bool] = []

    def answer(self, request: Any, cancel: Cancel) -> Iterator[Any]:
        self.seated.append(self.seats.seated)
        yield "delta"
        raise RuntimeError("cut")

    def count(self, request: Any) -> int:
        return 7


def test_an_llm_is_asked_without_a_seat_and_answers_to_somebody_seated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a turn or for a summary, however the answer ends."""
    seats = Seats(1)
    monkeypatch.setattr(waiting, "seats", seats)
    given: list[bool] = []
    monkeypatch.setattr(waiting, "give_connection", lambda: given.append(True))
    asked: Any = Asked(seats)
    llm = Aside(asked)
    seats.take()
    answer: Any = llm.answer(None, Cancel())  # type: ignore[arg-type]
    assert (next(answer), seats.seated, given) == ("delta", False, [True])
    with pytest.raises(RuntimeError):
        next(answer)
    assert (asked.seated, seats.seated) == ([False], True)
    again: Any = llm.answer(None, Cancel())  # type: ignore[arg-type]
    next(again)
    again.close()
    assert seats.seated
    assert (llm.capability, llm.count(None)) == ("known", 7)  # type: ignore[arg-type]
    seats.give()


def test_who_waits_for_a_seat_holds_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else those who sit would wait for the connections of those who wait for their seats."""
    seats, held = Seats(1), [True]
    monkeypatch.setattr(waiting, "seats", seats)
    monkeypatch.setattr(waiting, "give_connection", held.clear)
    seats.take()
    thread = threading.Thread(target=waiting.come_back)
    thread.start()
    wait_until(lambda: len(seats._then) == 1, what="the thread to queue")
    assert held == []
    seats.give()
    thread.join(20)
    assert not thread.is_alive()


def test_of_two_hints_for_a_run_that_lines_up_one_is_enough() -> None:
    watching = Watch()
    with watching.lined_up(7) as alone, watching.lined_up(7) as second, watching.lined_up(8) as other:
        assert (alone, second, other, watching.held) == (True, False, True, 2)
    assert not watching.expects(7)
    with watching.lined_up(7) as alone:
        assert alone
        assert watching.expects(7)
