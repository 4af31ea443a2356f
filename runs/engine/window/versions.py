"""Entries, and the window in hand: the newest version's items plus every later message in full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, takewhile
from typing import TypeAlias

from ..events import Form, Item, Version
from ..messages import Block, Message, calls_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A message as it stands in the window."""

    message: Message
    form: Form = Form.FULL
    pinned: bool = False
    seam: bool = False
    """The last that stood so before the edit, too, while nothing has been answered since: up to here the cache may
    know the window."""

    @property
    def item(self) -> Item:
        return Item(message=self.message.number, form=self.form, pinned=self.pinned)


Shown: TypeAlias = tuple[Entry, Sequence[Block]]
"""An entry with the blocks it is sent as; the same object as long as the entry stands in the window."""


def entries(version: Version, messages: Mapping[int, Message], upto: int) -> tuple[Entry, ...]:
    """The window of (version, upto): a pure function, for the present and for any past turn."""
    seam = version.steady - 1 if upto == version.base else -1
    listed = (
        Entry(message=messages[item.message], form=item.form, pinned=item.pinned, seam=at == seam)
        for at, item in enumerate(version.items)
    )
    later = (Entry(message=messages[number]) for number in range(version.base + 1, upto + 1))
    return (*listed, *later)


def steady(items: Sequence[Item], parent: Version) -> int:
    """How many of these first items stand as they did in the parent's window, in which later messages followed."""
    before = chain(parent.items, (Item(message=number) for number in count(parent.base + 1)))
    pairs = zip(items, before, strict=False)
    return sum(1 for _ in takewhile(lambda pair: _look_alike(*pair), pairs))


def _look_alike(one: Item, other: Item) -> bool:
    return (one.message, one.form) == (other.message, other.form)


class Window:
    """The window in hand. Changes by `append` and `adopt` only; both follow what the archive has taken."""

    def __init__(self, version: Version, messages: Sequence[Message]) -> None:
        self.version = version
        self.messages = {message.number: message for message in messages}
        self.upto = max([version.base, *self.messages])
        self._calls = {call["id"]: call for message in messages for call in calls_of(message.content)}
        self._entries = entries(version, self.messages, self.upto)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The same objects until the window changes: what is derived from them can be remembered by identity."""
        return self._entries

    def append(self, message: Message) -> None:
        fresh = self.upto == self.version.base
        self.messages[message.number] = message
        self.upto = message.number
        grown = (*self._entries, Entry(message=message))
        self._entries = entries(self.version, self.messages, self.upto) if fresh else grown
        self._calls |= {call["id"]: call for call in calls_of(message.content)}

    def adopt(self, version: Version, added: Iterable[Message] = ()) -> None:
        """Go on with a new version; `added` are the product's messages that were written for it."""
        for message in added:
            self.messages[message.number] = message
        self.version = version
        self.upto = version.base
        self._entries = entries(version, self.messages, self.upto)

    def know(self, messages: Iterable[Message]) -> None:
        """Old messages that may come back into the window."""
        for message in messages:
            if message.number not in self.messages:
                self.messages[message.number] = message
                self._calls |= {call["id"]: call for call in calls_of(message.content)}

    def calls(self) -> Mapping[str, Block]:
        """tool_use blocks of all answers by id: what a result belongs to."""
        return self._calls
