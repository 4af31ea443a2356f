"""Agents that a slice left in good order, for the next slice of the same run in this process.

Taking a run up from the archive costs as much as several turns. Between two claims of one owner nobody else can
have written to it (their terms follow each other), so such an agent still is what the archive says. Any doubt, and
the run is taken up anew.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from runs.engine.loop import Agent
from runs.store.lease import Claim

MOST = 256
"""Agents kept at a time; each holds a window's messages."""

SLICES = 10
"""After so many slices a run is taken up anew: what has left its window leaves the memory too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """An agent, and how many slices it has walked since it was taken up."""

    slug: str
    term: int
    agent: Agent
    slices: int


class Warm:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left: OrderedDict[int, Left] = OrderedDict()

    def take(self, claim: Claim) -> Left | None:
        """The agent this process left, if nobody can have written to the run since."""
        with self._lock:
            left = self._left.pop(claim.run_id, None)
        if left is None or (left.slug, left.term + 1, 0) != (claim.slug, claim.term, claim.crash_streak):
            return None
        return left

    def keep(self, claim: Claim, agent: Agent, slices: int) -> None:
        """For the next slice; not one that has grown old, nor one that holds twice what its window shows."""
        window = agent.desk.window
        if slices >= SLICES or agent.open or len(window.messages) > 2 * len(window.entries):
            return
        with self._lock:
            self._left[claim.run_id] = Left(slug=claim.slug, term=claim.term, agent=agent, slices=slices)
            while len(self._left) > MOST:
                self._left.popitem(last=False)

    def forget(self) -> None:
        """All of them: for tests that turn the archive back."""
        with self._lock:
            self._left.clear()


warm = Warm()
