"""What a technique is, and the desk it works at."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from operator import is_
from pathlib import Path

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
from ..messages import Block, Kind, Message
from ..policy import Policy
from ..policy.model import smaller
from ..ports import Answer, Cancel, Clock, History, Llm, Request, RunFiles, Tool, ToolResult
from ..window.forms import Shape, offloaded_files
from ..window.gauge import MOST_RATIO, Gauge, Measured, Reading
from ..window.head import PERSONS_SHARE, crowding, head, kept_first
from ..window.render import Renderer
from ..window.versions import Entry, Window, entries, steady
from .words import Words


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
    undone_at: int = 0
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
    workspace: Path
    files: RunFiles
    history: History
    clock: Clock
    cancel: Cancel
    turn: int = 0
    notes: dict[int, Note] = field(default_factory=dict)
    numbers: Numbers = field(default_factory=Numbers)
    spent: Spent = field(default_factory=Spent)
    record: Record = field(default_factory=Record)
    words: Words = field(default_factory=Words)
    summaries_from: Llm | None = None
    """Another llm for summaries, where the policy names one."""

    _reading: tuple[tuple[object, ...], Reading] | None = field(default=None, init=False)

    @property
    def shape(self) -> Shape:
        return self.renderer.shape(self.frame)

    @property
    def summariser(self) -> Llm:
        return self.summaries_from or self.llm

    @property
    def mark(self) -> int:
        return int(self.policy.window.mark * self.limit)

    def read(self) -> Reading:
        """The window as it is now; worked out once for each state of window and gauge."""
        state = (self.window.entries, self.gauge.last, self.gauge.ratio)
        if self._reading is None or not all(map(is_, self._reading[0], state)):
            reading = self.read_as(self.window.version, self.window.upto, self.window.entries)
            self._reading = (state, reading)
        return self._reading[1]

    def read_as(self, version: Version, upto: int, shown: Sequence[Entry]) -> Reading:
        return self.gauge.read(version.number, upto, self.with_blocks(shown))

    def share(self) -> float:
        return self.read().tokens / self.limit

    def with_blocks(self, shown: Sequence[Entry]) -> Sequence[tuple[Entry, Sequence[Block]]]:
        """Entries with their blocks."""
        return self.renderer.pairs(self.frame, shown, self.window.calls())

    def sizes(self, shown: Sequence[Entry]) -> list[int]:
        """Tokens of each entry in its form."""
        return [self.gauge.share(entry, blocks) for entry, blocks in self.with_blocks(shown)]

    def cost(self, usage: Usage, llm: Llm | None = None) -> int:
        """Microdollars of a usage at the price of the run's llm, or of another; 0 where no price is known."""
        price = (llm or self.llm).capability.price
        return price.of(usage) if price else 0

    def spend(self, usage: Usage, llm: Llm | None = None) -> int:
        """Count an llm call, whatever came of it; its cost in microdollars."""
        cost = self.cost(usage, llm)
        self.spent.tokens += usage.prompt + usage.output
        self.spent.cost += cost
        return cost

    def first(self, shown: Sequence[Entry], start: int) -> list[Item]:
        """What of the window before `start` stands first after an edit: the goal, a person's messages, the pins."""
        said = [entry for entry in shown[:start] if entry.message.kind is Kind.SAY]
        later = [entry for entry in shown[start:] if entry.message.kind is Kind.SAY]
        small = self.sizes([replace(entry, form=Form.PREVIEW) for entry in said])
        room = int(PERSONS_SHARE * self.limit) - sum(self.sizes(later))
        crowded = crowding(list(zip(said, self.sizes(said), small, strict=True)), room)
        return kept_first(shown[:start], crowded)

    def head(self, episode: Episode | None = None) -> list[Message]:
        """The product's messages that stand first after an edit. Their numbers are taken only when it is applied."""
        policy = self.policy.notes
        limit = smaller(policy.tokens, policy.share, self.limit)
        return head(self.numbers.message, self.turn, list(self.notes.values()), limit, episode)

    def draw(self, items: Sequence[Item], added: Sequence[Message], **about: object) -> Edit:
        """An edit that would make `items` the window; nothing has changed yet. `about`: the Edit's other fields."""
        before, number = self.window.version, self.numbers.version
        base = max([self.window.upto, *(message.number for message in added)])
        after = Version(
            number=number,
            parent=before.number,
            edit=self.numbers.edit,
            base=base,
            items=tuple(items),
            steady=steady(items, before),
        )
        now, shown = self.read(), self._as_of(after, added)
        then = self.gauge.read(after.number, base, self.with_blocks(shown), self._measured(after, shown))
        return Edit(
            number=self.numbers.edit,
            turn=self.turn,
            before=before,
            after=after,
            added=tuple(added),
            tokens_before=now.tokens,
            tokens_after=then.tokens,
            frees=_freed(now.parts, then.parts),
            **about,  # type: ignore[arg-type]  # the other fields of Edit, by name
        )

    def apply(self, edit: Edit) -> Iterator[Event]:
        """Report the edit, and only when that is stored go on with its window. Files it names are written before."""
        shown = self._as_of(edit.after, edit.added)
        self._write_files(shown)
        measured = self._measured(edit.after, shown)
        yield WindowEdited(turn=self.turn, edit=edit)
        self.window.adopt(edit.after, edit.added)
        self.numbers.message += len(edit.added)
        self.numbers.version += 1
        self.numbers.edit += 1
        self.gauge.last = measured

    def _as_of(self, after: Version, added: Sequence[Message]) -> tuple[Entry, ...]:
        known = {**self.window.messages, **{message.number: message for message in added}}
        return entries(after, known, after.base)

    def _measured(self, after: Version, shown: Sequence[Entry]) -> Measured | None:
        """What the last usage says of the window after an edit. Where only the unsent tail changed it holds as it is;
        else that share of it which the estimates of both windows say has stayed: like is compared with like."""
        last, now = self.gauge.last, self.window.entries
        if last is None or last.version != self.window.version.number:
            return None
        same = sum(1 for _ in takewhile(lambda pair: _looks_alike(*pair), zip(now, shown, strict=False)))
        if all(entry.message.number > last.upto for entry in (*now[same:], *shown[same:])):
            return replace(last, version=after.number)
        rough = max(1, self.gauge.estimate(self.with_blocks(now)))
        # A usage far over every estimate says more of the provider than of what has stayed.
        ratio = min(MOST_RATIO, self.read().tokens / rough)
        prompt = round(self.gauge.estimate(self.with_blocks(shown)) * ratio)
        return Measured(version=after.number, upto=after.base, prompt=prompt, counted=False)

    def _write_files(self, shown: Sequence[Entry]) -> None:
        """The whole of what becomes a preview lies among the run's files before anything points there."""
        before = {entry.message.number for entry in self.window.entries if entry.form is Form.PREVIEW}
        for entry in shown:
            if entry.form is Form.PREVIEW and entry.message.number not in before:
                for name, text in offloaded_files(entry.message, self.shape, self.window.calls()).items():
                    self.files.write(name, text)


def _looks_alike(one: Entry, other: Entry) -> bool:
    return one.message.number == other.message.number and one.form is other.form


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

    def make_room(self, window: Window) -> Iterator[Event]:
        """The llm calls the request too long, whatever the gauge says: take out what can be taken."""
        yield from ()

    def around_call(
        self, request: Request, call_next: Callable[[Request], Iterator[Event | Answer]]
    ) -> Iterator[Event | Answer]:
        yield from call_next(request)

    def before_tool(
        self, call: PlannedCall, found: ToolResult | None
    ) -> Generator[Event, None, ToolResult | None]:
        """Before a call runs. `found` is what is known of one that was interrupted, None of one that has not begun.
        Returns the result to answer it with, None to run it; raises RunInterrupted to hold the run."""
        yield from ()
        return found

    def holds(self, call: PlannedCall, started: bool) -> bool:
        """Whether this call waits for a person's word."""
        return False

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
