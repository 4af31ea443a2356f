"""Moves a run's events to one browser, as fast as it takes them and no faster.

Nothing but typing is ever queued: what a slow page lacks lies in the database, and is read when there is room again.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from runs.live.feed import GAP, POLL_SECONDS, Feed, frames

QUEUE_BYTES = 256_000
BLOCKED_SECONDS = 10.0
SNAPSHOT = -1
"""A page that asks for events after this number wants to be drawn anew."""


class Blocked(Exception):
    """The browser took nothing for too long."""


class Pump:
    """One page's place in the run. `send` takes a text and returns when there is room for the next."""

    def __init__(self, feed: Feed, send: Callable[[str], Awaitable[None]]) -> None:
        self.feed = feed
        self.send = send
        self.seq = 0
        self.woken = asyncio.Event()
        self.greeted = False
        self.asked = False
        self.typing: deque[str] = deque()
        self.typing_bytes = 0

    def hello(self, seq: int) -> None:
        """The page shows the run as of event `seq`; from here on."""
        self.seq, self.greeted = seq, True
        self.feed.looked = 0.0
        self.woken.set()

    def ping(self) -> None:
        """Answered after everything that is known by then: the answer says that the page is up to date."""
        self.asked = True
        self.woken.set()

    def poke(self, seq: int) -> None:
        self.feed.told(seq)
        self.woken.set()

    def type(self, delta: dict[str, Any]) -> None:
        """Typing is thrown away when the page does not keep up: the turn's event brings the whole text."""
        text = json.dumps({"t": "delta", **delta}, ensure_ascii=False)
        if self.typing_bytes + len(text) <= QUEUE_BYTES:
            self.typing.append(text)
            self.typing_bytes += len(text)
            self.woken.set()

    async def beat(self) -> None:
        """Wait for something to do, look into the database when nothing rang, and move what there is."""
        try:
            async with asyncio.timeout(POLL_SECONDS):
                await self.woken.wait()
        except TimeoutError:
            self.feed.looked = 0.0
        self.woken.clear()
        if self.greeted:
            await self.feed.look()
            await self._events()
        await self._typed()
        if self.asked:
            self.asked = False
            await self._out('{"t":"events","items":[]}')

    async def _events(self) -> None:
        if self.seq > self.feed.known:
            self.greeted = False  # a page of another past, from before a restore; it greets again
            await self._out('{"t":"resync"}')
            return
        if self.seq <= SNAPSHOT or self.feed.known - self.seq > GAP:
            await self._snapshot()
        while self.seq < self.feed.known and (lines := await self.feed.after(self.seq)):
            for frame in frames(lines):
                await self._out(frame)
            self.seq = lines[-1].seq
            self.feed.told(self.seq)  # the database may be ahead of the bells

    async def _snapshot(self) -> None:
        snapshot = await self.feed.snapshot()
        self.seq = snapshot.seq
        self.feed.told(self.seq)
        await self._out(
            json.dumps({"t": "snapshot", "seq": snapshot.seq, "html": snapshot.html}, ensure_ascii=False)
        )

    async def _typed(self) -> None:
        while self.typing:
            text = self.typing.popleft()
            self.typing_bytes -= len(text)
            await self._out(text)

    async def _out(self, text: str) -> None:
        try:
            async with asyncio.timeout(BLOCKED_SECONDS):
                await self.send(text)
        except TimeoutError:
            raise Blocked from None
