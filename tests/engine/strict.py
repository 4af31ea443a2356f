"""An archive in memory that refuses what the real one would: every number in order, every row in its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatchmethod

from runs.engine.events import (
    ApprovalAnswered,
    CallEnded,
    CallStarted,
    CallStatus,
    CompactionFailed,
    CompactionStarted,
    Delta,
    Event,
    NoticeGiven,
    Said,
    TurnAnswered,
    TurnClosed,
    TurnLost,
    TurnOpened,
    Verdict,
    WindowEdited,
)
from runs.engine.memory import MemoryHistory
from runs.engine.messages import Message, canonical


@dataclass(slots=True)
class StrictArchive:
    """`turns`: (number, attempt) → status. Raises AssertionError for an event that does not fit."""

    history: MemoryHistory
    turns: dict[tuple[int, int], str] = field(default_factory=dict)
    calls: dict[tuple[int, str], str] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    turn_no: int = 0
    version: int = 1
    edits: int = 0
    episodes: int = 0
    started: int = 0
    _bytes: dict[int, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._bytes = {message.number: canonical(list(message.content)) for message in self.history.messages}

    def append(self, event: Event) -> None:
        self._take(event)
        self.events.append(event)

    def originals_stand(self) -> bool:
        """W11: every message is still what it was when it was written."""
        return all(canonical(list(m.content)) == self._bytes[m.number] for m in self.history.messages)

    def _message(self, message: Message) -> None:
        assert message.number == len(self.history.messages) + 1, "a message out of order"
        assert message.content, "an empty message"
        self._bytes[message.number] = canonical(list(message.content))
        self.history.messages.append(message)

    @singledispatchmethod
    def _take(self, event: Event) -> None:
        assert isinstance(event, Delta) or event.kind

    @_take.register
    def _(self, event: TurnOpened) -> None:
        tries = [attempt for number, attempt in self.turns if number == event.turn]
        assert event.turn == self.turn_no + 1, "a turn out of order"
        assert event.attempt == len(tries) + 1, "an attempt out of order"
        assert event.version == self.version, "a turn on another version"
        assert event.upto == len(self.history.messages), "a turn that does not see the newest message"
        self.turns[event.turn, event.attempt] = "open"

    @_take.register
    def _(self, event: TurnAnswered) -> None:
        assert self.turns[event.turn, event.attempt] == "open", "an answer to a turn that is not open"
        self.turns[event.turn, event.attempt] = "answered"
        self._message(event.message)
        for call in event.calls:
            assert (event.turn, call.id) not in self.calls, "a call planned twice"
            self.calls[event.turn, call.id] = "planned"

    @_take.register
    def _(self, event: CallStarted) -> None:
        again = any(_runs_again(told, event.call.id) for told in self.events)
        assert again or self.calls[event.turn, event.call.id] == "planned", "a call started twice"
        self.calls[event.turn, event.call.id] = "started"
        self.started += 1

    @_take.register
    def _(self, event: CallEnded) -> None:
        assert self.calls[event.turn, event.call.id] in ("planned", "started"), "a call ended twice"
        self.calls[event.turn, event.call.id] = event.status.value

    @_take.register
    def _(self, event: TurnClosed) -> None:
        for ended in event.ended:
            self._take(ended)
        open_ = [
            turn for turn, status in self.turns.items() if turn[0] == event.turn and status == "answered"
        ]
        assert len(open_) == 1, "a turn closed that was not answered"
        self.turns[open_[0]] = "closed"
        undone = {status for (turn, _), status in self.calls.items() if turn == event.turn}
        assert not undone & {CallStatus.PLANNED, CallStatus.STARTED}, "a turn closed with calls under way"
        assert sum(event.parts.values()) == event.window, "parts that do not add up"
        if event.message is not None:
            self._message(event.message)
        self.turn_no = event.turn

    @_take.register
    def _(self, event: TurnLost) -> None:
        assert self.turns[event.turn, event.attempt] == "open", "a lost turn that was not open"
        self.turns[event.turn, event.attempt] = "cancelled" if event.cancelled else "lost"

    @_take.register
    def _(self, event: WindowEdited) -> None:
        edit = event.edit
        for message in edit.added:
            self._message(message)
        assert edit.number == self.edits + 1, "an edit out of order"
        assert (edit.before.number, edit.after.parent) == (self.version, self.version), (
            "an edit of another window"
        )
        assert edit.after.number == self.version + 1, "a version out of order"
        assert edit.after.edit == edit.number, "a version of another edit"
        assert edit.after.base == len(self.history.messages), "a version that ends elsewhere"
        frees = edit.tokens_after < edit.tokens_before
        assert frees or edit.kind in ("pin", "unpin", "undo"), "an edit that frees nothing"
        assert edit.episode is None or edit.episode.number == self.episodes + 1, "an episode out of order"
        self.edits, self.version = edit.number, edit.after.number
        self.episodes += edit.episode is not None

    @_take.register
    def _(self, event: CompactionFailed) -> None:
        assert event.edit == self.edits + 1, "a failed edit out of order"
        self.edits += 1

    @_take.register
    def _(self, event: CompactionStarted) -> None:
        assert event.edit == self.edits + 1, "an edit begun out of order"

    @_take.register(NoticeGiven)
    @_take.register(Said)
    def _(self, event: NoticeGiven | Said) -> None:
        self._message(event.message)


def _runs_again(told: Event, call: str) -> bool:
    """A person said of an interrupted call that it shall run once more."""
    again = isinstance(told, ApprovalAnswered) and told.decision.verdict is Verdict.AGAIN
    return again and told.call.id == call
