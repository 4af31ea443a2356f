"""What is typed on its way to the thread that waits for the answer: gathered, and handed over twenty times a second at
most. To wake that thread costs more than a piece is worth, and no page shows more (runs.live.bell).
"""

from __future__ import annotations

import asyncio
import queue
from dataclasses import replace

from ..events import Delta
from ..ports import Answer

Item = Delta | Answer | BaseException
PAUSE_S = 0.05


class Handover:
    """Used on the loop; `items` are read elsewhere. What follows in the same block is handed over as one piece."""

    def __init__(self, items: queue.SimpleQueue[Item]) -> None:
        self._items = items
        self._waiting: list[Delta] = []
        self._timer: asyncio.TimerHandle | None = None

    def typed(self, delta: Delta) -> None:
        last = self._waiting[-1] if self._waiting else None
        if last and (last.block, last.block_type) == (delta.block, delta.block_type):
            self._waiting[-1] = replace(last, text=last.text + delta.text)
        else:
            self._waiting.append(delta)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE_S, self._over)

    def ended(self, item: Answer | BaseException) -> None:
        """The last of it: nothing waits any more."""
        if self._timer is not None:
            self._timer.cancel()
        self._over()
        self._items.put(item)

    def _over(self) -> None:
        self._timer = None
        for delta in self._waiting:
            self._items.put(delta)
        self._waiting = []
