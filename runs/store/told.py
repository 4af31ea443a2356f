"""What events tell of turns and calls, held against the rows: both were written in one transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from runs.models import Call, Event, Run, Turn

OPENED = ("version", "upto")
CLOSED = ("window", "limit", "parts", "cost")
ENDED = ("name", "effect", "status", "ms", "bytes", "tokens")


class Rows:
    """The turns and calls that these events speak of, in two queries."""

    def __init__(self, run: Run, events: Sequence[Event]) -> None:
        numbers = {event.turn for event in events if event.kind in LOOKS}
        self.attempts: dict[int, list[Turn]] = defaultdict(list)
        for turn in Turn.objects.filter(run=run, number__in=numbers).order_by("id"):
            self.attempts[turn.number].append(turn)
        calls = Call.objects.filter(run=run, turn__in=numbers).order_by("-id")
        self.calls = {(call.turn, call.tool_use_id): call for call in calls}

    def unlike(self, event: Event) -> str:
        """Where the row differs from its event, as a sentence, or ""."""
        look = LOOKS.get(event.kind)
        return look(self, event) if look else ""


def _opened(rows: Rows, event: Event) -> str:
    row = next((row for row in rows.attempts[event.turn] if row.attempt == event.data["attempt"]), None)
    return _differs(f"turn {event.turn}", row, event, OPENED)


def _closed(rows: Rows, event: Event) -> str:
    row = next((row for row in rows.attempts[event.turn] if row.status == "closed"), None)
    return _differs(f"turn {event.turn}", row, event, CLOSED)


def _answered(rows: Rows, event: Event) -> str:
    """An answered turn that was lost after all has forgotten nothing of its answer."""
    stopped = (row for row in rows.attempts[event.turn] if row.stop_reason)
    row = max(stopped, key=lambda row: row.attempt, default=None)
    return _differs(f"turn {event.turn}", row, event, ("stop_reason", "usage"))


def _ended(rows: Rows, event: Event) -> str:
    row = rows.calls.get((event.turn, event.data["id"]))
    return _differs(f"call {event.data['id']}", row, event, ENDED)


def _differs(what: str, row: Turn | Call | None, event: Event, names: tuple[str, ...]) -> str:
    if row is None:
        return f"{what} is missing"
    wrong = [name for name in names if getattr(row, name) != event.data[name]]
    return f"{what} has another {wrong[0]} than the event says" if wrong else ""


LOOKS: Mapping[str, Callable[[Rows, Event], str]] = {
    "turn.opened": _opened,
    "turn.answered": _answered,
    "turn.closed": _closed,
    "call.ended": _ended,
}
