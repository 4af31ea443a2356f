"""A window of the archive with the size of every entry, as pages compare and estimate with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from runs.engine import tokens
from runs.engine.events import PARTS, Form, Frame
from runs.engine.messages import Block, Kind, Message, calls_of
from runs.engine.window.forms import Shape, shown
from runs.engine.window.lines import is_thinking
from runs.engine.window.versions import Entry, entries
from runs.models import Run, Turn
from runs.store import windows

PART_OF = {
    Kind.GOAL: "person",
    Kind.SAY: "person",
    Kind.ANSWER: "assistant",
    Kind.RESULTS: "results",
    Kind.EPISODE: "episodes",
    Kind.NOTES: "notes",
    Kind.NOTICE: "system",
    Kind.REPAIR: "system",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """An entry and its tokens in its form, by part."""

    entry: Entry
    parts: Mapping[str, int]

    @property
    def tokens(self) -> int:
        return sum(self.parts.values())

    @property
    def number(self) -> int:
        return self.entry.message.number


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The sizes of one run's entries: measured where usage told, else estimated."""

    frame: Frame
    shape: Shape
    calls: Mapping[str, Block]

    @classmethod
    def of(cls, frame: Frame, messages: Iterable[Message]) -> Sizes:
        calls = {call["id"]: call for message in messages for call in calls_of(message.content)}
        return cls(frame=frame, shape=Shape.of(frame.params["shape"], frame.render), calls=calls)

    @property
    def system(self) -> int:
        return tokens.of_content(self.frame.system)

    @property
    def tools(self) -> int:
        return sum(tokens.estimate(str(tool)) for tool in self.frame.tools)

    def sized(self, entry: Entry) -> Sized:
        message, blocks = entry.message, self.blocks(entry)
        if message.kind is Kind.ANSWER:
            thinking = sum(tokens.of_block(block) for block in blocks if is_thinking(block))
            whole = self._whole(entry, blocks)
            thinking = min(thinking, whole)
            return Sized(entry=entry, parts={"assistant": whole - thinking, "thinking": thinking})
        stub = entry.form is not Form.FULL and message.kind is Kind.RESULTS
        part = "stubs" if stub else PART_OF[message.kind]
        return Sized(entry=entry, parts={part: self._whole(entry, blocks)})

    def blocks(self, entry: Entry) -> Sequence[Block]:
        return shown(entry.message, entry.form, self.shape, self.calls)

    def _whole(self, entry: Entry, blocks: Sequence[Block]) -> int:
        full = entry.form is Form.FULL and entry.message.tokens
        return entry.message.tokens if full else tokens.of_content(blocks)


def load(run: Run, frame: Frame, version: int, upto: int) -> tuple[Sizes, tuple[Sized, ...]]:
    """The window of (version, upto) with sizes, in its order."""
    found, messages = windows.load(run, version, upto)
    known = {message.number: message for message in messages}
    sizes = Sizes.of(frame, messages)
    last = min(max([found.base, *known]), upto)
    return sizes, tuple(sizes.sized(entry) for entry in entries(found, known, last))


def frame_of(run: Run, turn: int = 0) -> Frame | None:
    """The frame of a turn, or of the newest turn up to it; None before the first."""
    rows = Turn.objects.filter(run=run)
    row = (rows.filter(number__lte=turn) if turn else rows).order_by("-number", "-attempt").first()
    row = row or rows.order_by("number").first()
    return windows.frame(row.frame_id) if row else None


def parts_of(system: int, tools_: int, window: Iterable[Sized]) -> dict[str, int]:
    """Tokens by part, in the order of the ten parts."""
    parts = dict.fromkeys(PARTS, 0)
    parts["system"], parts["tools"] = system, tools_
    for sized in window:
        for name, value in sized.parts.items():
            parts[name] += value
    return parts


def block_tokens(block: Block) -> int:
    """Our estimate of one block, for lists that show blocks rather than entries."""
    if block["type"] == "tools":
        return sum(tokens.estimate(str(tool)) for tool in block["tools"])
    return tokens.of_block(block)
