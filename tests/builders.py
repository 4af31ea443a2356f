"""Rows for tests: runs that look like real ones, written through the archive as a worker writes them.

`a_run(ada)` gives a run in the middle of its work: turns with calls and results, notes, a lost attempt, clearings,
compactions with their episodes, what a person said, and an order that waits. Its requests can be rebuilt.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from runs.models import Order, Run
from runs.store import archive, sql
from tests import story
from tests.building import Building

__all__ = ["Building", "a_person", "a_run", "an_order", "runs_of_every_state"]


def a_person(name: str = "ada") -> Any:
    """One of the cast: ada owns the run, blas watches, zoe must see nothing."""
    from django.contrib.auth import get_user_model

    return get_user_model().objects.get_or_create(username=name)[0]


def a_run(
    owner: Any = None,
    *,
    turns: int = 30,
    limit: int = 24_000,
    state: str = "running",
    reason: str = "",
    goal: str = story.GOAL,
    title: str = story.TITLE,
    llm: str = "rehearsal",
    order: str = "compact",
) -> Run:
    """A run of so many closed turns, in that state. `order`: the kind of an order that waits, "" for none."""
    building = Building.start(owner or a_person(), limit=limit, goal=goal, title=title, llm=llm)
    for step in itertools.islice(story.steps(), turns):
        building.take(step)
    building.rest(state, reason)
    if order:
        an_order(building.run, order)
    return Run.objects.get(pk=building.run.pk)


def an_order(run: Run, kind: str, *, by: str = "ada", args: Mapping[str, Any] | None = None) -> Order:
    """An order as a page inserts it: pending, with its event."""
    made = Order.objects.create(
        run=run,
        kind=kind,
        args=dict(args or {}),
        by=by,
        at=sql.now(),
        client_key=f"{run.slug}-{kind}-{Order.objects.count()}",
    )
    archive.announce(
        run.pk, "order.asked", {"order": made.pk, "kind": kind, "state": "pending", "reason": ""}
    )
    return made


def runs_of_every_state(owner: Any = None) -> Iterator[Run]:
    """A short run in each state, for lists."""
    for state, reason in story.STATES:
        yield a_run(owner, turns=8, state=state, reason=reason, order="")
