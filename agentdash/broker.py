"""`redis://` for Celery, with a reader that survives nonsense in the queue and sees when there is room again.

In kombu's own, a message that is no JSON or lacks its envelope ends the worker that reads it, and the next one too when
somebody sends it again. A message is only a hint: one that cannot be read is dropped, and the sweeper looks anyway.
"""

from __future__ import annotations

import logging
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, redis

ROOM_SECONDS = 0.2
"""A worker whose threads are all taken does not listen, and a thread that becomes free does not wake its loop: it would
sleep for a second or more, while runs wait for that thread."""

log = logging.getLogger(__name__)


class Channel(redis.Channel):
    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)
        except (ValueError, RecursionError) as error:  # it was taken from the queue, and is no JSON
            log.warning("A message that cannot be read was dropped: %s", error)
            return True


class Transport(redis.Transport):
    Channel = Channel

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        super().register_with_event_loop(connection, loop)
        loop.call_repeatedly(ROOM_SECONDS, _look_again)

    def _deliver(self, message: Any, queue: str) -> None:
        try:
            Channel.Message(message, channel=self.channels[0])
        except Exception as error:  # whatever is wrong with it, nobody can act on it
            log.warning("A message without a proper envelope was dropped: %r", error)
            return
        super()._deliver(message, queue)


def _look_again() -> None:
    """The loop asks on every round whether there is room."""


def register() -> None:
    """Make Celery read Redis so."""
    TRANSPORT_ALIASES["redis"] = TRANSPORT_ALIASES["rediss"] = f"{__name__}:Transport"
