"""A worker that is asked to end: during an answer, during a command, idle; once and three times; and SIGQUIT (A4)."""

from __future__ import annotations

import signal
import time
from typing import Any

from tests.conftest import wait_until

from .conftest import Report
from .house import Process, Scaled

TERM_SECONDS, HANDOVER_SECONDS, LEASE_SECONDS = 25, 2, 2


def owner(house: Scaled) -> str:
    return str(house.one("SELECT lease_owner FROM runs_run ORDER BY id DESC LIMIT 1"))


def of(house: Scaled, life: Process) -> bool:
    return f":{life.pid}:" in owner(house)


def begin(house: Scaled, llm: str, pace: str, ready: str) -> tuple[Process, Process]:
    """A run in the hands of one of two workers, at the moment that `ready` selects; the owner first."""
    workers = [house.worker(4), house.worker(4)]
    house.ask("run", "Be handed over", "--llm", llm, "--pace", pace)
    wait_until(lambda: house.rows(ready), 60, f"the moment of {ready}")
    wait_until(lambda: any(of(house, life) for life in workers), 20, "an owner")
    mine, other = sorted(workers, key=lambda life: not of(house, life))
    return mine, other


def handed_over(house: Scaled, leaver: Process, other: Process, number: int, times: int) -> dict[str, float]:
    """Seconds until the process was gone, and from the release of the run until the other had it."""
    began = time.monotonic()
    for _ in range(times):
        leaver.inner.send_signal(number)
    wait_until(lambda: not of(house, leaver), 60, "the run to be let go of")
    released = time.monotonic()
    wait_until(lambda: of(house, other) or ended(house), 60, "the other worker to take the run")
    taken = time.monotonic()
    leaver.inner.wait(60)
    return {"end_s": round(time.monotonic() - began, 2), "handover_s": round(taken - released, 2)}


def ended(house: Scaled) -> bool:
    return house.one("SELECT state FROM runs_run ORDER BY id DESC LIMIT 1") not in ("ready", "running")


def unknown(house: Scaled) -> int:
    return int(house.one("SELECT count(*) FROM runs_call WHERE status IN ('unknown', 'killed', 'skipped')"))


TYPING = "SELECT 1 FROM runs_turn WHERE status = 'open'"
NAPPING = "SELECT 1 FROM runs_call WHERE status = 'started'"


def told(report: Report, name: str, figure: dict[str, Any], house: Scaled, *more: str) -> None:
    problems = [*more]
    if figure["end_s"] > TERM_SECONDS:
        problems.append(f"it took {figure['end_s']} s to end")
    if figure["handover_s"] > HANDOVER_SECONDS:
        problems.append(f"it took {figure['handover_s']} s until the other worker had the run")
    if figure["unknown"]:
        problems.append(f"{figure['unknown']} calls were not let end")
    report(name, figure, problems)


def test_sigterm_while_the_llm_answers_hands_the_run_over(scaled: Scaled, report: Report) -> None:
    leaver, other = begin(scaled, "rehearsal", "human", TYPING)
    figure = handed_over(scaled, leaver, other, signal.SIGTERM, 1) | {"unknown": unknown(scaled)}
    told(report, "A4-answer", figure, scaled)


def test_sigterm_three_times_during_a_command_lets_it_end(scaled: Scaled, report: Report) -> None:
    leaver, other = begin(scaled, "rehearsal/naps", "fast", NAPPING)
    figure = handed_over(scaled, leaver, other, signal.SIGTERM, 3)
    wait_until(lambda: ended(scaled), 60, "the run to end")
    done = scaled.one("SELECT count(*) FROM runs_call WHERE status = 'done'")
    more = [] if done == 3 else [f"{done} of 3 commands are done"]
    told(report, "A4-command", figure | {"unknown": unknown(scaled), "done": done}, scaled, *more)


def test_sigterm_on_an_idle_worker_ends_it(scaled: Scaled, report: Report) -> None:
    worker = scaled.worker(4)
    figure = {"end_s": round(worker.send(signal.SIGTERM), 2), "handover_s": 0.0, "unknown": 0}
    told(report, "A4-idle", figure, scaled)


def test_sigquit_is_a_crash_and_the_lease_runs_out(scaled: Scaled, report: Report) -> None:
    leaver, other = begin(scaled, "rehearsal/naps", "fast", NAPPING)
    began = time.monotonic()
    leaver.send(signal.SIGQUIT)
    wait_until(lambda: of(scaled, other) or ended(scaled), 60, "the other worker to take the run")
    seconds = time.monotonic() - began
    wait_until(lambda: ended(scaled), 60, "the run to end")
    state = scaled.one("SELECT state FROM runs_run")
    problems = [] if state == "done" else [f"the run is {state}"]
    if seconds > LEASE_SECONDS + 5:
        problems.append(f"it took {seconds:.1f} s until the other worker had the run")
    report("A4-quit", {"taken_s": round(seconds, 2), "lease_s": LEASE_SECONDS}, problems)
