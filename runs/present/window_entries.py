"""The entries of a window in words and sizes: what stands in it, in its order, and of which part each piece is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from runs.engine import tokens
from runs.engine.events import Form
from runs.engine.messages import Block, Kind, Message, texts_of
from runs.engine.window.forms import Shape, shown
from runs.engine.window.gauge import scaled
from runs.engine.window.lines import is_thinking
from runs.models import Turn

from . import diff_labels
from .standing import Standing

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


def pairs(
    standing: Standing, messages: Mapping[int, Message], turn: Turn | None
) -> list[tuple[Entry, list[Piece]]]:
    """Each entry with its pieces, in the order of the window; the frame's own stand first."""
    calls = {
        str(block["id"]): Asked(block=block, row=f"e-{message.number}-{at}")
        for message in messages.values()
        for at, block in enumerate(message.content)
        if block["type"] == "tool_use"
    }
    return [*_fixed(turn), *_listed(standing, messages, calls, _shape(turn))]


def _shape(turn: Turn | None) -> Shape | None:
    if turn is None or "shape" not in turn.frame.params:
        return None
    return Shape.of(turn.frame.params["shape"], turn.frame.render)


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
    one = Entry(key="", part="assistant", text="", turn=message.turn, last_turn=message.turn, count=1)
    if thinking:
        row = replace(one, key="thinking", part="thinking", text="Thinking")
        yield row, [Piece(entry=row.key, part="thinking", size=thinking)]
    said = diff_labels.first_line(_MARKUP.sub("", texts_of(blocks)))
    if not said:
        calls = replace(one, key="calls", text="Calls")
        yield calls, [Piece(entry=calls.key, part="assistant", size=rest)]
        return
    at = next((at for at, block in enumerate(message.content) if block["type"] == "text"), 0)
    row_id = f"e-{message.number}-{at}"
    entry = replace(one, key=f"m{message.number}", text=said, message=message.number, row=row_id)
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
