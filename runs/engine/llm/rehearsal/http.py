"""The stand-in over HTTP: a bare ASGI application, for `agentdash rehearse`, benchmarks and other clients."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote

from .standin import StandIn
from .wire import Asked, Reply, Reset

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]


class App:
    """ASGI 3. A Reset leaves the response without its end, so the server breaks the connection."""

    def __init__(self, standin: StandIn) -> None:
        self.standin = standin

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        body = await _body(receive)
        if body is None:
            return
        path = unquote(scope["path"])
        reply = await self.standin.answer(
            Asked(method=scope["method"], path=path, headers=headers, body=body)
        )
        await _send(reply, send)


async def _send(reply: Reply, send: Send) -> None:
    head = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": head})
    try:
        async for piece in reply.body:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    except Reset:
        return
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _body(receive: Receive) -> bytes | None:
    """The whole request body, None when the client has gone."""
    pieces = []
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            return None
        pieces.append(event.get("body", b""))
        if not event.get("more_body"):
            return b"".join(pieces)


async def _live(receive: Receive, send: Send) -> None:
    while True:
        event = await receive()
        await send({"type": f"{event['type']}.complete"})
        if event["type"] == "lifespan.shutdown":
            return


def app(*, pace: str = "human", script: str = "") -> App:
    """An application of its own, with a cache and a memory for faults of its own."""
    return App(StandIn(pace=pace, script=script))
