"""The demo is a real piece of work: a real folder, real commands, and a window worked on by the engine's counting."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from runs.engine.llm.rehearsal import scripts
from runs.models import Edit, Run
from tests.living import LiveHouse

from .telling import begin, happened, until

KINDS = ("compact", "clear_results")


def test_the_shop_is_red_before_and_green_after(finished: Run, tmp_path: Path) -> None:
    """With the interpreter that runs agentdash, and nothing else installed."""
    before = tmp_path / "before"
    scripts.get("orders").make_workspace(before)
    assert outcome_of(before) != 0
    assert outcome_of(Path(finished.workspace)) == 0


def outcome_of(folder: Path) -> int:
    return subprocess.run(
        [sys.executable, "-m", "unittest"], cwd=folder, capture_output=True, timeout=120
    ).returncode


def test_at_24_000_tokens_clearings_and_compactions_come_about_by_themselves(finished: Run) -> None:
    """At least two of the one and three of the other, each because the mark was reached, and each decision told."""
    edits = Edit.objects.filter(run=finished, state="applied", trigger="auto", kind__in=KINDS)
    kinds = list(edits.values_list("kind", flat=True))
    assert kinds.count("clear_results") >= 2
    assert kinds.count("compact") >= 3
    mark = 0.6 * finished.sums["window"]["limit"]
    assert all(edit.tokens_before >= mark > edit.tokens_after for edit in edits)
    fired = [event for event in happened(finished, "window.checked") if event.data["verdict"] == "fired"]
    assert len(fired) >= edits.count()


def test_no_request_ever_passed_the_limit(finished: Run) -> None:
    closed = happened(finished, "turn.closed")
    assert max(event.data["window"] for event in closed) <= 24_000
    assert all(sum(event.data["parts"].values()) == event.data["window"] for event in closed)


def test_with_room_enough_nothing_is_cleared_or_folded(house: LiveHouse) -> None:
    """The same work with a limit of 200,000: the script knows nothing of windows, so they are the engine's alone."""
    run = until(begin("rehearsal", policy="demo", limit=200_000), "done", seconds=240)
    assert not Edit.objects.filter(run=run, kind__in=KINDS).exists()
    assert outcome_of(Path(run.workspace)) == 0


@pytest.mark.parametrize("valve", [{"max_turns": 2}, {"max_usd": 0.01}])
def test_a_valve_holds_the_run_and_says_which(house: LiveHouse, valve: dict[str, float]) -> None:
    """Counted before each call: turns, dollars. A person lets it go on."""
    run = until(begin("rehearsal", policy="demo", **valve), "waiting")
    assert run.reason.startswith("budget:")
    assert happened(run, "valve.reached")[0].data["which"] == next(iter(valve)).removeprefix("max_")
