"""What is changed behind the archive's back is found, a whole one raises no alarm (A27), and it refuses (A26)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from runs.store.verify import verify
from tests.builders import a_run
from tests.store import test_verify as store

from .conftest import Report
from .house import House, Scaled, size
from .test_forked import forked


def hurt(cursor: Any, dice: random.Random) -> None:
    """One byte flipped, one row gone, or two events that change places."""
    how = dice.choice(("flip", "delete", "swap"))
    if how == "flip":
        store._flip(cursor, dice)
    elif how == "delete":
        table = dice.choice(("runs_event", "runs_message", "runs_blob", "runs_version"))
        key = "sha256" if table == "runs_blob" else "id"
        cursor.execute(f"SELECT {key} FROM {table}")
        cursor.execute(f"DELETE FROM {table} WHERE {key} = %s", dice.choice(cursor.fetchall()))
    else:
        cursor.execute("SELECT id, kind, data FROM runs_event ORDER BY seq")
        rows = cursor.fetchall()
        at = dice.randrange(len(rows) - 1)
        (one, *first), (two, *second) = rows[at], rows[at + 1]
        cursor.execute("UPDATE runs_event SET kind = %s, data = %s WHERE id = %s", [*second, one])
        cursor.execute("UPDATE runs_event SET kind = %s, data = %s WHERE id = %s", [*first, two])


@pytest.mark.django_db
def test_every_tampering_is_found(report: Report) -> None:
    run, seed, times = a_run(turns=12, limit=16_000), random.randrange(1_000_000), size(60, 500)
    dice, missed, unnamed = random.Random(seed), 0, 0
    for _ in range(times):
        verdict = store.damaged(run, lambda cursor: hurt(cursor, dice))
        missed += verdict.ok
        unnamed += not verdict.ok and not verdict.first_bad.why
    alarms = sum(not verify(run).ok for _ in range(size(5, 20)))
    problems = [f"{missed} of {times} were not found"] if missed else []
    problems += [f"{unnamed} were found without a name"] if unnamed else []
    problems += [f"{alarms} false alarms"] if alarms else []
    report(
        "A27", {"tamperings": times, "found": times - missed, "false_alarms": alarms, "seed": seed}, problems
    )


def test_the_archive_refuses_to_be_changed(either: House, report: Report) -> None:
    shape = "scaled" if isinstance(either, Scaled) else "embedded"
    report(f"A26-{shape}", *forked(either, "sealed", 1))
