"""What one order came to, as far as one transaction goes."""

from __future__ import annotations

from dataclasses import dataclass

from runs.engine.events import Event
from runs.store.archive import OrderAnswer, StateChange
from runs.store.orders import Asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """One transaction's worth: what happened, the answer, and the state it leads to."""

    events: tuple[Event, ...] = ()
    answer: OrderAnswer | None = None
    state: StateChange | None = None


def done(asked: Asked, state: StateChange | None = None) -> Applied:
    return Applied(answer=OrderAnswer(order_id=asked.id, state="applied"), state=state)


def refused(asked: Asked, reason: str) -> Applied:
    return Applied(answer=OrderAnswer(order_id=asked.id, state="rejected", reason=reason))


def merged(asked: Asked, reason: str) -> Applied:
    return Applied(answer=OrderAnswer(order_id=asked.id, state="merged", reason=reason))
