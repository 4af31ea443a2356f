"""A server with sockets, a run to watch, and a page's end of the line. Fragments come from a stand-in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.test import Client
from django.utils import timezone
from websockets.sync.client import ClientConnection, connect

from agentdash.server import bound, serving
from runs.live import bell, feed
from runs.models import Event, Run
from runs.present.now import Now


@dataclass
class Fragments:
    """Takes the place of runs.present.socket, and counts how often it is asked."""

    asked: list[int] = field(default_factory=list)
    filling: str = ""

    def items(self, now: Now, events: list[Event]) -> list[dict[str, Any]]:
        self.asked.append(len(events))
        return [
            {"seq": e.seq, "kind": e.kind, "turn": e.turn, "html": f"<p>{e.seq}{self.filling}</p>"}
            for e in events
        ]

    def snapshot(self, now: Now) -> str:
        return f"<main>{now.run.next_seq - 1}</main>"


@pytest.fixture
def fragments(monkeypatch: pytest.MonkeyPatch) -> Fragments:
    standing_in = Fragments()
    monkeypatch.setattr(feed, "socket", standing_in)
    return standing_in


@pytest.fixture
def ada(db: None) -> AbstractBaseUser:
    return get_user_model().objects.create_user("ada")


@pytest.fixture
def run(ada: AbstractBaseUser) -> Run:
    return Run.objects.create(
        slug="r-watch",
        title="watched",
        goal="be watched",
        owner=ada,
        workspace="/tmp",
        llm="rehearsal",
        created_at=timezone.now(),
    )


@pytest.fixture
def happen(run: Run) -> Callable[..., int]:
    """Write events and, unless told not to, ring. Returns the last number."""

    def write(count: int = 1, *, ring: bool = True) -> int:
        run.refresh_from_db()
        first, now = run.next_seq, timezone.now()
        Event.objects.bulk_create(
            Event(run=run, seq=seq, kind="turn.closed", turn=seq, at=now, hash=f"{seq:064x}")
            for seq in range(first, first + count)
        )
        Run.objects.filter(pk=run.pk).update(next_seq=first + count)
        if ring:
            bell.ring(run.pk, first + count - 1)
        return first + count - 1

    return write


@pytest.fixture
def address(db: None, fragments: Fragments) -> Iterator[str]:
    with serving(bound("127.0.0.1", 0)) as found:
        yield found


class Page:
    """A page's end of the socket, in the test's own thread."""

    def __init__(self, line: ClientConnection) -> None:
        self.line = line

    def say(self, **message: Any) -> None:
        self.line.send(json.dumps(message))

    def hear(self, seconds: float = 15) -> dict[str, Any]:
        return json.loads(self.line.recv(timeout=seconds))

    def up_to_date(self) -> list[dict[str, Any]]:
        """Ping, and everything that came before the answer."""
        self.say(t="ping")
        heard = []
        while (message := self.hear()) != {"t": "events", "items": []}:
            heard.append(message)
        return heard

    def seqs(self) -> list[int]:
        return [item["seq"] for message in self.up_to_date() for item in message.get("items", [])]


@pytest.fixture
def open_page(address: str, ada: AbstractBaseUser) -> Iterator[Callable[..., Page]]:
    """Opens sockets as Ada's browser would, or as somebody else's."""
    client = Client()
    client.force_login(ada)
    session = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    with ExitStack() as opened:

        def open_(
            slug: str = "r-watch", *, cookie: str = session, origin: str = address, **options: Any
        ) -> Page:
            where = address.replace("http", "ws") + f"/ws/runs/{slug}/"
            headers = {"Cookie": cookie} if cookie else {}
            line = connect(where, additional_headers=headers, origin=origin or None, proxy=None, **options)
            return Page(opened.enter_context(line))

        yield open_
