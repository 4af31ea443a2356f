"""How far runs are, asked of the database: bells can be lost, so every page looks now and then.

Two hundred pages would ask two hundred times. Who asks while one look is under way shares the next one, for whatever
run: there is never more than one query at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async

from runs.models import Run


class Lookout:
    """Of one event loop."""

    def __init__(self) -> None:
        self.asked: dict[int, asyncio.Future[int]] = {}
        self.looking: asyncio.Task[None] | None = None

    async def last(self, run_id: int) -> int:
        """The number of the run's newest event, as of some moment after the call; 0 when the run is gone."""
        answer = self.asked.get(run_id)
        if answer is None:
            answer = self.asked[run_id] = asyncio.get_running_loop().create_future()
        if self.looking is None:
            self.looking = asyncio.create_task(self._look())
        return await asyncio.shield(answer)  # a page that leaves must not take the answer from the others

    async def _look(self) -> None:
        while self.asked:
            asked, self.asked = self.asked, {}
            try:
                found = await _newest(list(asked))
            except Exception as error:  # noqa: BLE001 (it is the askers' to handle)
                for answer in asked.values():
                    answer.set_exception(error)
                    answer.exception()  # all who asked may have left
            else:
                for run_id, answer in asked.items():
                    answer.set_result(found.get(run_id, 0))
        self.looking = None


_lookouts: WeakKeyDictionary[asyncio.AbstractEventLoop, Lookout] = WeakKeyDictionary()


async def last(run_id: int) -> int:
    """The same, by the lookout of the running loop."""
    return await _lookouts.setdefault(asyncio.get_running_loop(), Lookout()).last(run_id)


@partial(database_sync_to_async, thread_sensitive=False)
def _newest(run_ids: Sequence[int]) -> dict[int, int]:
    rows = Run.objects.filter(pk__in=run_ids).values_list("pk", "next_seq")
    return {run_id: next_seq - 1 for run_id, next_seq in rows}
