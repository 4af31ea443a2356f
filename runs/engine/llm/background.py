"""The one asyncio loop of a process, in a daemon thread: what waits on the network waits there.

Cancelling a task wakes it at once; closing a blocking stream from another thread would not.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}


def loop() -> asyncio.AbstractEventLoop:
    """The loop of this process; a forked child makes its own, since threads do not survive a fork."""
    with _lock:
        found = _loops.get(os.getpid())
        if found is None:
            found = asyncio.new_event_loop()
            _loops[os.getpid()] = found
            threading.Thread(target=found.run_forever, name="llm", daemon=True).start()
        return found


def wait(work: Coroutine[Any, Any, T], seconds: float) -> T:
    """Run `work` on the loop and wait for it from another thread. Raises TimeoutError, and what `work`
    raises."""
    future = asyncio.run_coroutine_threadsafe(work, loop())
    try:
        return future.result(seconds)
    finally:
        future.cancel()
