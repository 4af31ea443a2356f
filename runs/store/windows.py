"""Windows as the archive has them: the version an edit left, and the messages it shows."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from runs import models
from runs.engine.events import Episode, Form, Frame, Item, Version
from runs.engine.messages import Author, Counted, Kind, Message, Role
from runs.engine.window.hands import Past, came_after
from runs.engine.window.versions import steady

from . import blobs, sql

NAMES = ("number", "role", "author", "kind", "turn", "tokens", "counted", "by", "blob_id")
COLUMNS = ", ".join(f'"{name}"' for name in NAMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A message without its body."""

    number: int
    role: str
    author: str
    kind: str
    turn: int
    tokens: int
    counted: str
    by: str
    blob_id: str


def load(
    run: models.Run, version: int | None = None, upto: int | None = None
) -> tuple[Version, tuple[Message, ...]]:
    """The window of (version, upto): the version, and every message it names or that came after, by number.

    Without arguments the newest. Five queries, whatever the length of the run.
    """
    found = one_version(run.pk, run.version if version is None else version)
    named = {item.message for item in found.items if item.message <= found.base}
    return found, messages(run.pk, named, after=found.base, upto=upto)


def past(run: models.Run, edit: int) -> Past:
    """What taking back that edit goes back to: the window before it, the edits since, and all their messages.

    Raises LookupError when the run has no such edit, or it changed nothing.
    """
    rows = models.Edit.objects.filter(run=run, number__gte=edit, after__isnull=False).order_by("number")
    made = list(rows.values_list("number", "before", "after", "kind"))
    if not made or made[0][0] != edit:
        raise LookupError(f"The run has no edit {edit} that changed its window.")
    before, messages = load(run, made[0][1])
    since = tuple((one_version(run.pk, after or 0), kind) for _, _, after, kind in made)
    found = Past(before=before, made=since, messages=messages)
    upto, _ = came_after(found)
    then = [message for message in messages if message.number <= upto]
    return replace(found, episode=standing_episode(run.pk, then))


def standing_episode(run_id: int, messages: Iterable[Message]) -> Episode | None:
    """The newest episode among these messages: its edit wrote one line more, and the edit's version ends there."""
    number = max((message.number for message in messages if message.kind is Kind.EPISODE), default=0)
    versions = models.Version.objects.filter(run_id=run_id, base=number + 1).values("number")
    made = models.Edit.objects.filter(run_id=run_id, after__in=versions).values("episode")
    row = models.Episode.objects.filter(run_id=run_id, number__in=made).first() if number else None
    if row is None:
        return None
    return Episode(
        number=row.number,
        first_turn=row.first_turn,
        last_turn=row.last_turn,
        text=row.text,
        ledger=row.ledger,
        tokens=row.tokens,
        folds=row.folds,
        scores=row.scores,
    )


def one_version(run_id: int, number: int) -> Version:
    """A version, and what of it already stood in its parent's window."""
    rows = models.Version.objects.filter(run_id=run_id)
    found = _version(rows.get(number=number))
    parent = rows.filter(number=found.parent).first() if found.parent else None
    return replace(found, steady=steady(found.items, _version(parent))) if parent else found


def _version(row: models.Version) -> Version:
    items = tuple(
        Item(message=message, form=Form(form), pinned=pinned) for message, form, pinned in row.items
    )
    return Version(number=row.number, parent=row.parent, edit=row.edit, base=row.base, items=items)


def messages(
    run_id: int, numbers: Collection[int] = (), *, after: int | None = None, upto: int | None = None
) -> tuple[Message, ...]:
    """The messages with these numbers, and with `after` all later ones too (to `upto`), in order."""
    found = _named(run_id, numbers)
    if after is not None:
        found += _later(run_id, after, upto)
    return with_bodies(sorted(found, key=lambda head: head.number))


def of_turns(run_id: int, first: int, last: int) -> tuple[Message, ...]:
    """The messages of turns first..last."""
    query = f"SELECT {COLUMNS} FROM runs_message WHERE run_id = %s AND turn BETWEEN %s AND %s ORDER BY number"
    return with_bodies(_heads(sql.rows(query, [run_id, first, last])))


def one_message(run_id: int, number: int) -> Message:
    """Raises LookupError when the run has no such message."""
    found = messages(run_id, [number])
    if not found:
        raise LookupError(f"The run has no message {number}.")
    return found[0]


def frame(sha256: str) -> Frame:
    row = models.Frame.objects.get(sha256=sha256)
    return Frame(
        sha256=row.sha256,
        llm=row.llm,
        system=tuple(row.system),
        tools=tuple(row.tools),
        params=row.params,
        render=row.render,
    )


def body(message: models.Message) -> list[dict[str, object]]:
    """The content blocks of one message row."""
    content: list[dict[str, object]] = blobs.read([message.blob_id])[message.blob_id]
    return content


def bodies(rows: Iterable[models.Message]) -> dict[int, list[dict[str, object]]]:
    """Content blocks by message number, for rows of one run: two queries for any number of them."""
    listed = list(rows)
    contents = blobs.read([row.blob_id for row in listed])
    return {row.number: contents[row.blob_id] for row in listed}


def with_bodies(heads: Iterable[Head]) -> tuple[Message, ...]:
    listed = list(heads)
    contents = blobs.read([head.blob_id for head in listed])
    return tuple(
        Message(
            number=head.number,
            role=Role(head.role),
            author=Author(head.author),
            kind=Kind(head.kind),
            turn=head.turn,
            content=tuple(contents[head.blob_id]),
            tokens=head.tokens,
            counted=Counted(head.counted),
            by=head.by,
        )
        for head in listed
    )


def _named(run_id: int, numbers: Collection[int]) -> list[Head]:
    found: list[Head] = []
    wanted = sorted(numbers)
    for start in range(0, len(wanted), 500):
        some = wanted[start : start + 500]
        query = f"SELECT {COLUMNS} FROM runs_message WHERE run_id = %s AND number IN ({sql.marks(some)})"
        found += _heads(sql.rows(query, [run_id, *some]))
    return found


def _later(run_id: int, after: int, upto: int | None) -> list[Head]:
    last = "" if upto is None else " AND number <= %s"
    query = f"SELECT {COLUMNS} FROM runs_message WHERE run_id = %s AND number > %s{last}"
    return _heads(sql.rows(query, [run_id, after, *([] if upto is None else [upto])]))


def _heads(rows: Iterable[sql.Row]) -> list[Head]:
    return [Head(**dict(zip(NAMES, row, strict=True))) for row in rows]
