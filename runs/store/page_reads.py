"""What the run page reads: events and messages of a few turns, never a whole run; bodies only where they show."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Max, Q

from runs.engine.messages import Message as Stored
from runs.models import Edit, Event, Message, Run, Turn, Version

from . import sql, turn_reads


def stored(run: Run, numbers: Collection[int]) -> dict[int, Stored]:
    """Messages with their bodies, by number."""
    return {message.number: message for message in turn_reads.read(run.pk, numbers, ()).messages}


def answer_of_turn(run: Run, turn: int) -> Stored | None:
    """The llm's message of a turn."""
    numbers = Message.objects.filter(run=run, turn=turn, kind="answer").values_list("number", flat=True)
    return next(iter(stored(run, set(numbers)).values()), None)


def results_after(run: Run, turns: Collection[int]) -> dict[int, Stored]:
    """The messages of tool results of some turns, by turn."""
    if not turns:
        return {}
    numbers = Message.objects.filter(run=run, turn__in=turns, kind="results").values_list("number", flat=True)
    return {message.turn: message for message in stored(run, set(numbers)).values()}


def events(
    run: Run, kinds: Sequence[str], *, limit: int, before: int | None = None, after: int | None = None
) -> list[Event]:
    """Events of some kinds in order: the newest `limit` below seq `before`, or the first `limit` after seq `after`."""
    found = Event.objects.filter(run=run, kind__in=kinds)
    if after is not None:
        return list(found.filter(seq__gt=after).order_by("seq")[:limit])
    if before is not None:
        found = found.filter(seq__lt=before)
    return list(found.order_by("-seq")[:limit])[::-1]


def every_event(run_id: int, after: int, limit: int) -> list[Event]:
    """The first `limit` events after a seq, in order."""
    query = "SELECT * FROM runs_event WHERE run_id = %s AND seq > %s ORDER BY seq LIMIT %s"
    return list(Event.objects.raw(query, [run_id, after, limit]))


def was_started(run: Run, event: Event) -> bool:
    """Whether this end of a compaction has a beginning that the page shows: a few events before it."""
    if event.kind == "compaction.started":
        return False
    near = Event.objects.filter(
        run=run, seq__lt=event.seq, seq__gte=event.seq - 50, kind="compaction.started"
    )
    return any(found.data["edit"] == event.data["edit"] for found in near)


def seq_of_turn(run: Run, turn: int) -> int | None:
    """The seq of the first event of a turn. Turns grow with seq, so a bisection over the unique index finds it."""
    low, high = 1, run.next_seq
    while low < high:
        middle = (low + high) // 2
        if (_turn_at(run, middle, high) or turn) < turn:
            low = middle + 1
        else:
            high = middle
    return (
        Event.objects.filter(run=run, seq__gte=low, turn=turn)
        .order_by("seq")
        .values_list("seq", flat=True)
        .first()
    )


def _turn_at(run: Run, seq: int, end: int) -> int | None:
    """The turn at or after a place; events between turns carry 0 and are passed over."""
    return (
        Event.objects.filter(run=run, seq__gte=seq, seq__lt=end, turn__gt=0)
        .order_by("seq")
        .values_list("turn", flat=True)
        .first()
    )


def edits(run: Run, numbers: Collection[int]) -> dict[int, Edit]:
    found = Edit.objects.filter(run=run, number__in=numbers) if numbers else []
    return {edit.number: edit for edit in found}


def folding_edits(run: Run, *, from_turn: int, upto_version: int) -> list[Edit]:
    """Edits that took messages out of the window (compactions, clears), oldest first."""
    found = Edit.objects.filter(run=run, state="applied", turn__gte=from_turn, after__lte=upto_version)
    return list(found.filter(Q(episode__isnull=False) | Q(kind="clear")).order_by("number"))


def version(run: Run, number: int) -> Version | None:
    return Version.objects.filter(run=run, number=number).first()


_UPTO = "(SELECT COALESCE(MAX(m.number), 0) FROM runs_message m WHERE m.run_id = r.id) AS upto"
_PRESENT = f"""SELECT v.base, v.items, {_UPTO} FROM runs_run r
    LEFT JOIN runs_version v ON v.run_id = r.id AND v.number = %s WHERE r.id = %s"""
_NEWEST = f"""SELECT r.*, u.username AS owner_name, v.base, v.items, {_UPTO} FROM runs_run r
    JOIN {{users}} u ON u.id = r.owner_id
    LEFT JOIN runs_version v ON v.run_id = r.id AND v.number = r.version WHERE r.id = %s"""
"""By hand, because these are asked for every lot of events: making such SQL takes Django longer than running it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """A run, its version, and its highest message number; 0 and None where it has none yet."""

    run: Run
    version: Version | None
    upto: int


def newest(run_id: int) -> Present:
    """The run as it is now, and its owner, in one query. Raises Run.DoesNotExist."""
    found = next(iter(Run.objects.raw(_NEWEST.format(users=get_user_model()._meta.db_table), [run_id])), None)
    if found is None:
        raise Run.DoesNotExist(run_id)
    row: Any = found
    found.owner = get_user_model().from_db(None, ["id", "username"], [found.owner_id, row.owner_name])
    return Present(run=found, version=_version(found, row.base, row.items), upto=row.upto)


def present(run: Run) -> Present:
    """The run as it was read, in one query."""
    row = sql.one(_PRESENT, [run.version, run.pk])
    base, items, upto = row or (None, None, 0)
    return Present(run=run, version=_version(run, base, items), upto=upto)


def _version(run: Run, base: int | None, items: str | None) -> Version | None:
    if base is None or items is None:
        return None
    return Version(run=run, number=run.version, base=base, items=json.loads(items))


def versions(run: Run, numbers: Collection[int]) -> dict[int, Version]:
    found = Version.objects.filter(run=run, number__in=numbers) if numbers else []
    return {row.number: row for row in found}


def turn(run: Run, number: int) -> Turn | None:
    """The attempt of a turn that counts."""
    return Turn.objects.filter(run=run, number=number).order_by("-attempt").first()


def turns(run: Run, numbers: Collection[int]) -> dict[int, Turn]:
    """The same of several turns, by number."""
    found = Turn.objects.filter(run=run, number__in=numbers).order_by("attempt") if numbers else []
    return {row.number: row for row in found}


def last_closed(run: Run) -> Turn | None:
    return Turn.objects.filter(run=run, status="closed").order_by("-number").first()


def recent_closed(run: Run, count: int) -> list[Turn]:
    """The newest closed turns, oldest first."""
    query = "SELECT * FROM runs_turn WHERE run_id = %s AND status = 'closed' ORDER BY number DESC LIMIT %s"
    return list(Turn.objects.raw(query, [run.pk, count]))[::-1]


def last_message(run: Run, turn: int | None = None) -> int:
    """The highest message number of the run, or of one turn; 0 for none."""
    found = Message.objects.filter(run=run)
    if turn is not None:
        found = found.filter(turn=turn)
    return found.aggregate(last=Max("number"))["last"] or 0
