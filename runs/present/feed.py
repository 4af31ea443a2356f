"""The turn feed: events become rows. The page and the socket ask the same function, so both show the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from runs.engine.messages import Block, Message, texts_of
from runs.engine.window.forms import SMALL
from runs.models import Event, Run
from runs.store import page_reads

from . import asking, calls, edits, notices, told
from .material import ANSWERS, EDITS, Material, gather
from .people import person
from .rows import Row
from .standing import Standing, Tag
from .text import first_words, inline

MESSAGES = ("run.created", "person.said", "notice.given")
OTHERS = (
    "turn.lost",
    "llm.retry",
    "message.repaired",
    "valve.reached",
    "spin.seen",
    "spiral.seen",
    "run.state",
)
KINDS = (*ANSWERS, *MESSAGES, *EDITS, *OTHERS)

TURNS = 50
MOST = 400
"""Rows come from at most this many events a page; a turn has a few."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """A stretch of the feed, oldest first. `before`: the seq to ask for what is older; None at the beginning."""

    rows: tuple[Row, ...]
    before: int | None
    first_turn: int


def newest(
    run: Run, standing: Standing | None = None, *, before: int | None = None, turns: int = TURNS
) -> Page:
    """The newest turns of the run as `run` was read, or those before a seq.

    What happened since then comes over the socket, which starts from there: here it would stand twice.
    """
    events = page_reads.events(run, KINDS, limit=MOST, before=before or run.next_seq)
    full = len(events) == MOST
    events, cut = _last_turns(events, turns)
    return _page(run, events, standing, more=full or cut)


def around(run: Run, turn: int) -> Page:
    """The feed as it looked around a turn of the past: what came before it, and a little of what came after."""
    seq = page_reads.seq_of_turn(run, turn + 1) or run.next_seq
    events = page_reads.events(run, KINDS, limit=MOST, before=seq)
    full = len(events) == MOST
    events, cut = _last_turns(events)
    after = page_reads.events(run, KINDS, limit=24, after=seq - 1)
    page = _page(run, [*events, *after], None, more=full or cut, past=turn)
    return replace(page, rows=tuple(_parted(page.rows, turn, run.turn_no)))


def _parted(rows: Sequence[Row], turn: int, last: int) -> Iterator[Row]:
    """The rows of the turn looked at stand out, and a line parts them from what came later."""
    parted = False
    for row in rows:
        if row.turn > turn and not parted:
            parted = True
            newer = last - turn
            words = f"{newer} newer turn{'s' if newer > 1 else ''} below, not in this window"
            yield replace(row, id="newer", kind="newer", title=words)
        yield replace(row, css=f"{row.css} sel") if row.turn == turn else row


def rows_of(run: Run, events: Sequence[Event], standing: Standing) -> tuple[Row, ...]:
    """The rows of these events, in order. Each has a place of its own on the page, by id."""
    finished = frozenset(event.data["edit"] for event in events if event.kind in EDITS[::2])
    return rows_from(replace(gather(run, events), finished=finished), events, standing)


def rows_from(material: Material, events: Iterable[Event], standing: Standing) -> tuple[Row, ...]:
    """The same, from what has been read."""
    return tuple(row for event in events for row in _rows(event, material, standing))


def call_row(material: Material, event: Event, standing: Standing) -> Row | None:
    """The row of the call that an event speaks of, as it is now."""
    rows = call_rows(material, event, standing)
    return next((row for row in rows if row.call_id == event.data["id"]), None)


def call_rows(material: Material, event: Event, standing: Standing) -> tuple[Row, ...]:
    """All call rows of the turn of an event."""
    answer = material.answers.get(event.turn)
    rows = _answer(event, answer, material, standing) if answer else ()
    return tuple(row for row in rows if row.call_id)


def asked_row(run: Run, event: Event, standing: Standing) -> Row | None:
    """The row of the call about which a person was asked last, when the run begins or ceases to wait."""
    asked = page_reads.events(run, ("approval.asked",), limit=1, before=event.seq)
    return call_row(gather(run, asked), asked[0], standing) if asked else None


def told_rows(material: Material, event: Event, standing: Standing) -> tuple[Row, ...]:
    """The call rows of the turn that a person's message is about, when it is about an unknown outcome."""
    said = material.messages.get(event.data["message"])
    turns = told.turns_spoken_of([said] if said else [])
    if not turns:
        return ()
    answered = list(Event.objects.filter(run=material.run, kind__in=ANSWERS, turn__in=turns).order_by("seq"))
    found = gather(material.run, answered)
    return tuple(row for one in answered for row in call_rows(found, one, standing) if row.told)


def tags(run: Run, version: int, now: Standing) -> Iterator[tuple[Row, Tag | None]]:
    """The rows of the newest turns that tell of a message, each with its word in another version's window."""
    events, _ = _last_turns(page_reads.events(run, KINDS, limit=MOST, before=run.next_seq))
    material, first = gather(run, events), _first_turn(events)
    then = Standing(run=run, version=version, upto=now.upto, from_turn=first)
    rows = rows_from(material, events, replace(now, from_turn=first))
    for row, was in zip(rows, rows_from(material, events, then), strict=True):
        if row.message:
            yield row, was.tag


