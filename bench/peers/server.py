"""Many clerks behind one loopback port: http://127.0.0.1:PORT/<run>/v1/messages."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import uvicorn

from agentdash.server import bound
from runs.engine.llm.rehearsal.http import App, Event, Receive, Send

from .clerk import Clerk, Work


@dataclass(slots=True)
class Office:
    """An ASGI application. `open` gives a run its clerk and its address."""

    port: int
    clerks: dict[str, App] = field(default_factory=dict)

    def open(self, work: Work) -> tuple[Clerk, str]:
        clerk, name = Clerk(work), f"run{len(self.clerks)}"
        self.clerks[name] = App(clerk)
        return clerk, f"http://127.0.0.1:{self.port}/{name}"

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        name, _, path = scope.get("path", "").lstrip("/").partition("/")
        app = self.clerks.get(name)
        if scope["type"] == "http" and app is not None:
            await app({**scope, "path": f"/{path}"}, receive, send)


@contextmanager
def office() -> Iterator[Office]:
    sock = bound("127.0.0.1", 0)
    desk = Office(sock.getsockname()[1])
    server = uvicorn.Server(uvicorn.Config(desk, log_level="error", lifespan="off", timeout_keep_alive=120))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    try:
        yield desk
    finally:
        server.should_exit = True
        thread.join()
