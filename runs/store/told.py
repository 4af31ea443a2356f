"""What an event tells of a turn or a call, held against the row: both were written in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from runs.models import Call, Event, Run, Turn

OPENED = ("version", "upto")
CLOSED = ("window", "limit", "parts", "cost")
ENDED = ("name", "effect", "status", "ms", "bytes", "tokens")


def unlike(run: Run, event: Event) -> str:
    """Where the row differs from its event, as a sentence, or ""."""
    look = LOOKS.get(event.kind)
    return look(run, event) if look else ""


def _opened(run: Run, event: Event) -> str:
    row = Turn.objects.filter(run=run, number=event.turn, attempt=event.data["attempt"]).first()
    return _differs(f"turn {event.turn}", row, event, OPENED)


def _closed(run: Run, event: Event) -> str:
    row = Turn.objects.filter(run=run, number=event.turn, status="closed").first()
    return _differs(f"turn {event.turn}", row, event, CLOSED)


def _answered(run: Run, event: Event) -> str:
    """An answered turn that was lost after all has forgotten nothing of its answer."""
    row = Turn.objects.filter(run=run, number=event.turn).exclude(stop_reason="").order_by("-attempt").first()
    return _differs(f"turn {event.turn}", row, event, ("stop_reason", "usage"))


def _ended(run: Run, event: Event) -> str:
    row = Call.objects.filter(run=run, turn=event.turn, tool_use_id=event.data["id"]).first()
    return _differs(f"call {event.data['id']}", row, event, ENDED)


def _differs(what: str, row: Turn | Call | None, event: Event, names: tuple[str, ...]) -> str:
    if row is None:
        return f"{what} is missing"
    wrong = [name for name in names if getattr(row, name) != event.data[name]]
    return f"{what} has another {wrong[0]} than the event says" if wrong else ""


LOOKS: Mapping[str, Callable[[Run, Event], str]] = {
    "turn.opened": _opened,
    "turn.answered": _answered,
    "turn.closed": _closed,
    "call.ended": _ended,
}
