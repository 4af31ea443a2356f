"""Rings again what a lost hint, a dead worker or an order from another process left lying."""

from __future__ import annotations

import logging
import threading
import time

from django.db import Error, connection

from runs import tasks
from runs.store import lease

AGAIN_SECONDS = 20.0

log = logging.getLogger(__name__)


class Sweeper:
    """Looks every `seconds` for runs that nobody holds and that have something to do.

    Embedded it is also how an order from the command line, which is another process, reaches an idle run: so it
    looks every second there. A run that waits for a free thread is not rung again and again.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.rung: dict[int, float] = {}
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._sweep, name="sweeper", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self.ended.set()
        self.thread.join(5)

    def look(self) -> list[int]:
        """One round. Returns the runs that were rung."""
        waiting, now = lease.waiting_runs(), time.monotonic()
        self.rung = {run: at for run, at in self.rung.items() if run in waiting and now - at < AGAIN_SECONDS}
        due = [run for run in waiting if run not in self.rung]
        for run_id in due:
            self.rung[run_id] = now
            tasks.hint(run_id)
        return due

    def _sweep(self) -> None:
        while not self.ended.wait(self.seconds):
            try:
                self.look()
            except Error as error:  # the database is away; the next round may find it back
                log.warning("the sweeper could not look: %s", error)
            finally:
                connection.close()
