"""Rings again what a lost hint, a dead worker or an order from another process left lying."""

from __future__ import annotations

import logging
import threading
import time

from django.db import Error, connection

from runs import runner, tasks
from runs.runner.waiting import give_connection
from runs.runner.watch import watch
from runs.store import expiry, lease, orders

ORDERS_SECONDS = 0.25
"""A person waits for an answer: a quarter of the second that is promised, the rest is for taking the run up."""

ORDERS_HANDS = 4
"""Runs at a time whose orders are answered beside the slices; a summary may keep one for a minute."""

AGAIN_SECONDS = 20.0
EXPIRE_SECONDS = 60.0

log = logging.getLogger(__name__)


class Sweeper:
    """Looks every `seconds` for runs that nobody holds and that have something to do.

    Embedded it is also how an order from the command line, which is another process, reaches an idle run: so it
    looks every second there. A run that waits for a free thread is not rung again and again. With `hands`, which is
    how many runs this process may hold, it takes runs itself while the broker is away, or does not bring anybody
    after the second ring; with `last` only when nobody else is at work: a thousand runs that wait for a free worker
    are none of the pages' business.

    An order does not wait for any of that. Four times a second it looks for runs with an order that nobody holds, and
    answers it in a thread of its own: all threads may be taken by runs that merely go on, and their hints stand in line
    before this one's.
    """

    def __init__(self, seconds: float, hands: int = 0, *, last: bool = False) -> None:
        self.seconds = seconds
        self.hands = hands
        self.last = last
        self.again = min(AGAIN_SECONDS, 2 * seconds) if hands else AGAIN_SECONDS
        self.rung: dict[int, float] = {}
        self.taken: set[int] = set()
        self.answering: dict[int, threading.Thread] = {}
        self.tried: dict[int, frozenset[int]] = {}
        self.expired = 0.0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._sweep, name="sweeper", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self.end()
        self.thread.join(5)

    def rest(self, seconds: float) -> None:
        """Wait for the answers that are under way."""
        for thread in list(self.answering.values()):
            thread.join(seconds)

    def end(self) -> None:
        """Begin nothing more, and do not wait: for signal handlers."""
        self.ended.set()

    def look(self) -> list[int]:
        """One round. Returns the runs that were rung."""
        waiting, now = lease.waiting_runs(), time.monotonic()
        before = {run: at for run, at in self.rung.items() if run in waiting}
        self.rung = {run: at for run, at in before.items() if now - at < self.again}
        due = [run for run in waiting if not (run in self.rung or run in self.taken or watch.expects(run))]
        alone = [run_id for run_id in due if not self._ring(run_id, now) or run_id in before]
        if alone and not (self.last and lease.others_work(runner.owner())):
            for run_id in alone:
                self._take(run_id)
        if now - self.expired > EXPIRE_SECONDS:
            self.expired = now
            expiry.expire_orders(runner.owner())
        return due

    def answer(self) -> None:
        """Begin to answer what lies before nobody; what then cannot be answered after all is not tried again."""
        lying = orders.lying()
        self.tried = {run_id: tried for run_id, tried in self.tried.items() if run_id in lying}
        for run_id, asked in lying.items():
            busy = run_id in self.answering or watch.expects(run_id) or len(self.answering) >= ORDERS_HANDS
            if not busy and asked - self.tried.get(run_id, frozenset()):
                self.tried[run_id] = asked
                thread = threading.Thread(
                    target=self._answer, args=(run_id,), name=f"answer-{run_id}", daemon=True
                )
                self.answering[run_id] = thread
                thread.start()

    def _answer(self, run_id: int) -> None:
        try:
            tasks.answer(run_id)
        except Exception:  # the hint of this order stands in line too
            log.exception("run %s: its orders could not be answered at once", run_id)
        finally:
            self.answering.pop(run_id, None)
            connection.close()

    def _ring(self, run_id: int, now: float) -> bool:
        self.rung[run_id] = now
        return tasks.hint(run_id)

    def _take(self, run_id: int) -> None:
        if max(len(self.taken), watch.held) < self.hands:
            self.taken.add(run_id)
            threading.Thread(target=self._walk, args=(run_id,), name=f"hand-{run_id}", daemon=True).start()

    def _walk(self, run_id: int) -> None:
        try:
            tasks.by_hand(run_id)
        except Exception:  # the next round may find it better; a hand must come back
            log.exception("run %s: taken by hand, and dropped", run_id)
        finally:
            self.taken.discard(run_id)
            connection.close()

    def _sweep(self) -> None:
        looked = time.monotonic()
        while not self.ended.wait(min(ORDERS_SECONDS, self.seconds)):
            try:
                if not self.last:
                    self.answer()
                if time.monotonic() - looked >= self.seconds:
                    looked = time.monotonic()
                    self.look()
            except Error as error:  # the database is away; the next round may find it back
                log.warning("the sweeper could not look: %s", error)
                connection.close()
            give_connection()
        connection.close()
