"""A Celery worker in a thread of this process; its slices run in a pool of threads."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable

from celery.signals import celeryd_init, worker_ready, worker_shutting_down
from celery.worker import state as celery_state
from django.conf import settings

from agentdash import inproc
from agentdash.celery import app
from agentdash.sweeper import Sweeper
from runs import runner, tasks
from runs.runner.watch import watch
from runs.store import lease

SLICES = 16
SWEEP_SECONDS = 1.0
GRACE_SECONDS = 18.0
"""For tools that change something, when a worker is asked to end; then they are killed."""

LEAVE_SECONDS = 24.0
YIELD = 5
"""Niceness of a worker, and of what its agents run: pages on the same machine answer first."""

SWITCH_SECONDS = 0.001
"""Threads here ask the database a dozen things a turn, and after each answer must get the interpreter back from those
that compute. At Python's own 5 ms, seventeen questions beside three busy threads took 330 ms, at 1 ms they took 2."""

PAGES_HANDS = 4
"""Runs that the process of the pages walks at a time when no worker is there."""

log = logging.getLogger(__name__)


class Worker:
    """Not Celery's own command, which wants the main thread and its signals."""

    def __init__(self, slices: int = SLICES) -> None:
        self.ready = threading.Event()
        self.sweeper = Sweeper(SWEEP_SECONDS)
        self.thread = threading.Thread(target=self._work, args=(slices,), name="worker", daemon=True)

    def start(self) -> None:
        """Begin, and take up what the last process left: this one holds the lock of the home, no other works here."""
        sys.setswitchinterval(SWITCH_SECONDS)
        inproc.bed.leaving = False
        watch.stay()
        # Before the first hint can be heard, else the lease that a run was just given would be ended with the old ones.
        waiting = lease.take_over_all()
        threading.Thread(target=runner.prepare, name="prepare", daemon=True).start()
        self.thread.start()
        if not self.ready.wait(15):
            why = "Start again; agentdash.log says what held it."
            raise RuntimeError(f"The worker did not start within 15 s. {why}")
        for run_id in waiting:
            tasks.hint(run_id)
        self.sweeper.start()

    def _work(self, slices: int) -> None:
        # The signal worker_ready is not sent by a bare controller, so its callback tells.
        app.WorkController(
            app=app,
            pool_cls="threads",
            concurrency=slices,
            hostname="embedded@local",
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
            ready_callback=lambda _: self.ready.set(),
        ).start()

    def stop(self, seconds: float = 10) -> bool:
        """Take nothing new, cancel what waits for an llm. False when some slices did not end within `seconds`."""
        self.sweeper.stop()
        runner.leave()
        celery_state.should_stop = 0  # global to Celery's module, so put back for the next worker
        inproc.bed.leave()
        self.thread.join(seconds)
        self.sweeper.rest(seconds)
        if ended := not self.thread.is_alive():
            celery_state.should_stop = None
            watch.stay()  # nothing of this worker is left that must not go on; the process may work again
        return ended


def work(slices: int) -> None:
    """Celery's own worker in the main thread, for as many machines as one likes.

    SIGTERM, however often it comes, ends it within LEAVE_SECONDS: calls to llms are cancelled at once, tools that
    change something may end, and every run is handed over. SIGQUIT ends it as a crash would.
    """
    os.nice(YIELD)
    sys.setswitchinterval(SWITCH_SECONDS)
    sweeper = Sweeper(_sweep_seconds(), hands=slices)

    def leaving(**_: object) -> None:
        if not watch.leaving:
            sweeper.end()
            _in_thread(lambda: runner.leave(GRACE_SECONDS))
            _in_thread(lambda: _end_late(LEAVE_SECONDS))

    def ready(**_: object) -> None:
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)

    worker_shutting_down.connect(leaving, weak=False)
    worker_ready.connect(ready, weak=False)
    os.environ.setdefault("CELERY_SKIP_CHECKS", "1")  # Django's, which load every page: `migrate` makes them
    runner.prepare()  # before the first run is claimed: what takes seconds must not be done under a lease
    sweeper.start()
    options = [
        "--pool=threads",
        f"--concurrency={slices}",
        "--without-gossip",
        "--without-mingle",
        "--without-heartbeat",
        f"--hostname=agentdash-{os.getpid()}@%h",
    ]
    app.worker_main(["worker", "--loglevel=INFO", *options])


def _sweep_seconds() -> float:
    return min(5 * SWEEP_SECONDS, settings.AGENTDASH_LEASE_MS / 2000)


def pages(sock: socket.socket) -> None:
    """The server, and a sweeper beside it: should every worker's be gone, orders still find their end."""
    from agentdash.server import Server

    sys.setswitchinterval(SWITCH_SECONDS)
    sweeper = Sweeper(_sweep_seconds(), hands=PAGES_HANDS, last=True)
    sweeper.start()
    Server().run(sockets=[sock])
    sweeper.end()
    runner.leave()


def _in_thread(act: Callable[[], None]) -> None:
    """A signal handler may have interrupted whoever holds the locks that `act` wants."""
    threading.Thread(target=act, daemon=True).start()


def _end_late(seconds: float) -> None:
    """Whatever still holds the process then is left to the sweepers of the others: its leases run out."""
    threading.Event().wait(seconds)
    log.warning(
        "some slices did not end within %s s; their runs go on elsewhere when their leases end", seconds
    )
    os._exit(0)


@celeryd_init.connect
def refuse_alone(**_: object) -> None:
    """Celery's own command on the broker inside this process would wait for hints that no other process can send."""
    if settings.AGENTDASH.embedded:
        raise SystemExit(
            "A worker of its own needs REDIS_URL and DATABASE_URL; without them: agentdash serve"
        )
