"""Tells the watchers of a run that there is something to read, or what is being typed.

Rung by the run's worker after each commit. Never raises and never waits: a run does not depend on who watches it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from channels.layers import get_channel_layer

from runs.engine.events import Delta
from runs.live import groups

POKE_SECONDS = 0.05
TYPE_SECONDS = 0.1
DELTA_BYTES = 4_000
BACKLOG_BYTES = 64_000
"""Typing that waits longer than this many bytes is dropped: the turn's event brings the whole text anyway."""

UNHEARD_SECONDS = 1.0
"""A run to which nobody listened is asked again after so long; its events are told all the same."""

MOST_WAITING = 5_000
"""Messages that wait for a layer that does not take them; a page without bells reads by itself."""

log = logging.getLogger(__name__)

Send = Callable[[Sequence[tuple[str, dict[str, Any]]]], Awaitable[Sequence[int]]]
"""Group and message, many at once; returns how many heard each."""


def ring(run_id: int, seq: int) -> None:
    """Event `seq` of the run is committed. At most 20 bells a second and run go out; the last always does."""
    _post(lambda tower: tower.poke(run_id, seq), poked=(run_id, seq))


def type(run_id: int, delta: Delta) -> None:  # noqa: A001 (a bell rings, and types)
    """Letters of an answer that is still streaming; at most 10 messages a second and run, of 4 kB each. A run that
    nobody watches is not typed for: of a thousand runs at work people look at a few."""
    _post(lambda tower: tower.type(run_id, delta), typing=run_id)


class Tower:
    """Bells of one event loop. What happens in it happens on that loop, but for `gathers`: waking a loop costs more
    than a bell, and of a run at work it would be woken for every commit.

    While one lot of messages is on its way the next gathers: a loop that shares its process with hundreds of working
    threads gets its turn seldom, and a way there and back for each message would be far too slow.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, send: Send) -> None:
        self.loop = loop
        self.send = send
        self.pokes: dict[int, int] = {}
        self.poking = threading.Lock()
        self.typing: dict[int, list[Delta]] = {}
        self.unheard: dict[int, float] = {}
        self.waiting: list[tuple[int, dict[str, Any]]] = []
        self.sending: asyncio.Task[None] | None = None

    def is_heard(self, run_id: int) -> bool:
        """Whether somebody may be listening; from any thread."""
        return self.unheard.get(run_id, 0.0) < time.monotonic()

    def gathers(self, run_id: int, seq: int) -> bool:
        """Whether a bell of this run is out just now, and the next one will tell of `seq` too; from any thread."""
        with self.poking:
            if run_id not in self.pokes:
                return False
            self.pokes[run_id] = max(seq, self.pokes[run_id])
            return True

    def poke(self, run_id: int, seq: int) -> None:
        if self.gathers(run_id, seq):
            return
        with self.poking:
            self.pokes[run_id] = 0
        self._out(run_id, {"type": "poke", "seq": seq})
        self.loop.call_later(POKE_SECONDS, self._poked, run_id)

    def _poked(self, run_id: int) -> None:
        with self.poking:
            seq = self.pokes.pop(run_id)
        if seq:
            self.poke(run_id, seq)

    def type(self, run_id: int, delta: Delta) -> None:
        waiting = self.typing.get(run_id)
        if waiting is None:
            self.typing[run_id] = waiting = []
            self.loop.call_later(TYPE_SECONDS, self._typed, run_id)
        if waiting and _continues(waiting[-1], delta):
            waiting[-1] = _joined(waiting[-1], delta)
        elif sum(len(one.text) for one in waiting) < BACKLOG_BYTES:
            waiting.append(delta)

    def _typed(self, run_id: int) -> None:
        waiting = self.typing.pop(run_id)
        if not waiting:
            return
        first, rest = _split(waiting[0])
        self._out(run_id, {"type": "typed", "delta": _wire(first)})
        self.typing[run_id] = ([rest] if rest else []) + waiting[1:]
        self.loop.call_later(TYPE_SECONDS, self._typed, run_id)

    def _out(self, run_id: int, message: dict[str, Any]) -> None:
        if len(self.waiting) < MOST_WAITING:
            self.waiting.append((run_id, message))
        if self.sending is None:
            self.sending = self.loop.create_task(self._send())

    async def _send(self) -> None:
        while self.waiting:
            lot, self.waiting = self.waiting, []
            try:
                heard = await self.send([(groups.run(run_id), message) for run_id, message in lot])
            except Exception as error:  # noqa: BLE001 (whatever the channel layer's trouble is, the run goes on)
                log.warning("watchers were not told: %s", error)
            else:
                self._heard(lot, heard)
        self.sending = None

    def _heard(self, lot: Sequence[tuple[int, dict[str, Any]]], heard: Sequence[int]) -> None:
        now = time.monotonic()
        for (run_id, _), count in zip(lot, heard, strict=True):
            if count:
                self.unheard.pop(run_id, None)
            else:
                self.unheard[run_id] = now + UNHEARD_SECONDS
        if len(self.unheard) > MOST_WAITING:
            self.unheard = {run: until for run, until in self.unheard.items() if until > now}


_towers: WeakKeyDictionary[asyncio.AbstractEventLoop, Tower] = WeakKeyDictionary()
_lock = threading.Lock()


def _post(act: Callable[[Tower], None], *, typing: int = 0, poked: tuple[int, int] | None = None) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    loop = _loop(layer)
    with _lock:
        tower = _towers.get(loop) or _towers.setdefault(loop, Tower(loop, layer.group_send_all))
    if (typing and not tower.is_heard(typing)) or (poked and tower.gathers(*poked)):
        return
    try:
        loop.call_soon_threadsafe(act, tower)
    except RuntimeError:  # the server's loop closed just now: nobody hears it
        log.debug("bell after closing time")


def _loop(layer: Any) -> asyncio.AbstractEventLoop:
    """The server's loop where it runs in this process, else one of our own."""
    server: asyncio.AbstractEventLoop | None = getattr(layer, "loop", None)
    if server is not None and server.is_running():
        return server
    return _own_loop()


@cache
def _own_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="bell", daemon=True).start()
    return loop


def _continues(one: Delta, two: Delta) -> bool:
    same = (one.turn, one.block, one.block_type) == (two.turn, two.block, two.block_type)
    return same and one.offset + len(one.text) == two.offset and len(one.text) < BACKLOG_BYTES


def _joined(one: Delta, two: Delta) -> Delta:
    return replace(one, text=one.text + two.text)


def _split(delta: Delta) -> tuple[Delta, Delta | None]:
    """As much as fits into one message, and the rest. Cut between characters, counted in bytes."""
    encoded = delta.text.encode("utf-8", "replace")
    if len(encoded) <= DELTA_BYTES:
        return delta, None
    head = encoded[:DELTA_BYTES].decode("utf-8", "ignore")
    rest = replace(delta, offset=delta.offset + len(head), text=delta.text[len(head) :])
    return replace(delta, text=head), rest


def _wire(delta: Delta) -> dict[str, Any]:
    place = {"turn": delta.turn, "block": delta.block, "offset": delta.offset}
    return place | {"text": delta.text, "block_type": delta.block_type}
