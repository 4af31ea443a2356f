"""The wire between the llm's client and the stand-in: every body is kept, and an answer can be held half-way."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx2

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
        return {one.turn: one.body for one in self.sent if one.place.startswith(f"{slug}:") and not one.is_summary}

    def around(self, inner: httpx2.AsyncBaseTransport) -> httpx2.AsyncBaseTransport:
        return _Between(self, inner)

    async def pieces(self, sent: Sent, stream: Any) -> AsyncIterator[bytes]:
        async for piece in stream:
            yield piece
            if self._from and sent.turn >= self._from and not sent.is_summary and BEGUN in piece:
                gate = self._gate
                self.held.append(sent)
                await asyncio.to_thread(gate.wait)


class _Between(httpx2.AsyncBaseTransport):
    def __init__(self, wire: Wire, inner: httpx2.AsyncBaseTransport) -> None:
        self.wire, self.inner = wire, inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        answer = await self.inner.handle_async_request(request)
        if request.method != "POST":
            return answer
        sent = Sent(place=json.loads(body)["metadata"]["user_id"], body=body)
        self.wire.sent.append(sent)
        passed = _Passed(self.wire.pieces(sent, answer.stream))
        return httpx2.Response(answer.status_code, headers=answer.headers, stream=passed)


class _Passed(httpx2.AsyncByteStream):
    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._pieces:
            yield piece
