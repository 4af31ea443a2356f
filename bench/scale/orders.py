"""People press buttons while all runs wait for their llms: an order a moment, over HTTP, each to a run of its own.

interrupt   a message that cancels the call: answered at once, whatever the llm does
pause       applies at the boundary: what counts is the time from the turn's end to the answer
resume      of the run that was paused: it must be taken up first
stop_now    ends the call and the run
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.viewer import Browser

SHARE = {"interrupt": 0.4, "pause": 0.3, "stop_now": 0.3}
"""A pause is followed by its resume."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """An order, and how long its POST took. `order`: its number, 0 when it was refused."""

    kind: str
    order: int
    post_s: float


@dataclass
class People:
    """One thread presses, evenly over `seconds`; the runs in `slugs` are used up one by one."""

    browser: Browser
    slugs: Sequence[str]
    seconds: float
    paused: Callable[[], set[str]]
    pressed: list[Pressed] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> list[Pressed]:
        self.ended.set()
        self.thread.join(30)
        return self.pressed

    def _run(self) -> None:
        waiting: set[str] = set()
        plan = plan_of(self.slugs)
        pause = self.seconds / (len(plan) + 1)
        for kind, slug in plan:
            if self.ended.wait(pause):
                return
            self._press(kind, slug)
            if kind == "pause":
                waiting.add(slug)
            for done in waiting & self.paused():
                waiting.discard(done)
                self._press("resume", done)

    def _press(self, kind: str, slug: str) -> None:
        args: dict[str, Any] = {"text": "Look at the pressure too.", "how": "interrupt"}
        began = time.monotonic()
        order = "say" if kind == "interrupt" else kind
        status, body = self.browser.order(slug, order, **(args if kind == "interrupt" else {}))
        self.pressed.append(Pressed(kind=kind, order=_number(status, body), post_s=time.monotonic() - began))


def plan_of(slugs: Sequence[str]) -> list[tuple[str, str]]:
    """Which order for which run, mixed, and the same every time."""
    kinds = [kind for kind, share in SHARE.items() for _ in range(max(1, round(share * len(slugs))))]
    random.Random(len(slugs)).shuffle(kinds)
    return list(zip(kinds, slugs, strict=False))


def _number(status: int, body: str) -> int:
    return int(json.loads(body)["order"]) if status in (200, 202) else 0
