"""A worker whose clock is wrong by hours, and one whose clock jumps: leases know the database's clock only (A11)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import wait_until

from .conftest import Report
from .house import Scaled, size
from .test_broker import OWNERS, at_work, begin, unfinished
from .viewer import PAUSE

LIBRARIES = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))


def test_a_wrong_clock_makes_no_second_owner(scaled: Scaled, report: Report, tmp_path: Path) -> None:
    if not LIBRARIES:
        assert not os.environ.get("CI"), "Missing: faketime"
        pytest.skip("Missing: faketime. To run this: sudo apt install faketime")
    turns, runs = size(20, 100), 4
    clock = tmp_path / "clock"
    clock.write_text("+0", encoding="ascii")
    faked = {"LD_PRELOAD": str(LIBRARIES[0]), "DONT_FAKE_MONOTONIC": "1", "FAKETIME_NO_CACHE": "1"}
    scaled.extra["AGENTDASH_LEASE_MS"] = "30000"  # so that no lease runs out but by a clock
    scaled.worker(4)
    scaled.worker(4, **faked, FAKETIME="+2h")
    scaled.worker(4, **faked, FAKETIME="-2h")
    scaled.worker(4, **faked, FAKETIME_TIMESTAMP_FILE=str(clock))
    begin(scaled, turns, runs)
    steps = 0
    while at_work(scaled) and steps < 200:
        steps += 1
        clock.write_text("+3h" if steps % 2 else "-3h", encoding="ascii")
        PAUSE.wait(0.5)
    wait_until(lambda: not at_work(scaled), 200, "all runs to end")
    twice = [row for row in scaled.rows(OWNERS) if row[2] > 1]
    lost = scaled.one("SELECT count(*) FROM runs_turn WHERE status = 'lost'")
    workers = scaled.one(
        "SELECT count(DISTINCT data ->> 'worker') FROM runs_event WHERE kind = 'owner.claimed'"
    )
    fenced = sum(life.output.count("another owner than") for life in scaled.lives)
    problems = unfinished(scaled, turns)
    problems += [f"{len(twice)} terms have two owners"] if twice else []
    problems += (
        [f"{lost} turns and {fenced} writes were lost to a lease that had not run out"]
        if lost or fenced
        else []
    )
    report(
        "A11", {"runs": runs, "turns": turns, "clock_jumps": steps, "workers_that_owned": workers}, problems
    )
