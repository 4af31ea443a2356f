"""One process: the server in one thread, a Celery worker in another, the broker and the channel layer between them.

`serve` is the product (server in the main thread, Ctrl-C ends it); `running` is the same for tests and for a run
without a server (server in a thread). Whoever starts either holds the lock of the home: no lease of another process
can be alive then, so every unfinished run is taken up at once.
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
from runs import tasks
from runs.store import lease

LAST_SECONDS = 1.0


def take_up() -> int:
    """Ring every run that has something to do, as if its worker had just let go of it. Returns how many."""
    waiting = lease.take_over_all()
    for run_id in waiting:
        tasks.hint(run_id)
    return len(waiting)


def serve(sock: socket.socket, *, ready: Callable[[], None]) -> None:
    """Server and worker until Ctrl-C or SIGTERM. `ready` is called, in a thread, once the pages can be opened."""
    worker, server = Worker(), Server()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _heard)
    worker.start()
    take_up()
    threading.Thread(target=_when_up, args=(server, ready), daemon=True).start()
    server.run(sockets=[sock])
    worker.stop(LAST_SECONDS)


def _heard(_number: int, _frame: Any) -> None:
    """uvicorn raises the signal once more when it has ended; by then it has done its work."""


def _when_up(server: Server, ready: Callable[[], None]) -> None:
    server.up.wait()
    ready()


def leave(code: int) -> None:
    """End the process now: the interpreter's own exit would wait for threads that wait for an llm."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


@contextmanager
def running(sock: socket.socket | None = None) -> Iterator[str]:
    """Server and worker beside the caller's thread, gone when the block ends. Yields the pages' address."""
    worker = Worker()
    worker.start()
    try:
        take_up()
        with serving(sock or bound("127.0.0.1", 0)) as address:
            yield address
    finally:
        worker.stop()
