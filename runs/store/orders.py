"""Orders: what is pending, in the order in which it applies, and what of it can be answered now."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from runs.models import Event, Order, Run, State, Turn

from . import sql
from .archive import OrderAnswer
from .transitions import KINDS, ON_A_CALL, ON_THE_WINDOW, Cell, When, Where

__all__ = [
    "AT_BOUNDARY",
    "KINDS",
    "ON_A_CALL",
    "Asked",
    "OrderAnswer",
    "due",
    "lying",
    "outdated",
    "overtaken",
    "pending",
    "waiting",
    "where",
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

SINGLE_FLIGHT = ("compact", "clear", "pause", "stop")
"""Of these a run has at most one that waits: two people who press Compact want one compaction."""

TIED_TO_SCREEN = ON_THE_WINDOW
EDITED = {
    "compact": "compacted",
    "clear": "cleared",
    "clear_results": "cleared of old results",
    "undo": "set back",
}
GOING = Where(state=State.RUNNING)


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

    def met(self, here: Where) -> Cell:
        """What becomes of it there."""
        return here.takes(self.kind, str(self.args.get("how", "")))

    def waits(self, here: Where) -> bool:
        """Whether it stays pending there: nobody can answer it yet."""
        return self.met(here).when in (When.CLOSE, When.STOP)

    @property
    def cuts(self) -> bool:
        """Whether it does not wait for a boundary: what the run is at just now is cancelled."""
        return self.kind == "stop_now" or self.args.get("how") == "interrupt"


def where(run: Run) -> Where:
    """Where a run stands for whoever looks at it. One that works may be anywhere in its turn: that is no news."""
    idle = run.state in (State.WAITING, State.PAUSED)
    in_turn = idle and Turn.objects.filter(run=run, status="answered").exists()
    return Where(state=run.state, reason=run.reason, in_turn=in_turn)


def due(run_id: int) -> tuple[Asked, ...]:
    """Those of the pending orders that a worker which takes the run now can answer."""
    found = pending(run_id)
    if not found:
        return ()
    here = where(Run.objects.only("state", "reason").get(pk=run_id))
    return tuple(asked for asked in found if not asked.waits(here))


def lying() -> dict[int, frozenset[int]]:
    """What could be answered at once and lies before nobody: the numbers of such orders, by the run nobody holds."""
    found = sql.rows(
        f"""SELECT DISTINCT o.run_id FROM runs_order o JOIN runs_run r ON r.id = o.run_id
            WHERE o.state = 'pending' AND (r.lease_until_ms IS NULL OR r.lease_until_ms < {sql.now_expression()})"""
    )
    orders = {run_id: frozenset(asked.id for asked in due(run_id)) for (run_id,) in found}
    return {run_id: numbers for run_id, numbers in orders.items() if numbers}


def pending(run_id: int) -> tuple[Asked, ...]:
    """The orders of a run that wait, in the order in which they apply."""
    found = _read("SELECT id FROM runs_order WHERE run_id = %s AND state = 'pending'", [run_id])
    return tuple(sorted(found, key=lambda asked: _rank(asked.kind)))


def waiting(run_ids: Collection[int]) -> list[Asked]:
    """The orders of these runs that wait for their worker. Asked four times a second for every run in hand."""
    if not run_ids:
        return []
    ids = ",".join(str(int(run_id)) for run_id in run_ids)
    found = _read(f"SELECT id FROM runs_order WHERE state = 'pending' AND run_id IN ({ids})")
    return [asked for asked in found if not asked.waits(GOING)]


def _read(ids: str, values: Sequence[Any] = ()) -> list[Asked]:
    """The orders that this query finds, oldest first. It hardly ever finds one, so only then the ORM is asked."""
    found = [row[0] for row in sql.rows(ids, values)]
    return [_asked(row) for row in Order.objects.filter(pk__in=found).order_by("id")] if found else []


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


def overtaken(asked: Asked) -> str:
    """The compaction that came about while this one waited, as a sentence, or "": one is enough for both."""
    if asked.kind != "compact":
        return ""
    same = ("compact", "clear_results") if asked.args.get("method") == "clear" else ("compact",)
    edits = Event.objects.filter(run_id=asked.run_id, kind="window.edited", at__gt=asked.at).order_by("-seq")
    for seq, data in edits.values_list("seq", "data"):
        if data["kind"] in same:
            return f"the window was {EDITED[data['kind']]} at event {seq}, after this was asked"
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
