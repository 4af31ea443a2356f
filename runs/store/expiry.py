"""Orders that nobody will answer any more: given to a run that no worker has looked at for a quarter of an hour.

An order that waits for a person's word on a call is none of these, however long the person takes.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from runs.models import Event, Order, Run

from . import archive, lease, orders, sql
from .archive import OrderAnswer
from .transitions import When

DEAD_MINUTES = 15
WHY = f"no worker took the run up within {DEAD_MINUTES} minutes. Start one, then ask again"


def expire_orders(owner: str) -> list[int]:
    """Answer them as expired; returns their numbers. A run is dead when nobody holds it and nothing happened in it
    since; while it is worked on, an order waits for its boundary however long that takes."""
    before = sql.now() - timedelta(minutes=DEAD_MINUTES)
    expired: list[int] = []
    for run_id in set(Order.objects.filter(state="pending", at__lt=before).values_list("run_id", flat=True)):
        if _last_event_at(run_id) < before:
            expired += _expire(run_id, owner)
    return expired


def _last_event_at(run_id: int) -> datetime:
    at: datetime = Event.objects.filter(run_id=run_id).order_by("-seq").values_list("at", flat=True)[0]
    return at


def _expire(run_id: int, owner: str) -> list[int]:
    """By the owner's own path: whoever claims the run may answer."""
    waiting = _left_lying(run_id)
    claim = lease.claim(run_id, owner, any_state=True) if waiting else None
    if claim is None:
        return []
    try:
        archive.append(
            claim, answers=[OrderAnswer(order_id=pk, state="expired", reason=WHY) for pk in waiting]
        )
    finally:
        lease.release(claim)
    return waiting


def _left_lying(run_id: int) -> list[int]:
    here = orders.where(Run.objects.get(pk=run_id))
    return [asked.id for asked in orders.pending(run_id) if asked.met(here).when is not When.CLOSE]
