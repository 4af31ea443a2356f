"""What the engine needs from outside, as narrow protocols. Each has a twin in memory (`runs.engine.memory`)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel

from .events import Delta, Effect, Event, Note, Usage
from .messages import Block, Message
from .window.render import Request as Request


class Cancel:
    """A flag that can be raised from another thread, once, with a reason; callbacks wake whoever waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self.reason = ""

    def __call__(self, reason: str) -> None:
        with self._lock:
            if self.reason:
                return
            self.reason = reason
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` when cancelled (at once if it already is). Returns a function that unregisters it."""
        with self._lock:
            if not self.reason:
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        callback()
        return lambda: None

    def _forget(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Microdollars per million tokens. Source: the provider's price page; settings may override it."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    cache_write_1h: int

    def of(self, usage: Usage) -> int:
        """Microdollars of a usage."""
        micro = usage.input * self.input + usage.output * self.output
        micro += usage.cache_read * self.cache_read + usage.cache_write * self.cache_write
        return round((micro + usage.cache_write_1h * self.cache_write_1h) / 1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """What is known of an llm. `thinking`: none, manual, adaptive or bound (adaptive, and signed to its prefix)."""

    llm: str
    context: int
    max_output: int
    thinking: str = "none"
    price: Price | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back, only ever whole: the stream ended with message_stop. `cut_call`: a tool call that max_tokens
    cut off in its middle was left out. `cache_miss`: why the cache missed, where the provider says so. `raw`: the
    content as it came, in JSON, where it had to be cleaned."""

    content: tuple[Block, ...]
    stop_reason: str
    usage: Usage
    first_token_ms: int
    ms: int
    cut_call: bool = False
    cache_miss: str = ""
    id: str = ""
    raw: str = ""


class Llm(Protocol):
    capability: Capability

    def answer(self, request: Request, cancel: Cancel) -> Iterator[Delta | Answer]:
        """Stream one answer: deltas while it types, then exactly one Answer. Raises LlmTrouble, Cancelled."""

    def count(self, request: Request) -> int | None:
        """Tokens of the request by the provider's own count, None where it cannot say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A place in a run's past that matched a recall: whole lines around the match."""

    turn: int
    message: int
    kind: str
    text: str
    score: float


class History(Protocol):
    """The run's archive, to read."""

    def message(self, number: int) -> Message: ...

    def of_turn(self, turn: int) -> Sequence[Message]: ...

    def search(self, query: str, k: int) -> Sequence[Hit]: ...


class RunFiles(Protocol):
    """The run's own files, which tools see as `@run/…`."""

    def write(self, name: str, text: str) -> None: ...

    def read(self, name: str) -> str | None: ...

    def names(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """How a command ended. `status`: done, timeout, killed. Output is head and tail; `omitted` bytes lie between.

    `spill` is the file with the whole output where the output is only a part; `reason` says why it was killed.
    """

    exit_code: int
    output: str
    omitted: int
    total: int
    status: str
    ms: int
    spill: Path | None = None
    reason: str = ""


class Sandbox(Protocol):
    """Runs commands where they can do no harm. `available` is a sentence that says why not, or ''."""

    name: str

    def available(self) -> str: ...

    def run(
        self,
        command: str,
        workspace: Path,
        *,
        timeout: float,
        key: str,
        cancel: Cancel,
        spool: Path | None = None,
    ) -> Execution:
        """Run a command; with a `spool` folder its outcome survives the worker (runs.engine.spool)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool gives back. `content` is text or API blocks; `events` are reported along with it.

    `raw_bytes` is the size of the original where `content` is only a part of it, `spill` the file that holds it.
    """

    content: str | tuple[Block, ...]
    is_error: bool = False
    status: str = "done"
    raw_bytes: int = 0
    events: tuple[Event, ...] = ()
    spill: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a running tool may touch. `spool` is the folder `<run files>/exec`, where outcomes outlive the worker;
    `page_tokens` is the most that a page of a file may have without being offloaded at once, 0 for no such bound."""

    run: str
    turn: int
    key: str
    workspace: Path
    files: RunFiles
    history: History
    notes: Callable[[], Sequence[Note]]
    sandbox: Sandbox
    cancel: Cancel
    spool: Path | None = None
    page_tokens: int = 0


class Tool(Protocol):
    """A tool of the agent. `Input` is a pydantic model: its schema is shown to the llm, its validator guards `run`."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def effect(self) -> Effect: ...

    @property
    def Input(self) -> type[BaseModel]: ...  # noqa: N802

    def run(self, given: Any, context: ToolContext) -> ToolResult: ...


def schema_of(tool: Tool) -> Mapping[str, Any]:
    """The tool as the Messages API wants it. To be read only: agents share it."""
    return {"name": tool.name, "description": tool.description, "input_schema": _schema(tool.Input)}


@lru_cache(maxsize=256)
def _schema(model: type[BaseModel]) -> Mapping[str, Any]:
    """Made once for each kind of input: with a thousand runs at work it was a quarter of all that was computed."""
    schema = model.model_json_schema()
    schema.pop("title", None)
    for prop in schema.get("properties", {}).values():
        prop.pop("title", None)
    return schema


class Clock(Protocol):
    def now_ms(self) -> int: ...

    def sleep(self, seconds: float, cancel: Cancel) -> None:
        """Wait, but wake at once when cancelled."""
