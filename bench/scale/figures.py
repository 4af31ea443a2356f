"""What a row came to: from the database, from what the crowd saw, from what people pressed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from tests.chaos.house import Scaled

from .load import Load
from .machine import Sample
from .orders import Pressed

CLOSED = "SELECT count(*) FROM runs_event WHERE kind = 'turn.closed' AND at >= ? AND at < ?"
ALIVE = """SELECT count(*) FROM runs_run WHERE state IN ('ready', 'running') AND crash_streak = 0
           OR id IN (SELECT run_id FROM runs_order WHERE kind IN ('stop_now', 'pause') AND state = 'applied')"""
LOST = """SELECT data ->> 'reason', count(*) FROM runs_event WHERE kind = 'turn.lost' GROUP BY 1"""
BYTES = "SELECT pg_database_size(current_database()), pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"
ANSWERED = """SELECT o.id, o.state, extract(epoch FROM e.at - o.at),
              extract(epoch FROM e.at - (SELECT max(c.at) FROM runs_event c
                WHERE c.run_id = o.run_id AND c.kind = 'turn.closed' AND c.seq < e.seq AND c.at >= o.at))
              FROM runs_order o LEFT JOIN runs_event e
                ON e.run_id = o.run_id AND e.seq = o.applied_seq"""
EVENTS = """SELECT r.slug, e.seq, extract(epoch FROM e.at) FROM runs_event e JOIN runs_run r ON r.id = e.run_id
            WHERE e.at >= ? AND e.at < ?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Milliseconds; None where nothing was measured."""

    count: int
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One row. `lost`: calls that were made in vain, by reason. `cpu_ms_a_turn` by group of processes; `memory` at its
    highest."""

    load: Load
    up_s: float
    alive: int
    lost: Mapping[str, int]
    turns: int
    seconds: float
    cpu_ms_a_turn: Mapping[str, float]
    cores: float
    memory: Sample
    orders: Mapping[str, Spread]
    unanswered: int
    shared: Spread
    alone: Spread
    deltas: int
    broken: int
    database_bytes: int
    wal_bytes: int

    @property
    def share(self) -> float:
        """Of the turns that would have been taken, were there nothing but the llm."""
        return self.turns / self.seconds / self.load.ideal

    def json(self) -> dict[str, Any]:
        return asdict(self) | {"share": round(self.share, 3)}


def spread(seconds: Iterable[float]) -> Spread:
    """Nearest ranks, in milliseconds."""
    found = sorted(seconds)
    if not found:
        return Spread(count=0)
    at = {
        name: round(found[min(len(found) - 1, int(len(found) * part))] * 1000, 1)
        for name, part in PARTS.items()
    }
    return Spread(count=len(found), most=round(found[-1] * 1000, 1), **at)


PARTS = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def seen(
    lines: Iterable[str], told: Mapping[tuple[str, int], float], shared: str
) -> tuple[Spread, Spread, Mapping[str, int]]:
    """From event to viewer: of the run that many watch, of all others, and the crowd's own counts."""
    many: list[float] = []
    one: list[float] = []
    counts: dict[str, int] = {}
    for line in lines:
        found = json.loads(line)
        if isinstance(found, dict):
            counts = found
            continue
        _, slug, seq, at = found
        if (slug, seq) in told:
            (many if slug == shared else one).append(at - told[slug, seq])
    return spread(many), spread(one), counts


def told(scaled: Scaled, begin: datetime, end: datetime) -> dict[tuple[str, int], float]:
    """When each event of that stretch was written: the moment its transaction began."""
    return {(slug, seq): float(at) for slug, seq, at in scaled.rows(EVENTS, begin, end)}


def orders(scaled: Scaled, pressed: Sequence[Pressed]) -> tuple[dict[str, Spread], int]:
    """By kind, from the order's row to its answer; a pause from the end of the turn it had to wait for. And how
    many never got one."""
    rows = {row[0]: row[1:] for row in scaled.rows(ANSWERED)}
    times: dict[str, list[float]] = {"post": [one.post_s for one in pressed]}
    unanswered = 0
    for one in pressed:
        state, whole, since = rows.get(one.order, ("", None, None))
        if whole is None or state not in ("applied", "merged"):
            unanswered += 1
            continue
        waited = since if one.kind == "pause" and since is not None else whole
        times.setdefault(one.kind, []).append(float(waited))
    return {kind: spread(found) for kind, found in times.items()}, unanswered
