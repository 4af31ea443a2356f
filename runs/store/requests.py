"""The request of any turn, rebuilt from the archive: what the llm was sent, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runs import models
from runs.engine.events import Form, Frame, Version
from runs.engine.messages import Block, Message, calls_of
from runs.engine.ports import Request
from runs.engine.window.render import Renderer
from runs.engine.window.versions import Entry, entries

from . import windows


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A turn's request with what it was made of."""

    turn: models.Turn
    version: Version
    entries: tuple[Entry, ...]
    request: Request

    @property
    def as_sent(self) -> bool:
        """Whether the rebuilt bytes are those that were sent."""
        return self.request.sha256 == self.turn.request_sha256


def body(run: models.Run, turn: int) -> bytes:
    """The request body of a turn's last attempt. Raises Turn.DoesNotExist."""
    return sent(run, turn).request.body


def sent(run: models.Run, turn: int) -> Sent:
    """Rebuild the last attempt of a turn. Raises Turn.DoesNotExist."""
    row = models.Turn.objects.filter(run=run, number=turn).order_by("-attempt").first()
    if row is None:
        raise models.Turn.DoesNotExist(f"Run {run.slug} has no turn {turn}.")
    return rebuild(run, row)


def rebuild(run: models.Run, row: models.Turn) -> Sent:
    return Past(run).sent(row)


class Past:
    """The requests of a run. Asked for one turn after the other it reads and draws only what each adds to the last;
    it never holds more than two windows."""

    def __init__(self, run: models.Run) -> None:
        self.run = run
        self._frames: dict[str, Frame] = {}
        self._stretch: Stretch | None = None

    def sent(self, row: models.Turn) -> Sent:
        """Rebuild this turn. Raises LookupError and ValueError where the archive is damaged."""
        before, self._stretch = self._stretch, None
        if before is None or before.version.number != row.version or before.upto > row.upto:
            before = Stretch(self.run, row.version, before.messages if before else {})
        before.grow(row.upto)
        rendered = before.renderer.render(self._frame(row.frame_id), before.entries, before.calls, row.number)
        self._stretch = before
        return Sent(turn=row, version=before.version, entries=before.entries, request=rendered.request)

    def _frame(self, sha256: str) -> Frame:
        if sha256 not in self._frames:
            self._frames[sha256] = windows.frame(sha256)
        return self._frames[sha256]


class Stretch:
    """The turns in which one version of the window was sent, each with some messages more than the one before."""

    def __init__(self, run: models.Run, version: int, known: Mapping[int, Message]) -> None:
        self.run_id = run.pk
        self.version = windows.one_version(run.pk, version)
        self.upto = self.version.base
        self.renderer = Renderer(run.slug)
        self.messages: dict[int, Message] = {}
        self.calls: dict[str, Block] = {}
        named = {item.message for item in self.version.items if item.message <= self.version.base}
        self._take(named, known)
        self._take(self._callers(), known)
        self._see(sorted(self.messages))
        self.entries: tuple[Entry, ...] = ()

    def grow(self, upto: int) -> None:
        """The window as it was when it reached this message."""
        new = range(self.upto + 1, upto + 1)
        self._take(new, {})
        self._see(new)
        if self.entries and self.upto > self.version.base:
            self.entries = (*self.entries, *(Entry(message=self.messages[number]) for number in new))
        elif new or not self.entries:
            self.entries = entries(self.version, self.messages, upto)
        self.upto = upto

    def _take(self, numbers: Iterable[int], known: Mapping[int, Message]) -> None:
        wanted = set(numbers)
        found = {number: known[number] for number in wanted & known.keys()}
        read = windows.messages(self.run_id, wanted - known.keys())
        self.messages |= found | {message.number: message for message in read}

    def _see(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self.calls |= {call["id"]: call for call in calls_of(self.messages[number].content)}

    def _callers(self) -> list[int]:
        """The messages with the calls that markers and previews name, also where the answer left the window."""
        replaced = {item.message for item in self.version.items if item.form is not Form.FULL}
        turns = {message.turn for message in self.messages.values() if message.number in replaced}
        extra = models.Message.objects.filter(run=self.run_id, kind="answer", turn__in=turns)
        return list(extra.exclude(number__in=self.messages).values_list("number", flat=True)) if turns else []
