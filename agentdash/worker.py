"""A Celery worker in a thread of this process; its slices run in a pool of threads."""

from __future__ import annotations

import threading

from celery.signals import worker_shutting_down
from celery.worker import state as celery_state

from agentdash import inproc
from agentdash.celery import app
from agentdash.sweeper import Sweeper
from runs import runner, tasks
from runs.runner.watch import watch
from runs.store import lease

SLICES = 16
SWEEP_SECONDS = 1.0


class Worker:
    """Not Celery's own command, which wants the main thread and its signals."""

    def __init__(self, slices: int = SLICES) -> None:
        self.ready = threading.Event()
        self.sweeper = Sweeper(SWEEP_SECONDS)
        self.thread = threading.Thread(target=self._work, args=(slices,), name="worker", daemon=True)

    def start(self) -> None:
        """Begin, and take up what the last process left: this one holds the lock of the home, no other works here."""
        inproc.bed.leaving = False
        watch.stay()
        self.thread.start()
        if not self.ready.wait(15):
            why = "Start again; agentdash.log says what held it."
            raise RuntimeError(f"The worker did not start within 15 s. {why}")
        for run_id in lease.take_over_all():
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
        if ended := not self.thread.is_alive():
            celery_state.should_stop = None
        return ended


def work(slices: int) -> None:
    """Celery's own worker in the main thread, for as many machines as one likes. SIGTERM lets slices end first."""
    sweeper = Sweeper(SWEEP_SECONDS * 5)

    def leaving(**_: object) -> None:
        sweeper.stop()
        runner.leave()

    worker_shutting_down.connect(leaving, weak=False)
    sweeper.start()
    options = [
        "--pool=threads",
        f"--concurrency={slices}",
        "--without-gossip",
        "--without-mingle",
        "--without-heartbeat",
    ]
    app.worker_main(["worker", "--loglevel=INFO", *options])
