"""One transaction's rows, gathered table by table and written in few statements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from runs.engine.events import Usage, Version
from runs.engine.messages import Block, Message, clean

from . import blobs, index, seals, sql
from .blobs import Blob
from .chain import Line
from .sums import Sums

COLUMNS: dict[str, tuple[str, ...]] = {
    "runs_message": (
        "run_id", "number", "role", "author", "kind", "blob_id", "turn", "tokens", "counted", "by", "at",
    ),
    "runs_version": ("run_id", "number", "parent", "edit", "base", "items"),
    "runs_episode": (
        "run_id", "number", "first_turn", "last_turn", "text", "ledger", "tokens", "scores", "folds",
    ),
    "runs_edit": (
        "run_id", "number", "kind", "method", "trigger", "state", "before", "after", "episode", "order_id",
        "by", "instructions", "tokens_before", "tokens_after", "cost", "ms", "reason", "turn", "at",
    ),
    "runs_note": ("run_id", "number", "revision", "section", "text", "state", "author", "by", "turn"),
    "runs_turn": (
        "run_id", "number", "attempt", "frame_id", "version", "upto", "request_sha256", "status",
        "stop_reason", "usage", "parts", "window", "limit", "estimated", "cost", "first_token_ms", "ms",
        "cache_miss", "partial", "opened_at",
    ),
    "runs_call": (
        "run_id", "turn", "tool_use_id", "name", "input_sha256", "effect", "status", "key", "term", "worker",
        "ms", "bytes", "tokens",
    ),
    "runs_spend": ("run_id", "turn", "kind", "llm", "usage", "cost"),
}  # fmt: skip
"""In the order in which they are written: what is referred to comes first."""


class OutOfStep(RuntimeError):
    """An event speaks of a turn, call or edit that the archive does not have in that state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """A change of a row that is still open. Exactly one row must match, else OutOfStep names `what`."""

    what: str
    table: str
    sets: dict[str, Any]
    where: dict[str, Any]
    status: tuple[str, ...] = ()

    def act(self) -> sql.Act:
        sets = ", ".join(f'"{name}" = %s' for name in self.sets)
        where = " AND ".join(f'"{name}" = %s' for name in self.where)
        status = f" AND status IN ({sql.marks(self.status)})" if self.status else ""
        values = [*self.sets.values(), *self.where.values(), *self.status]
        return sql.Act(f"UPDATE {self.table} SET {sets} WHERE {where}{status}", values)


@dataclass(slots=True, kw_only=True)
class Batch:
    """What a write will do. Writers (store/rows) fill it; `flush` puts everything down."""

    run_id: int
    llm: str
    at: datetime
    term: int = 0
    worker: str = ""
    version: int = 0
    turn_no: int = 0
    sums: Sums = field(default_factory=Sums)
    turn_closed: bool = False
    frames: set[str] = field(default_factory=set)
    lines: list[Line] = field(default_factory=list)
    blobs: dict[str, Blob] = field(default_factory=dict)
    rows: dict[str, list[sql.Row]] = field(default_factory=lambda: {table: [] for table in COLUMNS})
    texts: list[tuple[int, str]] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)
    sealed: list[seals.Sealed] = field(default_factory=list)
    stamp: Any = field(init=False)
    _results: dict[int, tuple[Blob, Block]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.stamp = sql.stamp(self.at)

    def line(self, kind: str, data: dict[str, Any], turn: int = 0) -> None:
        """An event. It seals the archived rows that were put since the last one: the chain then covers them."""
        if self.sealed:
            data = {**data, "rows": seals.digest(self.sealed)}
            self.sealed.clear()
        self.lines.append(Line(kind=kind, data=clean(data), turn=turn))

    def put(self, table: str, *values: Any) -> None:
        self.rows[table].append((self.run_id, *values))

    def message(self, message: Message) -> None:
        parts = blobs.of_content(message.content, self._of_result)
        self.blobs |= {blob.sha256: blob for blob in parts}
        self.texts.append((message.number, index.text_of(message.content)))
        self.sealed.append(seals.of_message(message, parts[-1].sha256))
        self.put(
            "runs_message",
            *(message.number, message.role.value, message.author.value, message.kind.value, parts[-1].sha256),
            *(message.turn, message.tokens, message.counted.value, message.by, self.stamp),
        )

    def value(self, value: object) -> str:
        """The hash of a value that is stored with this."""
        blob = blobs.of_value(value)
        self.blobs[blob.sha256] = blob
        return blob.sha256

    def result(self, block: Block) -> str:
        """Store a tool's result; its message will refer to it."""
        blob = self._of_result(block)
        self.blobs[blob.sha256] = blob
        return blob.sha256

    def _of_result(self, block: Block) -> Blob:
        """Made once: a turn that closes brings most results twice, as those of their calls and in its message."""
        if id(block) not in self._results:
            self._results[id(block)] = (blobs.of_value(block), block)
        return self._results[id(block)][0]

    def window(self, version: Version) -> None:
        items = [[item.message, item.form.value, item.pinned] for item in version.items]
        self.put("runs_version", version.number, version.parent, version.edit, version.base, sql.dumps(items))
        self.sealed.append(
            seals.of_version(version.number, version.parent, version.edit, version.base, items)
        )
        self.version = version.number

    def spend(self, turn: int, kind: str, usage: Usage, cost: int) -> None:
        self.sums.spend(usage, cost)
        if usage != Usage() or cost:
            self.put("runs_spend", turn, kind, self.llm, sql.dumps(usage_json(usage)), cost)

    def flush(self, after: Iterable[sql.Act] = ()) -> None:
        """New rows, changes of those that are open, and what comes `after`. Raises OutOfStep."""
        new = list(self._new_rows())
        counts = sql.together([*new, *(update.act() for update in self.updates), *after])
        for update, count in zip(self.updates, counts[len(new) :], strict=False):
            if count != 1:
                raise OutOfStep(f"{update.what} is not there, or no longer open.")

    def _new_rows(self) -> Iterator[sql.Act]:
        yield from sql.insertions("runs_blob", blobs.COLUMNS, blobs.rows(self.blobs.values()), ignore=True)
        for table, rows in self.rows.items():
            yield from sql.insertions(table, COLUMNS[table], rows)
        yield from index.insertions(self.run_id, self.texts)


def usage_json(usage: Usage) -> dict[str, int]:
    """Usage as rows keep it; `read_usage` turns it back."""
    return {name: getattr(usage, name) for name in USAGE}


def read_usage(stored: dict[str, int]) -> Usage:
    return Usage(**{name: stored.get(name, 0) for name in USAGE})


USAGE: Sequence[str] = ("input", "output", "cache_read", "cache_write", "cache_write_1h", "thinking")
