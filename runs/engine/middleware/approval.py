"""Approval: calls that do not run without a person, and interrupted ones whose outcome nobody knows."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from dataclasses import replace

from ..errors import EngineError, NeedsApproval, UnknownOutcome
from ..events import ApprovalAsked, CallStatus, Decision, Effect, Event, PlannedCall, Verdict
from ..messages import text
from ..policy.model import ApprovalPolicy
from ..ports import ToolResult
from .base import Technique

CallNext = Callable[[PlannedCall], ToolResult]
EVERY = "effectful"
"""In the list of tools: every tool whose repetition would do harm."""

DENIED = "A person refused this call, so it was not run."
NO_REASON = "They gave no reason: try another way, or ask."
DONE = "A person looked: this call had run before its worker stopped. Do not repeat it."
CHANGED = "A person changed the input before this ran. What ran: "
NO_SANDBOX = "There is no sandbox here, so each command asks."
UNSURE = "Nobody knows how {name} ended: its worker stopped while it ran. Look, and say what shall count."


class Approval(Technique):
    """Holds the run before a call starts. What a person then says is bound to that call and to the input it showed."""

    name = "approval"

    @property
    def policy(self) -> ApprovalPolicy:
        """As it is now: a policy may change while the run goes on."""
        return self.desk.policy.approval

    def before_tool(
        self, call: PlannedCall, found: ToolResult | None
    ) -> Generator[Event, None, ToolResult | None]:
        if found is None:
            return (yield from self._permitted(call))
        if found.status == CallStatus.UNKNOWN:
            return (yield from self._cleared_up(call, found))
        return self._told(call, found)

    def around_tool(self, call: PlannedCall, call_next: CallNext) -> ToolResult:
        """What a person wrote runs instead, and the agent is told."""
        word = self.desk.words.permits.get(call.id)
        given = call if word is None or word.input is None else replace(call, input=word.input)
        return self._told(call, call_next(given))

    def holds(self, call: PlannedCall, started: bool) -> bool:
        words = self.desk.words
        if started:
            unsure = call.effect is Effect.EFFECTFUL and self.policy.on_unknown == "wait"
            return unsure and call.id not in words.outcomes
        return call.id not in words.permits and bool(self.asks(call))

    def asks(self, call: PlannedCall) -> str:
        """Why this call needs a person, or ""."""
        if call.name in self.desk.words.each:
            return NO_SANDBOX
        named = call.name in self.policy.tools or (
            EVERY in self.policy.tools and call.effect is Effect.EFFECTFUL
        )
        return f"{call.name} asks first." if named and call.name not in self.desk.words.always else ""

    def _permitted(self, call: PlannedCall) -> Generator[Event, None, ToolResult | None]:
        word = self.desk.words.permits.get(call.id)
        if word is not None:
            return denied(word) if word.verdict is Verdict.DENY else None
        if why := self.asks(call):
            yield ApprovalAsked(turn=self.desk.turn, call=call, about=NeedsApproval.reason, why=why)
            raise NeedsApproval(why)
        return None

    def _cleared_up(self, call: PlannedCall, found: ToolResult) -> Generator[Event, None, ToolResult | None]:
        word = self.desk.words.outcomes.get(call.id)
        if word is None and self.policy.on_unknown == "wait":
            why = UNSURE.format(name=call.name)
            yield ApprovalAsked(turn=self.desk.turn, call=call, about=UnknownOutcome.reason, why=why)
            raise UnknownOutcome(why)
        if word is None or word.verdict is Verdict.LEAVE:
            return self._told(call, found)
        return None if word.verdict is Verdict.AGAIN else self._told(call, ToolResult(content=DONE))

    def _told(self, call: PlannedCall, result: ToolResult) -> ToolResult:
        word = self.desk.words.permits.get(call.id)
        if word is None or word.input is None:
            return result
        line = CHANGED + json.dumps(dict(word.input), ensure_ascii=False)
        if isinstance(result.content, str):
            return replace(result, content=f"{result.content}\n\n{line}")
        return replace(result, content=(*result.content, text(line)))


def denied(word: Decision) -> ToolResult:
    said = f"They wrote: {word.reason}" if word.reason else NO_REASON
    return ToolResult(content=f"{DENIED} {said}", is_error=True, status=CallStatus.DENIED)


def check(tools: tuple[str, ...], names: tuple[str, ...]) -> None:
    """A tool that nobody knows would never ask. Raises EngineError."""
    unknown = [name for name in tools if name != EVERY and name not in names]
    if unknown:
        known = ", ".join((EVERY, *names))
        raise EngineError(
            f"The policy's approval names the tool {unknown[0]!r}, and there is none. Known: {known}."
        )
