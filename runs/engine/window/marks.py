"""Where the cache marks in the messages of a request stand: at most three, one more stands behind the system prompt.

A prefix is written to the cache where a mark stands, and read where a mark stands at most 20 blocks behind it. So:
the tail, for the next turn; the tail before it, which reads what the last turn wrote (with one mark a turn of over 20
blocks would read nothing); and the seam of the next edit: a clearing begins behind the results that are cleared
already. After an edit nothing of the old tail is known, and its mark stands at that edit's seam, to read up to there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from ..events import Form
from ..messages import Kind, Role
from .lines import Line
from .versions import Entry, Shown

MARK = {"type": "ephemeral"}

Spot = tuple[int, int]
"""Line and block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seams:
    """Indices of entries, -1 for none. `now`: up to where the window stood as it does before it was edited just now;
    `cleared`: the last cleared results; `answer`: the first answer."""

    now: int = -1
    cleared: int = -1
    answer: int = -1

    @property
    def next(self) -> int:
        """Where the next clearing will begin: behind the last cleared results, else behind the head."""
        return self.cleared if self.cleared >= 0 else max(self.answer, 1) - 1

    def after(self, entries: Iterable[tuple[int, Entry]]) -> Seams:
        """The same with what these tell, which come next."""
        now, cleared, answer = self.now, self.cleared, self.answer
        for at, entry in entries:
            now = at if entry.seam and now < 0 else now
            if entry.form is Form.CLEARED and entry.message.kind is Kind.RESULTS:
                cleared = at
            if entry.message.kind is Kind.ANSWER and answer < 0:
                answer = at
        return Seams(now=now, cleared=cleared, answer=answer)


class Marks:
    """The marks of one run's requests. A line that was marked so in the request before is the same object again."""

    def __init__(self) -> None:
        self._before: dict[Spot, tuple[Line, Line]] = {}

    def sliding(self, lines: Sequence[Line], at: Sequence[int]) -> list[Line]:
        """The lines with a mark on the last block of some."""
        return self._set(lines, {(line, len(lines[line].blocks) - 1) for line in at})

    def with_seams(self, lines: Sequence[Line], shown: Sequence[Shown], seams: Seams) -> list[Line]:
        """The lines of a window with their marks."""
        *before, tail = tails(lines)
        read = self._spot(lines, shown, seams.now) if seams.now >= 0 else None
        spots = {(at, len(lines[at].blocks) - 1) for at in ([tail] if read else [*before, tail])}
        spots |= {spot for spot in (read, self._spot(lines, shown, seams.next)) if spot}
        return self._set(lines, spots)

    def _spot(self, lines: Sequence[Line], shown: Sequence[Shown], last: int) -> Spot | None:
        """Where the last of the person's side up to this entry ends, most often where it did in the request before;
        None where it is sent otherwise. What the llm said goes back exactly as it said it: it carries no marks."""
        places = (shown[at] for at in range(last, -1, -1))
        said = (blocks[-1] for entry, blocks in places if entry.message.role is Role.USER and blocks)
        block = next(said, None)
        known = ((at, spot) for at, spot in self._before if at < len(lines) and spot < len(lines[at].blocks))
        every = ((at, spot) for at, line in enumerate(lines) for spot in range(len(line.blocks)))
        return next(((at, spot) for at, spot in chain(known, every) if lines[at].blocks[spot] is block), None)

    def _set(self, lines: Sequence[Line], spots: set[Spot]) -> list[Line]:
        marked, now = list(lines), {}
        for at, spot in sorted(spots):
            line, known = marked[at], self._before.get((at, spot))
            now[at, spot] = known if known and known[0] is line else (line, _with_mark(line, spot))
            marked[at] = now[at, spot][1]
        self._before = now
        return marked


def tails(lines: Sequence[Line]) -> list[int]:
    """The last two lines of the person's side."""
    places = (at for at in range(len(lines) - 1, -1, -1) if lines[at].role is Role.USER)
    return [*islice(places, 2)][::-1]


def _with_mark(line: Line, spot: int) -> Line:
    blocks = list(line.blocks)
    blocks[spot] = {**blocks[spot], "cache_control": MARK}
    return replace(line, blocks=tuple(blocks))
