"""What else happened, as rows of the feed: retries, lost attempts, repairs, valves, the run's changes of state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from runs.models import Event

from . import numbers, status
from .rows import Row

STATES = {
    "paused": ("pause", "Paused"),
    "waiting": ("hand", "Waiting"),
    "done": ("tick", "Done"),
    "failed": ("cross", "Failed"),
    "stopped": ("stop", "Stopped"),
}
CUT = {
    "stop_now": "by Stop now",
    "interrupt": "by a message",
    "leaving": "the worker was stopped; the next one asks again",
}
VALVES = {"turns": "turns", "usd": "dollars", "tokens": "tokens", "minutes": "minutes"}


def rows(event: Event) -> Iterator[Row]:
    row = Row(id=f"e-s{event.seq}", kind="line", seq=event.seq, turn=event.turn, at=event.at)
    data = event.data
    match event.kind:
        case "turn.lost":
            yield _lost(row, str(data["reason"]))
        case "llm.retry":
            yield replace(row, icon="refresh", title=_status(data), detail=_again(data), quiet=True)
        case "message.repaired":
            yield replace(
                row, icon="tool", title="Repaired before sending", detail=str(data["what"]), quiet=True
            )
        case "valve.reached":
            which = VALVES.get(data["which"], data["which"])
            yield replace(
                row,
                icon="hand",
                title="Valve reached",
                detail=f"the run may use no more {which}",
                tone="warn",
            )
        case "spin.seen":
            detail = f"{data['name']}, {data['times']} times with the same result"
            yield replace(row, icon="refresh", title="The same call again", detail=detail, tone="warn")
        case "spiral.seen":
            detail = f"after each of the last {data['times']} compactions; more of the tail is kept now"
            yield replace(row, icon="refresh", title="The same was read again", detail=detail, tone="warn")
        case "run.state":
            yield from _state(row, data)


def _lost(row: Row, reason: str) -> Row:
    """An attempt that came to nothing; one that a person cut short is no trouble."""
    if reason in CUT:
        return replace(row, icon="stop", title="Reply cut short", detail=CUT[reason], quiet=True)
    return replace(row, icon="warn", title="Attempt lost", detail=reason, css="lost", tone="warn")


def _status(data: dict[str, Any]) -> str:
    status = data.get("status")
    return f"The llm answered {status}" if status else "The llm did not answer"


def _again(data: dict[str, Any]) -> str:
    return f"try {data['try']}, again in {numbers.seconds(data['wait_ms'])}"


def _state(row: Row, data: dict[str, Any]) -> Iterator[Row]:
    to, reason = data["to"], str(data.get("reason", ""))
    if to in STATES:
        icon, word = STATES[to]
        yield replace(row, icon=icon, title=word, detail=status.in_words(reason), css=f"state {to}")
    elif data["from"] in ("paused", "waiting", "done", "failed", "stopped"):
        yield replace(row, icon="play", title="Goes on", detail=status.in_words(reason), css="state running")
