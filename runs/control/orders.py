"""Giving an order to a run: a row and an event; the run's owner answers it (reliability.md §3b)."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from runs import tasks
from runs.live import bell
from runs.models import Order, Run
from runs.store import approvals, archive, orders, queries, sql
from runs.store.transitions import Cell, When

from .args import checked, tidy
from .invalid import Invalid

POLL_SECONDS = 0.1
LONGEST_KEY = 64
SAME = {"retry": "resume"}


def order(
    user: Any,
    run: Run,
    kind: str,
    args: Mapping[str, Any] | None = None,
    *,
    client_key: str | None = None,
    seen_seq: int | None = None,
) -> Order:
    """Ask this of a run. Raises Invalid for what is no order at all.

    What comes back is pending, with a word in `reason` on what it waits for; or rejected at once, when the run's
    state takes no such order or the window was changed after `seen_seq`; or the order that somebody else waits
    for already. The same `client_key` gives the same order again.
    """
    kind = SAME.get(kind, kind)
    given = checked(kind, args or {})
    key = tidy(client_key or "") or uuid.uuid4().hex
    if len(key) > LONGEST_KEY:
        raise Invalid(f"A client key has at most {LONGEST_KEY} characters. Use a UUID.")
    known = Order.objects.filter(client_key=key).first()
    if known is not None:
        return _same(known, run, kind)
    made = Order(
        run=run,
        kind=kind,
        args=given,
        by=user.get_username(),
        at=sql.now(),
        client_key=key,
        seen_seq=seen_seq,
    )
    return _told(_insert(made))


def wait_for(made: Order, seconds: float) -> Order:
    """The order once it is answered, or as it stands after so many seconds."""
    end = time.monotonic() + seconds
    pause = threading.Event()
    now = Order.objects.get(pk=made.pk)
    while now.state == "pending" and time.monotonic() < end:
        pause.wait(POLL_SECONDS)
        now = Order.objects.get(pk=made.pk)
    return _told(now)


def _insert(made: Order) -> Order:
    """The row and its event together; after that the worker and the watchers hear of it."""
    try:
        with transaction.atomic():
            run = Run.objects.get(pk=made.run_id)
            made.state, made.reason = _standing(run, made)
            made.save(force_insert=True)
            data = {"order": made.pk, "kind": made.kind, "state": made.state, "reason": made.reason}
            seq = archive.announce(run.pk, "order.asked", data)
            transaction.on_commit(lambda: _announce(run.pk, seq))
    except IntegrityError:
        return _already(made)
    return made


def _standing(run: Run, made: Order) -> tuple[str, str]:
    """Pending, unless the run's state, the screen, or somebody who was faster says otherwise."""
    why = _cell(run, made).why
    if why and (said := approvals.already(run.pk, made.kind, made.args)):
        return "merged", said
    if not why and made.kind in orders.TIED_TO_SCREEN:
        why = orders.outdated(run.pk, made.seen_seq)
    return ("rejected", why) if why else ("pending", "")


def _announce(run_id: int, seq: int) -> None:
    bell.ring(run_id, seq)
    tasks.hint(run_id)


def _already(made: Order) -> Order:
    """Somebody was faster: the order that waits, or the one with the same key."""
    twin = Order.objects.filter(client_key=made.client_key).first()
    if twin is not None:
        return _same(twin, made.run, made.kind)
    waiting = Order.objects.filter(run_id=made.run_id, kind=made.kind, state="pending").first()
    if waiting is None:
        # It was answered in between: ours is a new one after all.
        return _insert(made)
    ago = max(0, round((timezone.now() - waiting.at).total_seconds()))
    waiting.reason = f"already requested by {waiting.by}, {ago} s ago"
    return waiting


def _same(known: Order, run: Run, kind: str) -> Order:
    if known.run_id != run.pk or known.kind != kind:
        raise Invalid("This client key was used for another order. Use a fresh one for each.")
    return _told(known)


def _told(made: Order) -> Order:
    """A pending order says what it waits for; the word is for whoever asked, and is not stored."""
    if made.state == "pending" and not made.reason:
        run = Run.objects.get(pk=made.run_id)
        when = _cell(run, made).when
        waits = when is When.CLOSE or queries.is_owned(run)
        made.reason = f"applies {when}" if waits else "waiting for a worker"
    return made


def _cell(run: Run, made: Order) -> Cell:
    return orders.where(run).takes(made.kind, str(made.args.get("how", "")))
