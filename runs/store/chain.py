"""The chain of a run's events: each carries a hash over itself and the one before it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from runs.engine.messages import canonical

from . import anchors, sql

COLUMNS = ("run_id", "seq", "kind", "turn", "at", "data", "hash")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An event before it has a number: references only, never bodies."""

    kind: str
    data: Mapping[str, Any]
    turn: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where a run's chain stands: the next number, and the hash of the newest event."""

    run_id: int
    slug: str
    next_seq: int
    hash: str


def link(before: str, *, slug: str, seq: int, line: Line, at: datetime) -> str:
    """sha256(hash before ‖ canonical bytes). A run goes by its slug: a copy elsewhere has the same chain."""
    body = {"run": slug, "seq": seq, "kind": line.kind, "turn": line.turn}
    body |= {"at": sql.iso(at), "data": line.data}
    return hashlib.sha256(before.encode() + canonical(body)).hexdigest()


def write(head: Head, lines: Sequence[Line], at: datetime) -> Head:
    """Write the events behind `head`, give the new head. The caller's transaction holds the run's row."""
    new, acts = grown(head, lines, at)
    sql.together(acts)
    return new


def grown(head: Head, lines: Sequence[Line], at: datetime) -> tuple[Head, list[sql.Act]]:
    """The new head, and what writes the events that lead there."""
    stamped = sql.stamp(at)
    rows: list[sql.Row] = []
    newest = head.hash
    for seq, line in enumerate(lines, head.next_seq):
        newest = link(newest, slug=head.slug, seq=seq, line=line, at=at)
        rows.append((head.run_id, seq, line.kind, line.turn, stamped, sql.dumps(line.data), newest))
        if seq % anchors.EVERY == 0:
            anchors.drop_on_commit(head.slug, seq, newest)
    new = Head(run_id=head.run_id, slug=head.slug, next_seq=head.next_seq + len(rows), hash=newest)
    return new, list(sql.insertions("runs_event", COLUMNS, rows))
