"""Pages that are cut off, hear half of the bells, read nothing, come late (A22-A25)."""

from __future__ import annotations

import json
import random
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from websockets.sync.client import connect

from agentdash.door import local
from agentdash.server import bound, serving
from runs.live import bell, consumers, pump
from runs.models import Event, Run
from tests.builders import a_run
from tests.conftest import wait_until

from .conftest import Report
from .house import size
from .viewer import PAUSE, Browser, Viewer

DATA = {"worker": "w", "term": 1}
Happen = Callable[[int], int]


class Here(Browser):
    """A browser at the server of this process."""

    def __init__(self, address: str) -> None:
        self.where = address
        client = Client()
        client.force_login(local())
        self.session = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())

    @property
    def address(self) -> str:
        return self.where

    def cookie(self) -> str:
        return self.session


@pytest.fixture
def run(db: None) -> Run:
    made = a_run(turns=3, owner=local())
    return Run.objects.get(pk=made.pk)


@pytest.fixture
def here(run: Run) -> Iterator[Here]:
    with serving(bound("127.0.0.1", 0)) as address:
        yield Here(address)


@pytest.fixture
def happen(run: Run) -> Happen:
    """So many more events, rung one by one. Returns the last number."""

    def write(count: int) -> int:
        run.refresh_from_db()
        first, now = run.next_seq, timezone.now()
        Event.objects.bulk_create(
            Event(run=run, seq=seq, kind="owner.claimed", turn=3, at=now, data=DATA, hash=f"{seq:064x}")
            for seq in range(first, first + count)
        )
        Run.objects.filter(pk=run.pk).update(next_seq=first + count)
        bell.ring(run.pk, first + count - 1)
        return first + count - 1

    return write


def watched(here: Here, run: Run, happen: Happen, *, viewers: int, events: int, cuts: int) -> dict[str, Any]:
    """Events in small lots under the eyes of viewers whose lines are cut again and again."""
    eyes = [Viewer(here, run.slug).start() for _ in range(viewers)]
    run.refresh_from_db()
    last, written = run.next_seq - 1, 0
    due = sorted(random.choices(range(events), k=viewers * cuts))
    while written < events:
        lot = min(random.randint(1, 40), events - written)
        last, written = happen(lot), written + lot
        while due and due[0] < written:
            due.pop(0)
            random.choice(eyes).cut()
        PAUSE.wait(0.01)
    began = time.monotonic()
    late = began + 20
    wait_until(lambda: all(eye.last >= last for eye in eyes) or time.monotonic() > late, 30)
    lag = time.monotonic() - began
    for eye in eyes:
        eye.stop()
    wrong = [one for eye in eyes for one in eye.missing(last)]
    opened = sum(eye.opened for eye in eyes)
    return {"lag": lag, "wrong": wrong, "cuts": opened - viewers, "events": last}


def test_pages_that_are_cut_off_again_and_again_see_every_event_once(
    here: Here, run: Run, happen: Happen, report: Report
) -> None:
    viewers, events, cuts = size(5, 20), size(1000, 5000), size(10, 50)
    seen = watched(here, run, happen, viewers=viewers, events=events, cuts=cuts)
    figure = {
        "viewers": viewers,
        "events": seen["events"],
        "cuts": seen["cuts"],
        "last_lag_s": round(seen["lag"], 1),
    }
    report("A22", figure, seen["wrong"])


def test_half_of_the_bells_may_be_lost(
    here: Here, run: Run, happen: Happen, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, lost = bell.Tower._out, [0]

    def out(self: bell.Tower, run_id: int, message: dict[str, Any]) -> None:
        if random.random() < 0.5:
            lost[0] += 1
        else:
            real(self, run_id, message)

    monkeypatch.setattr(bell.Tower, "_out", out)
    seen = watched(here, run, happen, viewers=size(5, 20), events=size(1000, 5000), cuts=0)
    wrong = [*seen["wrong"], *([f"a lag of {seen['lag']:.1f} s"] if seen["lag"] > 5 else [])]
    report(
        "A23", {"bells_lost": lost[0], "events": seen["events"], "last_lag_s": round(seen["lag"], 1)}, wrong
    )


def test_a_browser_that_reads_nothing_is_left_and_costs_little(
    here: Here, run: Run, happen: Happen, report: Report
) -> None:
    """Its socket takes nothing: the server stops sending, closes, and other pages are not held up."""
    deaf = socket.create_connection(("127.0.0.1", int(here.address.rsplit(":", 1)[1])))
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line = connect(
        here.address.replace("http", "ws") + f"/ws/runs/{run.slug}/",
        sock=deaf,
        additional_headers={"Cookie": here.cookie()},
        origin=here.address,  # type: ignore[arg-type]
        max_queue=1,
        proxy=None,
        legacy=True,
    )
    line.send(json.dumps({"t": "hello", "seq": 0}))
    seeing = Viewer(here, run.slug).start()
    before, began, last = rss(), time.monotonic(), 0
    lots = size(40, 400)
    for _ in range(lots):
        last = happen(50)
        PAUSE.wait(0.02)
    wait_until(lambda: seeing.last >= last, 30, "the page that reads to have all")
    lag = time.monotonic() - began
    grown = rss() - before
    seeing.stop()
    deaf.close()
    problems = seeing.missing(last) + ([f"the server grew by {grown:.0f} MB"] if grown > 20 else [])
    report("A24", {"events": lots * 50, "grown_mb": round(grown, 1), "seconds": round(lag, 1)}, problems)


def rss() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def test_a_page_that_joins_late_is_drawn_at_once(
    here: Here, run: Run, happen: Happen, report: Report
) -> None:
    last = happen(10_000)
    times, sizes = [], []
    for _ in range(5):
        with here.socket(run.slug) as line:
            began = time.monotonic()
            line.send(json.dumps({"t": "hello", "seq": 0}))
            text = line.recv(timeout=20)
            times.append(time.monotonic() - began)
            sizes.append(len(text))
            assert json.loads(text)["t"] == "snapshot"
    live = happen(1)
    best = sorted(times)[len(times) // 2]
    first, *others = times  # the first of a server's life reads its templates, and is told apart
    problems = [f"a snapshot took {max(others) * 1000:.0f} ms"] if max(others) > 0.3 else []
    problems += [f"the snapshot has {max(sizes)} bytes"] if max(sizes) > 200_000 else []
    figure = {
        "events": last,
        "ms_median": round(best * 1000),
        "ms_max": round(max(others) * 1000),
        "first_ms": round(first * 1000),
        "bytes": max(sizes),
    }
    report("A25", figure | {"then": live}, problems)


def test_the_limits_are_those_of_the_promise() -> None:
    assert pump.BLOCKED_SECONDS + 1 <= 15
    assert consumers.TRY_LATER == 1013
