"""The store's own suite, search among it, on Postgres: it runs on SQLite wherever it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from .conftest import Report
from .house import ROOT
from .servers import Postgres, Redis


def test_the_store_passes_its_suite_on_postgres_too(servers: tuple[Postgres, Redis], report: Report) -> None:
    url = servers[0].url()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/store", "tests/control", "-q", "-p", "no:cacheprovider"],
        cwd=ROOT,
        env=os.environ | {"AGENTDASH_TEST_DATABASE_URL": url},
        capture_output=True,
        text=True,
        timeout=900,
    )
    told = done.stdout.splitlines()[-1] if done.stdout else done.stderr
    passed = re.search(r"(\d+) passed", told)
    report(
        "both-databases",
        {"passed": int(passed[1]) if passed else 0},
        [] if done.returncode == 0 else [done.stdout[-3000:]],
    )
