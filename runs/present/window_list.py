"""The window as the inspector shows it: every entry with its tokens, and a map whose lengths are tokens.

What the parts of the turn say is the truth; entries share it out by their size, so list, map and gauge add up alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from runs.engine.events import PARTS
from runs.engine.messages import Message
from runs.engine.window.gauge import scaled
from runs.models import Edit, Run, Turn
from runs.store import page_reads

from . import window_entries
from .standing import Standing
from .window_entries import GATHERED, Entry, Piece

SORTS = ("order", "size", "age")
MAP = 1000
"""Height of the map in its own units; the page stretches it."""
THIN = 2
"""Blocks thinner than this many units join their neighbour of the same part."""
GAP_FROM = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Rect:
    entry: str
    part: str
    y: float
    height: float
    gap: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowList:
    """`entries` sorted as asked; `rects` always in the order of the window."""

    entries: tuple[Entry, ...]
    rects: tuple[Rect, ...]
    parts: Mapping[str, int]
    tokens: int
    limit: int
    pinned: int
    pinned_tokens: int
    stubs: int
    count: int
    estimated: bool


def window_list(run: Run, standing: Standing, turn: Turn | None, sort: str = "order") -> WindowList:
    """The window of a standing. `turn` is the closed turn whose parts the tokens follow, None before there is one."""
    pairs = window_entries.pairs(standing, _messages(run, standing), turn)
    measured = turn if turn is not None and describes(turn, standing) else None
    found = [piece for _, its in pairs for piece in its]
    pieces = _counted(found, measured.parts) if measured else _scaled(found, _after_edit(run, standing))
    sums: dict[str, int] = {}
    for piece in pieces:
        sums[piece.entry] = sums.get(piece.entry, 0) + piece.tokens
    entries = _merged(replace(entry, tokens=sums.get(entry.key, 0)) for entry, _ in pairs)
    pins = [entry for entry in entries if entry.pinned]
    return WindowList(
        entries=tuple(_sorted(entries, sort)),
        rects=tuple(_rects(pieces, _home(entries, pairs))),
        parts={part: sum(piece.tokens for piece in pieces if piece.part == part) for part in PARTS},
        tokens=measured.window if measured else sum(sums.values()),
        limit=turn.limit if turn else 0,
        pinned=len(pins),
        pinned_tokens=sum(entry.tokens for entry in pins),
        stubs=sum(1 for entry, _ in pairs if entry.stub),
        count=len(pairs),
        estimated=measured.estimated if measured else True,
    )


def describes(turn: Turn, standing: Standing) -> bool:
    """Whether the turn's parts were measured on this version: after an edit they tell of the window before it."""
    return standing.past is not None or turn.version == standing.version


def _after_edit(run: Run, standing: Standing) -> int:
    """What the edit said that its window would have; 0 when no edit made this window."""
    edit = Edit.objects.filter(run=run, after=standing.version, state="applied").first()
    return (edit.tokens_after or 0) if edit else 0


def _scaled(pieces: Sequence[Piece], total: int) -> list[Piece]:
    """Sizes that add up to what is known of the whole; as they are when nothing is."""
    sizes = {str(at): piece.size for at, piece in enumerate(pieces)}
    shares = scaled(sizes, total) if total else sizes
    return [replace(piece, tokens=shares[str(at)]) for at, piece in enumerate(pieces)]


def _messages(run: Run, standing: Standing) -> dict[int, Message]:
    numbers = {*standing.items, *range(standing.base + 1, standing.upto + 1)}
    return page_reads.stored(run, numbers)


def _counted(pieces: Sequence[Piece], parts: Mapping[str, int]) -> list[Piece]:
    """Each part's tokens shared out over its pieces; without measured parts the sizes stand as they are."""
    counted = list(pieces)
    for part in {piece.part for piece in pieces}:
        places = [at for at, piece in enumerate(pieces) if piece.part == part]
        sizes = {str(at): pieces[at].size for at in places}
        shares = scaled(sizes, int(parts[part])) if parts.get(part) else sizes
        for at in places:
            counted[at] = replace(pieces[at], tokens=shares[str(at)])
    return counted


def _merged(entries: Iterable[Entry]) -> list[Entry]:
    """Rows of one key are one row, at the end; cleared results that follow one another are one row where they are."""
    merged: list[Entry] = []
    gathered: dict[str, Entry] = {}
    for entry in entries:
        last = merged[-1] if merged else None
        if entry.key in GATHERED:
            seen = gathered.get(entry.key)
            gathered[entry.key] = _joined(seen, entry) if seen else entry
        elif last and entry.stub and last.stub and not entry.note and not last.note:
            merged[-1] = replace(_joined(last, entry), code="", text="Cleared results", row="")
        else:
            merged.append(entry)
    return [*merged, *(_named(entry) for entry in gathered.values())]


def _joined(first: Entry, second: Entry) -> Entry:
    together = first.tokens if first.key == second.key else first.tokens + second.tokens
    return replace(first, last_turn=second.turn, tokens=together, count=first.count + second.count)


def _named(entry: Entry) -> Entry:
    words = {"thinking": "block", "calls": "turn"}[entry.key]
    return replace(entry, text=f"{entry.text}, {entry.count} {words}{'s' if entry.count > 1 else ''}")


def _home(entries: Sequence[Entry], pairs: Sequence[tuple[Entry, list[Piece]]]) -> dict[str, str]:
    """The row that shows an entry: its own, or the one it was merged into."""
    keys = {entry.key for entry in entries}
    home: dict[str, str] = {}
    current = ""
    for entry, _ in pairs:
        if entry.key not in GATHERED:
            current = entry.key if entry.key in keys else current
        home[entry.key] = entry.key if entry.key in GATHERED else current
    return home


def _rects(pieces: Sequence[Piece], home: Mapping[str, str]) -> Iterator[Rect]:
    total = sum(piece.tokens for piece in pieces)
    y, held = 0.0, 0.0
    for at, piece in enumerate(pieces):
        height = held + (piece.tokens / total * MAP if total else 0)
        following = pieces[at + 1] if at + 1 < len(pieces) else None
        if height < THIN and following and following.part == piece.part:
            held = height
            continue
        yield Rect(
            entry=home[piece.entry],
            part=piece.part,
            y=round(y, 2),
            height=round(height, 2),
            gap=height >= GAP_FROM,
        )
        y, held = y + height, 0.0


def _sorted(entries: Sequence[Entry], sort: str) -> Sequence[Entry]:
    if sort == "size":
        return sorted(entries, key=lambda entry: -entry.tokens)
    if sort == "age":
        return sorted(entries, key=lambda entry: (entry.turn, entry.message))
    return entries
