"""What the watchers of one run read, rendered once for all of them.

Fifty browsers on a run would otherwise ask the database and the templates the same thing fifty times for each event.
The newest items stay in memory as JSON; who lacks older ones reads them on its own.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from channels.db import database_sync_to_async

from runs.live import lookout
from runs.present import socket
from runs.present.now import Now
from runs.store import page_reads

GAP = 500
"""A page that lacks more events than this gets a snapshot and the newest ones instead."""

POLL_SECONDS = 4.0
"""Less than the five seconds that a page may lag behind when a bell is lost: looking and drawing take time too."""

FRAME_BYTES = 60_000

LOT = 50
"""So many events are read and sent in one go: a page that stands still holds on to no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One event as the page gets it: `text` is its JSON."""

    seq: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The page as of event `seq`."""

    seq: int
    html: str


class Feed:
    """The events of one run for all its watchers in this process. Lives on the server's loop."""

    def __init__(self, run_id: int) -> None:
        self.run_id = run_id
        self.watchers = 0
        self.lines: deque[Line] = deque(maxlen=GAP)
        self.known = 0
        self.looked = 0.0
        self.reading = asyncio.Lock()

    def told(self, seq: int) -> None:
        """A bell said that event `seq` exists."""
        self.known = max(seq, self.known)

    async def look(self) -> None:
        """See in the database how far the run is: bells can be lost. One look in POLL_SECONDS serves all watchers."""
        if self.looked + POLL_SECONDS * 0.9 < time.monotonic():
            self.looked = time.monotonic()
            self.told(await lookout.last(self.run_id))

    async def after(self, seq: int) -> list[Line]:
        """Events after `seq` that are known to exist, oldest first, at most LOT."""
        if not self._reaches(seq):
            async with self.reading:
                if not self._reaches(seq):
                    await self._read(seq)
        if self._holds(seq):
            return list(islice((line for line in self.lines if line.seq > seq), LOT))
        return await _lines(self.run_id, seq)

    async def snapshot(self) -> Snapshot:
        return await _snapshot(self.run_id)

    def _holds(self, seq: int) -> bool:
        return bool(self.lines) and self.lines[0].seq <= seq + 1

    def _reaches(self, seq: int) -> bool:
        return self._holds(seq) and self.lines[-1].seq >= self.known

    async def _read(self, seq: int) -> None:
        """Take in what is new; who is the first to read starts from where it stands."""
        start = self.lines[-1].seq if self.lines else seq
        self.lines.extend(await _lines(self.run_id, start))


_feeds: dict[int, Feed] = {}


def enter(run_id: int) -> Feed:
    """The feed of this run, kept until as many left as entered."""
    feed = _feeds.setdefault(run_id, Feed(run_id))
    feed.watchers += 1
    return feed


def leave(feed: Feed) -> None:
    feed.watchers -= 1
    if not feed.watchers:
        _feeds.pop(feed.run_id, None)


def watchers(run_id: int) -> int:
    """How many pages watch this run through this process."""
    return _feeds[run_id].watchers if run_id in _feeds else 0


def frames(lines: list[Line]) -> list[str]:
    """The lines as messages of the socket, none much larger than FRAME_BYTES unless a single event is."""
    packed: list[list[str]] = []
    room = 0
    for line in lines:
        if len(line.text) > room:
            packed.append([])
            room = FRAME_BYTES
        packed[-1].append(line.text)
        room -= len(line.text)
    return [f'{{"t":"events","items":[{",".join(frame)}]}}' for frame in packed]


_in_thread = partial(database_sync_to_async, thread_sensitive=False)
"""Not on the one thread that Django shares: a long snapshot must not hold up other runs."""


@_in_thread
def _lines(run_id: int, seq: int) -> list[Line]:
    events = page_reads.every_event(run_id, seq, LOT)
    if not events:
        return []
    items = socket.items(Now.of(run_id), events)
    return [Line(seq=item["seq"], text=_json(item)) for item in items]


@_in_thread
def _snapshot(run_id: int) -> Snapshot:
    now = Now.of(run_id)
    return Snapshot(seq=now.run.next_seq - 1, html=socket.snapshot(now))


def _json(item: dict[str, Any]) -> str:
    return json.dumps(item, ensure_ascii=False, separators=(",", ":"))
