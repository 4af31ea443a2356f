"""What the socket sends: the page's own fragments, as out-of-band swaps. Nobody in particular is looking: one
rendering serves all watchers of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.template.loader import render_to_string

from runs.models import Edit, Event, Run

from . import chart, feed, steering
from .lot import Lot
from .material import CALLS, EDITS
from .now import Now
from .rows import Row
from .run import counts
from .vitals import vitals

MOST_BYTES = 150_000
"""Of a snapshot's rows; the rest of it is small."""

FEWER = (feed.TURNS, 30, 12, 4, 1)
SIGNS = ("turn.", "window.edited", "compaction.failed", "run.state", "owner.claimed", "run.created")
ORDERS = ("order.", "person.said", "run.state", "owner.claimed")
COUNTS = ("note.changed", "window.edited")
ENDS_TYPING = ("turn.answered", "turn.lost")


def items(now: Now, events: Sequence[Event]) -> list[dict[str, Any]]:
    """One item an event: {"seq", "kind", "turn", "html"?, "point"?, "edit"?}.

    What has to be drawn once for all of them (vital signs, chips, counts) comes with the last.
    """
    lot = Lot(now=now, events=events)
    found = [_item(lot, event) for event in events]
    if found:
        found[-1]["html"] = found[-1].get("html", "") + _refreshed(lot)
    return [{key: value for key, value in item.items() if value != ""} for item in found]


def snapshot(now: Now) -> str:
    """The page's live parts drawn anew; below 200 kB whatever the run."""
    return f"{_rows(now)}{_signs(now)}{_orders(now.run)}{_counts(now.run)}"


def _rows(now: Now) -> str:
    """As many of the newest turns as fit; of a turn that does not fit alone, the link to it."""
    run = now.run
    for turns in FEWER:
        page = feed.newest(run, now.standing, turns=turns)
        html = _fragment("run/feed_rows.html", run, page=page, past=None, oob=True)
        if len(html.encode()) <= MOST_BYTES:
            return html
    page = replace(page, rows=(), before=run.next_seq)
    return _fragment("run/feed_rows.html", run, page=page, past=None, oob=True)


def _item(lot: Lot, event: Event) -> dict[str, Any]:
    item: dict[str, Any] = {"seq": event.seq, "kind": event.kind, "turn": event.turn}
    item["html"] = "".join(_html(lot, event))
    if event.kind == "turn.closed" and (turn := lot.turns.get(event.turn)):
        item["point"] = chart.point(turn, lot.now.policy)
    if event.kind == "window.edited" and (edit := lot.edit(event)):
        item["edit"] = chart.flag(edit)
    return item


def _html(lot: Lot, event: Event) -> Iterator[str]:
    run = lot.now.run
    if event.kind in ENDS_TYPING:
        yield '<div id="typing" hx-swap-oob="innerHTML"></div>'
    if event.kind in EDITS and lot.was_started(event):
        yield f'<div id="e-edit-{event.data["edit"]}" hx-swap-oob="delete"></div>'
    if event.kind in feed.KINDS:
        yield _appended(run, feed.rows_from(lot.material, [event], lot.now.standing))
    if event.kind == "window.edited" and (edit := lot.edit(event)):
        yield from _tags(lot, edit)
    yield from (_row(run, row, swap=True) for row in _changed(lot, event))
    if event.kind == "order.answered":
        answer = steering.answer(run, int(event.data["order"]), event.data)
        shown = render_to_string("run/answer.html", {"run": run, "answer": answer}) if answer else ""
        yield f'<div hx-swap-oob="afterbegin:#answers">{shown}</div>' if shown else ""


def _changed(lot: Lot, event: Event) -> Iterable[Row]:
    """Rows that the page shows already, and that look different since this event."""
    if event.kind in CALLS:
        return _some(feed.call_row(lot.material, event, lot.now.standing))
    if event.kind == "run.state" and "waiting" in (event.data["from"], event.data["to"]):
        return _some(feed.asked_row(lot.now.run, event, lot.now.standing))
    if event.kind == "person.said":
        return feed.told_rows(lot.material, event, lot.now.standing)
    if event.kind == "turn.closed":
        return feed.call_rows(lot.material, event, lot.now.standing)
    return ()


def _some(row: Row | None) -> tuple[Row, ...]:
    return (row,) if row else ()


def _tags(lot: Lot, edit: Edit) -> Iterator[str]:
    """The words on the rows the page shows, where this edit changed them."""
    for row, was in feed.tags(lot.now.run, edit.before, lot.now.standing):
        if was != row.tag:
            yield render_to_string("run/tag.html", {"id": row.tag_id, "tag": row.tag, "swap": True})


def _appended(run: Run, rows: Iterable[Row]) -> str:
    html = "".join(_row(run, row) for row in rows)
    return f'<div hx-swap-oob="beforeend:#feed-rows">{html}</div>' if html else ""


def _row(run: Run, row: Row, *, swap: bool = False) -> str:
    return _fragment(row.template, run, row=row, swap=swap)


def _refreshed(lot: Lot) -> str:
    run, kinds, html = lot.now.run, [event.kind for event in lot.events], ""
    if _any(kinds, SIGNS):
        html += _signs(lot.now)
    if _any(kinds, ORDERS):
        html += _orders(run)
    if _any(kinds, COUNTS):
        html += _counts(run)
    return html


def _any(kinds: Iterable[str], starts: tuple[str, ...]) -> bool:
    return any(kind.startswith(starts) for kind in kinds)


def _signs(now: Now) -> str:
    signs = vitals(now.run, now)
    return "".join(
        _fragment(f"run/{name}.html", now.run, vitals=signs, oob=True) for name in ("vitals", "banner")
    )


def _orders(run: Run) -> str:
    chips = _fragment("run/chips.html", run, orders=steering.chips(run), oob=True)
    return chips + _fragment("run/controls.html", run, controls=steering.controls(run), oob=True)


def _counts(run: Run) -> str:
    return "".join(
        _fragment("run/count.html", run, name=name, value=value, oob=True)
        for name, value in counts(run).items()
    )


def _fragment(template: str, run: Run, **context: Any) -> str:
    return render_to_string(template, {"run": run, **context})
