"""Celery's loop of a worker whose threads are all taken, on our broker."""

from __future__ import annotations

import pytest
from kombu import Connection
from kombu.asynchronous import Hub

from agentdash import broker


@pytest.fixture
def hub() -> Hub:
    made = Hub()
    transport = broker.Transport(Connection("redis://127.0.0.1:1"))
    transport.register_with_event_loop(transport, made)
    return made


def test_a_worker_without_a_free_thread_soon_looks_whether_it_has_one(hub: Hub) -> None:
    """Nothing tells its loop when a thread becomes free, and it would sleep for as long as its timers let it."""
    assert hub.fire_timers(max_timers=100) <= broker.ROOM_SECONDS
