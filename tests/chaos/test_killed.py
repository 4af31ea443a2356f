"""kill -9 at random moments of a run whose every turn has an effect: nothing committed is lost, nothing done twice.

A1 in both shapes of the product; embedded it shows A12 too: how soon the next process goes on.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runs.engine.llm.rehearsal.scripts import errands
from tests.conftest import wait_until

from .conftest import Report
from .house import House, Scaled, size

TURNS, KILLS = size(100, 1000), size(10, 100)
SOME_EVENTS = 6 * (TURNS - 10)
"""A turn makes six events or more, so every moment drawn below this comes before the end."""


def test_a_run_that_is_killed_again_and_again_does_every_errand_at_most_once(
    either: House, report: Report
) -> None:
    seed = random.randrange(1_000_000)
    moments = sorted(random.Random(seed).sample(range(3, SOME_EVENTS), KILLS))
    began, resumed, retried = time.monotonic(), [], 0
    life = either.start()
    llm = f"rehearsal/errands-{TURNS}"
    room = ("--max-turns", str(2 * TURNS), "--max-usd", "100")
    slug = either.ask("run", "Run errands", "--llm", llm, "--pace", "fast", *room)["run"]
    for moment in moments:
        reach(either, moment)
        while gave_up(either):
            retried += 1
            either.ask("resume", slug)
            reach(either, moment)
        life.kill()
        term = either.one("SELECT term FROM runs_run")
        life = either.start()
        started = time.monotonic()
        wait_until(
            lambda before=term: claimed(either, before) or gave_up(either), 60, "the run to be taken up"
        )
        resumed.append(time.monotonic() - started)
    wait_until(lambda: state(either) not in ("ready", "running"), 120 + TURNS, "the run to end")
    if gave_up(either):
        retried += 1
        either.ask("resume", slug)
        wait_until(lambda: state(either) not in ("ready", "running", "failed"), 120 + TURNS, "the run to end")
    seconds = time.monotonic() - began
    verdict = either.ask("verify", slug)
    life.interrupt()
    done = written(either, slug)
    problems = [
        *of_the_run(either),
        *of_errands(either, done),
        *([] if verdict["ok"] else [f"verify: {verdict}"]),
    ]
    figure = {
        "turns": either.one("SELECT turn_no FROM runs_run"),
        "kills": KILLS,
        "three_in_one_turn": retried,
        "errands_done": len(done),
        "done_twice": sum(times > 1 for times in done.values()),
        "unknown": either.one("SELECT count(*) FROM runs_call WHERE status = 'unknown'"),
        "llm_calls_lost": either.one("SELECT count(*) FROM runs_turn WHERE status = 'lost'"),
        "events": verdict["events"],
        "resumed_s_max": round(max(resumed), 2),
        "seconds": round(seconds, 1),
        "seed": seed,
    }
    if isinstance(either, Scaled):
        report("A1-scaled", figure, problems)
        return
    late = [f"it took {took:.1f} s from the start to the next claim" for took in resumed if took > 3]
    report("A1-embedded", figure, problems)
    report("A12", {"kills": KILLS, "resumed_s_max": round(max(resumed), 2)}, late)


def reach(house: House, moment: int) -> None:
    """The run has come so far, or given up; a wait in vain tells where it stands and what its process does."""
    wait_until(
        lambda: last_seq(house) >= moment or gave_up(house), 120, lambda: f"event {moment}: {standing(house)}"
    )


def standing(house: House) -> str:
    """The run's row, and the end of what its newest process printed."""
    row = house.rows("SELECT state, reason, turn_no, next_seq, crash_streak, lease_owner FROM runs_run")
    return f"{row}\n{house.lives[-1].output[-3000:]}"


def gave_up(house: House) -> bool:
    """Three kills fell into one turn, and the product says so instead of trying for ever: a person presses Retry."""
    return bool(
        house.rows("SELECT 1 FROM runs_run WHERE state = 'failed' AND reason LIKE 'crashed 3 times%'")
    )


def claimed(house: House, term: int) -> bool:
    """Whether somebody took the run up after `term`."""
    return bool(house.rows("SELECT 1 FROM runs_run WHERE term > ? AND lease_owner <> ''", term))


def last_seq(house: House) -> int:
    return int(house.one("SELECT next_seq - 1 FROM runs_run"))


def state(house: House) -> str:
    return str(house.one("SELECT state FROM runs_run"))


def written(house: House, slug: str) -> Counter[str]:
    """Each line of the list, and how often it stands there: what the errands really did."""
    text = Path(house.home, "workspaces", slug, errands.LIST).read_text(encoding="utf-8")
    return Counter(text.splitlines())


def of_the_run(house: House) -> Iterator[str]:
    """The run as a whole: ended, every turn closed once, every event there."""
    ended, turns, reason = house.rows("SELECT state, turn_no, reason FROM runs_run")[0]
    if (ended, turns) != ("done", TURNS):
        yield f"the run is {ended} ({reason}) after {turns} turns"
    closed = house.rows("SELECT number FROM runs_turn WHERE status = 'closed' ORDER BY number")
    if closed != [(number,) for number in range(1, TURNS + 1)]:
        yield f"closed turns are {closed}"
    seqs = [seq for (seq,) in house.rows("SELECT seq FROM runs_event ORDER BY seq")]
    if seqs != list(range(1, len(seqs) + 1)):
        yield "the events' numbers have gaps"


def of_errands(house: House, done: Counter[str]) -> Iterator[str]:
    """Each errand: at most once, never without a started row; done only if it was, missing only if unknown."""
    calls = {turn: rest for turn, *rest in house.rows(CALLS)}
    for line, times in done.items():
        if times > 1:
            yield f"{line} was done {times} times"
    for turn in range(1, TURNS):
        line = errands.line_of(turn)
        yield from of_errand(line, line in done, calls.get(turn, [0, "", 0]))


CALLS = """SELECT turn, count(*), min(status), count(started_at) FROM runs_call
           WHERE name = 'run_command' GROUP BY turn"""


def of_errand(line: str, is_done: bool, row: list[Any]) -> Iterator[str]:
    calls, status, started = row
    if calls != 1:
        yield f"{line} has {calls} calls"
    if is_done and not started:
        yield f"{line} was done without a started row"
    if status not in ("done", "unknown"):
        yield f"{line} ended as {status or 'nothing'}"
    if status == "done" and not is_done:
        yield f"{line} is told as done, and was not"
