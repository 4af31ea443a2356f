"""Who waits holds nothing: a few threads compute, the others queue, and who was called goes first."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from runs.engine.ports import Cancel
from runs.runner import waiting
from runs.runner import watch as watch_module
from runs.runner.waiting import Aside, Seats
from runs.runner.watch import Watch
from runs.store import sql
from runs.store.orders import Asked
from tests.conftest import wait_until


class Crowd:
    """Threads that want a seat, each for a run of its own, and keep it until they are told."""

    def __init__(self, seats: Seats) -> None:
        self.seats = seats
        self.sat: list[str] = []
        self.rise = {name: threading.Event() for name in "abcdef"}
        self.threads: list[threading.Thread] = []

    def comes(self, name: str) -> None:
        """And has sat down, or stands in the queue, when this returns."""

        def sit() -> None:
            self.seats.serve(run(name))
            self.seats.take()
            self.sat.append(name)
            self.rise[name].wait(20)
            self.seats.give()

        before = self.seats.waiting
        self.threads.append(threading.Thread(target=sit, daemon=True))
        self.threads[-1].start()
        wait_until(lambda: name in self.sat or self.seats.waiting > before, what=f"{name} to come")

    def leaves(self, name: str, then: str) -> None:
        self.rise[name].set()
        wait_until(lambda: then in self.sat, what=f"{then} to sit down")


def run(name: str) -> int:
    """Whom a thread of that name serves."""
    return ord(name)


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


def test_a_run_with_an_order_goes_before_all_that_merely_go_on(crowd: Crowd) -> None:
    for name in "abcd":
        crowd.comes(name)
    crowd.seats.call(run("e"))
    crowd.comes("e")
    crowd.leaves("a", then="e")
    crowd.leaves("b", then="c")
    assert crowd.sat == ["a", "b", "e", "c"]


def test_an_order_also_brings_forward_who_was_waiting_when_it_came(crowd: Crowd) -> None:
    for name in "abcdef":
        crowd.comes(name)
    crowd.seats.called({run("e"), run("f")})
    crowd.leaves("a", then="e")
    crowd.leaves("b", then="f")
    crowd.leaves("e", then="c")
    assert crowd.sat == ["a", "b", "e", "f", "c"]


def test_once_its_order_is_answered_a_run_waits_like_all_others(crowd: Crowd) -> None:
    crowd.seats.called({run("d")})
    for name in "abcd":
        crowd.comes(name)
    crowd.seats.called(())
    crowd.leaves("a", then="c")
    assert crowd.sat == ["a", "b", "c"]


@pytest.mark.django_db
def test_whatever_is_ordered_of_a_run_in_hand_or_in_line_brings_it_forward(
    monkeypatch: pytest.MonkeyPatch, crowd: Crowd
) -> None:
    """Not only what cuts a call: a pause waits for the turn's end, and the turn for a seat."""
    held, lined_up, other = (an_asked(number) for number in map(run, "ced"))
    monkeypatch.setattr(watch_module, "seats", crowd.seats)
    monkeypatch.setattr(
        watch_module.orders, "waiting", lambda ids: [one for one in (lined_up, held) if one.run_id in ids]
    )
    for name in "abdce":
        crowd.comes(name)
    watching = Watch()
    with watching.lined_up(lined_up.run_id), watching.holding(other.run_id), watching.holding(held.run_id):
        watching._look(dict(watching._hands))
        assert not watching.fresh(held.run_id).reason
    crowd.leaves("a", then="c")
    crowd.leaves("b", then="e")
    crowd.leaves("c", then="d")
    assert crowd.sat == ["a", "b", "c", "e", "d"]


def an_asked(run_id: int) -> Asked:
    return Asked(id=run_id, run_id=run_id, kind="pause", args={}, by="ada", at=sql.now())


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


class AskedLlm:
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
    asked: Any = AskedLlm(seats)
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
    wait_until(lambda: seats.waiting == 1, what="the thread to queue")
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
