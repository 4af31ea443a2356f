"""A word on a call is bound to what was shown: another input is refused, a second word is a no-op, a restart keeps the
question."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import wait_until

from .conftest import Report
from .house import AGENTDASH, House, Scaled


@pytest.fixture
def policy(tmp_path: Path) -> str:
    file = tmp_path / "asks.toml"
    file.write_text('[approval]\ntools = ["effectful"]\n')
    return str(file)


def test_what_was_shown_is_what_runs(either: House, report: Report, policy: str) -> None:
    life = either.start()
    slug = str(
        either.ask("run", "x", "--llm", "rehearsal/errands-3", "--policy", policy, "--pace", "fast")["run"]
    )
    first = asks(either, slug)
    altered = order(either, "approve", slug, first["call"], "--sha256", "0" * 64)
    life.kill()
    either.start()
    kept = asks(either, slug)
    allowed = order(either, "approve", slug, kept["call"], "--sha256", kept["input_sha256"])
    again = order(either, "approve", slug, kept["call"], "--sha256", kept["input_sha256"])
    wait_until(lambda: asks(either, slug)["call"] != first["call"], 60, "the next errand to ask")
    figure = {
        "altered": altered["state"],
        "kept_over_a_restart": kept == first,
        "allowed": allowed["state"],
        "second": again["state"],
        "started": either.one("SELECT count(*) FROM runs_event WHERE kind = 'call.started'"),
        "lines": lines(either, slug),
        "lease": either.one("SELECT lease_owner FROM runs_run"),
    }
    wanted = {
        "altered": "rejected",
        "kept_over_a_restart": True,
        "allowed": "applied",
        "second": "merged",
        "started": 1,
        "lines": ["errand-1"],
        "lease": "",
    }
    problems = [
        f"{name}: {figure[name]!r}, not {value!r}" for name, value in wanted.items() if figure[name] != value
    ]
    report(f"A20-{'scaled' if isinstance(either, Scaled) else 'embedded'}", figure, problems)


def asks(house: House, slug: str) -> dict[str, Any]:
    """What the run waits for, once it waits without a lease."""

    def waiting() -> Any:
        shown = house.ask("show", slug)
        return shown["asks"] if house.one("SELECT lease_owner FROM runs_run") == "" else None

    found: dict[str, Any] = wait_until(waiting, 60, "a question")
    return found


def order(house: House, *args: str) -> dict[str, Any]:
    """The one answer to an order, whatever its exit code."""
    done = subprocess.run(
        [*AGENTDASH, *args, "--json"], env=house.environment(), capture_output=True, timeout=60
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def lines(house: House, slug: str) -> list[str]:
    """What the errands of the run have written."""
    done = house.home / "workspaces" / slug / "done.txt"
    return done.read_text().split() if done.exists() else []
