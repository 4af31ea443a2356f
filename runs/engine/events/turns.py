"""Events of a turn, from the request to the results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..messages import Block, Message, canonical, sha256
from .base import Event
from .values import CallStatus, Effect, Frame, Parts, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta(Event):
    """Typing: text of a block while it streams. Never stored, may be lost."""

    kind: ClassVar[str] = "delta"
    block: int = 0
    offset: int = 0
    text: str = ""
    block_type: str = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOpened(Event):
    kind: ClassVar[str] = "turn.opened"
    attempt: int
    frame: Frame
    version: int
    upto: int
    estimate: int
    request_sha256: str

    def data(self) -> dict[str, Any]:
        return {
            "attempt": self.attempt,
            "version": self.version,
            "upto": self.upto,
            "estimate": self.estimate,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A tool call the llm asked for, before it runs. `key` = sha256(run, turn, id) names its execution."""

    id: str
    name: str
    input: Mapping[str, Any]
    input_sha256: str
    effect: Effect
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAnswered(Event):
    kind: ClassVar[str] = "turn.answered"
    attempt: int
    stop_reason: str
    usage: Usage
    message: Message
    calls: tuple[PlannedCall, ...] = ()
    first_token_ms: int = 0
    ms: int = 0
    cost: int = 0
    cache_miss: str = ""
    raw: str = ""
    """The answer's content as it came, where the message is not the same; stored as a blob of its own."""

    def data(self) -> dict[str, Any]:
        usage = {"input": self.usage.input, "output": self.usage.output}
        usage |= {"cache_read": self.usage.cache_read, "cache_write": self.usage.cache_write}
        usage |= {"cache_write_1h": self.usage.cache_write_1h, "thinking": self.usage.thinking}
        data = {"stop_reason": self.stop_reason, "usage": usage, "message": self.message.number}
        return data | ({"raw": sha256(canonical(self.raw))} if self.raw else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted(Event):
    kind: ClassVar[str] = "call.started"
    call: PlannedCall

    def data(self) -> dict[str, Any]:
        return {
            "id": self.call.id,
            "name": self.call.name,
            "effect": self.call.effect.value,
            "status": "started",
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded(Event):
    """`result` is the tool_result block as the llm will see it in full."""

    kind: ClassVar[str] = "call.ended"
    call: PlannedCall
    status: CallStatus
    result: Block
    ms: int = 0
    bytes: int = 0
    tokens: int = 0
    also: tuple[Event, ...] = ()
    """What the tool reported (a note changed, a recall); stored in the same transaction, before this."""

    def data(self) -> dict[str, Any]:
        data = {"id": self.call.id, "name": self.call.name, "effect": self.call.effect.value}
        return data | {"status": self.status.value, "ms": self.ms, "bytes": self.bytes, "tokens": self.tokens}


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnClosed(Event):
    """The turn is over: all results stand in the archive. `ended` are the pure calls, whose results come with this."""

    kind: ClassVar[str] = "turn.closed"
    message: Message | None
    window: int
    limit: int
    parts: Parts
    cost: int
    estimated: bool
    ended: tuple[CallEnded, ...] = ()
    final: bool = False

    def data(self) -> dict[str, Any]:
        return {"window": self.window, "limit": self.limit, "parts": dict(self.parts), "cost": self.cost}


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLost(Event):
    """An attempt came to nothing: cut stream, crash, cancelled. `partial` is what was seen of it."""

    kind: ClassVar[str] = "turn.lost"
    attempt: int
    reason: str
    partial: str = ""
    usage: Usage = Usage()
    cost: int = 0
    cancelled: bool = False

    def data(self) -> dict[str, Any]:
        return {"reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmRetry(Event):
    kind: ClassVar[str] = "llm.retry"
    status: int
    wait_ms: int
    tries: int

    def data(self) -> dict[str, Any]:
        return {"status": self.status, "wait_ms": self.wait_ms, "try": self.tries}
