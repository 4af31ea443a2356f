"""`inproc://`: a Celery broker inside one process that wakes its reader instead of being polled.

kombu's own memory transport sleeps a whole polling interval after each empty look; this one waits on a condition
that every put and acknowledgement signals. Nothing in it outlives the process: the database says what there is to do.
"""

from __future__ import annotations

import threading
import time
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, memory


class Bed:
    """Where the reader sleeps until somebody calls."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.calls = 0
        self.leaving = False

    def wake(self) -> None:
        with self._changed:
            self.calls += 1
            self._changed.notify_all()

    def leave(self) -> None:
        """From now on nobody waits: the reader is asked to end."""
        self.leaving = True
        self.wake()

    def sleep(self, heard: int, seconds: float | None) -> bool:
        """Until there were more calls than `heard`, or `seconds` went by. False when nobody called."""
        with self._changed:
            return self._changed.wait_for(lambda: self.calls != heard, seconds)


bed = Bed()


class Channel(memory.Channel):
    """Every change of a queue wakes the reader, who may have been waiting for it or for room to read on."""

    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:
        super()._put(queue, message, **kwargs)
        bed.wake()

    def _put_fanout(self, exchange: str, message: Any, routing_key: str | None = None, **kwargs: Any) -> None:
        super()._put_fanout(exchange, message, routing_key, **kwargs)
        bed.wake()

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        super().basic_ack(delivery_tag, multiple=multiple)
        bed.wake()

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:
        super().basic_reject(delivery_tag, requeue=requeue)
        bed.wake()


class Transport(memory.Transport):
    Channel = Channel

    def drain_events(self, connection: Any, timeout: float | None = None, **kwargs: Any) -> None:
        """Deliver one message, waiting at most `timeout` seconds for it. Raises TimeoutError when there is none."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            heard = bed.calls
            try:
                self.cycle.get(self._deliver, timeout=timeout)  # type: ignore[union-attr]  # kombu sets it with the first channel
                return
            except Empty:
                left = None if end is None else end - time.monotonic()
                if bed.leaving or (left is not None and left <= 0) or not bed.sleep(heard, left):
                    raise TimeoutError from None


def register() -> None:
    """Make `inproc://` known to Celery."""
    TRANSPORT_ALIASES["inproc"] = f"{__name__}:Transport"