def _page(
    run: Run, events: list[Event], standing: Standing | None, *, more: bool, past: int | None = None
) -> Page:
    first = _first_turn(events)
    if past is not None:
        standing = Standing.at(run, past, first)
    seen = replace(standing or Standing.now(run), from_turn=first)
    before = events[0].seq if events and more else None
    return Page(rows=rows_of(run, events, seen), before=before, first_turn=first)


def _first_turn(events: Iterable[Event]) -> int:
    return min((event.turn for event in events if event.turn), default=0)


def _last_turns(events: list[Event], turns: int = TURNS) -> tuple[list[Event], bool]:
    """The events of the last turns, and whether that left any out."""
    last = max((event.turn for event in events), default=0)
    if last <= turns:
        return events, False
    start = next((at for at, event in enumerate(events) if event.turn > last - turns), 0)
    return events[start:], start > 0


def _rows(event: Event, material: Material, standing: Standing) -> Iterator[Row]:
    if event.kind in ANSWERS or event.kind in MESSAGES:
        message = material.messages.get(event.data.get("message", 1))
        if message and event.kind in ANSWERS:
            yield from _answer(event, message, material, standing)
        elif message:
            yield _said(event, message, standing)
    elif event.kind in EDITS:
        yield from edits.rows(event, material.edits, material.finished)
    else:
        yield from notices.rows(event)


def _answer(event: Event, message: Message, material: Material, standing: Standing) -> Iterator[Row]:
    """One row a block: thinking folded, text, each call with its result."""
    first = True
    for at, block in enumerate(message.content):
        row = _of_block(event, message, at, block, material, standing)
        if row is not None:
            yield replace(row, first=first)
            first = False


def _of_block(
    event: Event, message: Message, at: int, block: Block, material: Material, standing: Standing
) -> Row | None:
    row = _row(event, message, at, standing.tag(message.number, clearable=block["type"] == "thinking"))
    match block["type"]:
        case "text" if block["text"].strip():
            return replace(
                row, kind="text", icon="spark", html=inline(block["text"]), long=_is_long(block["text"])
            )
        case "thinking":
            said = first_words(block["thinking"]) or "not shown by the llm"
            return replace(row, kind="thought", icon="thought", title="Thought", detail=said, long=True)
        case "redacted_thinking":
            return replace(
                row, kind="thought", icon="thought", title="Thought", detail="sealed by the provider"
            )
        case "tool_use":
            return _call(row, message, block, material, standing)
    return None


def _call(row: Row, message: Message, block: Block, material: Material, standing: Standing) -> Row:
    key = (message.turn, str(block["id"]))
    call, result = material.calls.get(key), material.result(*key)
    line = calls.line(block, call, result)
    home = material.results.get(message.turn)
    tokens = call.tokens if call else None
    clearable = not line.failed and (tokens or 0) >= SMALL
    ask = _ask(material, key, block)
    return replace(
        row,
        kind="approval" if ask else "call",
        icon=line.icon,
        title=line.name,
        detail=line.argument,
        note=line.note,
        tone=line.tone,
        loud=line.loud,
        css=_css(line, ask),
        tokens=tokens or None,
        ms=call.ms or None if call else None,
        tag=standing.tag(home.number, clearable=clearable) if home else row.tag,
        tag_of=f"{home.number}" if home else "",
        call_id=str(block["id"]),
        long=ask is None,
        ask=ask,
        told=told.told(material.run, line.name, row.turn) if call and line.unsure and not ask else None,
    )


def _ask(material: Material, key: tuple[int, str], block: Block) -> asking.Ask | None:
    found = material.question
    if found is None or (found.call.turn, found.call.tool_use_id) != key:
        return None
    return asking.ask(found, block)


def _css(line: calls.CallLine, ask: asking.Ask | None) -> str:
    if ask:
        return "asks unsure" if ask.unsure else "asks"
    if line.unsure:
        return "unsure"
    return "err" if line.failed else "running" if line.running else ""


def _said(event: Event, message: Message, standing: Standing) -> Row:
    said = texts_of(message.content)
    row = replace(_row(event, message, 0, standing.tag(message.number)), first=True, html=inline(said))
    if message.author == "person":
        word = "Goal" if message.kind == "goal" else person(message.by or "you").capitalize()
        return replace(
            row, kind="person", icon="person", title=word, long=_is_long(said), tokens=message.tokens
        )
    return replace(row, kind="notice", icon="bell", title="Notice", long=_is_long(said))


def _row(event: Event, message: Message, at: int, tag: Tag | None) -> Row:
    """What all rows of a message share."""
    return Row(
        id=f"e-{message.number}-{at}",
        kind="text",
        seq=event.seq,
        turn=message.turn,
        at=event.at,
        message=message.number,
        block=at,
        tag=tag,
    )


def _is_long(value: str) -> bool:
    return len(value) > 140 or "\n" in value.strip()
