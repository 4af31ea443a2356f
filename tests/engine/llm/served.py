"""The stand-in over HTTP in a thread: for tests that want the real SDK on a real wire."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from runs.engine.llm.rehearsal.http import App, app
from tests.conftest import wait_until

Door = Callable[[App], Callable[..., Any]]


@contextmanager
def served(script: str = "hello", door: Door | None = None) -> Iterator[str]:
    """The address of a server of its own, that lives as long as the block. `door` stands before the stand-in."""
    listening = socket.create_server(("127.0.0.1", 0))
    inside = app(pace="none", script=script)
    config = uvicorn.Config(door(inside) if door else inside, log_level="critical", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    wait_until(lambda: server.started, what="the rehearsal's server")
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.force_exit = server.should_exit = True
    thread.join()
