"""Events that add a line: notes, recalls, repairs, notices, what a person said, what a guard saw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..messages import Message
from .base import Event
from .values import Note


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
class SpiralSeen(Event):
    """Compact, read the same again, compact: so many times in a row."""

    kind: ClassVar[str] = "spiral.seen"
    times: int

    def data(self) -> dict[str, Any]:
        return {"times": self.times}


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChanged(Event):
    """A section of the run's policy reads differently from here on; `policy` is the whole of it as it is now."""

    kind: ClassVar[str] = "policy.changed"
    section: str
    policy: Mapping[str, Any]

    def data(self) -> dict[str, Any]:
        return {"section": self.section, "values": dict(self.policy[self.section])}


@dataclass(frozen=True, slots=True, kw_only=True)
class ValveReached(Event):
    kind: ClassVar[str] = "valve.reached"
    which: str

    def data(self) -> dict[str, Any]:
        return {"which": self.which}
