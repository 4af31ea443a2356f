"""The stand-in over HTTP in a thread: for tests that want the real SDK on a real wire."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from runs.engine.llm.rehearsal.http import app
from tests.conftest import wait_until


@contextmanager
def served(script: str = "hello") -> Iterator[str]:
    """The address of a server of its own, that lives as long as the block."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app(pace="none", script=script), log_level="critical", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    wait_until(lambda: server.started, what="the rehearsal's server")
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.force_exit = server.should_exit = True
    thread.join()
