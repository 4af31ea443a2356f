"""Settling one call of an answered turn: recover it, ask a person, run it, or leave it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from .errors import Cancelled
from .events import ApprovalAnswered, CallEnded, CallStarted, Decision, Effect, Event, PlannedCall
from .messages import canonical, clean, sha256
from .middleware.base import Desk, Technique
from .ports import ToolContext, ToolResult
from .settle import Settled, ended, killed, skipped
from .tools import Toolbox
from .tools.base import refused


class Acting:
    """The tools of a turn at work. `waiting` says which call needs a person, `decide` takes what they said."""

    def __init__(
        self, desk: Desk, techniques: Sequence[Technique], toolbox: Toolbox, context: ToolContext
    ) -> None:
        self.desk, self.techniques, self.toolbox, self.context = desk, techniques, toolbox, context

    def settle(
        self, call: PlannedCall, settled: dict[str, Settled], refusal: str
    ) -> Generator[Event, None, CallEnded]:
        """Run the call, unless it was begun and must not be repeated, may not run (`refusal` says why not) or cannot,
        because its input fits no tool: then nobody is asked either. Being stopped kills it."""
        known, began = settled.get(call.id, Settled()), time.monotonic()
        result = self.toolbox.recovered(call, self._context(call), known.started) if known.started else None
        if refusal:
            result = result or skipped(refusal)
        elif (unfit := self._unfit(call)) and not known.started:
            result = unfit
        else:
            result = yield from self._asked(call, result)
        if result is None:
            if call.effect is Effect.EFFECTFUL or (call.effect is Effect.IDEMPOTENT and not known.started):
                yield CallStarted(turn=self.desk.turn, call=call)
                settled[call.id] = Settled(started=self._time())
            began = time.monotonic()
            result = self._run(call)
        return ended(self.desk, call, result, round((time.monotonic() - began) * 1000))

    def waiting(self, calls: Sequence[PlannedCall], settled: dict[str, Settled]) -> PlannedCall | None:
        """The first of these calls that waits for a person's word."""
        for call in calls:
            known = settled.get(call.id, Settled())
            if not known.started and self._unfit(call):
                continue
            if known.result is None and any(one.holds(call, bool(known.started)) for one in self.techniques):
                return call
        return None

    def _unfit(self, call: PlannedCall) -> ToolResult | None:
        why = self.toolbox.complaint(call.name, call.input)
        return refused(why) if why else None

    def decide(self, call: PlannedCall, word: Decision) -> Iterator[Event]:
        """A person's word on a call. It counts once it is stored."""
        runs = call.input_sha256 if word.input is None else sha256(canonical(clean(dict(word.input))))
        yield ApprovalAnswered(turn=self.desk.turn, call=call, decision=word, input_sha256=runs)
        self.desk.words.take(word, call.name)

    def _asked(
        self, call: PlannedCall, found: ToolResult | None
    ) -> Generator[Event, None, ToolResult | None]:
        for technique in self.techniques:
            found = yield from technique.before_tool(call, found)
        return found

    def _time(self) -> str:
        return f"{datetime.fromtimestamp(self.desk.clock.now_ms() / 1000, UTC):%H:%M:%S}"

    def _run(self, call: PlannedCall) -> ToolResult:
        run: Callable[[PlannedCall], ToolResult] = self._run_tool
        for technique in reversed(self.techniques):
            run = partial(technique.around_tool, call_next=run)
        try:
            return run(call)
        except Cancelled:
            return killed()

    def _run_tool(self, call: PlannedCall) -> ToolResult:
        return self.toolbox.run(call, self._context(call))

    def _context(self, call: PlannedCall) -> ToolContext:
        return replace(self.context, turn=self.desk.turn, key=call.key, cancel=self.desk.cancel)
