"""The channel layer between threads: what another loop sends arrives on the server's, all of it, in order."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from agentdash.layers import HopLayer


@pytest.fixture
def server_loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def on(loop: asyncio.AbstractEventLoop, doing: object) -> object:
    return asyncio.run_coroutine_threadsafe(doing, loop).result(20)  # type: ignore[arg-type]


async def bound(layer: HopLayer) -> None:
    layer.bind()


async def read(layer: HopLayer, channel: str, count: int) -> list[int]:
    return [(await layer.receive(channel))["n"] for _ in range(count)]


def test_a_message_from_another_loop_wakes_the_reader(server_loop: asyncio.AbstractEventLoop) -> None:
    layer = HopLayer()
    on(server_loop, bound(layer))
    on(server_loop, layer.group_add("run.1", "page"))
    reading = asyncio.run_coroutine_threadsafe(read(layer, "page", 1), server_loop)
    asyncio.run(layer.group_send("run.1", {"type": "poke", "n": 5}))
    assert reading.result(20) == [5]


def test_a_burst_from_another_loop_is_not_lost(server_loop: asyncio.AbstractEventLoop) -> None:
    layer = HopLayer()
    on(server_loop, bound(layer))
    on(server_loop, layer.group_add("run.1", "page"))
    reading = asyncio.run_coroutine_threadsafe(read(layer, "page", 500), server_loop)

    async def burst() -> None:
        for number in range(500):
            await layer.group_send("run.1", {"type": "poke", "n": number})

    asyncio.run(burst())
    assert reading.result(20) == list(range(500))


def test_after_the_server_has_stopped_a_message_is_dropped_and_nobody_hangs() -> None:
    layer = HopLayer()
    loop = asyncio.new_event_loop()
    loop.run_until_complete(bound(layer))
    layer.unbind()
    asyncio.run(layer.group_send("run.1", {"type": "poke"}))
    loop.close()
    layer.closing = False
    asyncio.run(layer.group_send("run.1", {"type": "poke"}))


def test_before_there_is_a_server_sending_is_harmless() -> None:
    asyncio.run(HopLayer().group_send("run.1", {"type": "poke"}))
