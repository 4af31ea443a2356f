"""One watcher a process: it renews the leases of the runs in hand, and hears what cannot wait for a boundary.

A run that could not renew its lease for FENCE_S stops by itself: another worker may have it by then.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error, connection

from runs.engine.ports import Cancel
from runs.store import lease, orders

OWNER = f"{socket.gethostname()}:{os.getpid()}"
POLL_S, BEAT_S, FENCE_S = 0.5, 10.0, 20.0

STOPPED, INTERRUPTED, LEAVING, FENCED = "stop_now", "interrupt", "leaving", "fenced"


class Watch:
    """Runs in hand, each with what cancels its call or tool."""

    def __init__(self) -> None:
        self._hands: dict[int, Cancel] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._beaten = 0.0
        self.leaving = False

    @contextmanager
    def holding(self, run_id: int) -> Iterator[None]:
        with self._lock:
            self._hands[run_id] = Cancel()
            self._beaten = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._hands.pop(run_id, None)

    def fresh(self, run_id: int) -> Cancel:
        """A new flag for the next stretch of a run; the one before may have been raised."""
        with self._lock:
            cancel = self._hands[run_id] = Cancel()
        if self.leaving:
            cancel(LEAVING)
        return cancel

    def poke(self, run_id: int) -> None:
        """Look at once: there may be an order for this run."""
        if run_id in self._hands:
            self._wake.set()

    def leave(self) -> None:
        """The process ends: every call in flight is cancelled, its turn is tried again by the next owner."""
        self.leaving = True
        for cancel in list(self._hands.values()):
            cancel(LEAVING)

    def _run(self) -> None:
        while True:
            self._wake.wait(POLL_S)
            self._wake.clear()
            with self._lock:
                hands = dict(self._hands)
                if not hands:
                    self._thread = None
                    connection.close()
                    return
            self._look(hands)

    def _look(self, hands: dict[int, Cancel]) -> None:
        try:
            for run_id, asked in orders.stop_now_asked(list(hands)).items():
                hands[run_id](STOPPED if asked.kind == "stop_now" else INTERRUPTED)
            if time.monotonic() - self._beaten >= BEAT_S:
                lease.renew_all(OWNER)
                self._beaten = time.monotonic()
        except Error:  # the database is away: no renewal counts, and in the end the runs let go by themselves
            connection.close()
        if time.monotonic() - self._beaten > FENCE_S:
            for cancel in hands.values():
                cancel(FENCED)


watch = Watch()
leave, poke = watch.leave, watch.poke
