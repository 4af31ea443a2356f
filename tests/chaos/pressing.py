"""People who press buttons: sessions of their own with a house, and what their orders came to."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agentdash import door
from tests.conftest import wait_until

from .house import House
from .viewer import Browser


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """An order as it was told to who gave it, and the moment before it was given."""

    status: int
    told: dict[str, Any]
    at: float

    @property
    def order(self) -> int:
        return int(self.told["order"])


class Person(Browser):
    """One session of a person: its own link, its own cookie, its own line."""

    def begin(self, llm: str, **asked: Any) -> str:
        """A new run; its slug."""
        body = {"llm": llm, "goal": "Do it.", "policy": "default", "pace": "fast", "max_usd": 0, **asked}
        status, told = self.post("/runs/", body)
        assert status == 201, told
        return str(json.loads(told)["run"])

    def press(self, slug: str, kind: str, **args: Any) -> Pressed:
        at = time.monotonic()
        status, told = self.order(slug, kind, **args)
        return Pressed(status=status, told=json.loads(told), at=at)

    def show(self, slug: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.get(f"/runs/{slug}/", "application/json")[1])
        return found

    def post(self, path: str, body: dict[str, Any]) -> tuple[int, str]:
        token = next((c.value for c in self.jar if "csrf" in c.name), "") or ""
        headers = {"Accept": "application/json", "Content-Type": "application/json", "X-CSRFToken": token}
        headers |= {"Origin": self.address, "Referer": self.address + "/"}
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data=data, headers=headers)
        return self._answer(request, 60)


def people(house: House, count: int) -> list[Person]:
    """So many who are let in at the house."""
    found = [Person(house) for _ in range(count)]
    for person in found:
        person.enter(door.link(house.home, person.address))
    return found


def at_once(acts: Sequence[Callable[[], Pressed]]) -> list[Pressed]:
    """All of them in the same instant, each in a thread of its own."""
    gate, found = threading.Barrier(len(acts)), []

    def act(one: Callable[[], Pressed]) -> None:
        gate.wait()
        found.append(one())

    threads = [threading.Thread(target=act, args=(one,)) for one in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def until(house: House, slug: str, *states: str, seconds: float = 60) -> str:
    """The state in which the run rests, once it is one of these and no worker has it."""

    def rests() -> str:
        now, owner = house.rows("SELECT state, lease_owner FROM runs_run WHERE slug = ?", slug)[0]
        return str(now) if now in states and not owner else ""

    return str(wait_until(rests, seconds, f"{slug} to be {' or '.join(states)}"))


def answered(house: House, pressed: Pressed, seconds: float = 20) -> tuple[str, float]:
    """The order's answer, and how many seconds after the press it was seen."""

    def found() -> Any:
        row = house.rows("SELECT state FROM runs_order WHERE id = ? AND state <> 'pending'", pressed.order)
        return row[0][0] if row else None

    told = str(wait_until(found, seconds, f"an answer to order {pressed.order}"))
    return told, time.monotonic() - pressed.at
