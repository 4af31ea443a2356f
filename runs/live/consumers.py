"""The socket of a run's page: read-only. A page greets, acknowledges and pings; orders are POSTs."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from importlib import import_module
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth import SESSION_KEY

from runs.live import feed, groups
from runs.live.pump import Blocked, Pump
from runs.models import Run

INBOUND_BYTES = 65_536
INBOUND_A_SECOND = 20
SESSION_SECONDS = 60.0

UNSUPPORTED, POLICY, TOO_BIG, BROKEN, TRY_LATER = 1003, 1008, 1009, 1011, 1013
LOGGED_OUT, NO_SUCH_RUN = 4401, 4404

log = logging.getLogger(__name__)


class RunConsumer(AsyncWebsocketConsumer):
    """Messages both ways are those of the contract ("Socket"); an empty list of events answers a ping."""

    feed: feed.Feed | None = None
    pumping: asyncio.Task[None] | None = None
    ended = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:  # not in disconnect, which a broken connection may never reach
            if self.feed:
                feed.leave(self.feed)
            if self.pumping:
                self.pumping.cancel()

    async def connect(self) -> None:
        await self.accept()
        if not self.scope["user"].is_authenticated:
            await self._end(LOGGED_OUT)
            return
        run_id = await _visible(self.scope["user"].pk, self.scope["url_route"]["kwargs"]["slug"])
        if run_id is None:
            await self._end(NO_SUCH_RUN)
            return
        self.group = groups.run(run_id)
        self.meter = Meter()
        await self.channel_layer.group_add(self.group, self.channel_name)
        self.feed = feed.enter(run_id)
        self.pump = Pump(self.feed, self.send)
        self.pumping = asyncio.create_task(self._pump())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.ended:
            return
        if wrong := self.meter.wrong(text_data):
            await self._end(wrong)
            return
        match _parsed(text_data or ""):
            case {"t": "hello", "seq": int(seq)}:
                self.pump.hello(seq)
            case {"t": "ack", "seq": int()}:
                # The in-memory layer drops a channel from its groups when a message grew too old in it.
                await self.channel_layer.group_add(self.group, self.channel_name)
            case {"t": "ping"}:
                self.pump.ping()
            case _:
                await self._end(POLICY)

    async def poke(self, message: dict[str, Any]) -> None:
        self.pump.poke(message["seq"])

    async def typed(self, message: dict[str, Any]) -> None:
        self.pump.type(message["delta"])

    async def abandoned(self, _message: dict[str, Any]) -> None:
        await self.websocket_disconnect({"code": TRY_LATER})

    async def disconnect(self, code: int) -> None:
        self.ended = True
        if self.feed:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def _end(self, code: int) -> None:
        if not self.ended:
            self.ended = True
            await self.close(code)

    async def _pump(self) -> None:
        try:
            await self._end(await self._moved())
        except Blocked:
            await self._abandon()
        except OSError:
            pass  # the browser has gone, and the consumer hears of it on its own
        except Exception:  # the page comes back and reads on; a silent socket would look like a quiet run
            log.exception("the socket of %s broke", self.group)
            await self._end(BROKEN)

    async def _abandon(self) -> None:
        """Close on a browser that takes nothing: it may not even take the closing."""
        try:
            async with asyncio.timeout(1):
                await self._end(TRY_LATER)
        except TimeoutError:
            await self.channel_layer.send(self.channel_name, {"type": "abandoned"})

    async def _moved(self) -> int:
        """Move events until there is a reason not to; returns the code to close with."""
        checked = time.monotonic()
        while True:
            await self.pump.beat()
            if time.monotonic() - checked >= SESSION_SECONDS:
                checked = time.monotonic()
                if not await _still_in(self.scope["session"].session_key, self.scope["user"].pk):
                    return LOGGED_OUT


class Meter:
    """Counts what a browser says."""

    def __init__(self) -> None:
        self.count = 0
        self.since = time.monotonic()

    def wrong(self, text: str | None) -> int:
        """The code to close with for this message, 0 when it may pass."""
        if text is None:
            return UNSUPPORTED
        if len(text) > INBOUND_BYTES:
            return TOO_BIG
        now = time.monotonic()
        if now - self.since >= 1:
            self.count, self.since = 0, now
        self.count += 1
        return POLICY if self.count > INBOUND_A_SECOND else 0


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


@database_sync_to_async
def _visible(user_id: int, slug: str) -> int | None:
    return Run.objects.filter(slug=slug, owner_id=user_id).values_list("pk", flat=True).first()


@database_sync_to_async
def _still_in(session_key: str, user_id: int) -> bool:
    store = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    return bool(store.get(SESSION_KEY) == str(user_id))
