"""The archive's only door for writing: one fenced transaction per call, rows and events together.

`create` begins a run, `append` goes on with it (its owner only), `announce` says that a person asked.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from runs.engine.events import Event, Item, Version
from runs.engine.messages import Message
from runs.models import ENDED, Order, Run

from . import chain, lease, rows, sql
from .batch import Batch
from .lease import Claim, Fence, Fenced
from .sums import Sums

__all__ = ["Fenced", "NewRun", "OrderAnswer", "StateChange", "announce", "append", "create", "new_slug"]

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
UNFENCED = ("order.asked", "run.created")
BUMP = "UPDATE runs_run SET next_seq = next_seq + 1 WHERE id = %s RETURNING next_seq, head_hash, slug"
ANSWER = """UPDATE runs_order SET state = %s, reason = %s, applied_seq = %s
            WHERE id = %s AND run_id = %s AND state = 'pending'"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderAnswer:
    """The one answer an order gets. `state`: applied, merged, rejected or expired."""

    order_id: int
    state: str
    reason: str = ""

    def data(self) -> dict[str, Any]:
        return {"order": self.order_id, "state": self.state, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChange:
    state: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """What a run begins with. `goal` becomes message 1; `limit` is that of its window in tokens."""

    owner_id: int
    goal: Message
    title: str
    llm: str
    workspace: str
    slug: str
    policy: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    limit: int = 0


def append(
    claim: Claim, *events: Event, answers: Sequence[OrderAnswer] = (), state: StateChange | None = None
) -> int:
    """Write everything these events carry, and the events; returns the last seq. All of it or nothing.

    Raises Fenced when the run has another owner, OutOfStep when an event does not fit what is there.
    """
    with transaction.atomic():
        fence = lease.fence(claim)
        batch = _batch(claim, fence)
        for event in events:
            rows.write(event, batch)
        due = _still_pending(claim.run_id, answers)
        answered = [(answer, len(batch.lines) + place) for place, answer in enumerate(due)]
        for answer in due:
            batch.line("order.answered", answer.data())
        changed = state if state and (state.state, state.reason) != (fence.state, fence.reason) else None
        if changed:
            batch.line("run.state", {"from": fence.state, "to": changed.state, "reason": changed.reason})
        head, lines = chain.grown(fence.head, batch.lines, batch.at)
        given = [_answer(claim.run_id, answer, fence.head.next_seq + place) for answer, place in answered]
        batch.flush([*given, *lines, _advance(head, batch, changed)])
    claim.frames.update(batch.frames)
    return head.next_seq - 1


def create(new: NewRun) -> Run:
    """The run, its goal as message 1, its first window, and the event run.created."""
    at = sql.now()
    with transaction.atomic():
        run = Run.objects.create(
            slug=new.slug,
            title=new.title,
            goal=new.goal.content[0]["text"],
            options=dict(new.options),
            owner_id=new.owner_id,
            workspace=new.workspace,
            llm=new.llm,
            policy=dict(new.policy),
            created_at=at,
        )
        batch = Batch(run_id=run.pk, llm=new.llm, at=at)
        batch.message(new.goal)
        batch.window(Version(number=1, parent=0, edit=0, base=1, items=(Item(message=1),)))
        batch.sums.see_window(new.goal.tokens, new.limit)
        batch.line("run.created", {"llm": new.llm, "message": 1, "limit": new.limit})
        head, lines = chain.grown(
            chain.Head(run_id=run.pk, slug=run.slug, next_seq=1, hash=""), batch.lines, at
        )
        batch.flush([*lines, _advance(head, batch, None)])
    run.refresh_from_db()
    return run


def announce(run_id: int, kind: str, data: Mapping[str, Any]) -> int:
    """Write an event without owning the run: only that a person asked for something. Returns its seq.

    Call it in the transaction of the row it speaks of. The run's row orders it among the owner's writes.
    """
    if kind not in UNFENCED:
        raise ValueError(f"Only the owner of a run may write {kind}.")
    with transaction.atomic():
        row = sql.one(BUMP, [run_id])
        if row is None:
            raise Run.DoesNotExist(f"There is no run {run_id}.")
        head = chain.Head(run_id=run_id, slug=row[2], next_seq=row[0] - 1, hash=row[1])
        lease.move_head(chain.write(head, [chain.Line(kind=kind, data=data)], sql.now()))
    return head.next_seq


def new_slug() -> str:
    """A name for a run that no other has: r- and five characters of Crockford's base32."""
    while True:
        slug = "r-" + "".join(secrets.choice(CROCKFORD) for _ in range(5))
        if not Run.objects.filter(slug=slug).exists():
            return slug


def _batch(claim: Claim, fence: Fence) -> Batch:
    return Batch(
        run_id=claim.run_id,
        llm=fence.llm,
        at=sql.now(),
        term=claim.term,
        worker=claim.owner,
        version=fence.version,
        turn_no=fence.turn_no,
        sums=Sums.of(fence.sums),
        frames=set(claim.frames),
    )


def _still_pending(run_id: int, answers: Sequence[OrderAnswer]) -> list[OrderAnswer]:
    """An order is answered once: a second answer finds nothing pending, and leaves no trace."""
    if not answers:
        return []
    ids = [answer.order_id for answer in answers]
    waiting = Order.objects.filter(run_id=run_id, state="pending", pk__in=ids).values_list("pk", flat=True)
    still = set(waiting)
    return [answer for answer in answers if answer.order_id in still]


def _answer(run_id: int, answer: OrderAnswer, seq: int) -> sql.Act:
    return sql.Act(ANSWER, [answer.state, answer.reason, seq, answer.order_id, run_id])


def _advance(head: chain.Head, batch: Batch, changed: StateChange | None) -> sql.Act:
    """The run's own row: head of the chain, window, sums, and its state when that changed."""
    sets: dict[str, Any] = {"next_seq": head.next_seq, "head_hash": head.hash, "version": batch.version}
    sets |= {"turn_no": batch.turn_no, "sums": sql.dumps(batch.sums.json())}
    if batch.turn_closed:
        sets["crash_streak"] = 0
    if changed:
        sets |= {"state": changed.state, "reason": changed.reason, "ended_at": _ended_at(changed, batch.at)}
    names = ", ".join(f"{name} = %s" for name in sets)
    return sql.Act(f"UPDATE runs_run SET {names} WHERE id = %s", [*sets.values(), head.run_id])


def _ended_at(changed: StateChange, at: datetime) -> Any:
    return sql.stamp(at) if changed.state in ENDED else None
