"""What a run reports while it works. The engine yields these; the store keeps them, pages show them.

`kind` and the keys of `data()` are a contract (scripts read them); payloads that are stored elsewhere (bodies,
versions) travel as attributes and never in `data()`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from .messages import Block, Message

Parts = Mapping[str, int]
"""Tokens by category; keys in the order of PARTS."""

PARTS = (
    "system",
    "tools",
    "memory",
    "notes",
    "episodes",
    "person",
    "assistant",
    "thinking",
    "results",
    "stubs",
)


class Form(StrEnum):
    """How an archived message stands in the window."""

    FULL = "full"
    CLEARED = "cleared"
    PREVIEW = "preview"


class Effect(StrEnum):
    """What repeating a tool call would do: nothing, the same again, or harm."""

    PURE = "pure"
    IDEMPOTENT = "idempotent"
    EFFECTFUL = "effectful"


class CallStatus(StrEnum):
    PLANNED = "planned"
    STARTED = "started"
    DONE = "done"
    ERROR = "error"
    TIMEOUT = "timeout"
    KILLED = "killed"
    SKIPPED = "skipped"
    DENIED = "denied"
    UNKNOWN = "unknown"


class Trigger(StrEnum):
    AUTO = "auto"
    PERSON = "person"
    AGENT = "agent"
    FALLBACK = "fallback"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one llm call as the provider counted them. `input` excludes what the cache read or wrote."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    thinking: int = 0

    @property
    def prompt(self) -> int:
        """The whole request: input + cache read + both cache writes."""
        return self.input + self.cache_read + self.cache_write + self.cache_write_1h

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            cache_write_1h=self.cache_write_1h + other.cache_write_1h,
            thinking=self.thinking + other.thinking,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One entry of a version: an archived message in a form."""

    message: int
    form: Form = Form.FULL
    pinned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One link in the chain of windows: `items` up to message `base`; later messages follow in full."""

    number: int
    parent: int
    edit: int
    base: int
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What else goes into a request. `params` holds the request's parameters and the numbers that shape forms."""

    sha256: str
    llm: str
    system: tuple[Block, ...]
    tools: tuple[Block, ...]
    params: Mapping[str, Any]
    render: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    number: int
    revision: int
    section: str
    text: str
    state: str
    author: str
    by: str
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """A summary of turns first..last. `folds` is the number of the episode it took in, 0 for none."""

    number: int
    first_turn: int
    last_turn: int
    text: str
    ledger: str
    tokens: int
    folds: int = 0
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change of the window other than appending. Money is microdollars, `ms` milliseconds."""

    number: int
    kind: str
    method: str
    trigger: Trigger
    turn: int
    before: Version
    after: Version
    added: tuple[Message, ...]
    tokens_before: int
    tokens_after: int
    episode: Episode | None = None
    order: int = 0
    by: str = ""
    instructions: str = ""
    reason: str = ""
    usage: Usage = Usage()
    cost: int = 0
    ms: int = 0
    frees: Parts = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base of all. `turn` is the turn it belongs to, 0 for none."""

    kind: ClassVar[str] = ""
    turn: int = 0

    def data(self) -> dict[str, Any]:
        return {}


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
        return {"attempt": self.attempt, "version": self.version, "upto": self.upto, "estimate": self.estimate}


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

    def data(self) -> dict[str, Any]:
        usage = {"input": self.usage.input, "output": self.usage.output}
        usage |= {"cache_read": self.usage.cache_read, "cache_write": self.usage.cache_write}
        usage |= {"cache_write_1h": self.usage.cache_write_1h, "thinking": self.usage.thinking}
        return {"stop_reason": self.stop_reason, "usage": usage, "message": self.message.number}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted(Event):
    kind: ClassVar[str] = "call.started"
    call: PlannedCall

    def data(self) -> dict[str, Any]:
        return {"id": self.call.id, "name": self.call.name, "effect": self.call.effect.value, "status": "started"}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked(Event):
    """A technique looked at the window. `verdict`: "fired" or "not fired"; value and threshold: shares of the limit."""

    kind: ClassVar[str] = "window.checked"
    technique: str
    value: float
    threshold: float
    verdict: str
    why: str

    def data(self) -> dict[str, Any]:
        data = {"technique": self.technique, "value": round(self.value, 4), "threshold": round(self.threshold, 4)}
        return data | {"verdict": self.verdict, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowEdited(Event):
    kind: ClassVar[str] = "window.edited"
    edit: Edit

    def data(self) -> dict[str, Any]:
        edit = self.edit
        data = {"edit": edit.number, "kind": edit.kind, "before": edit.before.number, "after": edit.after.number}
        return data | {"tokens_before": edit.tokens_before, "tokens_after": edit.tokens_after}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionStarted(Event):
    kind: ClassVar[str] = "compaction.started"
    edit: int
    why: str

    def data(self) -> dict[str, Any]:
        return {"edit": self.edit, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionFailed(Event):
    """The window stays as it was. `spent` are the summary calls that led nowhere."""

    kind: ClassVar[str] = "compaction.failed"
    edit: int
    method: str
    trigger: Trigger
    why: str
    order: int = 0
    by: str = ""
    instructions: str = ""
    tokens_before: int = 0
    usage: Usage = Usage()
    cost: int = 0
    ms: int = 0

    def data(self) -> dict[str, Any]:
        return {"edit": self.edit, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteChanged(Event):
    kind: ClassVar[str] = "note.changed"
    note: Note

    def data(self) -> dict[str, Any]:
        return {"note": self.note.number, "revision": self.note.revision}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled(Event):
    kind: ClassVar[str] = "recall.asked"
    query: str
    hits: int

    def data(self) -> dict[str, Any]:
        return {"query": self.query, "hits": self.hits}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired(Event):
    """The window was put right before it was sent; `message` is a product message written for it, if any."""

    kind: ClassVar[str] = "message.repaired"
    what: str

    def data(self) -> dict[str, Any]:
        return {"what": self.what}


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeGiven(Event):
    """A line of the product to the agent, appended to the window as `message`."""

    kind: ClassVar[str] = "notice.given"
    message: Message

    def data(self) -> dict[str, Any]:
        return {"message": self.message.number}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said(Event):
    """What a person wrote to the agent has reached the window."""

    kind: ClassVar[str] = "person.said"
    message: Message
    order: int = 0

    def data(self) -> dict[str, Any]:
        return {"message": self.message.number}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpinSeen(Event):
    kind: ClassVar[str] = "spin.seen"
    name: str
    times: int

    def data(self) -> dict[str, Any]:
        return {"name": self.name, "times": self.times}


@dataclass(frozen=True, slots=True, kw_only=True)
class ValveReached(Event):
    kind: ClassVar[str] = "valve.reached"
    which: str

    def data(self) -> dict[str, Any]:
        return {"which": self.which}
