"""Which rows an event of the engine leaves in the archive: one function per event."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, TypeAlias

from runs.engine import events
from runs.engine.messages import clean

from . import sql
from .batch import Batch, Update, usage_json

OPEN = ("open", "answered")
UNDONE = """UPDATE runs_edit SET state = 'undone'
            WHERE run_id = %s AND number >= %s AND number < %s AND state = 'applied'"""
TO_RUN = ("planned", "started")
Sets: TypeAlias = dict[str, Any]
FRAME = ("sha256", "llm", "system", "tools", "params", "render")


@singledispatch
def write(event: events.Event, batch: Batch) -> None:
    """Most events leave only their own line."""
    batch.line(event.kind, event.data(), event.turn)


@write.register
def _(event: events.TurnOpened, batch: Batch) -> None:
    _frame(event.frame, batch)
    batch.llm = event.frame.llm
    batch.put(
        "runs_turn",
        *(event.turn, event.attempt, event.frame.sha256, event.version, event.upto, event.request_sha256),
        *(
            "open",
            "",
            "{}",
            "{}",
            event.estimate,
            batch.sums.limit,
            True,
            0,
            0,
            0,
            "",
            "",
            batch.stamp,
        ),
    )
    batch.line(event.kind, event.data(), event.turn)


@write.register
def _(event: events.TurnAnswered, batch: Batch) -> None:
    batch.message(event.message)
    batch.spend(event.turn, "turn", event.usage, event.cost)
    usage = sql.dumps(usage_json(event.usage))
    sets: Sets = {"status": "answered", "stop_reason": event.stop_reason, "usage": usage, "cost": event.cost}
    sets |= {"first_token_ms": event.first_token_ms, "ms": event.ms}
    _turn(batch, event.turn, sets | {"cache_miss": event.cache_miss}, ("open",), attempt=event.attempt)
    if event.raw:
        batch.value(event.raw)
    batch.line(event.kind, event.data(), event.turn)
    for call in event.calls:
        batch.put(
            "runs_call",
            *(event.turn, call.id, call.name, call.input_sha256, call.effect.value, "planned", call.key),
            *(0, "", 0, 0, 0),
        )
        batch.line("call.planned", _of_call(call, "planned"), event.turn)


@write.register
def _(event: events.CallStarted, batch: Batch) -> None:
    started_at = batch.stamp
    sets: Sets = {"status": "started", "term": batch.term, "worker": batch.worker, "started_at": started_at}
    _call(batch, event.turn, event.call.id, sets)
    batch.line(event.kind, event.data(), event.turn)


@write.register
def _(event: events.CallEnded, batch: Batch) -> None:
    for told in event.also:
        write(told, batch)
    sets: Sets = {"status": event.status.value, "ended_at": batch.stamp, "ms": event.ms}
    sets |= {"bytes": event.bytes, "tokens": event.tokens, "result_id": batch.result(event.result)}
    _call(batch, event.turn, event.call.id, sets)
    batch.line(event.kind, event.data(), event.turn)


@write.register
def _(event: events.TurnClosed, batch: Batch) -> None:
    for ended in event.ended:
        write(ended, batch)
    if event.message is not None:
        batch.message(event.message)
    sets: Sets = {"status": "closed", "parts": sql.dumps(dict(event.parts)), "window": event.window}
    sets |= {
        "limit": event.limit,
        "estimated": event.estimated,
        "cost": event.cost,
        "closed_at": batch.stamp,
    }
    _turn(batch, event.turn, sets, ("answered",))
    batch.sums.turns += 1
    batch.sums.see_window(event.window, event.limit)
    batch.turn_no, batch.turn_closed = event.turn, True
    batch.line(event.kind, event.data(), event.turn)


@write.register
def _(event: events.TurnLost, batch: Batch) -> None:
    batch.spend(event.turn, "lost", event.usage, event.cost)
    batch.sums.lost += event.cost
    sets: Sets = {"status": "cancelled" if event.cancelled else "lost", "partial": clean(event.partial)}
    sets |= {"cost": event.cost, "closed_at": batch.stamp}
    if event.usage != events.Usage():
        sets["usage"] = sql.dumps(usage_json(event.usage))
    _turn(batch, event.turn, sets, OPEN, attempt=event.attempt)
    batch.line(event.kind, event.data(), event.turn)


@write.register
def _(event: events.WindowEdited, batch: Batch) -> None:
    edit = event.edit
    for message in edit.added:
        batch.message(message)
    if edit.episode is not None:
        _episode(edit.episode, batch)
    batch.window(edit.after)
    batch.spend(edit.turn, "compaction", edit.usage, edit.cost)
    batch.sums.count_edit(edit)
    batch.sums.see_window(edit.tokens_after, 0)
    batch.put(
        "runs_edit",
        *(edit.number, edit.kind, edit.method, edit.trigger.value, "applied", edit.before.number),
        *(edit.after.number, edit.episode.number if edit.episode else None, edit.order or None, edit.by),
        *(
            clean(edit.instructions),
            edit.tokens_before,
            edit.tokens_after,
            edit.cost,
            edit.ms,
            clean(edit.reason),
        ),
        *(edit.turn, batch.stamp),
    )
    if edit.undoes:
        sql.execute(UNDONE, [batch.run_id, edit.undoes, edit.number])
    batch.line(event.kind, event.data(), event.turn)


@write.register
def _(event: events.CompactionFailed, batch: Batch) -> None:
    batch.spend(event.turn, "compaction", event.usage, event.cost)
    batch.put(
        "runs_edit",
        *(event.edit, "compact", event.method, event.trigger.value, "failed", batch.version, None, None),
        *(event.order or None, event.by, clean(event.instructions), event.tokens_before, None, event.cost),
        *(event.ms, clean(event.why), event.turn, batch.stamp),
    )
    batch.line(event.kind, event.data(), event.turn)


@write.register
def _(event: events.NoteChanged, batch: Batch) -> None:
    note = event.note
    batch.put(
        "runs_note",
        *(note.number, note.revision, note.section, clean(note.text), note.state, note.author, note.by),
        note.turn,
    )
    batch.line(event.kind, event.data(), event.turn)


@write.register
def _(event: events.PolicyChanged, batch: Batch) -> None:
    sql.execute(
        "UPDATE runs_run SET policy = %s WHERE id = %s", [sql.dumps(dict(event.policy)), batch.run_id]
    )
    batch.line(event.kind, event.data(), event.turn)


@write.register(events.NoticeGiven)
@write.register(events.Said)
def _(event: events.NoticeGiven | events.Said, batch: Batch) -> None:
    batch.message(event.message)
    batch.line(event.kind, event.data(), event.turn)


@write.register
def _(event: events.Delta, batch: Batch) -> None:
    raise TypeError("Typing is shown and never stored.")


def _frame(frame: events.Frame, batch: Batch) -> None:
    """A frame is written once; looking first is cheaper than dumping 10 kB of tool texts."""
    if frame.sha256 in batch.frames:
        return
    batch.frames.add(frame.sha256)
    if sql.one("SELECT 1 FROM runs_frame WHERE sha256 = %s", [frame.sha256]):
        return
    texts = (sql.dumps(list(frame.system)), sql.dumps(list(frame.tools)), sql.dumps(dict(frame.params)))
    sql.insert("runs_frame", FRAME, [(frame.sha256, frame.llm, *texts, frame.render)], ignore=True)


def _episode(episode: events.Episode, batch: Batch) -> None:
    batch.put(
        "runs_episode",
        *(episode.number, episode.first_turn, episode.last_turn, clean(episode.text), clean(episode.ledger)),
        *(episode.tokens, sql.dumps(dict(episode.scores)), episode.folds),
    )


def _turn(batch: Batch, number: int, sets: Sets, status: tuple[str, ...], attempt: int | None = None) -> None:
    where = {"run_id": batch.run_id, "number": number} | ({} if attempt is None else {"attempt": attempt})
    what = f"Turn {number}"
    batch.updates.append(Update(what=what, table="runs_turn", sets=sets, where=where, status=status))


def _call(batch: Batch, turn: int, tool_use_id: str, sets: Sets) -> None:
    where = {"run_id": batch.run_id, "turn": turn, "tool_use_id": tool_use_id}
    what = f"Call {tool_use_id} of turn {turn}"
    batch.updates.append(Update(what=what, table="runs_call", sets=sets, where=where, status=TO_RUN))


def _of_call(call: events.PlannedCall, status: str) -> dict[str, str]:
    return {"id": call.id, "name": call.name, "effect": call.effect.value, "status": status}
