"""A stand-in that keeps accounts of who waits for whom, and of what the cache should have read."""

from __future__ import annotations

import re
import resource
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from runs.engine.llm.rehearsal.cache import Account, PrefixCache, bare
from runs.engine.llm.rehearsal.count import Element
from runs.engine.llm.rehearsal.standin import StandIn
from runs.engine.llm.rehearsal.wire import Asked, Reply

_PLACE = re.compile(rb'"user_id":\s*"[^":]*:(\d+)(:summary)?"')


def rss_mb() -> float:
    """The most memory this process ever held."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


class Books(PrefixCache):
    """The cache's accounts, and beside them what each request paid anew although the one before held it."""

    def __init__(self) -> None:
        super().__init__()
        self.rewritten = 0
        self.before: Sequence[Element] = ()

    def account(self, body: Mapping[str, Any], elements: Sequence[Element]) -> Account:
        account = super().account(body, elements)
        if not str(body["metadata"]["user_id"]).endswith(":summary"):
            held = _held(self.before, elements)
            self.rewritten += max(0, held - account.read)
            self.before = elements
        return account


def _held(before: Sequence[Element], now: Sequence[Element]) -> int:
    """Tokens with which two requests begin alike."""
    held = 0
    for one, two in zip(before, now, strict=False):
        if one.tokens != two.tokens or bare(one.value) != bare(two.value):
            break
        held += two.tokens
    return held


@dataclass(slots=True)
class Clocks:
    """Time that passed and time in the stand-in, at the begin of each turn. Seconds."""

    cpu: float = 0.0
    wall: float = 0.0
    turn: int = 0
    marks: list[tuple[float, float]] = field(default_factory=list)

    def mark(self) -> None:
        self.marks.append((time.process_time() - self.cpu, time.perf_counter() - self.wall))

    @contextmanager
    def inside(self) -> Iterator[None]:
        cpu, wall = time.thread_time(), time.perf_counter()
        try:
            yield
        finally:
            self.cpu += time.thread_time() - cpu
            self.wall += time.perf_counter() - wall

    def per_turn(self) -> tuple[list[float], list[float]]:
        """CPU and wall of each turn in ms, without the stand-in's."""
        pairs = list(zip(self.marks, self.marks[1:], strict=False))
        cpu = [(two[0] - one[0]) * 1000 for one, two in pairs]
        return cpu, [(two[1] - one[1]) * 1000 for one, two in pairs]


class Metered(StandIn):
    """The stand-in at no pace. `last` is the newest request of a turn."""

    def __init__(self) -> None:
        super().__init__(pace="none")
        self.books = self._cache = Books()
        self.clocks = Clocks()
        self.last = b""
        self.rss_before = rss_mb()

    async def answer(self, asked: Asked) -> Reply:
        place = _PLACE.search(asked.body, max(0, asked.body.rfind(b'"metadata"')))
        if place and not place[2]:
            self.last = asked.body
            if int(place[1]) > self.clocks.turn:
                self.clocks.turn = int(place[1])
                self.clocks.mark()
        with self.clocks.inside():
            reply = await super().answer(asked)
            pieces = [piece async for piece in reply.body]
        return replace(reply, body=_one_by_one(pieces))


async def _one_by_one(pieces: Sequence[bytes]) -> AsyncIterator[bytes]:
    """The pieces of an answer, all made before: that is the stand-in's time, and to look at the clock for each is none
    of anybody's."""
    for piece in pieces:
        yield piece
