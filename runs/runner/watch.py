"""One watcher a process: it renews the leases of the runs in hand, and hears what is ordered of them: some of it cannot
wait for a boundary, and all of it lets the run go before others that want to compute.

A run whose lease could not be renewed for two thirds of it stops by itself: another worker may have it soon.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error, connection

from runs.engine.ports import Cancel
from runs.store import lease, orders

from .waiting import seats

POLL_S = 0.25
STOPPED, INTERRUPTED, LEAVING, FENCED = "stop_now", "interrupt", "leaving", "fenced"

log = logging.getLogger(__name__)

_names: dict[int, str] = {}


def owner() -> str:
    """This process among all others, past ones too: in a container every life has the same host and number."""
    return _names.setdefault(os.getpid(), f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(2)}")


class Watch:
    """Runs in hand, each with what cancels its call or tool."""

    def __init__(self) -> None:
        self._hands: dict[int, Cancel] = {}
        self._lined_up: set[int] = set()
        self._acting: set[int] = set()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._beaten = 0.0
        self.gone = threading.Event()
        self._late: threading.Timer | None = None

    @property
    def leaving(self) -> bool:
        return self.gone.is_set()

    def stay(self) -> None:
        """A worker starts in a process where another has left; the grace of that one is over."""
        if self._late:
            self._late.cancel()
        self.gone.clear()

    @contextmanager
    def holding(self, run_id: int) -> Iterator[None]:
        with self._lock:
            if not self._hands:
                self._beaten = time.monotonic()
            self._hands[run_id] = Cancel()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._hands.pop(run_id, None)
                self._acting.discard(run_id)

    @contextmanager
    def lined_up(self, run_id: int) -> Iterator[bool]:
        """While a thread waits to claim the run. False: another one does, and will see whatever this one would."""
        with self._lock:
            alone = run_id not in self._lined_up
            self._lined_up.add(run_id)
        try:
            yield alone
        finally:
            if alone:
                self._lined_up.discard(run_id)

    def expects(self, run_id: int) -> bool:
        """Whether a thread here waits to claim it."""
        return run_id in self._lined_up

    @property
    def held(self) -> int:
        """How many runs are in hand, or about to be."""
        return len(self._hands) + len(self._lined_up)

    def holds(self, run_id: int) -> bool:
        return run_id in self._hands

    def fresh(self, run_id: int) -> Cancel:
        """A new flag for the next stretch of a run; the one before may have been raised."""
        with self._lock:
            cancel = self._hands[run_id] = Cancel()
        if self.leaving:
            cancel(LEAVING)
        return cancel

    def acting(self, run_id: int, now: bool) -> None:
        """A tool that changes something is at work, or has ended: such a one is let end when the process leaves."""
        if now:
            self._acting.add(run_id)
        else:
            self._acting.discard(run_id)

    def poke(self, run_id: int) -> None:
        """Look at once: there may be an order for this run."""
        if self.holds(run_id) or self.expects(run_id):
            self._wake.set()

    def leave(self, grace: float = 0.0) -> None:
        """The process ends. A call to an llm is cancelled, and its turn tried again by the next owner; a tool that
        changes something has `grace` seconds to end, then it is killed."""
        self.gone.set()
        for run_id, cancel in list(self._hands.items()):
            if not grace or run_id not in self._acting:
                cancel(LEAVING)
        if grace:
            self._late = threading.Timer(grace, self.leave)
            self._late.daemon = True
            self._late.start()

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
        seconds = lease.lease_ms() / 1000
        try:
            self._hear(hands)
            if time.monotonic() - self._beaten >= seconds / 3:
                lease.renew_all(owner())
                self._beaten = time.monotonic()
        except Error:  # the database is away: no renewal counts, and in the end the runs let go by themselves
            connection.close()
        except Exception:  # our own mistake; without a watcher every run of this process would lose its lease
            log.exception("the watcher could not look")
        if time.monotonic() - self._beaten > seconds * 2 / 3:
            for cancel in hands.values():
                cancel(FENCED)

    def _hear(self, hands: dict[int, Cancel]) -> None:
        found = orders.waiting(hands.keys() | set(self._lined_up))
        seats.called({asked.run_id for asked in found})
        for run_id, asked in {asked.run_id: asked for asked in found if asked.cuts}.items():
            if run_id in hands:
                hands[run_id](STOPPED if asked.kind == "stop_now" else INTERRUPTED)


watch = Watch()
leave, poke = watch.leave, watch.poke
