"""Workers as forked processes: a child claims, walks and dies for real, on the database that the environment names.

Everything of the product but the Celery message. Import it in a process of its own only: it sets Django up.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PAUSE = threading.Event()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentdash.settings")

import django  # noqa: E402

django.setup()

from django.db import connection, connections  # noqa: E402

import agentdash.celery  # noqa: E402, F401 (else a hint would look for a broker that nobody set up)
from agentdash import door  # noqa: E402
from runs import control, runner  # noqa: E402
from runs.engine.llm import claude  # noqa: E402, F401 (once, and not in every child: it takes a second)
from runs.engine.llm.rehearsal.scripts import errands  # noqa: E402
from runs.models import Call, Event, Run, Turn  # noqa: E402
from runs.runner import crash  # noqa: E402
from runs.store.verify import verify  # noqa: E402


def begin(llm: str, **asked: Any) -> Run:
    """A run that no worker knows of."""
    return control.start(door.local(), control.Start(goal="Run errands.", llm=llm, pace="fast", **asked))


def fork(live: Callable[[], None]) -> int:
    """A child that lives so; its number. It has no thread and no connection of its parent's."""
    connections.close_all()
    if connection.vendor == "postgresql":
        connection.close_pool()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            live()
            code = 0
        finally:
            os._exit(code)
    return pid


def ended(pid: int) -> int:
    """How a child ended: its exit code, or minus the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def step(run_id: int) -> bool:
    """One slice, as the task would walk it."""
    return runner.advance(run_id)


def walk(run_id: int, points: dict[str, float] | None = None, pause: float = 0.005) -> Callable[[], None]:
    """A life that walks a run until it needs somebody, dying at the crash points."""

    def live() -> None:
        crash.POINTS = points or {}
        while Run.objects.filter(pk=run_id, state__in=("ready", "running")).exists():
            if not step(run_id):
                PAUSE.wait(pause)

    return live


def standing_of(run: Run) -> tuple[str, str]:
    """The newest turn's status, and that of its first call."""
    turn = Turn.objects.filter(run=run).order_by("-id").first()
    if turn is None:
        return ("", "")
    call = Call.objects.filter(run=run, turn=turn.number).order_by("id").first()
    return (turn.status, call.status if call else "")


def whole(run: Run, turns: int) -> Iterator[str]:
    """A run that ended well: every turn closed once, events without gap, the archive intact."""
    run.refresh_from_db()
    if (run.state, run.turn_no) != ("done", turns):
        yield f"{run.slug} is {run.state} ({run.reason}) after {run.turn_no} turns"
    closed = list(
        Turn.objects.filter(run=run, status="closed").order_by("number").values_list("number", flat=True)
    )
    if closed != list(range(1, turns + 1)):
        yield f"{run.slug}: closed turns are {closed}"
    seqs = list(Event.objects.filter(run=run).order_by("seq").values_list("seq", flat=True))
    if seqs != list(range(1, len(seqs) + 1)):
        yield f"{run.slug}: the events' numbers have gaps"
    if not verify(run).ok:
        yield f"{run.slug}: {verify(run)}"


def once(run: Run, turns: int) -> Iterator[str]:
    """Each errand at most once, never without a started row, never told as done when it was not."""
    done = written(run)
    yield from (f"{run.slug}: {line} was done {times} times" for line, times in done.items() if times > 1)
    calls = {call.turn: call for call in Call.objects.filter(run=run, name="run_command")}
    for turn in range(1, turns):
        line, call = errands.line_of(turn), calls.get(turn)
        if call is None or call.status not in ("done", "unknown"):
            yield f"{run.slug}: {line} ended as {call and call.status}"
        elif line in done and call.started_at is None:
            yield f"{run.slug}: {line} was done without a started row"
        elif call.status == "done" and line not in done:
            yield f"{run.slug}: {line} is told as done, and was not"


def written(run: Run) -> Counter[str]:
    path = Path(run.workspace) / errands.LIST
    return Counter(path.read_text(encoding="utf-8").splitlines() if path.exists() else [])


def until(look: Callable[[], Any], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not look() and time.monotonic() < end:
        PAUSE.wait(0.02)


def working(run: Run) -> bool:
    return Run.objects.filter(pk=run.pk, state__in=("ready", "running")).exists()
