"""Values that travel in events: frozen, and the same for the engine, the store and the pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..messages import Block, Message

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
    steady: int = field(default=0, compare=False)
    """How many of the first items stand as they did in the parent's window: follows from the two item lists."""


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
    undoes: int = 0
    """The edit that an undo takes back, with all that were made since."""
