"""What the socket sends: the page's own fragments, as out-of-band swaps. Nobody in particular is looking: one
rendering serves all watchers of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.template.loader import render_to_string

from runs.models import Edit, Event, Run
from runs.store import page_reads

from . import chart, feed, steering
from .rows import Row
from .run import counts
from .standing import Standing
from .vitals import policy_of, vitals

MOST_BYTES = 150_000
"""Of a snapshot's rows; the rest of it is small."""

FEWER = (feed.TURNS, 30, 12, 4, 1)
SIGNS = ("turn.", "window.edited", "compaction.failed", "run.state", "owner.claimed", "run.created")
ORDERS = ("order.", "person.said", "run.state", "owner.claimed")
COUNTS = ("note.changed", "window.edited")
CALLS = ("call.started", "call.ended", "approval.asked", "approval.answered")
ENDS_TYPING = ("turn.answered", "turn.lost")


def items(run: Run, events: Sequence[Event]) -> list[dict[str, Any]]:
    """One item an event: {"seq", "kind", "turn", "html"?, "point"?, "edit"?}.

    What has to be drawn once for all of them (vital signs, chips, counts) comes with the last.
    """
    standing = Standing.now(run)
    found = [_item(run, event, standing) for event in events]
    if found:
        found[-1]["html"] = found[-1].get("html", "") + _refreshed(run, [event.kind for event in events])
    return [{key: value for key, value in item.items() if value != ""} for item in found]


def snapshot(run: Run) -> str:
    """The page's live parts drawn anew; below 200 kB whatever the run."""
    return f"{_rows(run)}{_signs(run)}{_orders(run)}{_counts(run)}"


def _rows(run: Run) -> str:
    """As many of the newest turns as fit; of a turn that does not fit alone, the link to it."""
    for turns in FEWER:
        page = feed.newest(run, turns=turns)
        html = _fragment("run/feed_rows.html", run, page=page, past=None, oob=True)
        if len(html.encode()) <= MOST_BYTES:
            return html
    page = replace(page, rows=(), before=run.next_seq)
    return _fragment("run/feed_rows.html", run, page=page, past=None, oob=True)


def _item(run: Run, event: Event, standing: Standing) -> dict[str, Any]:
    item: dict[str, Any] = {"seq": event.seq, "kind": event.kind, "turn": event.turn}
    item["html"] = "".join(_html(run, event, standing))
    if event.kind == "turn.closed" and (turn := page_reads.turn(run, event.turn)):
        item["point"] = chart.point(turn, policy_of(run))
    if event.kind == "window.edited" and (edit := _edit(run, event)):
        item["edit"] = chart.flag(edit)
    return item


def _html(run: Run, event: Event, standing: Standing) -> Iterator[str]:
    if event.kind in ENDS_TYPING:
        yield '<div id="typing" hx-swap-oob="innerHTML"></div>'
    if event.kind in feed.EDITS and page_reads.was_started(run, event):
        yield f'<div id="e-edit-{event.data["edit"]}" hx-swap-oob="delete"></div>'
    if event.kind in feed.KINDS:
        yield _appended(run, feed.rows_of(run, [event], standing))
    if event.kind == "window.edited" and (edit := _edit(run, event)):
        yield from _tags(run, edit)
    if event.kind in CALLS:
        row = feed.call_row(run, event, standing)
        yield _row(run, row, swap=True) if row else ""
    if event.kind == "run.state" and "waiting" in (event.data["from"], event.data["to"]):
        row = feed.asked_row(run, event, standing)
        yield _row(run, row, swap=True) if row else ""
    if event.kind == "person.said":
        yield from (_row(run, row, swap=True) for row in feed.told_rows(run, event, standing))
    if event.kind == "turn.closed":
        yield from (_row(run, row, swap=True) for row in feed.call_rows(run, event, standing))
    if event.kind == "order.answered":
        answer = steering.answer(run, int(event.data["order"]), event.data)
        shown = render_to_string("run/answer.html", {"run": run, "answer": answer}) if answer else ""
        yield f'<div hx-swap-oob="afterbegin:#answers">{shown}</div>' if shown else ""


def _edit(run: Run, event: Event) -> Edit | None:
    number = int(event.data["edit"])
    return page_reads.edits(run, [number]).get(number)


def _tags(run: Run, edit: Edit) -> Iterator[str]:
    """The words on the rows the page shows, where this edit changed them."""
    after = feed.newest(run)
    was = Standing(
        run=run, version=edit.before, upto=page_reads.last_message(run), from_turn=after.first_turn
    )
    before = {row.id: row.tag for row in feed.newest(run, was).rows}
    for row in after.rows:
        if row.message and before.get(row.id) != row.tag:
            yield render_to_string("run/tag.html", {"id": row.tag_id, "tag": row.tag, "swap": True})


def _appended(run: Run, rows: Iterable[Row]) -> str:
    html = "".join(_row(run, row) for row in rows)
    return f'<div hx-swap-oob="beforeend:#feed-rows">{html}</div>' if html else ""


def _row(run: Run, row: Row, *, swap: bool = False) -> str:
    return _fragment(row.template, run, row=row, swap=swap)


def _refreshed(run: Run, kinds: Sequence[str]) -> str:
    html = ""
    if _any(kinds, SIGNS):
        html += _signs(run)
    if _any(kinds, ORDERS):
        html += _orders(run)
    if _any(kinds, COUNTS):
        html += _counts(run)
    return html


def _any(kinds: Iterable[str], starts: tuple[str, ...]) -> bool:
    return any(kind.startswith(starts) for kind in kinds)


def _signs(run: Run) -> str:
    signs = vitals(run)
    return "".join(
        _fragment(f"run/{name}.html", run, vitals=signs, oob=True) for name in ("vitals", "banner")
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
