"""On Postgres too: the store's own suite, what walks and shows runs, and every story that people are told."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from .conftest import Report
from .house import FULL, ROOT
from .servers import Postgres, Redis

STORIES = (
    *("test_archive_and_search", "test_explaining_a_compaction", "test_saying", "test_clearing"),
    *("test_pausing_and_stepping", "test_approving"),
)
"""Of the stories, those a quick look takes: they write and read everything that a database keeps."""

QUICK = tuple(f"tests/stories/{name}.py" for name in STORIES)
SHELVES = {
    "store": ("tests/store", "tests/control", "tests/runner", "tests/present"),
    "stories": ("tests/stories",) if FULL else QUICK,
}


@pytest.mark.parametrize("shelf", SHELVES)
def test_a_shelf_holds_on_postgres(servers: tuple[Postgres, Redis], report: Report, shelf: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *SHELVES[shelf], "-q", "-p", "no:cacheprovider"],
        cwd=ROOT,
        env=os.environ | {"AGENTDASH_TEST_DATABASE_URL": servers[0].url()},
        capture_output=True,
        text=True,
        timeout=3600,
    )
    told = done.stdout.splitlines()[-1] if done.stdout else done.stderr
    passed = re.search(r"(\d+) passed", told)
    report(
        f"both-databases-{shelf}",
        {"passed": int(passed[1]) if passed else 0},
        [] if done.returncode == 0 else [done.stdout[-3000:] + done.stderr[-1000:]],
    )
