"""The channel layer between threads: what another loop sends arrives on the server's, all of it, in order."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from channels.layers import get_channel_layer

from agentdash.layers import HopLayer, PubSubLayer
from runs.live import bell
from tests.conftest import wait_until


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


def test_a_worker_whose_layer_is_redis_rings_from_a_loop_of_its_own(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its slices are threads without a loop, and the layer must not ask them for one."""
    redis = {"BACKEND": "agentdash.layers.PubSubLayer", "CONFIG": {"hosts": ["redis://127.0.0.1:1/0"]}}
    settings.CHANNEL_LAYERS = {"default": redis}
    layer = get_channel_layer()
    assert isinstance(layer, PubSubLayer)
    rung: list[tuple[int, int]] = []
    monkeypatch.setattr(bell.Tower, "poke", lambda _, run_id, seq: rung.append((run_id, seq)))
    bell.ring(7, 12)
    wait_until(lambda: rung == [(7, 12)], what="the bell to ring")
