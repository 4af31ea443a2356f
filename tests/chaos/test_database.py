"""The database restarts, is locked, has no room: nothing committed is lost, and a page says so (A7, A8, A9)."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.conftest import wait_until

from .conftest import Report
from .house import FULL, House, Scaled, size
from .test_broker import at_work, begin, served, unfinished
from .viewer import PAUSE, Browser

SHORT, LONG = 15, 60
"""Seconds that somebody else holds the database: one that nobody notices, one that a person is told of."""


def test_postgres_crashes_again_and_again(scaled: Scaled, report: Report) -> None:
    restarts, turns, runs = size(2, 10), size(40, 800), size(2, 4)  # so many turns outlast the crashes
    browser = served(scaled)
    begin(scaled, turns, runs)
    wait_until(lambda: scaled.one("SELECT sum(turn_no) FROM runs_run") >= 1, 60, "a first turn")
    seen: dict[str, set[int]] = {"healthz": set(), "page": set()}
    lost, count = 0, 0
    while count < restarts and at_work(scaled):
        before = scaled.one("SELECT sum(turn_no) FROM runs_run")
        scaled.postgres.stop()
        seen["healthz"].add(browser.get("/healthz")[0])
        seen["page"].add(browser.get("/")[0])
        scaled.postgres.start()
        count += 1
        lost += max(0, before - scaled.one("SELECT sum(turn_no) FROM runs_run"))
        PAUSE.wait(random.uniform(5, 20) if FULL else 2)
    wait_until(lambda: not at_work(scaled), 60 + turns * runs, "all runs to end")
    wait_until(lambda: browser.get("/healthz")[0] == 200, 30, "the pages to be back")
    problems = unfinished(scaled, turns)
    problems += [f"{lost} committed turns are gone"] if lost else []
    problems += [f"only {count} crashes before the end"] if count < restarts else []
    problems += [f"{where} answered {codes}" for where, codes in seen.items() if codes != {503}]
    problems += [f"a process ended: {life.output[-500:]}" for life in scaled.lives if not life.lives]
    report("A7", {"restarts": count, "runs": runs, "turns": turns, "turns_lost": lost, "page": 503}, problems)


@contextmanager
def locked(house: House) -> Iterator[None]:
    """Another process of somebody else's: it has the only write lock of SQLite, or the rows of Postgres."""
    if isinstance(house, Scaled):
        with psycopg.connect(house.database) as connection:
            connection.execute("SELECT id FROM runs_run FOR UPDATE")
            yield
        return
    connection = sqlite3.connect(house.home / "agentdash.sqlite3", timeout=20, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    yield
    connection.execute("ROLLBACK")
    connection.close()


def going(house: House) -> Browser:
    """A house with a run of a hundred turns that is a few turns old, and a person who is in."""
    if isinstance(house, Scaled):
        browser = served(house, workers=1)
    else:
        link = house.start().output.split("Open ", 1)[1].split()[0]
        browser = Browser(house)
        browser.enter(link)
    house.ask("run", "Run errands", "--llm", "rehearsal/errands-40", "--pace", "fast")
    wait_until(lambda: house.one("SELECT turn_no FROM runs_run") >= 2, 60, "two turns")
    return browser


def state(house: House) -> tuple[str, str, int]:
    found: tuple[str, str, int] = house.rows("SELECT state, reason, turn_no FROM runs_run")[0]  # type: ignore[assignment]
    return found


def test_a_lock_of_fifteen_seconds_goes_unnoticed(either: House, report: Report) -> None:
    going(either)
    with locked(either):
        PAUSE.wait(SHORT)
    held = state(either)
    wait_until(lambda: state(either)[0] not in ("ready", "running"), 120, "the run to end")
    ended, why, turns = state(either)
    paused = either.rows(
        "SELECT 1 FROM runs_event WHERE kind = 'run.state' AND CAST(data AS TEXT) LIKE '%paused%'"
    )
    problems = [] if (ended, turns) == ("done", 40) else [f"the run is {ended} ({why}) after {turns} turns"]
    problems += ["it was paused in between"] if paused else []
    shape = "scaled" if isinstance(either, Scaled) else "embedded"
    report(f"A8-short-{shape}", {"locked_s": SHORT, "state_then": held[0], "turns": turns}, problems)


def a_lock_of_a_minute_pauses_the_run_and_pages_say_503(either: House, report: Report) -> None:
    browser = going(either)
    slug = either.one("SELECT slug FROM runs_run")
    browser.get(f"/runs/{slug}/")
    answers: list[int] = []
    asking = threading.Thread(target=lambda: answers.append(browser.order(slug, "pause")[0]))
    with locked(either):
        began = time.monotonic()
        asking.start()
        reading = browser.get(f"/runs/{slug}/")[0]
        PAUSE.wait(LONG - (time.monotonic() - began))
    asking.join(60)
    wait_until(lambda: state(either)[0] == "paused", 60, "the run to be paused")
    paused, why, _ = state(either)
    either.ask("resume", slug)
    wait_until(lambda: state(either)[0] not in ("ready", "running", "paused"), 120, "the run to end")
    ended, _, turns = state(either)
    problems = [] if (ended, turns) == ("done", 40) else [f"the run is {ended} after {turns} turns"]
    problems += [] if why.startswith("database: ") else [f"it was paused for another reason: {why!r}"]
    problems += [] if reading == 200 else [f"reading answered {reading}"]
    problems += [] if answers == [503] else [f"an order was answered with {answers}"]
    shape = "scaled" if isinstance(either, Scaled) else "embedded"
    report(f"A8-long-{shape}", {"locked_s": LONG, "reason": why, "order": answers, "read": reading}, problems)


if FULL:  # a minute of waiting, twice: what it shows is in small in tests/runner/test_away.py
    test_a_lock_of_a_minute = a_lock_of_a_minute_pauses_the_run_and_pages_say_503


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[None]:
    """A file system in memory with so much room. Only root may make one."""
    folder.mkdir(mode=0o700)
    if (
        os.geteuid()
        or subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder]).returncode
    ):
        pytest.skip("A disk that is full needs root, to mount one of 8 MB.")
    folder.chmod(0o700)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_pauses_the_run_and_room_lets_it_go_on(tmp_path: Path, report: Report) -> None:
    home = tmp_path / "small"
    with small_disk(home, 8):
        house = House(home)
        try:
            problems, figure = on_a_full_disk(house)
        finally:
            house.close()
    report("A9", figure, problems)


