"""Orders: what is pending, in the order in which it applies, and which state of a run takes which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from runs.models import Event, Order, State

from .approvals import KINDS as ON_A_CALL
from .archive import OrderAnswer

__all__ = [
    "ALLOWED",
    "AT_BOUNDARY",
    "KINDS",
    "ON_A_CALL",
    "WAITING_FOR",
    "Asked",
    "OrderAnswer",
    "outdated",
    "pending",
    "refusal",
    "stop_now_asked",
]

AT_BOUNDARY = (
    "stop_now",
    "stop",
    "pause",
    "approve",
    "deny",
    "edit",
    "answer",
    "say",
    "clear",
    "compact",
    "undo",
    "resume",
    "step",
)
"""At a boundary orders apply by kind, in this order (reliability.md §3b), and within a kind as they came."""

KINDS = ("pause", "resume", "step", "stop", "stop_now", "say", "compact", "clear", *ON_A_CALL)
SINGLE_FLIGHT = ("compact", "clear", "pause", "stop")
"""Of these a run has at most one that waits: two people who press Compact want one compaction."""

TIED_TO_SCREEN = ("compact", "clear")
EDITED = {
    "compact": "compacted",
    "clear": "cleared",
    "clear_results": "cleared of old results",
    "undo": "set back",
}


NO_CALL = "no call waits for a word"
MID_TURN = "a call waits for your word, and the window is worked on between turns: answer it first"
PERMITS = "it is not allowed or refused: its outcome is unknown. Say done, again or leave"
OUTCOMES = "its outcome is not unknown, it has not run: allow it, change it or refuse it"


def _row(**refused: str) -> Mapping[str, str]:
    return {kind: refused.get(kind, NO_CALL if kind in ON_A_CALL else "") for kind in KINDS}


def _ended(state: str, *but: str) -> Mapping[str, str]:
    why = f"the run is {state}: write to it and it goes on"
    return {kind: "" if kind in ("say", *but) else why for kind in KINDS}


_GOING = _row(
    resume="the run is going on already",
    step="only a paused run takes a step: pause it first",
)
_WAITING = {"step": "only a paused run takes a step, and this one is waiting: pause it first"}
_HELD = {**_WAITING, "compact": MID_TURN, "clear": MID_TURN}

ALLOWED: Mapping[State, Mapping[str, str]] = {
    State.READY: _GOING,
    State.RUNNING: _GOING,
    State.WAITING: _row(**_WAITING),
    State.PAUSED: _row(),
    State.DONE: _ended("done"),
    State.FAILED: _ended("failed", "resume"),
    State.STOPPED: _ended("stopped"),
}
"""state × order → why it is refused, "" where it is taken (design.md §6)."""

WAITING_FOR: Mapping[str, Mapping[str, str]] = {
    "approval": _row(**_HELD, approve="", deny="", edit="", answer=OUTCOMES),
    "unknown_outcome": _row(**_HELD, approve=PERMITS, deny=PERMITS, edit=PERMITS, answer=""),
}
"""What a run waits for × order: these two stand in the middle of a turn. For all else the row of the state holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """An order that waits for its answer."""

    id: int
    run_id: int
    kind: str
    args: Mapping[str, Any]
    by: str
    at: datetime
    seen_seq: int | None = None


def pending(run_id: int) -> tuple[Asked, ...]:
    """The orders of a run that wait, in the order in which they apply."""
    rows = Order.objects.filter(run_id=run_id, state="pending").order_by("id")
    found = [_asked(row) for row in rows]
    return tuple(sorted(found, key=lambda asked: _rank(asked.kind)))


def stop_now_asked(run_ids: Sequence[int]) -> dict[int, Asked]:
    """Of these runs, the ones whose call is to be cancelled at once: by stop_now, or by an interrupting say."""
    rows = Order.objects.filter(run_id__in=run_ids, state="pending", kind__in=("stop_now", "say")).order_by(
        "id"
    )
    return {
        row.run_id: _asked(row)
        for row in rows
        if row.kind == "stop_now" or row.args.get("how") == "interrupt"
    }


def refusal(state: str, kind: str, reason: str = "") -> str:
    """Why a run in that state, and for that reason, does not take that order, or ""."""
    row = ALLOWED[State(state)]
    if state == State.WAITING:
        row = WAITING_FOR.get(reason.partition(":")[0], row)
    return row.get(kind, f"agentdash knows no order {kind!r}")


def outdated(run_id: int, seen_seq: int | None) -> str:
    """Why an order given on a screen that showed events up to `seen_seq` is refused, or "".

    Whoever pressed Compact before seeing that the window was just compacted does not want a second one.
    """
    if seen_seq is None:
        return ""
    edits = Event.objects.filter(run_id=run_id, seq__gt=seen_seq, kind="window.edited").order_by("seq")
    for seq, data in edits.values_list("seq", "data"):
        if verb := EDITED.get(data["kind"]):
            return f"the window was {verb} at event {seq}"
    return ""


def _rank(kind: str) -> int:
    return AT_BOUNDARY.index(kind) if kind in AT_BOUNDARY else len(AT_BOUNDARY)


def _asked(row: Order) -> Asked:
    return Asked(
        id=row.pk,
        run_id=row.run_id,
        kind=row.kind,
        args=row.args,
        by=row.by,
        at=row.at,
        seen_seq=row.seen_seq,
    )
