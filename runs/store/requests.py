"""The request of any turn, rebuilt from the archive: what the llm was sent, byte for byte."""

from __future__ import annotations

from dataclasses import dataclass

from runs import models
from runs.engine.events import Form, Frame, Version
from runs.engine.messages import Message
from runs.engine.ports import Request
from runs.engine.window.render import model_view
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
    version, messages = windows.load(run, row.version, row.upto)
    known = {message.number: message for message in messages}
    listed = entries(version, known, row.upto)
    called = _callers(run, version, messages)
    frame: Frame = windows.frame(row.frame_id)
    rendered = model_view(frame, listed, called, run.slug, row.number)
    return Sent(turn=row, version=version, entries=listed, request=rendered.request)


def _callers(run: models.Run, version: Version, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages with the calls that markers and previews name, also where the answer left the window."""
    replaced = {item.message for item in version.items if item.form is not Form.FULL}
    turns = {message.turn for message in messages if message.number in replaced}
    have = {message.number for message in messages}
    extra = models.Message.objects.filter(run=run, kind="answer", turn__in=turns).exclude(number__in=have)
    numbers = list(extra.values_list("number", flat=True)) if turns else []
    return (*messages, *windows.messages(run.pk, numbers))
