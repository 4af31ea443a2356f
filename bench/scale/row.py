"""One row: a house, its load, and the figures."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from . import figures, machine
from .figures import Result
from .house import Ground, House, house
from .load import Load
from .orders import People

SHARED = 50
"""Viewers of one run; all others watch a run each, as far as the runs go."""

PRESSED, LEAST = 40, 4
"""Runs that orders are pressed on, a tenth of all between the two."""

SETTLE_S = 5.0
AFTER_S = 25.0
"""The last pauses need a turn to be answered."""


def row(ground: Ground, load: Load) -> Result:
    _say(f"{load.runs} runs, {load.workers} × {load.threads}, {load.viewers} viewers")
    with house(ground, load) as made:
        began = time.monotonic()
        slugs = made.start_runs()
        made.wait_for_all()
        up_s = time.monotonic() - began
        _say(f"  all at work after {up_s:.0f} s")
        made.watch(_watched(slugs, load.viewers))
        threading.Event().wait(SETTLE_S)
        return _measured(made, slugs, up_s)


def _watched(slugs: Sequence[str], viewers: int) -> list[str]:
    """The first run has SHARED viewers or a quarter of all; the rest are spread over the other runs."""
    many = min(SHARED, -(-viewers // 4))
    others = itertools.cycle(slugs[1:] or slugs)
    return [slugs[0]] * many + list(itertools.islice(others, viewers - many))


def _measured(made: House, slugs: Sequence[str], up_s: float) -> Result:
    load, scaled = made.load, made.scaled
    assert made.browser is not None
    people = People(
        browser=made.browser,
        slugs=slugs[-min(PRESSED, max(load.runs // 10, LEAST)) :],
        seconds=load.seconds,
        paused=lambda: {slug for (slug,) in scaled.rows("SELECT slug FROM runs_run WHERE state = 'paused'")},
    )
    sampler = machine.Sampler(made.groups, lambda: _connections(made))
    size, wal = scaled.rows(figures.BYTES)[0]
    cpu, begin, since = machine.cpu_s(made.groups), datetime.now(UTC), time.monotonic()
    sampler.start()
    people.start()
    threading.Event().wait(load.seconds)
    seconds, end, cpu_end = time.monotonic() - since, datetime.now(UTC), machine.cpu_s(made.groups)
    size_end, wal_end = scaled.rows(figures.BYTES)[0]
    turns = int(scaled.one(figures.CLOSED, begin, end))
    most = sampler.stop()
    _wait_for_answers(made)
    pressed = people.stop()
    spent = {name: cpu_end[name] - cpu[name] for name in cpu}
    shared, alone, counts = figures.seen(made.lines(), figures.told(scaled, begin, end), slugs[0])
    orders, unanswered = figures.orders(scaled, pressed)
    return Result(
        load=load,
        up_s=round(up_s, 1),
        alive=int(scaled.one(figures.ALIVE)),
        lost={str(why): int(count) for why, count in scaled.rows(figures.LOST)},
        turns=turns,
        seconds=round(seconds, 1),
        cpu_ms_a_turn={name: round(used * 1000 / max(turns, 1), 2) for name, used in spent.items()},
        cores=round(sum(spent.values()) / seconds, 2),
        memory=most,
        orders=orders,
        unanswered=unanswered,
        shared=shared,
        alone=alone,
        deltas=counts.get("deltas", 0),
        broken=counts.get("broken", 0),
        database_bytes=int(size_end - size),
        wal_bytes=int(wal_end - wal),
    )


def _wait_for_answers(made: House) -> None:
    pause, end = threading.Event(), time.monotonic() + AFTER_S
    while (
        made.scaled.one("SELECT count(*) FROM runs_order WHERE state = 'pending'") and time.monotonic() < end
    ):
        pause.wait(0.5)


def _connections(made: House) -> int:
    query = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    return int(made.scaled.one(query))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
