"""Entries, and the window in hand: the newest version's items plus every later message in full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..events import Form, Item, Version
from ..messages import Block, Message, calls_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A message as it stands in the window."""

    message: Message
    form: Form = Form.FULL
    pinned: bool = False

    @property
    def item(self) -> Item:
        return Item(message=self.message.number, form=self.form, pinned=self.pinned)


def entries(version: Version, messages: Mapping[int, Message], upto: int) -> tuple[Entry, ...]:
    """The window of (version, upto): a pure function, for the present and for any past turn."""
    listed = (
        Entry(message=messages[item.message], form=item.form, pinned=item.pinned) for item in version.items
    )
    later = (Entry(message=messages[number]) for number in range(version.base + 1, upto + 1))
    return (*listed, *later)


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
        self.messages[message.number] = message
        self.upto = message.number
        self._entries = (*self._entries, Entry(message=message))
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
