"""Pages that are cut off, hear half of the bells, read nothing, come late (A22-A25)."""

from __future__ import annotations

import ctypes
import gc
import json
import random
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from websockets.sync.client import ClientConnection, connect

from agentdash.door import local
from agentdash.server import bound, serving
from runs.live import bell, consumers, feed, pump
from runs.models import Event, Run
from tests.builders import a_run
from tests.conftest import wait_until

from .conftest import Report
from .house import FULL, size
from .viewer import PAUSE, Browser, Viewer

SMALL = ("owner.claimed", {"worker": "w", "term": 1})
LARGE = ("compaction.failed", {"why": "x" * 10_000, "edit": 1, "attempt": 1})
Happen = Callable[..., int]


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
    """So many more events, and one bell. Returns the last number."""

    def write(count: int, what: tuple[str, dict[str, Any]] = SMALL) -> int:
        run.refresh_from_db()
        kind, data = what
        first, now = run.next_seq, timezone.now()
        Event.objects.bulk_create(
            Event(run=run, seq=seq, kind=kind, turn=3, at=now, data=data, hash=f"{seq:064x}")
            for seq in range(first, first + count)
        )
        Run.objects.filter(pk=run.pk).update(next_seq=first + count)
        bell.ring(run.pk, first + count - 1)
        return first + count - 1

    return write


def watched(here: Here, run: Run, happen: Happen, *, viewers: int, events: int, cuts: int) -> dict[str, Any]:
    """Events in small lots under the eyes of viewers, the line of each cut so often at random moments."""
    eyes = [Viewer(here, run.slug).start() for _ in range(viewers)]
    run.refresh_from_db()
    last, written = run.next_seq - 1, 0
    due = sorted((random.randrange(events), eye) for eye in range(viewers) for _ in range(cuts))
    while written < events:
        lot = min(random.randint(1, 40), events - written)
        last, written = happen(lot), written + lot
        while due and due[0][0] < written:
            eye = eyes[due.pop(0)[1]]
            wait_until(eye.cut, 20, "a line that can be cut")
        PAUSE.wait(0.01)
    began = time.monotonic()
    late = began + 20
    wait_until(lambda: all(eye.last >= last for eye in eyes) or time.monotonic() > late, 30)
    lag = time.monotonic() - began
    for eye in eyes:
        eye.stop()
    wrong = [one for eye in eyes for one in eye.missing(last)]
    wrong += [f"a line was cut {eye.cuts} times" for eye in eyes if eye.cuts != cuts]
    return {"lag": lag, "wrong": wrong, "cuts": sum(eye.cuts for eye in eyes), "events": last}


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
    """Its socket takes nothing: the server stops sending, closes it, and neither run nor other pages are held up."""
    lots, lot = size(20, 200), 50
    seeing = Viewer(here, run.slug).start()
    wait_until(lambda: feed.watchers(run.pk) == 1, 20, "the page that reads")
    alone = lots_of_large(run, happen, lots, lot, seeing)
    line = deaf(here, run)
    wait_until(lambda: feed.watchers(run.pk) == 2, 20, "the page that does not read")
    before, began = rss(), time.monotonic()
    beside = lots_of_large(run, happen, lots, lot, seeing)
    grown = rss() - before
    wait_until(lambda: feed.watchers(run.pk) == 1, 30, "the page that does not read to be left")
    left = time.monotonic() - began - beside  # what the socket's own buffers take is sent first
    grown = max(grown, rss() - before)
    seeing.stop()
    problems = seeing.missing(run.next_seq - 1)
    problems += [f"the server grew by {grown:.0f} MB"] if grown > 20 else []
    problems += [f"it was left after {left:.1f} s"] if left > 15 else []
    problems += (
        [f"events took {beside:.1f} s beside it, {alone:.1f} s without"] if slower(beside, alone) else []
    )
    line.socket.close()
    figure = {
        "events": lots * lot,
        "kb_each": 10,
        "grown_mb": round(grown, 1),
        "left_after_s": round(max(0.0, left), 1),
    }
    report("A24", figure | {"seconds_alone": round(alone, 1), "seconds_beside": round(beside, 1)}, problems)


def slower(beside: float, alone: float) -> bool:
    """Twenty of a hundred: what two runs of the same differ by on a machine with other work. The figure says how much
    it was."""
    return FULL and beside > alone / 0.95


def lots_of_large(run: Run, happen: Happen, lots: int, lot: int, seeing: Viewer) -> float:
    """Seconds until the page that reads has so many events of 10 kB."""
    began, last = time.monotonic(), 0
    for _ in range(lots):
        last = happen(lot, LARGE)
        wait_until(lambda upto=last: seeing.last >= upto - 400, 30, "the page that reads to keep up")
    wait_until(lambda: seeing.last >= last, 60, "the page that reads to have all")
    run.refresh_from_db()
    return time.monotonic() - began


def deaf(here: Here, run: Run) -> ClientConnection:
    """A page whose browser greets, and takes nothing from then on."""
    sock = socket.create_connection(("127.0.0.1", int(here.address.rsplit(":", 1)[1])))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line = connect(
        here.address.replace("http", "ws") + f"/ws/runs/{run.slug}/",
        sock=sock,
        additional_headers={"Cookie": here.cookie()},
        origin=here.address,  # type: ignore[arg-type]
        max_queue=1,
        proxy=None,
        legacy=True,
        ping_interval=None,
    )
    line.send(json.dumps({"t": "hello", "seq": run.next_seq - 1}))
    return line


def rss() -> float:
    """MB this process holds. What was freed and not yet given back is no cost of a page: it goes first."""
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
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
    slow = max(others) if FULL else best  # beside other tests one of five may wait for the machine
    problems = [f"a snapshot took {slow * 1000:.0f} ms"] if slow > 0.3 else []
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
