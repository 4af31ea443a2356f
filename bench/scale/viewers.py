"""A crowd of viewers in one process: each holds the socket of a run's page, as the page does, and notes when it was
told of each event.

`python -m bench.scale.viewers ADDRESS COOKIE OUT SLUG…` until SIGTERM; then OUT holds the lines, a JSON list each:
viewer, slug, seq, time. One more line at the end tells the deltas that came and the sockets that broke.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

PING_S = 15.0
UP_TO_DATE: dict[str, Any] = {"t": "events", "items": []}
"""Answers a ping, and is acknowledged."""


@dataclass
class Crowd:
    """What all of them saw."""

    address: str
    cookie: str
    seen: list[tuple[int, str, int, float]] = field(default_factory=list)
    deltas: int = 0
    broken: int = 0
    open: int = 0

    async def watch(self, viewer: int, slug: str) -> None:
        """One viewer, who comes back when the line breaks."""
        last = -1
        while True:
            try:
                async with connect(
                    f"{self.address.replace('http', 'ws')}/ws/runs/{slug}/",
                    additional_headers={"Cookie": self.cookie},
                    origin=self.address,  # type: ignore[arg-type]  # a str will do; its stub wants a NewType
                    compression=None,
                    proxy=None,
                    open_timeout=60,
                    max_size=None,
                ) as line:
                    last = await self._listen(line, viewer, slug, last)
            except (WebSocketException, OSError, TimeoutError):
                self.broken += 1
                await _pause(1)

    async def _listen(self, line: ClientConnection, viewer: int, slug: str, last: int) -> int:
        await line.send(json.dumps({"t": "hello", "seq": last}))
        self.open += 1
        pinging = asyncio.create_task(_ping(line))
        try:
            async for text in line:
                now, message = time.time(), json.loads(text)
                last = self._take(message, viewer, slug, last, now)
                if message == UP_TO_DATE:
                    await line.send(json.dumps({"t": "ack", "seq": last}))
        finally:
            self.open -= 1
            pinging.cancel()
        return last

    def _take(self, message: dict[str, Any], viewer: int, slug: str, last: int, now: float) -> int:
        self.deltas += message["t"] == "delta"
        if message["t"] == "snapshot":
            return int(message["seq"])
        for item in message.get("items", ()):
            if item["seq"] > last:
                last = int(item["seq"])
                self.seen.append((viewer, slug, last, now))
        return last


async def _ping(line: ClientConnection) -> None:
    while True:
        await _pause(PING_S)
        await line.send('{"t":"ping"}')


async def _pause(seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.Event().wait()


async def watch(address: str, cookie: str, out: Path, slugs: Sequence[str]) -> None:
    crowd, ended = Crowd(address=address, cookie=cookie), asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    tasks = [asyncio.create_task(crowd.watch(number, slug)) for number, slug in enumerate(slugs)]
    await ended.wait()
    for task in tasks:
        task.cancel()
    with out.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in crowd.seen)
        file.write(json.dumps({"deltas": crowd.deltas, "broken": crowd.broken}) + "\n")


if __name__ == "__main__":
    address, cookie, out, *slugs = sys.argv[1:]
    asyncio.run(watch(address, cookie, Path(out), slugs))
