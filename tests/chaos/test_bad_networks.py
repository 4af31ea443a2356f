"""Servers and lines that fail, over real HTTP and through the real SDK (A44)."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest

from runs.engine import asking
from runs.engine.errors import BadRequest, Cancelled, EngineError, LlmTrouble, Overloaded, Rejected, StreamCut
from runs.engine.events import CallEnded, Delta, Event, LlmRetry, TurnAnswered, TurnLost, TurnOpened
from runs.engine.llm import table
from runs.engine.llm.claude import Claude, client
from runs.engine.llm.rehearsal import personality
from runs.engine.memory import SystemClock
from runs.engine.policy import preset
from runs.engine.ports import Cancel, Clock
from tests.conftest import PAUSE, wait_until
from tests.engine.llm.playing import Remembering, agent_over, walked
from tests.engine.llm.served import served

from .conftest import Report
from .house import size
from .test_bad_llms import impatient, lived, wrong  # noqa: F401 (a fixture)

SOON_S = 1.0
"""What a cancelled call may take to end (reliability.md A44)."""

PATIENCE_S = 0.4
RUNS = itertools.count(1)
BYTES, LONGEST = 100, 3_000
"""Where lines break, up to beyond the end of the answer."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served() as at:
        yield at


@dataclass(slots=True)
class Tried:
    """A run's first turn under a fault: what it yielded, and what ended it."""

    events: list[Event] = field(default_factory=list)
    error: EngineError | None = None

    def count(self, kind: type[Event]) -> int:
        return sum(isinstance(event, kind) for event in tuple(self.events))

    @property
    def waits(self) -> list[int]:
        return [event.wait_ms for event in self.events if isinstance(event, LlmRetry)]

    @property
    def committed_twice(self) -> bool:
        answers = Counter(event.turn for event in self.events if isinstance(event, TurnAnswered))
        calls = Counter((event.turn, event.call.id) for event in self.events if isinstance(event, CallEnded))
        return max([*answers.values(), *calls.values()], default=0) > 1


def tried(
    address: str,
    fault: str,
    folder: Path,
    *,
    into: Tried | None = None,
    clock: Clock | None = None,
    cancel: Cancel | None = None,
    quiet_s: float = PATIENCE_S,
) -> Tried:
    """Turn 1 of `hello` on a server with this fault. Waits cost no time but with a clock of the machine."""
    name = f"rehearsal/hello+{fault}" if fault else "rehearsal/hello"
    llm = Claude(replace(table.REHEARSAL, llm=name), client("k", "", address), quiet_s=quiet_s)
    slug = f"r-{next(RUNS)}"  # a server counts the tries of each run
    made = agent_over(
        llm,
        folder,
        Remembering(),
        policy=preset("default"),
        goal="Greet.",
        slug=slug,
        clock=clock,
        cancel=cancel,
    )
    found = into or Tried()
    try:
        for event in walked(*made):
            found.events.append(event)
    except EngineError as error:
        found.error = error
    return found


def test_what_a_server_refuses_is_tried_again_where_that_makes_sense(
    address: str, tmp_path: Path, report: Report
) -> None:
    problems, requests = [], 0
    for status in ("408", "409", "429", "500", "503", "504", "529"):
        told = status in ("429", "529")  # these say how long to wait: a second
        for times in range(1, asking.TRIES + 1, size(asking.TRIES - 1, 1)):
            found = tried(address, f"{status}:{times}", tmp_path)
            requests += found.count(TurnLost) + found.count(TurnAnswered)
            given_up = times == asking.TRIES
            right = isinstance(found.error, Overloaded) if given_up else found.error is None
            right = right and found.count(TurnLost) == times and found.count(TurnAnswered) == (not given_up)
            right = right and all(wait == 1000 for wait in found.waits if told)
            right = right and (told or sorted(found.waits) == found.waits)
            if not right or found.committed_twice:
                problems.append(f"{status} {times} times: {found}")
    for status, error in (
        ("400", BadRequest),
        ("401", Rejected),
        ("402", Rejected),
        ("403", Rejected),
        ("404", Rejected),
    ):
        found = tried(address, f"{status}:9", tmp_path)
        requests += 1
        if type(found.error) is not error or found.count(TurnLost) != 1 or found.waits:
            problems.append(f"{status}: {found}")
    report("A44-refusals", {"kinds": 12, "requests": requests, "tries_at_most": asking.TRIES}, problems)


