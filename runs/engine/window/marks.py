"""Where the cache marks in the messages of a request stand: at most three, one more stands behind the system prompt.

A prefix is written to the cache where a mark stands, and read where a mark stands at most 20 blocks behind it. So:
the tail, for the next turn; the tail before it, which reads what the last turn wrote (with one mark a turn of over 20
blocks would read nothing); and the seam of the next edit: a clearing begins behind the results that are cleared
already. After an edit nothing of the old tail is known, and its mark stands at that edit's seam, to read up to there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..events import Form
from ..messages import Block, Kind, Role
from .lines import Line
from .versions import Entry

MARK = {"type": "ephemeral"}


def tails(lines: Sequence[Line]) -> list[int]:
    """The last two lines of the person's side."""
    return [at for at, line in enumerate(lines) if line.role is Role.USER][-2:]


def marked(lines: Sequence[Line], at: Sequence[int]) -> list[Line]:
    """The lines with a mark on the last block of some."""
    return _with_marks(lines, {(line, len(lines[line].blocks) - 1) for line in at})


def with_seams(lines: Sequence[Line], shown: Sequence[tuple[Entry, Sequence[Block]]]) -> list[Line]:
    """The lines of a window with their marks; `shown` are its entries with the blocks that the lines are made of."""
    *before, tail = tails(lines)
    now = _seam(shown)
    read = _spot(lines, shown[: now + 1]) if now >= 0 else None
    spots = {(at, len(lines[at].blocks) - 1) for at in ([tail] if read else [*before, tail])}
    spots |= {spot for spot in (read, _spot(lines, shown[: _next_seam(shown) + 1])) if spot}
    return _with_marks(lines, spots)


def _seam(shown: Sequence[tuple[Entry, Sequence[Block]]]) -> int:
    """Up to where the window stood as it does before it was edited just now; -1 where it was not."""
    return next((at for at, (entry, _) in enumerate(shown) if entry.seam), -1)


def _next_seam(shown: Sequence[tuple[Entry, Sequence[Block]]]) -> int:
    """Where the next clearing will begin: behind the last cleared results, else behind the head."""
    head = 0
    for at in range(len(shown) - 1, -1, -1):
        entry = shown[at][0]
        if entry.form is Form.CLEARED and entry.message.kind is Kind.RESULTS:
            return at
        if entry.message.kind is Kind.ANSWER:
            head = at - 1
    return head


def _spot(lines: Sequence[Line], shown: Sequence[tuple[Entry, Sequence[Block]]]) -> tuple[int, int] | None:
    """Line and block where the last of these entries of the person's side ends; None where it is sent otherwise.
    What the llm said goes back exactly as it said it: it carries no marks."""
    said = (blocks[-1] for entry, blocks in reversed(shown) if entry.message.role is Role.USER and blocks)
    last = next(said, None)
    places = (
        (at, spot) for at, line in enumerate(lines) for spot, block in enumerate(line.blocks) if block is last
    )
    return next(places, None)


def _with_marks(lines: Sequence[Line], spots: set[tuple[int, int]]) -> list[Line]:
    marked = list(lines)
    for at, spot in spots:
        blocks = list(marked[at].blocks)
        blocks[spot] = {**blocks[spot], "cache_control": MARK}
        marked[at] = replace(marked[at], blocks=tuple(blocks))
    return marked
