"""The window as the inspector shows it: every entry with its tokens, and a map whose lengths are tokens.

What the parts of the turn say is the truth; entries share it out by their size, so list, map and gauge add up alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from runs.engine import tokens
from runs.engine.events import Form
from runs.engine.messages import Block, Kind, Message, texts_of
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
GATHERED = ("thinking", "calls")
"""Keys of rows that stand for many small entries of all turns."""

_MARKUP = re.compile(r"\*\*|__|`|^#+ ", re.MULTILINE)
_SPAN = re.compile(r'<summary turns="([^"]+)"')
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
    note: str = ""
    count: int = 0

    @property
    def turns(self) -> str:
        if not self.turn:
            return ""
        return f"{self.turn}\u2013{self.last_turn}" if self.last_turn > self.turn else str(self.turn)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A tool_use of the window, and the feed's row of it."""

    block: Block
    row: str


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
    calls = {
        str(block["id"]): Asked(block=block, row=f"e-{message.number}-{at}")
        for message in messages.values()
        for at, block in enumerate(message.content)
        if block["type"] == "tool_use"
    }
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
    standing: Standing, messages: Mapping[int, Message], calls: Mapping[str, Asked], shape: Shape | None
) -> Iterator[tuple[Entry, list[Piece]]]:
    later = (number for number in range(standing.base + 1, standing.upto + 1) if number not in standing.items)
    blocks_by_id = {key: asked.block for key, asked in calls.items()}
    for number in [*standing.items, *later]:
        message = messages.get(number)
        if message is None:
            continue
        form, pinned = standing.items.get(number, (Form.FULL, False))
        blocks = shown(message, form, shape, blocks_by_id) if shape else message.content
        if message.kind is Kind.RESULTS:
            yield from _results(message, form, pinned, blocks, calls)
        elif message.kind is Kind.ANSWER:
            yield from _answer(message, blocks)
        else:
            yield _whole(message, pinned, blocks)


def _results(
    message: Message, form: Form, pinned: bool, blocks: Sequence[Block], calls: Mapping[str, Asked]
) -> Iterator[tuple[Entry, list[Piece]]]:
    """A row for each result, under the name of the call it answers."""
    sizes = [tokens.of_block(block) for block in blocks]
    if form is Form.FULL and message.tokens:
        sizes = list(scaled({str(at): size for at, size in enumerate(sizes)}, message.tokens).values())
    for at, (original, block, size) in enumerate(zip(message.content, blocks, sizes, strict=False)):
        asked = calls.get(str(original.get("tool_use_id")))
        name = str(asked.block["name"]) if asked else "result"
        shrunk = block is not original
        entry = Entry(
            key=f"m{message.number}-{at}",
            part="stubs" if form is not Form.FULL else "results",
            text=name,
            code=diff_labels.argument(asked.block) if asked else "",
            note="offloaded" if shrunk and form is Form.PREVIEW else "",
            message=message.number,
            row=asked.row if asked else "",
            turn=message.turn,
            last_turn=message.turn,
            pinned=pinned,
            stub=shrunk,
            count=1,
        )
        yield entry, [Piece(entry=entry.key, part=entry.part, size=max(1, size))]


def _answer(message: Message, blocks: Sequence[Block]) -> Iterator[tuple[Entry, list[Piece]]]:
    """Thinking and bare calls are many and small: each kind is one row for all turns. What was said has its own."""
    thinking = sum(tokens.of_block(block) for block in blocks if is_thinking(block))
    rest = max(1, tokens.of_content(blocks) - thinking)
    turns = {"turn": message.turn, "last_turn": message.turn, "count": 1}
    if thinking:
        row = Entry(key="thinking", part="thinking", text="Thinking", **turns)
        yield row, [Piece(entry=row.key, part="thinking", size=thinking)]
    said = diff_labels.first_line(_MARKUP.sub("", texts_of(blocks)))
    if not said:
        calls = Entry(key="calls", part="assistant", text="Calls", **turns)
        yield calls, [Piece(entry=calls.key, part="assistant", size=rest)]
        return
    at = next((at for at, block in enumerate(message.content) if block["type"] == "text"), 0)
    entry = Entry(
        key=f"m{message.number}",
        part="assistant",
        text=said,
        message=message.number,
        row=f"e-{message.number}-{at}",
        **turns,
    )
    yield entry, [Piece(entry=entry.key, part="assistant", size=rest)]


def _whole(message: Message, pinned: bool, blocks: Sequence[Block]) -> tuple[Entry, list[Piece]]:
    """Goal, a person's words, notes, the episode, a line of the product."""
    name = diff_labels.name(message, {})
    part = _PARTS[message.kind]
    turns = _SPAN.search(texts_of(message.content)) if message.kind is Kind.EPISODE else None
    entry = Entry(
        key=f"m{message.number}",
        part=part,
        text=f"Summary, covers turns {turns.group(1)}" if turns else name.text,
        message=message.number,
        row=f"e-{message.number}-0" if message.kind in (Kind.GOAL, Kind.SAY, Kind.NOTICE) else "",
        turn=message.turn,
        last_turn=message.turn,
        pinned=pinned or message.kind in (Kind.GOAL, Kind.SAY),
        locked=message.kind in (Kind.NOTES, Kind.EPISODE),
        count=1,
    )
    return entry, [
        Piece(entry=entry.key, part=part, size=max(1, message.tokens or tokens.of_content(blocks)))
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
