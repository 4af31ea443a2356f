"""A page of a house, without a browser: it holds the socket, comes back when it is cut, and keeps what it was told."""

from __future__ import annotations

import contextlib
import http.cookiejar
import json
import socket
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from .house import House

PAUSE = threading.Event()


@dataclass
class Browser:
    """A session with the pages of a house."""

    house: House
    jar: http.cookiejar.CookieJar = field(default_factory=http.cookiejar.CookieJar)

    def __post_init__(self) -> None:
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.house.port}"

    def enter(self, link: str) -> None:
        """By the one-time address that the house printed."""
        with self.opener.open(link, timeout=30) as answer:
            assert answer.status == 200

    def get(self, path: str, accept: str = "text/html", seconds: float = 60) -> tuple[int, str]:
        request = urllib.request.Request(self.address + path, headers={"Accept": accept})
        return self._answer(request, seconds)

    def order(self, slug: str, kind: str, seconds: float = 60, **args: Any) -> tuple[int, str]:
        """An order as a script would give it: JSON, with the token that forms carry."""
        token = next((c.value for c in self.jar if "csrf" in c.name), "") or ""
        request = urllib.request.Request(
            f"{self.address}/runs/{slug}/orders/{kind}/",
            data=json.dumps(args).encode(),
            headers={
                "Accept": "application/json",
                "Content-Type": "application/json",
                "X-CSRFToken": token,
                "Origin": self.address,
                "Referer": self.address + "/",
            },
        )
        return self._answer(request, seconds)

    def _answer(self, request: urllib.request.Request, seconds: float) -> tuple[int, str]:
        try:
            with self.opener.open(request, timeout=seconds) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def cookie(self) -> str:
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.jar)

    def socket(self, slug: str) -> ClientConnection:
        where = self.address.replace("http", "ws") + f"/ws/runs/{slug}/"
        headers = {"Cookie": self.cookie()}
        return connect(where, additional_headers=headers, origin=self.address, proxy=None, open_timeout=20)  # type: ignore[arg-type]


class Viewer:
    """Watches a run in a thread of its own. `seqs` is every event it was given, in the order in which it was."""

    def __init__(self, browser: Browser, slug: str) -> None:
        self.browser, self.slug = browser, slug
        self.seqs: list[int] = []
        self.resyncs = 0
        self.opened = self.cuts = 0
        self.snapshots = 0
        self.ended = threading.Event()
        self.line: ClientConnection | None = None
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> Viewer:
        self.thread.start()
        return self

    def stop(self) -> None:
        self.ended.set()
        self._hang_up()
        self.thread.join(20)

    def cut(self) -> bool:
        """As a network that goes away. False: the line of the last cut has not come back yet."""
        if self.opened <= self.cuts:
            return False
        self.cuts += 1
        self._hang_up()
        return True

    def _hang_up(self) -> None:
        if self.line:
            with contextlib.suppress(OSError):
                self.line.socket.shutdown(socket.SHUT_RDWR)

    @property
    def last(self) -> int:
        return self.seqs[-1] if self.seqs else 0

    def _watch(self) -> None:
        while not self.ended.is_set():
            try:
                with self.browser.socket(self.slug) as self.line:
                    self.opened += 1
                    self.line.send(json.dumps({"t": "hello", "seq": self.last}))
                    while not self.ended.is_set():
                        self._take(json.loads(self.line.recv(timeout=30)))
            except (WebSocketException, OSError, TimeoutError, EOFError):
                PAUSE.wait(0.2)

    def _take(self, message: dict[str, Any]) -> None:
        if message["t"] == "resync" and self.line:
            self.resyncs += 1
            self.line.send(json.dumps({"t": "hello", "seq": -1}))
        if message["t"] == "snapshot":
            self.snapshots += 1
            self.seqs = [*range(1, message["seq"] + 1)]
        for item in message.get("items", []):
            if item["seq"] > self.last:  # what was on its way when the line was cut comes again
                self.seqs.append(item["seq"])

    def missing(self, upto: int) -> list[str]:
        """What is wrong with what it saw, of `upto` events."""
        wanted = list(range(1, upto + 1))
        if self.resyncs:
            return [f"a viewer was drawn anew {self.resyncs} times for nothing"]
        return (
            []
            if self.seqs == wanted
            else [f"a viewer saw {len(self.seqs)} of {upto} events, the last {self.last}"]
        )
