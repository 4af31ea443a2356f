"""Light reads for lists and scripts: rows and sums, never bodies, in one query whatever the length."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from runs import models

from . import sql

SPARK = 60


def runs(owner_id: int, *, limit: int = 100, offset: int = 0) -> list[models.Run]:
    """A person's runs, the newest first."""
    return list(models.Run.objects.filter(owner_id=owner_id).order_by("-id")[offset : offset + limit])


def run_by_slug(slug: str) -> models.Run | None:
    return models.Run.objects.filter(slug=slug).first()


def sparklines(run_ids: Collection[int], points: int = SPARK) -> dict[int, list[tuple[int, int]]]:
    """(turn, window tokens) of closed turns, at most `points` a run, evenly spread and with the last one."""
    if not run_ids:
        return {}
    ids = list(run_ids)
    found = sql.rows(
        f"""SELECT run_id, number, "window" FROM (
              SELECT t.run_id, t.number, t."window", r.turn_no AS newest FROM runs_turn t
              JOIN runs_run r ON r.id = t.run_id
              WHERE t.run_id IN ({sql.marks(ids)}) AND t.status = 'closed'
            ) AS closed
            WHERE (newest - number) %% (newest / %s + 1) = 0 ORDER BY run_id, number""",
        [*ids, points],
    )
    lines: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for run_id, number, window in found:
        lines[run_id].append((number, window))
    return dict(lines)


def turns(run: models.Run, first: int = 1, last: int | None = None) -> list[models.Turn]:
    """Every attempt of the turns first..last, in order."""
    found = models.Turn.objects.filter(run=run, number__gte=first).order_by("number", "attempt")
    return list(found if last is None else found.filter(number__lte=last))


def edits(run: models.Run) -> list[models.Edit]:
    return list(models.Edit.objects.filter(run=run).order_by("number"))


def events(run: models.Run, after: int = 0, limit: int = 500) -> list[models.Event]:
    """The events after a seq, in order."""
    return list(models.Event.objects.filter(run=run, seq__gt=after).order_by("seq")[:limit])


def all_events(run: models.Run, after: int = 0) -> Iterator[models.Event]:
    """As `events`, to the end, in constant memory."""
    while some := events(run, after, 1000):
        yield from some
        after = some[-1].seq


def pending_orders(run: models.Run) -> list[models.Order]:
    return list(models.Order.objects.filter(run=run, state="pending").order_by("id"))


def is_owned(run: models.Run) -> bool:
    """Whether a worker holds the run now; a pending order of any other "waits for a worker"."""
    query = f"SELECT 1 FROM runs_run WHERE id = %s AND lease_until_ms >= {sql.now_expression()}"
    return sql.one(query, [run.pk]) is not None
