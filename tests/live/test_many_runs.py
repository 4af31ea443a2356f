"""Bells of a thousand runs in one process: they go out in lots, and nothing is typed for runs that nobody watches."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import OperationalError

from runs.engine.events import Delta
from runs.live import groups, lookout
from runs.live.bell import MOST_WAITING, Tower

WATCHED, ALONE = 1, 2


class Layer:
    """Takes lots when it is let; `listening` are the groups somebody hears."""

    def __init__(self, *listening: int) -> None:
        self.listening = {groups.run(run_id) for run_id in listening}
        self.lots: list[list[tuple[str, dict[str, Any]]]] = []
        self.open = asyncio.Event()

    async def send(self, told: Sequence[tuple[str, dict[str, Any]]]) -> list[int]:
        self.lots.append(list(told))
        await self.open.wait()
        return [int(group in self.listening) for group, _ in told]


async def sent(tower: Tower) -> None:
    while tower.sending is not None:
        await tower.sending


def test_what_comes_while_one_lot_is_on_its_way_goes_out_together() -> None:
    async def ring() -> list[int]:
        layer = Layer()
        tower = Tower(asyncio.get_running_loop(), layer.send)
        tower.poke(0, 1)
        await asyncio.wait([asyncio.create_task(sent(tower))], timeout=0)
        for run_id in range(1, 100):
            tower.poke(run_id, 1)
        layer.open.set()
        await sent(tower)
        return [len(lot) for lot in layer.lots]

    assert asyncio.run(ring()) == [1, 99]


def test_a_run_to_which_nobody_listens_is_not_typed_for_and_its_events_are_told_all_the_same() -> None:
    async def ring() -> tuple[bool, bool, int]:
        layer = Layer(WATCHED)
        layer.open.set()
        tower = Tower(asyncio.get_running_loop(), layer.send)
        for run_id in (WATCHED, ALONE):
            tower.poke(run_id, 1)
        await sent(tower)
        heard = tower.is_heard(WATCHED), tower.is_heard(ALONE)
        layer.lots.clear()
        tower._out(ALONE, {"type": "poke", "seq": 2})
        await sent(tower)
        return *heard, len(layer.lots)

    assert asyncio.run(ring()) == (True, False, 1)


def test_commits_of_a_run_whose_bell_is_out_wake_no_loop_and_the_last_is_told() -> None:
    async def ring() -> tuple[set[bool], list[int]]:
        layer = Layer(WATCHED)
        layer.open.set()
        tower = Tower(asyncio.get_running_loop(), layer.send)
        quiet = tower.gathers(WATCHED, 1)
        tower.poke(WATCHED, 1)
        taken = {await asyncio.to_thread(tower.gathers, WATCHED, seq) for seq in range(2, 60)}
        while WATCHED in tower.pokes:
            await asyncio.wait([asyncio.create_task(sent(tower))], timeout=0)
        return {quiet, *taken}, [message["seq"] for lot in layer.lots for _, message in lot]

    said, told = asyncio.run(ring())
    assert said == {False, True}, "taken up by the bell that is out, but not before there is one"
    assert (told[0], told[-1]) == (1, 59)


def test_who_begins_to_listen_is_typed_for_again() -> None:
    async def ring() -> list[bool]:
        layer = Layer()
        layer.open.set()
        tower = Tower(asyncio.get_running_loop(), layer.send)
        heard = []
        for listening in (set(), {groups.run(ALONE)}):
            layer.listening = listening
            tower._out(ALONE, {"type": "poke", "seq": 1})
            await sent(tower)
            heard.append(tower.is_heard(ALONE))
        return heard

    assert asyncio.run(ring()) == [False, True]


def test_a_layer_that_takes_nothing_does_not_fill_the_memory() -> None:
    async def ring() -> int:
        layer = Layer()
        tower = Tower(asyncio.get_running_loop(), layer.send)
        for run_id in range(2 * MOST_WAITING):
            tower.poke(run_id, 1)
        waiting = len(tower.waiting)
        layer.open.set()
        await sent(tower)
        return waiting

    assert asyncio.run(ring()) == MOST_WAITING


def test_a_layer_that_fails_is_asked_again_with_the_next_bell() -> None:
    async def ring() -> int:
        lots = 0

        async def send(told: Sequence[tuple[str, dict[str, Any]]]) -> list[int]:
            nonlocal lots
            lots += 1
            if lots == 1:
                raise ConnectionError("Redis is away")
            return [1 for _ in told]

        tower = Tower(asyncio.get_running_loop(), send)
        for seq in (1, 2):
            tower._out(WATCHED, {"type": "poke", "seq": seq})
            await sent(tower)
        return lots

    assert asyncio.run(ring()) == 2


def test_letters_of_a_watched_run_still_go_out() -> None:
    async def ring() -> list[str]:
        layer = Layer(WATCHED)
        layer.open.set()
        tower = Tower(asyncio.get_running_loop(), layer.send)
        tower.type(WATCHED, Delta(turn=1, block=0, offset=0, text="ab"))
        tower._typed(WATCHED)
        await sent(tower)
        return [message["delta"]["text"] for lot in layer.lots for _, message in lot]

    assert asyncio.run(ring()) == ["ab"]


def test_pages_that_look_at_once_ask_the_database_once_or_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []

    async def newest(run_ids: Sequence[int]) -> dict[int, int]:
        looks.append(len(run_ids))
        await asyncio.wait([asyncio.create_task(asyncio.Event().wait())], timeout=0)
        return {run_id: 10 * run_id for run_id in run_ids if run_id != 7}

    async def look() -> list[int]:
        return await asyncio.gather(*(lookout.last(run_id) for run_id in (*range(100), *range(100))))

    monkeypatch.setattr(lookout, "_newest", newest)
    assert asyncio.run(look()) == [0 if run_id == 7 else 10 * run_id for run_id in (*range(100), *range(100))]
    assert (len(looks), sum(looks)) == (1, 100)


def test_a_page_that_leaves_while_it_looks_takes_the_answer_from_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def look() -> int:
        may = asyncio.Event()

        async def newest(run_ids: Sequence[int]) -> dict[int, int]:
            await may.wait()
            return dict.fromkeys(run_ids, 3)

        monkeypatch.setattr(lookout, "_newest", newest)
        leaves, stays = (asyncio.create_task(lookout.last(1)) for _ in range(2))
        await asyncio.wait([leaves, stays], timeout=0)
        leaves.cancel()
        may.set()
        return await stays

    assert asyncio.run(look()) == 3


def test_a_database_that_fails_is_told_to_who_asked_and_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([OperationalError("away"), {1: 5}])

    async def newest(_: Sequence[int]) -> dict[int, int]:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def look() -> int:
        with pytest.raises(OperationalError):
            await lookout.last(1)
        return await lookout.last(1)

    monkeypatch.setattr(lookout, "_newest", newest)
    assert asyncio.run(look()) == 5
