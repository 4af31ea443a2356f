"""Checks on forked workers: `python -m tests.chaos.forks <check> <size>` prints {"figure": …, "problems": […]}."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .lives import (
    PAUSE,
    begin,
    ended,
    fork,
    once,
    standing_of,
    step,
    until,
    walk,
    whole,
    working,
    written,
)

# isort: split
from django.conf import settings
from django.db import connection

from agentdash import database, door
from runs import control, tasks
from runs.engine.tools.files import ReadFile
from runs.models import Call, Event, Run
from runs.store import archive, lease

from . import tools
from .editing import edits
from .sealing import sealed

AFTER = {
    "before_tx1": {("", "")},
    "after_tx1": {("open", "")},
    "before_tx2": {("open", "")},
    "after_tx2": {("answered", "planned")},
    "before_tx3": {("answered", "planned")},
    "after_tx3": {("answered", "started")},
    "before_tx4": {("answered", "started")},
    "after_tx4": {("answered", "done")},
    "before_tx5": {("answered", "done")},
    "after_tx5": {("closed", "done")},
}
"""What the database holds right after a crash at a point of the first turn (reliability.md §3a)."""


def points(times: int) -> tuple[dict[str, Any], list[str]]:
    """A2: each point so often; what is left is what the table says, and the next life finishes the run."""
    turns, problems, finished, unknown = 3, [], 0, 0
    for point, expected in AFTER.items():
        for _ in range(times):
            run = begin(f"rehearsal/errands-{turns}")
            code = ended(fork(walk(run.pk, {point: 1.0})))
            if code != -signal.SIGKILL:
                problems.append(f"{point}: the process ended with {code}")
            if (found := standing_of(run)) not in expected:
                problems.append(f"{point}: left {found}, and not {expected}")
            lease.take_over_all()
            ended(fork(walk(run.pk)))
            wrong = [*whole(run, turns), *once(run, turns)]
            finished += not wrong
            unknown += Call.objects.filter(run=run, status="unknown").count()
            problems += [f"{point}: {one}" for one in wrong]
    figure = {"crashes": times * len(AFTER), "finished": finished, "points": len(AFTER), "unknown": unknown}
    return figure, problems


def two_owners(stops: int) -> tuple[dict[str, Any], list[str]]:
    """A10: two workers that both want one run all the time; whoever has it is stopped for longer than its lease."""
    turns = max(20, 5 * stops)
    run = begin(f"rehearsal/errands-{turns}")
    log = Path(settings.AGENTDASH_HOME) / "fenced.txt"
    pids = [fork(watched(run.pk, log)) for _ in range(2)]
    stopped = 0
    while stopped < stops and (owner := _owner(run)) in pids and working(run):
        term, turn = _term(run), _turn(run)
        os.kill(owner, signal.SIGSTOP)
        until(lambda t=term: _term(run) > t or not working(run), 10)
        os.kill(owner, signal.SIGCONT)
        stopped += 1
        until(
            lambda t=turn: _turn(run) > t or not working(run), 20
        )  # else stalls count as crashes in one turn
    codes = [ended(pid) for pid in pids]
    claims = [
        data["term"]
        for data in Event.objects.filter(run=run, kind="owner.claimed").values_list("data", flat=True)
    ]
    lines = log.read_text().splitlines() if log.exists() else []
    hints = sum(int(line.split()[1]) for line in lines if line.startswith("hints"))
    rejected = sum(line == "fenced" for line in lines)
    problems = [*whole(run, turns), *once(run, turns)]
    problems += [f"a worker ended with {code}" for code in codes if code]
    if len(claims) != len(set(claims)):
        problems.append("a term has two owners")
    if rejected == 0:
        problems.append("no stale write was rejected: the check shows nothing")
    if stopped < stops:
        problems.append(f"only {stopped} stops before the run ended")
    figure = {
        "stops": stopped,
        "hints": hints,
        "terms": len(claims),
        "stale_writes_rejected": rejected,
        "late_results": Call.objects.filter(run=run).exclude(late_result=None).count(),
        "unknown": Call.objects.filter(run=run, status="unknown").count(),
        "done_twice": sum(times > 1 for times in written(run).values()),
    }
    return figure, problems


def watched(run_id: int, log: Path) -> Callable[[], None]:
    """A walking life that writes down how often it asked for the run, and each write that was refused."""
    real = archive.append

    def append(*given: Any, **rest: Any) -> int:
        try:
            return real(*given, **rest)
        except lease.Fenced:
            _note(log, "fenced")
            raise

    def live() -> None:
        archive.append = append
        asked = 0
        while Run.objects.filter(pk=run_id, state__in=("ready", "running")).exists():
            asked += 1
            if not step(run_id):
                PAUSE.wait(0.02)
        _note(log, f"hints {asked}")

    return live


def _note(log: Path, line: str) -> None:
    with log.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def _owner(run: Run) -> int:
    held = Run.objects.values_list("lease_owner", flat=True).get(pk=run.pk)
    return int(held.split(":")[1]) if held else _next_owner(run)


def _next_owner(run: Run) -> int:
    """Between two slices nobody holds it: wait for who takes it."""
    until(lambda: _held(run) or not working(run), 10)
    held = _held(run)
    return int(held.split(":")[1]) if held else 0


def _held(run: Run) -> str:
    return str(Run.objects.values_list("lease_owner", flat=True).get(pk=run.pk))


def _turn(run: Run) -> int:
    return int(Run.objects.values_list("turn_no", flat=True).get(pk=run.pk))


def _term(run: Run) -> int:
    return int(Run.objects.values_list("term", flat=True).get(pk=run.pk))


def in_a_tool(_size: int) -> tuple[dict[str, Any], list[str]]:
    """A3: a tool that ends the interpreter, runs out of memory, crashes in C; and one that does so every time."""
    figure: dict[str, Any] = {}
    problems: list[str] = []
    for how in ("sys.exit", "MemoryError", "segfault"):
        run, other = begin("rehearsal/errands-3"), begin("rehearsal/errands-3")
        began = time.monotonic()
        codes = [ended(fork(tools.crashing(walk(run.pk), how, times=1, folder=Path(run.workspace))))]
        while working(run) and len(codes) < 5:
            codes.append(ended(fork(tools.crashing(walk(run.pk), how, times=1, folder=Path(run.workspace)))))
        figure[how] = {"lives": len(codes), "seconds": round(time.monotonic() - began, 1)}
        ended(fork(walk(other.pk)))
        problems += [f"{how}: {wrong}" for wrong in [*whole(run, 3), *whole(other, 3)]]
    run, lives = begin("rehearsal/job-3"), 0
    while working(run) and lives < 6:
        always = tools.crashing(walk(run.pk), "segfault", times=99, folder=Path(run.workspace), tool=ReadFile)
        ended(fork(always))
        lives += 1
    run.refresh_from_db()
    figure["always"] = {"lives": lives, "state": run.state, "reason": run.reason}
    if run.state != "failed" or "crashed 3 times" not in run.reason:
        problems.append(
            f"a tool that always crashes left the run {run.state} ({run.reason}) after {lives} lives"
        )
    control.order(door.local(), run, "retry")
    step(run.pk)
    ended(fork(walk(run.pk)))
    problems += [f"retry: {wrong}" for wrong in whole(run, 4)]
    return figure, problems


CHECKS: dict[str, Callable[[int], tuple[dict[str, Any], list[str]]]] = {
    "points": points,
    "two_owners": two_owners,
    "in_a_tool": in_a_tool,
    "edits": edits,
    "sealed": sealed,
}


def main() -> None:
    check, size = sys.argv[1], int(sys.argv[2])
    tasks.hint = lambda run_id: True
    database.migrate()
    began = time.monotonic()
    figure, problems = CHECKS[check](size)
    figure |= {"database": connection.vendor, "seconds": round(time.monotonic() - began, 1)}
    print(json.dumps({"figure": figure, "problems": problems}))  # noqa: T201


if __name__ == "__main__":
    main()
