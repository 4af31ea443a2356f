"""Our product's whole path: a Celery worker in this process, SQLite on the disk; nobody watches."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from typing import Any

from bench.reach import recalled
from runs.engine.llm.rehearsal.scripts.job import facts

from .child import Errand, main

POLL_S = 0.5
WARM = 5
LLM = "claude-haiku-4-5"
"""One whose price is known, else no valve in dollars could be set; the stand-in plays any."""


def do(errand: Errand) -> dict[str, Any]:
    _set_up()
    from agentdash.door import local
    from agentdash.worker import Worker
    from runs import control
    from runs.models import Edit

    run = control.start(
        local(),
        control.Start(
            goal=errand.goal,
            llm=LLM,
            limit=errand.context,
            max_turns=10 * errand.turns,
            max_usd=1000.0,
        ),
    )
    shutil.copytree(
        errand.folder, run.workspace, dirs_exist_ok=True
    )  # one of its own: commands never run as root
    worker = Worker()
    worker.start()
    looks = [(0, 0.0)]
    pause = threading.Event()
    while run.state in ("ready", "running"):
        pause.wait(POLL_S)
        run.refresh_from_db()
        looks.append((run.turn_no, time.process_time()))
    worker.stop()
    applied = Edit.objects.filter(run=run, state="applied")
    edits = {
        "clearings": applied.filter(kind="clear_results").count(),
        "compactions": applied.filter(kind="compact").count(),
    }
    state = run.state if run.state == "done" else f"{run.state}: {run.reason}"
    found = _recalled(run, errand.turns * errand.width)
    return edits | {"state": state, "recalled": found, "cpu_ms": _per_turn(looks)}


def _per_turn(looks: list[tuple[int, float]]) -> float:
    """CPU ms a turn after the first ones, in which the worker warms up."""
    first = next((look for look in looks if look[0] >= WARM), looks[-1])
    turns = looks[-1][0] - first[0]
    return round(1000 * (looks[-1][1] - first[1]) / turns, 2) if turns else 0.0


def _set_up() -> None:
    """A migrated home of its own; of the environment only the server's address stays."""
    foreign = ("AGENTDASH_", "REDIS_URL", "DATABASE_URL")
    for name in [name for name in os.environ if name.startswith(foreign)]:
        del os.environ[name]
    os.environ["AGENTDASH_HOME"] = tempfile.mkdtemp(prefix="agentdash-bench-")
    os.environ["DJANGO_SETTINGS_MODULE"] = "agentdash.settings"
    import django

    django.setup()
    import agentdash.celery  # noqa: F401 (else a hint would look for a broker that nobody set up)
    from agentdash import database

    database.migrate()


def _recalled(run: Any, pieces: int) -> list[str]:
    from runs.engine.ports import Cancel
    from runs.runner.taking_up import take_up
    from runs.store.resume import standing

    agent = take_up(standing(run.pk), Cancel())
    return [fact.text for fact in facts(pieces) if fact.text in recalled(agent, fact)]


if __name__ == "__main__":
    main(do)
