"""The product's whole path in one process: claim, window, call, commits, events, bell; SQLite on the disk.

As the product does it: a Celery worker in a thread of this process takes the hints. Nobody watches.
"""

from __future__ import annotations

import os
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

from .job import LIMIT, Job, Result
from .meter import Metered, rss_mb
from .reach import reach

POLL_S = 0.5


def run(job: Job, folder: Path) -> Result:
    """The job, with `folder` as AGENTDASH_HOME."""
    meter = Metered()
    _set_up(folder, meter)
    from agentdash.worker import Worker
    from runs import control

    run = control.start(
        _person(),
        control.Start(
            goal="Read the pieces.",
            llm=job.llm,
            policy=job.policy,
            limit=LIMIT,
            pace="fast",
            max_turns=10 * job.turns,
            max_usd=1000.0,
        ),
    )
    empty = _database_bytes(folder)
    meter.rss_before = rss_mb()
    worker = Worker()
    worker.start()
    pause = threading.Event()
    while run.state in ("ready", "running"):
        pause.wait(POLL_S)
        run.refresh_from_db()
    meter.clocks.mark()
    worker.stop()
    return _result(job, run, meter, _database_bytes(folder) - empty)


def _set_up(folder: Path, meter: Metered) -> None:
    """A migrated home of its own, and the metered stand-in in place of the rehearsal's."""
    foreign = ("AGENTDASH_", "ANTHROPIC_", "REDIS_URL", "DATABASE_URL")
    for name in [name for name in os.environ if name.startswith(foreign)]:
        del os.environ[name]
    os.environ["AGENTDASH_HOME"] = str(folder)
    os.environ["DJANGO_SETTINGS_MODULE"] = "agentdash.settings"
    import django

    django.setup()
    import agentdash.celery  # noqa: F401 (else a hint would look for a broker that nobody set up)
    from agentdash import database

    database.migrate()
    # The package gives its function the name of this module, so the module is asked for by its path.
    vars(import_module("runs.engine.llm.rehearsal.standin"))["StandIn"] = lambda pace: meter


def _person() -> Any:
    from agentdash.door import local

    return local()


def _database_bytes(folder: Path) -> int:
    """The database file, with everything in it that the write-ahead log still held."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (folder / "agentdash.sqlite3").stat().st_size


def _result(job: Job, run: Any, meter: Metered, database: int) -> Result:
    from django.db.models import Sum

    from runs.engine.events import Usage
    from runs.engine.ports import Cancel
    from runs.models import Edit, Message, Spend
    from runs.runner.taking_up import take_up
    from runs.store.batch import read_usage
    from runs.store.resume import standing

    cpu, wall = meter.clocks.per_turn()
    peak = rss_mb()
    edits = Edit.objects.filter(run=run)
    return Result(
        job=job,
        turns=run.turn_no,
        state=run.state if run.state == "done" else f"{run.state}: {run.reason}",
        cpu_ms=cpu,
        wall_ms=wall,
        rss_before=meter.rss_before,
        rss_peak=peak,
        usage=sum((read_usage(spend.usage) for spend in Spend.objects.filter(run=run)), Usage()),
        rewritten=meter.books.rewritten,
        window_max=run.sums["window"]["max"],
        clearings=edits.filter(kind="clear_results", state="applied").count(),
        compactions=edits.filter(kind="compact", state="applied").count(),
        failed=edits.filter(state="failed").count(),
        reach=reach(job.turns, meter.last, take_up(standing(run.pk), Cancel())),
        database=database,
        messages=Message.objects.filter(run=run).aggregate(Sum("blob__size"))["blob__size__sum"],
    )
