"""What a run's thread gives to others while it waits: its connection to the database, and its seat.

Of hundreds of runs in one process most wait for an llm. Those that do not would all want the interpreter at once, and
then whatever else lives in it (the loop that reads the llms' answers, the heartbeat, the bells) hardly gets it: with
250 runs at once connections to an llm timed out for that. So a few sit and compute, and the others queue, not for the
interpreter but for a seat. A run that a person has ordered something of goes before all that merely go on, also when it
stood in the queue before the order came: with a thousand runs on two cores that queue is half a minute long.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from django.db import connection

from runs.engine.events import Delta
from runs.engine.ports import Answer, Cancel, Llm, Request

SEATS = 4
"""More than one, because a turn waits for the database a third of its time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Waiter:
    """A thread that wants a seat, for this run."""

    run: int
    sits: threading.Event = field(default_factory=threading.Event)


class Seats:
    """Each thread has one seat or none; taking and giving twice is like once."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._lock = threading.Lock()
        self._queue: list[Waiter] = []
        self._called: frozenset[int] = frozenset()
        self._mine = threading.local()

    @property
    def seated(self) -> bool:
        """Whether the calling thread has a seat."""
        return getattr(self._mine, "seated", False)

    @property
    def waiting(self) -> int:
        """How many threads queue."""
        return len(self._queue)

    def serve(self, run_id: int) -> None:
        """From now on the calling thread takes its seats for this run."""
        self._mine.run = run_id

    def call(self, run_id: int) -> None:
        """A person wants something of this run: it goes before all that merely go on."""
        with self._lock:
            self._called |= {run_id}

    def called(self, run_ids: Collection[int]) -> None:
        """These runs, and no others, are the ones that were called; some may have been waiting for long."""
        with self._lock:
            self._called = frozenset(run_ids)

    def take(self) -> None:
        """Wait for a seat."""
        if self.seated:
            return
        waiter = Waiter(run=getattr(self._mine, "run", 0))
        with self._lock:
            if self._free:
                self._free -= 1
                waiter.sits.set()
            else:
                self._queue.append(waiter)
        waiter.sits.wait()
        self._mine.seated = True

    def give(self) -> None:
        if not self.seated:
            return
        self._mine.seated = False
        with self._lock:
            if self._queue:
                self._next().sits.set()
            else:
                self._free += 1

    def _next(self) -> Waiter:
        """The first in the queue whose run was called, else the first."""
        called = (at for at, one in enumerate(self._queue) if one.run in self._called)
        return self._queue.pop(next(called, 0))


seats = Seats(SEATS)


def give_back() -> None:
    """From now on this thread waits for others."""
    give_connection()
    seats.give()


def come_back() -> None:
    """Wait for a seat, and hold nothing meanwhile: those who sit need the connections."""
    if not seats.seated:
        give_connection()
        seats.take()


def give_connection() -> None:
    """To the pool of a server's connections; one to a file stays open, it is in nobody's way."""
    if connection.vendor == "postgresql" and not connection.in_atomic_block:
        connection.close()


class Aside:
    """An llm whose caller holds nothing while it answers, in a turn or for a summary."""

    def __init__(self, llm: Llm) -> None:
        self.capability = llm.capability
        self._llm = llm

    def answer(self, request: Request, cancel: Cancel) -> Iterator[Delta | Answer]:
        give_back()
        try:
            yield from self._llm.answer(request, cancel)
        finally:
            come_back()

    def count(self, request: Request) -> int | None:
        return self._llm.count(request)
