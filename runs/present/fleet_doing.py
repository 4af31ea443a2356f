"""What a run is doing now, in one line: from its state and its newest event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F

from runs.models import ENDED, Event, Run, State

WAITS = {
    "approval": "waits for your approval",
    "person": "waits for you",
    "llm": "the llm cannot be reached",
    "budget": "a valve is reached",
    "children": "waits for its children",
    "unknown_outcome": "the outcome of a call is unknown",
    "draft": "a draft waits for you",
}
ENDS = {
    State.DONE: ("tick", "finished"),
    State.FAILED: ("cross", "failed"),
    State.STOPPED: ("stop", "stopped"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Doing:
    """`icon` is a symbol of icons.svg, `at` when it last changed; with `since` the line ends in that time."""

    icon: str
    text: str
    at: datetime | None
    since: bool = False


def doing(runs: Sequence[Run]) -> dict[int, Doing]:
    """One line for each run, by key; one query for all of them."""
    newest = Event.objects.filter(run__in=[run.pk for run in runs], seq=F("run__next_seq") - 1)
    events = {event.run_id: event for event in newest}
    return {run.pk: _doing(run, events.get(run.pk)) for run in runs}


def _doing(run: Run, event: Event | None) -> Doing:
    at = event.at if event else None
    if run.state in ENDED:
        icon, word = ENDS[State(run.state)]
        reason = f": {run.reason}" if run.state == State.FAILED and run.reason else ""
        return Doing(icon=icon, text=word + reason, at=run.ended_at or at, since=not reason)
    if run.state == State.WAITING:
        kind, _, detail = run.reason.partition(":")
        return Doing(icon="hand", text=detail.strip() or WAITS.get(kind.strip(), run.reason), at=at)
    if run.state == State.PAUSED:
        text = f"paused: {run.reason}" if run.reason else "paused"
        return Doing(icon="pause", text=text, at=at, since=True)
    if run.state == State.READY or event is None:
        return Doing(icon="clock", text="waits for a worker", at=at)
    icon, text = _at_work(event.kind, event.data)
    return Doing(icon=icon, text=text, at=at)


def _at_work(kind: str, data: Mapping[str, Any]) -> tuple[str, str]:
    if kind in ("call.started", "call.planned"):
        return "terminal", str(data.get("name", "a tool")).replace("_", " ")
    if kind == "compaction.started":
        return "compact", "writing the summary"
    if kind == "llm.retry":
        return "warn", f"the llm answered {data.get('status')}, trying again"
    if kind in ("turn.answered", "call.ended"):
        return "terminal", "running its tools"
    return "spark", "writing a reply"
