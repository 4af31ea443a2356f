"""Seals: an event's `rows` is a digest of the archived rows written with it, so the chain covers them too."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, TypeAlias

from runs import models
from runs.engine.messages import canonical, sha256

Sealed: TypeAlias = list[Any]

LENGTH = 32
"""Characters of a digest: 128 bits."""


def digest(rows: Sequence[Sealed]) -> str:
    return sha256(canonical(list(rows)))[:LENGTH]


def of_message(message: Any, blob: str) -> Sealed:
    """Of a message of the engine, or of its row: both have these names."""
    who = [str(message.role), str(message.author), str(message.kind), str(message.counted), message.by]
    return ["message", message.number, message.turn, message.tokens, *who, blob]


def of_version(number: int, parent: int, edit: int, base: int, items: Sequence[Any]) -> Sealed:
    return ["version", number, parent, edit, base, items]


def of_frame(llm: str, system: Sequence[Any], tools: Sequence[Any], params: Any, render: int) -> str:
    """The name of a frame, as the engine makes it (window/render.frame_of)."""
    whole = {"llm": llm, "system": system, "tools": tools, "render": render, "params": params}
    return sha256(canonical(whole))


class Archive:
    """A run's messages and windows in the order of its events, to be held against their seals."""

    def __init__(self, run: models.Run) -> None:
        self.run = run
        self.taken = 0
        self._messages = models.Message.objects.filter(run=run).order_by("number").iterator(1000)

    def fits(self, event: models.Event) -> bool:
        """Whether the next rows are those that the event sealed, and were written with it."""
        version = self._version(event)
        messages = self._next(version.base - self.taken if version else 1)
        rows = [of_message(row, row.blob_id) for row in messages]
        if version is not None:
            rows.append(of_version(version.number, version.parent, version.edit, version.base, version.items))
        return digest(rows) == event.data["rows"] and all(row.at == event.at for row in messages)

    def left(self) -> bool:
        """Whether there are messages that no event has brought."""
        return bool(self._next(1))

    def _next(self, count: int) -> list[models.Message]:
        found = list(islice(self._messages, max(0, count)))
        self.taken += len(found)
        return found

    def _version(self, event: models.Event) -> models.Version | None:
        number = event.data["after"] if event.kind == "window.edited" else int(event.kind == "run.created")
        return models.Version.objects.filter(run=self.run, number=number).first() if number else None
