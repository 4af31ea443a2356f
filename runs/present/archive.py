"""The whole run, page by page: fifty turns at a time, with their epochs and what became of each entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runs.models import Edit, Event, Run
from runs.store import page_reads, windows

from . import diff_labels, feed
from .edits import kind_of, number_of
from .rows import Row
from .standing import Standing

TURNS = 50
"""Turns a page: three to five rows each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """The stretch between two compactions or clears. `edit` is what ended it, 0 for the last one."""

    number: int
    first: int
    last: int
    edit: int = 0
    ended_by: str = ""
    before: int = 0
    after: int = 0

    @property
    def turns(self) -> str:
        return f"{self.first:,}" if self.first == self.last else f"{self.first:,}\u2013{self.last:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row of the feed, or the heading of an epoch."""

    row: Row | None = None
    epoch: Epoch | None = None


@dataclass(frozen=True, kw_only=True)
class Page:
    """One page of the archive, oldest first. Pages count from 1."""

    run: Run
    lines: tuple[Line, ...]
    number: int
    pages: int
    first: int
    last: int
    epochs: tuple[Epoch, ...]
    turn: int
    compactions: tuple[int, ...]
    """Numbers of the edits that the keys [ and ] go to, in order."""

    @property
    def epoch(self) -> Epoch | None:
        return next((epoch for epoch in self.epochs if epoch.last >= self.first), None)


def page(run: Run, number: int = 0, turn: int = 0) -> Page:
    """The page with that number, or the one that holds `turn`; without either the last one."""
    pages = max(1, -(-run.turn_no // TURNS))
    wanted = -(-turn // TURNS) if turn else number or pages
    at = min(max(wanted, 1), pages)
    first, last = (at - 1) * TURNS + 1, min(at * TURNS, max(run.turn_no, 1))
    found = epochs(run)
    standing = standing_of(run)
    rows = feed.rows_of(run, events(run, first, last, is_first=at == 1, is_last=at == pages), standing)
    return Page(
        run=run,
        lines=tuple(_lines(rows, found, first)),
        number=at,
        pages=pages,
        first=first,
        last=last,
        epochs=found,
        turn=turn,
        compactions=tuple(epoch.edit for epoch in found if epoch.edit),
    )


def standing_of(run: Run) -> Standing:
    """The window as it stands now; unlike the live page's it also says what is in the window."""
    last = page_reads.last_message(run)
    return Standing(run=run, version=run.version, upto=last, past=run.turn_no)


def events(run: Run, first: int, last: int, *, is_first: bool, is_last: bool) -> Sequence[Event]:
    """What the feed shows of turns first..last; what stands between two pages belongs to the earlier one."""
    begin = 1 if is_first else page_reads.seq_of_turn(run, first) or 1
    end = run.next_seq if is_last else page_reads.seq_of_turn(run, last + 1) or run.next_seq
    found = Event.objects.filter(run=run, kind__in=feed.KINDS, seq__gte=begin, seq__lt=end)
    return list(found.order_by("seq"))


def epochs(run: Run) -> tuple[Epoch, ...]:
    """All epochs, in order. A clear ends one as a compaction does."""
    cuts = Edit.objects.filter(run=run, state="applied", kind__in=("compact", "compaction", "clear"))
    found, first = list[Epoch](), 1
    for edit in cuts.order_by("number"):
        last = max(edit.turn - 1, first)
        found.append(_epoch(len(found) + 1, first, last, edit))
        first = edit.turn
    return (*found, Epoch(number=len(found) + 1, first=first, last=max(run.turn_no, first)))


def _epoch(number: int, first: int, last: int, edit: Edit) -> Epoch:
    cleared = kind_of(edit) == "clear"
    return Epoch(
        number=number,
        first=first,
        last=last,
        edit=edit.number,
        ended_by="Window cleared" if cleared else f"Compaction {number_of(edit)}",
        before=edit.tokens_before,
        after=edit.tokens_after or 0,
    )


def _lines(rows: Sequence[Row], found: Sequence[Epoch], first: int) -> Iterator[Line]:
    """The rows, with the heading of the epoch at the top and wherever a new one begins."""
    by_edit = {epoch.edit: later for epoch, later in zip(found, found[1:], strict=False)}
    top = next((epoch for epoch in found if epoch.last >= first), found[-1])
    yield Line(epoch=top)
    for row in rows:
        yield Line(row=row)
        if row.css == "cut" and row.link in by_edit:
            yield Line(epoch=by_edit[row.link])


def original(run: Run, number: int) -> str:
    """An archived message as text, whole. Raises LookupError."""
    return diff_labels.readable(windows.one_message(run.pk, number).content)
