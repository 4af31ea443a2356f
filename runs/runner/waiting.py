"""What a run's thread gives to others while it waits: its connection to the database, and its seat.

Of hundreds of runs in one process most wait for an llm. Those that do not would all want the interpreter at once, and
then whatever else lives in it (the loop that reads the llms' answers, the heartbeat, the bells) hardly gets it: with
250 runs at once connections to an llm timed out for that. So a few sit and compute, and the others queue, not for the
interpreter but for a seat; who was called by a person goes first.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator

from django.db import connection

from runs.engine.events import Delta
from runs.engine.ports import Answer, Cancel, Llm, Request

SEATS = 4
"""More than one, because a turn waits for the database a third of its time."""


class Seats:
    """Each thread has one seat or none; taking and giving twice is like once."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._lock = threading.Lock()
        self._first: deque[threading.Event] = deque()
        self._then: deque[threading.Event] = deque()
        self._mine = threading.local()

    @property
    def seated(self) -> bool:
        """Whether the calling thread has a seat."""
        return getattr(self._mine, "seated", False)

    def take(self, *, first: bool = False) -> None:
        """Wait for a seat, before all who do not come `first`."""
        if self.seated:
            return
        with self._lock:
            if self._free:
                self._free -= 1
                turn = None
            else:
                turn = threading.Event()
                (self._first if first else self._then).append(turn)
        if turn:
            turn.wait()
        self._mine.seated = True

    def give(self) -> None:
        if not self.seated:
            return
        self._mine.seated = False
        with self._lock:
            queue = self._first or self._then
            if queue:
                queue.popleft().set()
            else:
                self._free += 1


seats = Seats(SEATS)


def give_back() -> None:
    """From now on this thread waits for others."""
    give_connection()
    seats.give()


def come_back(*, first: bool = False) -> None:
    """Wait for a seat, and hold nothing meanwhile: those who sit need the connections."""
    if not seats.seated:
        give_connection()
        seats.take(first=first)


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
            come_back(first=bool(cancel.reason))

    def count(self, request: Request) -> int | None:
        return self._llm.count(request)
