"""What a worker needs to go on with a run it has just claimed: a dozen queries whatever the run's length."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from runs import models
from runs.engine.events import CallStatus, Effect, Episode, Note, PlannedCall, Usage, Version
from runs.engine.messages import Block, Kind, Message, calls_of

from . import approvals, blobs, orders, sql, windows
from .batch import read_usage
from .orders import Asked
from .sums import Sums


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCall:
    """A call of an unfinished turn. `result` is its tool_result block once it has ended."""

    call: PlannedCall
    status: CallStatus
    result: Block | None = None
    worker: str = ""
    started_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTurn:
    """A turn that was begun and not closed. `answer` is None while its llm call had not come back."""

    number: int
    attempt: int
    frame: str
    version: int
    upto: int
    answer: Message | None
    stop_reason: str
    usage: Usage
    cost: int
    calls: tuple[OpenCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LastUsage:
    """The newest answer whose usage is known: what was counted on (version, upto)."""

    turn: int
    version: int
    upto: int
    prompt: int
    frame: str
    at_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The next free number of each kind, and the attempts already made of the next turn."""

    message: int
    edit: int
    version: int
    episode: int
    note: int
    turn: int
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A run as it stands. `compacted`: the turn of the last compaction; `failures`: the turns of those that failed
    since then; `undone`: the turn at which a person last took an edit back. They rule when the next may be tried.
    """

    run: models.Run
    version: Version
    messages: tuple[Message, ...]
    notes: tuple[Note, ...]
    episode: Episode | None
    open: OpenTurn | None
    next: Numbers
    measured: LastUsage | None
    sums: Sums
    orders: tuple[Asked, ...]
    said: approvals.Said = approvals.Said()
    compacted: int = 0
    failures: tuple[int, ...] = field(default=())
    undone: int = 0


def standing(run_id: int) -> Standing:
    """Everything at once. Read it after the claim: nobody else writes the run from then on."""
    run = models.Run.objects.get(pk=run_id)
    version, messages = windows.load(run)
    found = _open_turn(run_id, messages)
    compacted, failures = _compactions(run_id)
    return Standing(
        run=run,
        version=version,
        messages=messages,
        notes=notes(run_id),
        episode=windows.standing_episode(run_id, messages),
        open=found,
        next=_numbers(run),
        measured=_measured(run_id),
        sums=Sums.of(run.sums),
        orders=orders.pending(run_id),
        said=_said(run_id, found),
        compacted=compacted,
        failures=failures,
        undone=_undone(run_id),
    )


def _said(run_id: int, found: OpenTurn | None) -> approvals.Said:
    if found is None or found.answer is None:
        return approvals.Said(always=approvals.always(run_id))
    return approvals.said(run_id, found.number)


def notes(run_id: int) -> tuple[Note, ...]:
    """The newest revision of every note, by number."""
    newest = {
        row.number: row for row in models.Note.objects.filter(run_id=run_id).order_by("number", "revision")
    }
    return tuple(
        Note(
            number=row.number,
            revision=row.revision,
            section=row.section,
            text=row.text,
            state=row.state,
            author=row.author,
            by=row.by,
            turn=row.turn,
        )
        for row in newest.values()
    )


def _open_turn(run_id: int, messages: tuple[Message, ...]) -> OpenTurn | None:
    row = models.Turn.objects.filter(run_id=run_id, status__in=("open", "answered")).order_by("-id").first()
    if row is None:
        return None
    answers = [m for m in messages if m.turn == row.number and m.kind is Kind.ANSWER]
    answer = answers[-1] if answers and row.status == "answered" else None
    return OpenTurn(
        number=row.number,
        attempt=row.attempt,
        frame=row.frame_id,
        version=row.version,
        upto=row.upto,
        answer=answer,
        stop_reason=row.stop_reason,
        usage=read_usage(row.usage),
        cost=row.cost,
        calls=_calls(run_id, row.number, answer) if answer else (),
    )


def _calls(run_id: int, turn: int, answer: Message) -> tuple[OpenCall, ...]:
    """In the order in which the llm asked."""
    rows = {row.tool_use_id: row for row in models.Call.objects.filter(run_id=run_id, turn=turn)}
    results = blobs.read([row.result_id for row in rows.values() if row.result_id])
    asked = [(rows[block["id"]], block) for block in calls_of(answer.content) if block["id"] in rows]
    return tuple(_call(row, block, results.get(row.result_id or "")) for row, block in asked)


def _call(row: models.Call, block: Block, result: Block | None) -> OpenCall:
    call = PlannedCall(
        id=row.tool_use_id,
        name=row.name,
        input=block["input"],
        input_sha256=row.input_sha256,
        effect=Effect(row.effect),
        key=row.key,
    )
    return OpenCall(
        call=call, status=CallStatus(row.status), result=result, worker=row.worker, started_at=row.started_at
    )


def _numbers(run: models.Run) -> Numbers:
    newest = ", ".join(
        f"(SELECT COALESCE(MAX(number), 0) FROM runs_{table} WHERE run_id = %s)"
        for table in ("message", "edit", "version", "episode", "note")
    )
    query = f"SELECT {newest}, (SELECT COALESCE(MAX(attempt), 0) FROM runs_turn WHERE run_id = %s AND number = %s)"
    row = sql.one(query, [run.pk] * 6 + [run.turn_no + 1]) or (0,) * 6
    message, edit, version, episode, note = (number + 1 for number in row[:5])
    return Numbers(
        message=message,
        edit=edit,
        version=version,
        episode=episode,
        note=note,
        turn=run.turn_no + 1,
        attempts=row[5],
    )


def _measured(run_id: int) -> LastUsage | None:
    answered = models.Turn.objects.filter(run_id=run_id, status__in=("answered", "closed"))
    row = answered.order_by("-number").first()
    if row is None:
        return None
    prompt = read_usage(row.usage).prompt
    return LastUsage(
        turn=row.number,
        version=row.version,
        upto=row.upto,
        prompt=prompt,
        frame=row.frame_id,
        at_ms=int(row.opened_at.timestamp() * 1000),
    )


def _compactions(run_id: int) -> tuple[int, tuple[int, ...]]:
    """The turn of the last compaction, and the turns of the summaries that failed since one last came about.

    A code-made episode is a compaction but no success of a summary; what a person asked for is no failure of ours.
    """
    made = models.Edit.objects.filter(run_id=run_id, state="applied", episode__isnull=False).order_by(
        "-number"
    )
    last, summed = made.first(), made.exclude(trigger="fallback").first()
    failed = models.Edit.objects.filter(
        run_id=run_id, state="failed", number__gt=summed.number if summed else 0
    )
    turns = failed.exclude(trigger="person").order_by("number").values_list("turn", flat=True)
    return (last.turn if last else 0), tuple(turns)


def _undone(run_id: int) -> int:
    newest = models.Edit.objects.filter(run_id=run_id, kind="undo").order_by("-number").first()
    return newest.turn if newest else 0