def test_a_line_that_breaks_commits_one_answer(address: str, tmp_path: Path, report: Report) -> None:
    problems, cuts = [], 0
    for fault in ("reset", "end"):
        for at in range(BYTES, LONGEST, size(3, 1) * BYTES):
            found = tried(address, f"{fault}:{at}", tmp_path)
            cuts += found.count(TurnLost)
            if (
                found.error
                or found.count(TurnAnswered) != 1
                or found.committed_twice
                or found.count(TurnLost) > 1
            ):
                problems.append(f"{fault} at byte {at}: {found}")
    for fault in ("garbage", "error", "no_stop", "no_reason", "split:7"):
        found = tried(address, fault, tmp_path)
        if found.error or found.count(TurnAnswered) != 1 or found.committed_twice:
            problems.append(f"{fault}: {found}")
    report("A44-cuts", {"every_bytes": size(3, 1) * BYTES, "cuts": cuts, "committed_twice": 0}, problems)


def test_silence_is_cut_by_our_patience(
    address: str, tmp_path: Path, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that falls silent, one that drips, and one that takes the connection and never says a word."""
    problems = []
    for fault, given_up in (("hang", False), ("hang:900", False), ("slow", True)):
        found = tried(address, fault, tmp_path)
        fair = isinstance(found.error, StreamCut) if given_up else found.error is None
        if not fair or found.count(TurnAnswered) != (not given_up) or not found.count(TurnLost):
            problems.append(f"{fault}: {found}")
    monkeypatch.setattr(asking, "TRIES", 2)  # each costs the time of a connection too
    with socket.create_server(("127.0.0.1", 0), backlog=16) as mute:
        found = tried(f"http://127.0.0.1:{mute.getsockname()[1]}", "", tmp_path)
    if not isinstance(found.error, LlmTrouble) or found.count(TurnLost) != asking.TRIES:
        problems.append(f"a mute server: {found}")
    report("A44-silence", {"patience_s": PATIENCE_S, "kinds": 4}, problems)


def test_stopping_is_heard_at_once_whatever_the_line_does(
    address: str, tmp_path: Path, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the wait for the next try (of a minute), in silence, and while bytes drip in."""
    monkeypatch.setattr(asking, "BACKOFF_S", 60.0)
    moments = {"500:9": LlmRetry, "hang:900": Delta, "slow:90": TurnOpened}
    took = {fault: stopped(address, fault, kind, tmp_path) for fault, kind in moments.items()}
    problems = [
        f"{fault} took {seconds:.2f} s to stop" for fault, seconds in took.items() if seconds > SOON_S
    ]
    report("A44-stop", {name: round(seconds, 2) for name, seconds in took.items()}, problems)


def stopped(address: str, fault: str, moment: type[Event], folder: Path) -> float:
    """Seconds between the stop, pressed after the first event of a kind, and the end of the turn."""
    cancel, found = Cancel(), Tried()
    asked = partial(
        tried, address, fault, folder, into=found, clock=SystemClock(), cancel=cancel, quiet_s=60.0
    )
    thread = threading.Thread(target=asked, daemon=True)
    thread.start()
    wait_until(lambda: found.count(moment), 20, f"{moment.kind} under {fault}")
    PAUSE.wait(0.1)  # it is in the middle of what comes next
    began = time.monotonic()
    cancel("stop_now")
    thread.join(20)
    took = time.monotonic() - began
    assert isinstance(found.error, Cancelled), found
    assert not found.count(TurnAnswered)
    return took


@pytest.mark.django_db
@pytest.mark.usefixtures("impatient")
def test_a_run_says_what_it_waits_for(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(personality, "RETRY_AFTER_S", "0")
    ends = dict.fromkeys(("429", "529", "500", "503"), ("waiting", "llm"))
    ends |= dict.fromkeys(("401", "402", "403", "404"), ("waiting", "llm"))
    problems = [
        one for status, end in ends.items() for one in wrong(lived(f"rehearsal/hello+{status}:99@2"), end)
    ]
    run = lived("rehearsal/hello+400:99@2")
    mistake = "the rehearsal refuses this request" in run.reason and "mistake of agentdash" in run.reason
    problems += (
        [] if (run.state, mistake) == ("failed", True) else [f"400 left it {run.state} ({run.reason})"]
    )
    report("A44-states", {"kinds": len(ends) + 1}, problems)
