"""The window as the inspector shows it: every entry with its tokens, and a map whose lengths are tokens.

What the parts of the turn say is the truth; entries share it out by their size, so list, map and gauge add up alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from runs.engine import tokens
from runs.engine.events import Form
from runs.engine.messages import Block, Kind, Message, calls_of
from runs.engine.window.forms import Shape, is_thinking, shown
from runs.engine.window.gauge import scaled
from runs.models import Run, Turn
from runs.store import page_reads

from . import diff_labels
from .standing import Standing

SORTS = ("order", "size", "age")
MAP = 1000
"""Height of the map in its own units; the page stretches it."""
THIN = 2
"""Blocks thinner than this many units join their neighbour of the same part."""
GAP_FROM = 6
_PARTS = {
    Kind.GOAL: "person",
    Kind.SAY: "person",
    Kind.EPISODE: "episodes",
    Kind.NOTES: "notes",
    Kind.NOTICE: "system",
    Kind.REPAIR: "system",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of the window of one part: a block or several. `entry` names the list's row it belongs to."""

    entry: str
    part: str
    size: int
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row of the list. `message` 0: it stands outside the conversation (system prompt, tools)."""

    key: str
    part: str
    text: str
    code: str = ""
    message: int = 0
    row: str = ""
    turn: int = 0
    last_turn: int = 0
    tokens: int = 0
    locked: bool = False
    pinned: bool = False
    stub: bool = False

    @property
    def turns(self) -> str:
        if not self.turn:
            return ""
        return f"{self.turn}\u2013{self.last_turn}" if self.last_turn > self.turn else str(self.turn)


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
    tokens: int
    limit: int
    pinned: int
    pinned_tokens: int
    stubs: int
    count: int
    estimated: bool


def window_list(run: Run, standing: Standing, turn: Turn | None, sort: str = "order") -> WindowList:
    """The window of a standing. `turn` is the closed turn whose parts the tokens follow, None before there is one."""
    messages = _messages(run, standing)
    calls = {block["id"]: block for message in messages.values() for block in calls_of(message.content)}
    pairs = [*_fixed(turn), *_listed(standing, messages, calls, _shape(turn))]
    parts = turn.parts if turn and _describes(turn, standing) else {}
    pieces = _counted([piece for _, its in pairs for piece in its], parts)
    sums: dict[str, int] = {}
    for piece in pieces:
        sums[piece.entry] = sums.get(piece.entry, 0) + piece.tokens
    entries = _merged(replace(entry, tokens=sums.get(entry.key, 0)) for entry, _ in pairs)
    pins = [entry for entry in entries if entry.pinned]
    return WindowList(
        entries=tuple(_sorted(entries, sort)),
        rects=tuple(_rects(pieces, _home(entries, pairs))),
        tokens=turn.window if turn and parts else sum(sums.values()),
        limit=turn.limit if turn else 0,
        pinned=len(pins),
        pinned_tokens=sum(entry.tokens for entry in pins),
        stubs=sum(1 for entry, _ in pairs if entry.stub),
        count=len(pairs),
        estimated=turn.estimated if turn and parts else True,
    )


def _describes(turn: Turn, standing: Standing) -> bool:
    """Whether the turn's parts were measured on this version: after an edit they tell of the window before it."""
    return standing.past is not None or turn.version == standing.version


def _messages(run: Run, standing: Standing) -> dict[int, Message]:
    numbers = {*standing.items, *range(standing.base + 1, standing.upto + 1)}
    return page_reads.stored(run, numbers)


def _shape(turn: Turn | None) -> Shape | None:
    params = turn.frame.params if turn else {}
    return Shape.of(params["shape"]) if "shape" in params else None


def _fixed(turn: Turn | None) -> Iterator[tuple[Entry, list[Piece]]]:
    if turn is None:
        return
    frame = turn.frame
    yield _fixed_entry("system", "System prompt", tokens.of_content(frame.system))
    if turn.parts.get("memory"):
        yield _fixed_entry("memory", "AGENTS.md", int(turn.parts["memory"]))
    size = sum(tokens.estimate(str(tool)) for tool in frame.tools)
    yield _fixed_entry("tools", f"Tool definitions ({len(frame.tools)})", size)


def _fixed_entry(part: str, text: str, size: int) -> tuple[Entry, list[Piece]]:
    return Entry(key=part, part=part, text=text, locked=True), [Piece(entry=part, part=part, size=size)]


def _listed(
    standing: Standing, messages: Mapping[int, Message], calls: Mapping[str, Block], shape: Shape | None
) -> Iterator[tuple[Entry, list[Piece]]]:
    later = (number for number in range(standing.base + 1, standing.upto + 1) if number not in standing.items)
    for number in [*standing.items, *later]:
        message = messages.get(number)
        if message is None:
            continue
        form, pinned = standing.items.get(number, (Form.FULL, False))
        blocks = shown(message, form, shape, calls) if shape else message.content
        yield _entry(message, form, pinned, calls), _pieces(message, form, blocks)


def _entry(message: Message, form: Form, pinned: bool, calls: Mapping[str, Block]) -> Entry:
    name = diff_labels.name(message, calls)
    stub = form is not Form.FULL and message.kind is Kind.RESULTS
    offloaded = form is Form.PREVIEW
    return Entry(
        key=f"m{message.number}",
        part="stubs" if stub else name.part,
        text=f"{name.text}{', offloaded' if offloaded and not name.code else ''}",
        code=f"{name.code}{', offloaded' if offloaded and name.code else ''}",
        message=message.number,
        row=f"e-{message.number}-0",
        turn=message.turn,
        last_turn=message.turn,
        pinned=pinned or message.kind in (Kind.GOAL, Kind.SAY),
        locked=message.kind in (Kind.NOTES, Kind.EPISODE),
        stub=stub,
    )


def _pieces(message: Message, form: Form, blocks: Sequence[Block]) -> list[Piece]:
    key = f"m{message.number}"
    if message.kind is Kind.ANSWER:
        thinking = sum(tokens.of_block(block) for block in blocks if is_thinking(block))
        rest = max(1, tokens.of_content(blocks) - thinking)
        found = [
            Piece(entry=key, part="thinking", size=thinking),
            Piece(entry=key, part="assistant", size=rest),
        ]
        return [piece for piece in found if piece.size]
    if message.kind is Kind.RESULTS:
        part = "results" if form is Form.FULL else "stubs"
        sizes = (
            [message.tokens]
            if form is Form.FULL and message.tokens
            else [tokens.of_block(block) for block in blocks]
        )
        return [Piece(entry=key, part=part, size=max(1, size)) for size in sizes]
    return [
        Piece(entry=key, part=_PARTS[message.kind], size=max(1, message.tokens or tokens.of_content(blocks)))
    ]


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
    """Cleared results that follow one another are one row."""
    merged: list[Entry] = []
    for entry in entries:
        last = merged[-1] if merged else None
        if (
            last
            and entry.stub
            and last.stub
            and "offloaded" not in entry.text + entry.code + last.text + last.code
        ):
            merged[-1] = replace(
                last, last_turn=entry.turn, tokens=last.tokens + entry.tokens, code="", text="Cleared results"
            )
        else:
            merged.append(entry)
    return merged


def _home(entries: Sequence[Entry], pairs: Sequence[tuple[Entry, list[Piece]]]) -> dict[str, str]:
    """The row that shows an entry: its own, or the one it was merged into."""
    keys = {entry.key for entry in entries}
    home: dict[str, str] = {}
    current = ""
    for entry, _ in pairs:
        current = entry.key if entry.key in keys else current
        home[entry.key] = current
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
