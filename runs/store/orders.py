"""Orders as the owner of a run sees them: what is pending, in the order in which it applies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from runs.models import Order

from .archive import OrderAnswer

__all__ = ["AT_BOUNDARY", "Asked", "OrderAnswer", "pending", "stop_now_asked"]

AT_BOUNDARY = (
    "stop_now",
    "stop",
    "pause",
    "approve",
    "deny",
    "answer",
    "say",
    "clear",
    "compact",
    "undo",
    "resume",
    "step",
)
"""At a boundary orders apply by kind, in this order (reliability.md §3b), and within a kind as they came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """An order that waits for its answer."""

    id: int
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


def _rank(kind: str) -> int:
    return AT_BOUNDARY.index(kind) if kind in AT_BOUNDARY else len(AT_BOUNDARY)


def _asked(row: Order) -> Asked:
    return Asked(id=row.pk, kind=row.kind, args=row.args, by=row.by, at=row.at, seen_seq=row.seen_seq)
