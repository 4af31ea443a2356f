"""A wire between the product and a model server: it passes everything on, and notes when the product hangs up."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from dataclasses import dataclass, field


@dataclass
class Between:
    """Listens on a port of its own and leads to `to`. `hung_up`: moments at which the product closed a line."""

    to: int
    hung_up: list[float] = field(default_factory=list)
    lines: int = 0
    open: list[socket.socket] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, name="between", daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for one in self.open:
            one.close()

    def after(self, moment: float) -> float | None:
        """Seconds from a moment until the product hung up, None while it has not."""
        return next((at - moment for at in self.hung_up if at >= moment), None)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                self.lines += 1
                far = socket.create_connection(("127.0.0.1", self.to))
                self.open += [near, far]
                threading.Thread(target=self._outward, args=(near, far), daemon=True).start()
                threading.Thread(target=_pass, args=(far, near), daemon=True).start()

    def _outward(self, near: socket.socket, far: socket.socket) -> None:
        _pass(near, far)
        self.hung_up.append(time.monotonic())


def _pass(source: socket.socket, sink: socket.socket) -> None:
    """Until the source ends; then the sink ends too."""
    with contextlib.suppress(OSError):
        while piece := source.recv(65_536):
            sink.sendall(piece)
    for one in (sink, source):
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
