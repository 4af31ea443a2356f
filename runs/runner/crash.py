"""Crash points, for those who want to see whether a run survives: AGENTDASH_CRASH=after_tx2:0.3,before_tx5

Right before or after the transaction of that number, with that chance (1 when left out), the process dies as
suddenly as from kill -9. Without the variable nothing happens here.

    1 turn opened   2 answered   3 call started   4 call ended   5 turn closed   6 window edited
"""

from __future__ import annotations

import os
import random
import re
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from runs.engine.events import Event

TRANSACTIONS = {
    "turn.opened": 1,
    "turn.answered": 2,
    "call.started": 3,
    "call.ended": 4,
    "turn.closed": 5,
    "window.edited": 6,
}
NAMES = tuple(f"{side}_tx{number}" for number in range(1, 7) for side in ("before", "after"))
_POINT = re.compile(r"(?P<name>(?:before|after)_tx[1-6])(?::(?P<chance>0?\.\d+|0|1|1\.0))?")


def read(text: str) -> dict[str, float]:
    """The chances by point. Raises ValueError for a point nobody knows: a test that kills nothing proves nothing."""
    chances: dict[str, float] = {}
    for word in filter(None, (part.strip() for part in text.split(","))):
        found = _POINT.fullmatch(word)
        if found is None:
            raise ValueError(
                f"AGENTDASH_CRASH: {word!r} is no crash point. The points are: {', '.join(NAMES)}."
            )
        chances[found["name"]] = float(found["chance"] or 1)
    return chances


POINTS: Mapping[str, float] = read(os.environ.get("AGENTDASH_CRASH", ""))


@contextmanager
def points(events: Sequence[Event]) -> Iterator[None]:
    """Around a transaction that writes these events."""
    if not POINTS:
        yield
        return
    numbers = {TRANSACTIONS[event.kind] for event in events if event.kind in TRANSACTIONS}
    _reached("before", numbers)
    yield
    _reached("after", numbers)


def _reached(side: str, numbers: set[int]) -> None:
    if any(random.random() < POINTS.get(f"{side}_tx{number}", 0) for number in numbers):
        os.kill(os.getpid(), signal.SIGKILL)
