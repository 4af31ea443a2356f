"""Redis forgets, is away, repeats itself and talks nonsense: runs go on, and pages miss nothing (A5, A6, A13)."""

from __future__ import annotations

import time
from typing import Any

from tests.conftest import wait_until

from .conftest import Report
from .house import Scaled, size
from .viewer import PAUSE, Browser, Viewer

OWNERS = """SELECT run_id, data ->> 'term', count(*) FROM runs_event
            WHERE kind = 'owner.claimed' GROUP BY 1, 2"""

NONSENSE = (
    *("nonsense", "", "7", "[]", "{}", '{"body": 7}', '{"properties": 3}', "[" * 100_000, "\ud83d"),
    '{"body": "no base64", "properties": {"body_encoding": "base64", "delivery_tag": "a"}}',
    '{"body": "", "properties": {"delivery_tag": "b"}}',
    '{"body": "W10=", "properties": {"body_encoding": "base64", "delivery_tag": "c"}, "headers": {"task": "x"}}',
)


def served(house: Scaled, workers: int = 2) -> Browser:
    """Pages and workers, and a person who is in."""
    for _ in range(workers):
        house.worker(8)
    web = house.web()
    browser = Browser(house)
    browser.enter(web.output.split("Pages: ", 1)[1].split()[0])
    return browser


def begin(house: Scaled, turns: int, runs: int = 1) -> list[str]:
    args = ("--llm", f"rehearsal/errands-{turns}", "--pace", "fast")
    room = ("--max-turns", str(2 * turns), "--max-usd", "100")
    return [house.ask("run", "Run errands", *args, *room)["run"] for _ in range(runs)]


def at_work(house: Scaled) -> int:
    return int(house.one("SELECT count(*) FROM runs_run WHERE state IN ('ready', 'running')"))


def unfinished(house: Scaled, turns: int) -> list[str]:
    rows = house.rows("SELECT slug, state, reason, turn_no FROM runs_run")
    return [
        f"{slug} is {state} ({why}) after {turn}"
        for slug, state, why, turn in rows
        if (state, turn) != ("done", turns)
    ]


def stall(house: Scaled, since: float) -> float:
    """Seconds until something more happens in a run, unless all have ended."""
    before = house.one("SELECT sum(next_seq) FROM runs_run")
    wait_until(
        lambda: house.one("SELECT sum(next_seq) FROM runs_run") > before or not at_work(house), 60, "an event"
    )
    return time.monotonic() - since


def test_redis_restarts_again_and_again(scaled: Scaled, report: Report) -> None:
    runs, turns, restarts = size(3, 10), size(20, 150), size(3, 20)  # so many turns outlast the restarts
    browser = served(scaled)
    slugs = begin(scaled, turns, runs)
    viewers = [Viewer(browser, slug).start() for slug in slugs]
    stalls: list[float] = []
    while len(stalls) < restarts and at_work(scaled):
        PAUSE.wait(1)
        scaled.redis.restart()
        stalls.append(stall(scaled, time.monotonic()))
    wait_until(lambda: not at_work(scaled), 300, "all runs to end")
    problems = unfinished(scaled, turns) + complete(scaled, viewers)
    problems += [f"a stall of {seconds:.1f} s" for seconds in stalls if seconds > 15]
    problems += [f"only {len(stalls)} restarts before the end"] if len(stalls) < restarts else []
    figure = {"restarts": len(stalls), "runs": runs, "turns": turns, "stall_s_max": round(max(stalls), 1)}
    report("A5", figure | {"viewers": len(viewers)}, problems)


def complete(house: Scaled, viewers: list[Viewer]) -> list[str]:
    """What a viewer lacks though the run is over, after time enough for a lost bell."""
    problems: list[str] = []
    for viewer in viewers:
        last = house.one("SELECT next_seq - 1 FROM runs_run WHERE slug = ?", viewer.slug)
        wait = time.monotonic() + 12
        while viewer.last < last and time.monotonic() < wait:
            PAUSE.wait(0.1)
        viewer.stop()
        problems += viewer.missing(last)
    return problems


def test_redis_is_away_from_the_start_to_the_end(scaled: Scaled, report: Report) -> None:
    turns = 150
    browser = served(scaled)
    (slug,) = begin(scaled, turns)
    viewer = Viewer(browser, slug).start()
    wait_until(lambda: scaled.one("SELECT turn_no FROM runs_run") >= 1, 60, "a first turn")
    scaled.redis.stop()
    late = Viewer(browser, slug).start()
    lags: list[float] = []
    answers = [scaled.ask("say", slug, "Go on.")["state"], scaled.ask("pause", slug)["state"]]
    wait_until(lambda: scaled.one("SELECT state FROM runs_run") == "paused", 60, "the pause")
    lags.append(caught_up(scaled, viewer))
    scaled.ask("resume", slug)
    wait_until(lambda: not at_work(scaled), 120, "the run to end")
    lags.append(caught_up(scaled, viewer))
    pending = scaled.one("SELECT count(*) FROM runs_order WHERE state <> 'applied'")
    problems = [] if scaled.one("SELECT state FROM runs_run") == "done" else ["the run is not done"]
    problems += complete(scaled, [viewer, late])
    problems += [f"a page was {lag:.1f} s behind" for lag in lags if lag > 5]
    problems += [f"{pending} orders were not applied"] if pending else []
    figure: dict[str, Any] = {"turns": turns, "orders": 3, "first_answers": answers}
    report("A6", figure | {"lag_s_max": round(max(lags), 1)}, problems)


def caught_up(house: Scaled, viewer: Viewer) -> float:
    began, last = time.monotonic(), house.one("SELECT next_seq - 1 FROM runs_run")
    wait_until(lambda: viewer.last >= last, 30, "the page to catch up")
    return time.monotonic() - began


def test_hints_that_come_twice_never_or_as_nonsense(scaled: Scaled, report: Report) -> None:
    turns, runs, hints = 3, size(4, 40), size(200, 1000)
    for _ in range(2):
        scaled.worker(8)
    dropped, taken = 0, [0.0]
    while dropped < size(runs, hints):
        scaled.begin_unheard(f"rehearsal/errands-{turns}", runs)
        dropped += runs
        taken.append(taken_up(scaled))
    scaled.redis.push("celery", *NONSENSE)
    scaled.hint(scaled.one("SELECT max(id) FROM runs_run"), hints)
    wait_until(lambda: not at_work(scaled), 300, "all runs to end")
    owners = scaled.rows(OWNERS)
    alive = [life for life in scaled.lives if life.lives]
    problems = unfinished(scaled, turns)
    problems += [f"run {run} has {count} owners in term {term}" for run, term, count in owners if count > 1]
    problems += [] if len(alive) == 2 else ["a worker died of a message"]
    problems += [f"dropped hints were picked up after {max(taken):.1f} s"] if max(taken) > 15 else []
    figure = {
        "runs": scaled.one("SELECT count(*) FROM runs_run"),
        "duplicates": hints,
        "dropped": dropped,
        "malformed": len(NONSENSE),
        "picked_up_s_max": round(max(taken), 1),
    }
    report("A13", figure, problems)


def taken_up(house: Scaled) -> float:
    """Seconds until no run waits for somebody to begin it."""
    began = time.monotonic()
    wait_until(
        lambda: not house.rows("SELECT 1 FROM runs_run WHERE state = 'ready'"), 60, "runs to be taken up"
    )
    return time.monotonic() - began
