"""The web server, in the main thread or beside it. uvicorn, because it stops sending when a browser stops reading."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from channels.layers import get_channel_layer

from agentdash.layers import HopLayer

GRACE = 1
"""Seconds that open requests have to end when the server stops."""


class PortTaken(OSError):
    """The port cannot be had. The message says why, and the cure."""


def bound(host: str, port: int) -> socket.socket:
    """A socket bound to the address; port 0 takes a free one. Raises PortTaken."""
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(128)  # now, not when the server is up: who comes early waits instead of being refused
    except OSError as error:
        sock.close()
        cure = f"Take another one with --port, like --port {port % 65535 + 1}, or set AGENTDASH_PORT."
        raise PortTaken(
            f"Port {port} on {host} cannot be used: {(error.strerror or '').lower()}. {cure}"
        ) from None
    return sock


class Server(uvicorn.Server):
    """While it runs, the channel layer's queues live on its loop. `up` is set once it answers."""

    def __init__(self) -> None:
        from agentdash.asgi import application  # it sets Django up

        super().__init__(
            uvicorn.Config(
                application,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                ws_max_size=65_536,
                ws_ping_interval=20,
                ws_per_message_deflate=False,
                timeout_graceful_shutdown=GRACE,
            )
        )
        layer = get_channel_layer()
        self.layer = layer if isinstance(layer, HopLayer) else None
        self.up = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if self.layer:
            self.layer.bind()
        await super().startup(sockets)
        self.up.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        if self.layer:
            self.layer.unbind()


@contextmanager
def serving(sock: socket.socket) -> Iterator[str]:
    """A server in a thread, gone when the block ends. Yields its address, without a slash at the end."""
    server = Server()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, name="server", daemon=True)
    thread.start()
    host, port = sock.getsockname()[:2]
    try:
        if not server.up.wait(15):
            raise RuntimeError(
                "The server did not start within 15 s. Start again; agentdash.log says what held it."
            )
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join(10)