def fill(path: Path) -> None:
    """Take all the room that is left."""
    file = os.open(path, os.O_CREAT | os.O_WRONLY)
    try:
        while True:
            os.write(file, bytes(4096))
    except OSError:
        os.close(file)


def on_a_full_disk(house: House) -> tuple[list[str], dict[str, object]]:
    life = house.start()
    slug = house.ask("run", "Run errands", "--llm", "rehearsal/errands-40", "--pace", "fast")["run"]
    wait_until(lambda: house.one("SELECT turn_no FROM runs_run") >= 2, 60, "two turns")
    filler = house.home / "filler"
    fill(filler)
    wait_until(lambda: state(house)[0] not in ("ready", "running"), 60, "the run to be paused")
    paused, why, turns = state(house)
    read = house.ask("show", slug)["state"] == "paused"
    verdict = house.ask("verify", slug)["ok"]
    filler.unlink()
    house.ask("resume", slug)
    wait_until(lambda: state(house)[0] not in ("ready", "running", "paused"), 120, "the run to end")
    ended, reason, last = state(house)
    problems = [] if (paused, "disk is full" in why) == ("paused", True) else [f"it was {paused} ({why})"]
    problems += [] if verdict and house.ask("verify", slug)["ok"] else ["the archive is damaged"]
    problems += (
        [] if (ended, last) == ("done", 40) else [f"it ended as {ended} ({reason}) after {last} turns"]
    )
    problems += [] if read else ["reading failed"]
    problems += [] if life.lives else [f"the process ended: {life.output[-500:]}"]
    return problems, {"paused_at": turns, "reason": why, "verify": verdict, "turns": last}
