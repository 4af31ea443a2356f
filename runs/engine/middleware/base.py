"""What a technique is, and the desk it works at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ..events import (
    Edit,
    Episode,
    Event,
    Form,
    Frame,
    Item,
    Note,
    Parts,
    PlannedCall,
    Trigger,
    Usage,
    Version,
    WindowEdited,
)
from ..messages import Block, Message
from ..policy import Policy
from ..policy.model import smaller
from ..ports import Answer, Cancel, Clock, History, Llm, Request, RunFiles, Tool, ToolResult
from ..window.forms import Shape
from ..window.gauge import Gauge, Reading
from ..window.head import head
from ..window.render import Renderer
from ..window.versions import Entry, Window, entries


@dataclass(slots=True, kw_only=True)
class Numbers:
    """The next free number of each kind; the owner of a run counts alone."""

    message: int = 1
    version: int = 1
    edit: int = 1
    episode: int = 1


@dataclass(slots=True, kw_only=True)
class Spent:
    """What the run has used so far, lost attempts and summaries included. `cost` in microdollars."""

    turns: int = 0
    tokens: int = 0
    cost: int = 0
    started_ms: int = 0


@dataclass(slots=True, kw_only=True)
class Record:
    """What the techniques remember of past edits; rebuilt from the archive when a run is taken up."""

    compacted_at: int = 0
    failures: int = 0
    failed_at: int = 0
    episode: Episode | None = None


@dataclass(slots=True, kw_only=True)
class Desk:
    """The run in hand: everything a technique may look at or change."""

    slug: str
    policy: Policy
    limit: int
    frame: Frame
    window: Window
    gauge: Gauge
    renderer: Renderer
    llm: Llm
    files: RunFiles
    history: History
    clock: Clock
    cancel: Cancel
    turn: int = 0
    notes: dict[int, Note] = field(default_factory=dict)
    numbers: Numbers = field(default_factory=Numbers)
    spent: Spent = field(default_factory=Spent)
    record: Record = field(default_factory=Record)

    @property
    def shape(self) -> Shape:
        return Shape.of(self.frame.params["shape"])

    @property
    def mark(self) -> int:
        return int(self.policy.window.mark * self.limit)

    def read(self) -> Reading:
        """The window as it is now."""
        return self.read_as(self.window.version, self.window.upto, self.window.entries)

    def read_as(self, version: Version, upto: int, shown: Sequence[Entry]) -> Reading:
        return self.gauge.read(version.number, upto, self.with_blocks(shown))

    def share(self) -> float:
        return self.read().tokens / self.limit

    def with_blocks(self, shown: Sequence[Entry]) -> list[tuple[Entry, Sequence[Block]]]:
        shape, calls = self.shape, self.window.calls()
        return [(entry, self.renderer.blocks(self.frame, entry, shape, calls)) for entry in shown]

    def sizes(self, shown: Sequence[Entry]) -> list[int]:
        """Tokens of each entry in its form."""
        return [self.gauge.share(entry, blocks) for entry, blocks in self.with_blocks(shown)]

    def cost(self, usage: Usage) -> int:
        """Microdollars of a usage at the llm's price; 0 where no price is known."""
        price = self.llm.capability.price
        if price is None:
            return 0
        micro = usage.input * price.input + usage.output * price.output
        micro += usage.cache_read * price.cache_read + usage.cache_write * price.cache_write
        return round((micro + usage.cache_write_1h * price.cache_write_1h) / 1_000_000)

    def head(self, episode: Episode | None = None) -> list[Message]:
        """The product's messages that stand first after an edit. Their numbers are taken only when it is applied."""
        policy = self.policy.notes
        limit = smaller(policy.tokens, policy.share, self.limit)
        return head(self.numbers.message, self.turn, list(self.notes.values()), limit, episode)

    def draw(self, items: Sequence[Item], added: Sequence[Message], **about: object) -> Edit:
        """An edit that would make `items` the window; nothing has changed yet. `about`: the Edit's other fields."""
        before, number = self.window.version, self.numbers.version
        base = max([self.window.upto, *(message.number for message in added)])
        after = Version(number=number, parent=before.number, edit=self.numbers.edit, base=base, items=tuple(items))
        known = {**self.window.messages, **{message.number: message for message in added}}
        now, then = self.read(), self.read_as(after, base, entries(after, known, base))
        return Edit(
            number=self.numbers.edit,
            turn=self.turn,
            before=before,
            after=after,
            added=tuple(added),
            tokens_before=now.tokens,
            tokens_after=then.tokens,
            frees=_freed(now.parts, then.parts),
            **about,  # type: ignore[arg-type]
        )

    def apply(self, edit: Edit) -> Iterator[Event]:
        """Report the edit, and only when that is stored go on with its window."""
        yield WindowEdited(turn=self.turn, edit=edit)
        self.window.adopt(edit.after, edit.added)
        self.numbers.message += len(edit.added)
        self.numbers.version += 1
        self.numbers.edit += 1
        self.gauge.last = None


def _freed(now: Parts, then: Parts) -> dict[str, int]:
    return {name: now[name] - then[name] for name in now if now[name] != then[name]}


def cleared(entry: Entry) -> Item:
    return Item(message=entry.message.number, form=Form.CLEARED, pinned=entry.pinned)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who wants an edit, and how: the same path for the mark, a person and the agent."""

    trigger: Trigger = Trigger.AUTO
    method: str = ""
    keep: int | None = None
    instructions: str = ""
    order: int = 0
    by: str = ""
    reason: str = ""


class Technique:
    """One layer. All but `name` have empty defaults; `before_call` runs before every request."""

    name = ""

    def start(self, desk: Desk) -> None:
        """Once, when the run is taken up."""
        self.desk = desk

    def before_call(self, window: Window) -> Iterator[Event]:
        yield from ()

    def around_call(
        self, request: Request, call_next: Callable[[Request], Iterator[Event | Answer]]
    ) -> Iterator[Event | Answer]:
        yield from call_next(request)

    def around_tool(self, call: PlannedCall, call_next: Callable[[PlannedCall], ToolResult]) -> ToolResult:
        return call_next(call)

    def after_turn(self, window: Window) -> Iterator[Event]:
        yield from ()

    def tools(self) -> Sequence[Tool]:
        return ()

    def prompt(self) -> str:
        return ""


def percent(share: float) -> str:
    return f"{share * 100:.0f} %"


