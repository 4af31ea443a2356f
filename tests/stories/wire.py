"""The wire between the llm's client and the stand-in: every body is kept, and an answer can be held half-way."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2

Answering = Callable[[httpx2.AsyncBaseTransport, httpx2.Request], Awaitable[httpx2.Response]]

BEGUN = b"content_block_delta"
"""An answer is held when its first words have arrived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A request as it left. `place` is "<slug>:<turn>", with ":summary" behind it for a summary."""

    place: str
    body: bytes

    @property
    def turn(self) -> int:
        return int(self.place.split(":")[1])

    @property
    def is_summary(self) -> bool:
        return self.place.endswith(":summary")


@dataclass
class Wire:
    sent: list[Sent] = field(default_factory=list)
    held: list[Sent] = field(default_factory=list)
    _from: int = 0
    _gate: threading.Event = field(default_factory=threading.Event)

    def hold(self, turn: int) -> None:
        """Answers from this turn on stop after their first words. What was held before goes on."""
        self._from, before, self._gate = turn, self._gate, threading.Event()
        before.set()

    def release(self) -> None:
        """What is held goes on, and nothing is held any more."""
        self._from = 0
        self._gate.set()

    def holds(self, turn: int) -> bool:
        """Whether the answer of this turn is held now, or was."""
        return any(one.turn == turn for one in self.held)

    def turns(self, slug: str) -> dict[int, bytes]:
        """The last body of each turn of a run; summaries are no turns."""
        return {
            one.turn: one.body for one in self.sent if one.place.startswith(f"{slug}:") and not one.is_summary
        }

    def around(self, answer: Answering) -> Answering:
        """The transport's method with the story's ear beside it."""

        async def heard(transport: httpx2.AsyncBaseTransport, request: httpx2.Request) -> httpx2.Response:
            body = await request.aread()
            found = await answer(transport, request)
            if request.method != "POST":
                return found
            sent = Sent(place=json.loads(body)["metadata"]["user_id"], body=body)
            self.sent.append(sent)
            passed = _Passed(self.pieces(sent, found.stream))
            return httpx2.Response(found.status_code, headers=found.headers, stream=passed)

        return heard

    async def pieces(self, sent: Sent, stream: Any) -> AsyncIterator[bytes]:
        async for piece in stream:
            yield piece
            if self._from and sent.turn >= self._from and not sent.is_summary and BEGUN in piece:
                gate = self._gate
                self.held.append(sent)
                await asyncio.to_thread(gate.wait)


class _Passed(httpx2.AsyncByteStream):
    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._pieces:
            yield piece
