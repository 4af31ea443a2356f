"""Who may write a run: one owner at a time, known by a lease and a term.

The lease says who works; the term (it grows with every claim) is checked in the transaction of every write:
an owner that was stopped and wakes up cannot write (reliability.md §3a). Only the database's clock counts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from . import chain, sql
from .transitions import ON_THE_WINDOW

WORKABLE = ("ready", "running")
FREE = {"sqlite": "%s", "postgresql": "(SELECT id FROM runs_run WHERE id = %s FOR UPDATE SKIP LOCKED)"}
"""A claim does not stand in line for a row that somebody is writing. Else, when the database stood still for so long
that leases ran out, whoever stood in line would have the run before its owner could say what had happened."""


class Fenced(Exception):
    """Another worker owns this run now. Nothing was written; stop working on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The right to write one run while `term` is its newest. `crash_streak`: crashes since a turn closed.

    `frames` are those that turns of the run were seen to refer to under this claim: while the run is, they are.
    """

    run_id: int
    slug: str
    owner: str
    term: int
    crash_streak: int = 0
    frames: set[str] = field(default_factory=set, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """What the run's row says at the start of a write."""

    head: chain.Head
    version: int
    state: str
    reason: str
    turn_no: int
    llm: str
    sums: dict[str, Any]


def lease_ms() -> int:
    return getattr(settings, "AGENTDASH_LEASE_MS", 30_000)


def now_ms() -> int:
    """The database's clock in milliseconds."""
    row = sql.one(f"SELECT {sql.now_expression()}")
    return int(row[0]) if row else 0


def claim(run_id: int, owner: str, *, any_state: bool = False) -> Claim | None:
    """Take a run nobody holds. None: it is held, gone, or in no state to work.

    `any_state` is for a maintenance slice, which answers orders of an idle run and leaves its state alone.
    """
    seen = sql.one(
        f"""SELECT state, term, lease_owner,
            lease_until_ms IS NULL OR lease_until_ms < {sql.now_expression()},
            EXISTS (SELECT 1 FROM runs_turn t
                    WHERE t.run_id = runs_run.id AND t.status IN ('open', 'answered'))
            FROM runs_run WHERE id = %s""",
        [run_id],
    )
    if seen is None or not seen[3]:
        return None
    state, term, last_owner, _, unfinished = seen
    if state not in WORKABLE and not any_state:
        return None
    crashed = bool(unfinished and last_owner)
    with transaction.atomic():
        return _take(run_id, owner, state, state if any_state else "running", term, crashed)


def _take(run_id: int, owner: str, state: str, to: str, term: int, crashed: bool) -> Claim | None:
    """The claim itself: one conditional update, so of two workers that saw the same row only one gets it."""
    row = sql.one(
        f"""UPDATE runs_run SET lease_owner = %s, term = term + 1,
            lease_until_ms = {sql.now_expression()} + %s, state = %s, crash_streak = crash_streak + %s
            WHERE id = {FREE[connection.vendor]} AND term = %s AND state = %s
            AND (lease_until_ms IS NULL OR lease_until_ms < {sql.now_expression()})
            RETURNING slug, next_seq, head_hash, crash_streak""",
        [owner, lease_ms(), to, int(crashed), run_id, term, state],
    )
    if row is None:
        return None
    slug, next_seq, head_hash, streak = row
    lines = [chain.Line(kind="owner.claimed", data={"worker": owner, "term": term + 1})]
    if state != to:
        lines.insert(0, chain.Line(kind="run.state", data={"from": state, "to": to, "reason": ""}))
        sql.execute("UPDATE runs_run SET reason = '' WHERE id = %s", [run_id])
    head = chain.Head(run_id=run_id, slug=slug, next_seq=next_seq, hash=head_hash)
    move_head(chain.write(head, lines, sql.now()))
    return Claim(run_id=run_id, slug=slug, owner=owner, term=term + 1, crash_streak=streak)


