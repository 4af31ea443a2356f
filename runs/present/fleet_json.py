"""A run as JSON: the keys that scripts rely on (contracts.md, JSON of the command line). Money in dollars."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from runs.models import Order, Run

from . import asking


def iso(moment: datetime | None) -> str | None:
    """UTC, ISO 8601 with Z and milliseconds."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def started(run: Run, url: str) -> dict[str, Any]:
    return {"run": run.slug, "url": url, "state": run.state}


def listed(run: Run, url: str) -> dict[str, Any]:
    """One run of a list: what it has come to, without its orders."""
    sums = run.sums
    tokens = sums.get("tokens", {})
    window = sums.get("window", {})
    return {
        "run": run.slug,
        "url": url,
        "state": run.state,
        "reason": run.reason,
        "title": run.title,
        "turns": run.turn_no,
        "compactions": sums.get("compactions", 0),
        "clearings": sums.get("clearings", 0),
        "offloads": sums.get("offloads", 0),
        "tokens": {key: tokens.get(key, 0) for key in ("input", "output", "cache_read", "cache_write")},
        "cost_usd": sums.get("cost", 0) / 1_000_000,
        "window": {key: window.get(key, 0) for key in ("limit", "max", "final")},
        "seconds": round(((run.ended_at or timezone.now()) - run.created_at).total_seconds(), 1),
        "llm": run.llm,
        "workspace": run.workspace,
        "version": run.version,
        "created_at": iso(run.created_at),
        "ended_at": iso(run.ended_at),
    }


def shown(run: Run, url: str) -> dict[str, Any]:
    """One run in full: with its goal, the orders that wait, and the call that waits for a person's word."""
    pending = Order.objects.filter(run=run, state="pending").order_by("pk")
    about = {"goal": run.goal, "pending_orders": [ordered(order) for order in pending]}
    found = asking.asks(run)
    return listed(run, url) | about | {"asks": found.json() if found else None}


def ordered(order: Order) -> dict[str, Any]:
    return {
        "order": order.pk,
        "kind": order.kind,
        "state": order.state,
        "applied_seq": order.applied_seq,
        "reason": order.reason,
    }
