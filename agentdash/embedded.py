"""One process: the server in one thread, a Celery worker in another, the broker and the channel layer between them.

`serve` is the product (server in the main thread, Ctrl-C ends it); `running` is the same for tests and for a run
without a server (server in a thread). Whoever starts either holds the lock of the home (agentdash.home).
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agentdash.server import Server, bound, serving
from agentdash.worker import Worker

LAST_SECONDS = 1.0


def serve(sock: socket.socket, *, ready: Callable[[], None]) -> None:
    """Server and worker until Ctrl-C or SIGTERM. `ready` is called, in a thread, once the pages can be opened."""
    worker, server = Worker(), Server()

    def heard(_number: int, _frame: Any) -> None:
        server.should_exit = (
            True  # before uvicorn listens to signals itself, and once more after it has ended
        )

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, heard)
    worker.start()
    threading.Thread(target=_when_up, args=(server, ready), daemon=True).start()
    server.run(sockets=[sock])
    worker.stop(LAST_SECONDS)


def _when_up(server: Server, ready: Callable[[], None]) -> None:
    server.up.wait()
    ready()


def leave(code: int) -> None:
    """End the process now: the interpreter's own exit would wait for threads that wait for an llm."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


@contextmanager
def running(sock: socket.socket | None = None, *, seconds: float = 10) -> Iterator[str]:
    """Server and worker beside the caller's thread. Yields the pages' address.

    Both are gone when the block ends; slices that still run have `seconds` to end.
    """
    worker = Worker()
    worker.start()
    try:
        with serving(sock or bound("127.0.0.1", 0)) as address:
            yield address
    finally:
        worker.stop(seconds)
