"""The channel layers: of one process, safe between threads; and of many, which bears that Redis is away.

Channels' own in-memory layer puts into an asyncio queue of whatever loop calls it, which does not wake the loop that
waits on the queue: messages lie until something else does, and some are lost. Here every queue lives on one loop,
the server's, and calls from other loops hop onto it. The hop is awaited: that is the back-pressure.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from channels.layers import InMemoryChannelLayer
from channels_redis.pubsub import RedisPubSubChannelLayer
from redis.exceptions import RedisError

log = logging.getLogger(__name__)


class HopLayer(InMemoryChannelLayer):
    loop: asyncio.AbstractEventLoop | None = None
    closing = False

    def bind(self) -> None:
        """From now on the queues live on the running loop."""
        self.loop = asyncio.get_running_loop()
        self.closing = False

    def unbind(self) -> None:
        """The server has stopped: what comes now is dropped, nobody hears it and nobody may hang on it."""
        self.closing = True

    async def send(self, channel: str, message: dict[str, Any]) -> None:
        await self._hop(super().send, channel, message)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        await self._hop(super().group_send, group, message)

    async def group_send_all(self, told: Sequence[tuple[str, dict[str, Any]]]) -> list[int]:
        """Many messages at once; how many hear each."""
        for group, message in told:
            await self.group_send(group, message)
        return [len(self.groups.get(group, ())) for group, _ in told]

    async def receive(self, channel: str) -> Any:
        if self.loop is None:
            self.bind()
        return await super().receive(channel)

    async def _hop(self, call: Callable[..., Awaitable[Any]], *args: Any) -> None:
        loop = self.loop
        if loop is None or loop is asyncio.get_running_loop():
            await call(*args)
        elif not self.closing and not loop.is_closed():
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_coroutine(call, *args), loop))


async def _coroutine(call: Callable[..., Awaitable[Any]], *args: Any) -> Any:
    return await call(*args)


class PubSubLayer(RedisPubSubChannelLayer):
    """Redis' pub/sub. While Redis is away pages may come and stay: they read the database every few seconds, and hear
    bells again once they acknowledge after its return."""

    loop = None
    """Bells go out from a loop of their own. Without this line the question would fall through to __getattr__, which
    fails in a thread that has no loop: no bell of a worker would ever ring."""

    def __getattr__(self, name: str) -> Any:
        call = super().__getattr__(name)
        return partial(_borne, call) if name in ("group_add", "group_discard") else call

    async def group_send_all(self, told: Sequence[tuple[str, dict[str, Any]]]) -> list[int]:
        """Many messages with one way there and back; how many processes hear each."""
        layer = self._get_layer()
        (shard,) = layer._shards
        async with shard._lock:
            shard._ensure_redis()
            pipe = shard._redis.pipeline(transaction=False)
            for group, message in told:
                pipe.publish(layer._get_group_channel_name(group), self.serialize(message))
            return list(await pipe.execute())

    async def new_channel(self, prefix: str = "specific.") -> str:
        layer = self._get_layer()
        known = set(layer.channels)
        try:
            return str(await layer.new_channel(prefix))
        except (RedisError, OSError) as error:
            log.warning("Redis is away, a page is served without bells: %s", error)
            return next(channel for channel in layer.channels if channel not in known)


async def _borne(call: Callable[..., Awaitable[Any]], *args: Any) -> None:
    try:
        await call(*args)
    except (RedisError, OSError) as error:
        log.warning("Redis is away, a page hears no bells: %s", error)