def move_head(head: chain.Head) -> None:
    """Move the run's row to the new head of its chain."""
    statement = "UPDATE runs_run SET next_seq = %s, head_hash = %s WHERE id = %s"
    sql.execute(statement, [head.next_seq, head.hash, head.run_id])


def fence(claim: Claim) -> Fence:
    """First statement of a write, in its transaction: renew the lease and read the row, or raise Fenced."""
    row = sql.one(
        f"""UPDATE runs_run SET lease_until_ms = {sql.now_expression()} + %s
            WHERE id = %s AND term = %s AND lease_owner = %s
            RETURNING next_seq, head_hash, version, state, reason, turn_no, llm, sums""",
        [lease_ms(), claim.run_id, claim.term, claim.owner],
    )
    if row is None:
        raise Fenced(f"Run {claim.slug} has another owner than {claim.owner} in term {claim.term}.")
    head = chain.Head(run_id=claim.run_id, slug=claim.slug, next_seq=row[0], hash=row[1])
    version, state, reason, turn_no, llm = row[2:7]
    sums = json.loads(row[7])
    return Fence(head=head, version=version, state=state, reason=reason, turn_no=turn_no, llm=llm, sums=sums)


def renew_all(owner: str) -> int:
    """One heartbeat for every run this owner holds; returns how many.

    A row that somebody is writing is passed over: if it is the owner, the write itself renews it, and a writer who
    hangs must not keep the heartbeat from all the others.
    """
    held = "SELECT id FROM runs_run WHERE lease_owner = %s" + _passing_over()
    return sql.execute(
        f"UPDATE runs_run SET lease_until_ms = {sql.now_expression()} + %s WHERE id IN ({held})",
        [lease_ms(), owner],
    )


def _passing_over() -> str:
    return " FOR NO KEY UPDATE SKIP LOCKED" if connection.vendor == "postgresql" else ""


def others_work(owner: str) -> bool:
    """Whether another process than this owner holds a run now."""
    found = sql.one(
        f"""SELECT 1 FROM runs_run WHERE lease_until_ms >= {sql.now_expression()} AND lease_owner NOT IN ('', %s)
            LIMIT 1""",
        [owner],
    )
    return found is not None


def release(claim: Claim) -> bool:
    """Give the run back, so that the next owner need not wait. False: it was no longer ours."""
    touched = sql.execute(
        """UPDATE runs_run SET lease_owner = '', lease_until_ms = NULL
           WHERE id = %s AND term = %s AND lease_owner = %s""",
        [claim.run_id, claim.term, claim.owner],
    )
    return touched == 1


def take_over_all() -> list[int]:
    """End every lease of the last process; for the one process that can own runs, by the data folder's lock.

    The terms grow, so nothing that was left behind can write. Returns the runs that wait for a worker.
    """
    sql.execute("UPDATE runs_run SET term = term + 1, lease_until_ms = 0 WHERE lease_owner <> ''")
    return waiting_runs()


def waiting_runs(most: int = 50) -> list[int]:
    """Runs that nobody holds and that have something to do: a turn to take, or an order to answer now. An order that
    waits for an open turn of an idle run is not such: it would be rung for until a person answers the call."""
    kinds = sorted(ON_THE_WINDOW)
    found = sql.rows(
        f"""SELECT id FROM runs_run r WHERE (lease_until_ms IS NULL OR lease_until_ms < {sql.now_expression()})
            AND (state IN ('ready', 'running')
                 OR EXISTS (SELECT 1 FROM runs_order o WHERE o.run_id = r.id AND o.state = 'pending'
                            AND NOT (o.kind IN ({", ".join(["%s"] * len(kinds))})
                                     AND r.state IN ('waiting', 'paused')
                                     AND EXISTS (SELECT 1 FROM runs_turn t
                                                 WHERE t.run_id = r.id AND t.status = 'answered'))))
            ORDER BY id LIMIT %s""",
        [*kinds, most],
    )
    return [row[0] for row in found]
