"""The window of a turn as JSON: its entries in order, without bodies (contracts.md)."""

from __future__ import annotations

from typing import Any

from runs.engine.events import PARTS
from runs.models import Episode, Message, Run, Turn, Version
from runs.store import page_reads

from .chart import cache_share


def window(run: Run, number: int | None) -> dict[str, Any]:
    """The window that turn `number` was asked with; the one in hand without a number. Raises LookupError."""
    turn = page_reads.turn(run, number) if number else page_reads.last_closed(run)
    if number and turn is None:
        raise LookupError(f"The run has no turn {number}: it stands at turn {run.turn_no}.")
    version = turn.version if turn and number else run.version
    upto = turn.upto if turn and number else page_reads.last_message(run)
    found = Version.objects.get(run=run, number=version)
    return {
        "run": run.slug,
        "turn": turn.number if turn else 0,
        "version": version,
        "tokens": turn.window if turn else run.sums.get("window", {}).get("final", 0),
        "limit": turn.limit if turn else run.sums.get("window", {}).get("limit", 0),
        "estimated": turn.estimated if turn else True,
        "parts": {name: turn.parts.get(name, 0) if turn else 0 for name in PARTS},
        "entries": _entries(run, found, upto),
        "request_sha256": turn.request_sha256 if turn else "",
        "cache": _cache(turn),
    }


def _cache(turn: Turn | None) -> dict[str, Any]:
    """What of the turn's prompt the provider read from its cache, and why it was less than the turn before had."""
    read = int(turn.usage.get("cache_read", 0)) if turn else 0
    return {
        "read": read,
        "share": cache_share(turn) if turn else None,
        "miss": turn.cache_miss if turn else "",
    }


def _entries(run: Run, version: Version, upto: int) -> list[dict[str, Any]]:
    listed = [(number, form, pinned) for number, form, pinned in version.items]
    later = range(version.base + 1, upto + 1)
    standing = [*listed, *((number, "full", False) for number in later)]
    rows = {row.number: row for row in Message.objects.filter(run=run, number__lte=upto).defer("blob")}
    episodes = _episodes(run, rows)
    return [
        {
            "n": place,
            "message": number,
            "turn": rows[number].turn,
            "role": rows[number].role,
            "author": rows[number].author,
            "form": form,
            "tokens": rows[number].tokens,
            "pinned": pinned,
            "episode": episodes.get(number),
        }
        for place, (number, form, pinned) in enumerate(standing, 1)
    ]


def _episodes(run: Run, rows: dict[int, Message]) -> dict[int, int]:
    """Episode numbers by the message that carries them: both count up together."""
    carriers = sorted(number for number, row in rows.items() if row.kind == "episode")
    numbers = Episode.objects.filter(run=run).order_by("number").values_list("number", flat=True)
    return dict(zip(carriers, numbers, strict=False))
