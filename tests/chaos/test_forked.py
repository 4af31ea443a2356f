"""Workers that die at a chosen point, sleep longer than their lease, crash inside tools (A2, A3, A10, A18)."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from .conftest import Report
from .house import House, Scaled, size

LEASE = {"AGENTDASH_LEASE_MS": "600"}


def forked(house: House, check: str, number: int) -> tuple[dict[str, Any], list[str]]:
    """What a check of tests/chaos/forks.py found."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos.forks", check, str(number)],
        env=house.environment() | LEASE,
        capture_output=True,
        text=True,
        timeout=3600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    return found["figure"], found["problems"]


@pytest.mark.parametrize(
    ("check", "name", "number"),
    [("points", "A2", size(1, 20)), ("in_a_tool", "A3", 1), ("edits", "A18", size(4, 300))],
)
def test_what_a_dying_worker_leaves_is_taken_up(
    house: House, report: Report, check: str, name: str, number: int
) -> None:
    report(name, *forked(house, check, number))


def test_two_workers_that_want_one_run_never_both_have_it(either: House, report: Report) -> None:
    shape = "scaled" if isinstance(either, Scaled) else "embedded"
    report(f"A10-{shape}", *forked(either, "two_owners", size(8, 40)))
