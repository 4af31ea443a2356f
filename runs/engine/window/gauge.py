"""How full the window is, and with what: from one source, for gauge, chart, thresholds and shares alike.

The usage of the last answer is the truth about the (version, upto) it was counted on; only what came after is
estimated, with the estimator corrected by what this run's usage taught. A share belongs to (message, form).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from operator import is_

from .. import tokens
from ..events import PARTS, Form, Frame, Parts, Usage
from ..messages import Block, Counted, Kind, Message
from .lines import is_thinking
from .versions import Entry, Shown

_OF_KIND = {
    Kind.GOAL: "person",
    Kind.SAY: "person",
    Kind.ANSWER: "assistant",
    Kind.RESULTS: "results",
    Kind.EPISODE: "episodes",
    Kind.NOTES: "notes",
    Kind.NOTICE: "system",
    Kind.REPAIR: "system",
}


MOST_RATIO = 2.0
"""Usage corrects the estimator by this factor at most, up or down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The truth of one answer: the whole prompt of (version, upto). After an edit it is not `counted` any more but
    follows from what was: the share of it that the estimates say has stayed."""

    version: int
    upto: int
    prompt: int
    counted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """`tokens` = sum of `parts`. `estimated` where any of it has not been counted by the provider."""

    tokens: int
    parts: Parts
    estimated: bool


@dataclass(slots=True)
class Front:
    """The entries that a window begins with, summed up: what usage has told of them is what they weigh; of the others,
    which the run's ratio corrects, it is counted how many have which raw size."""

    entries: list[Shown] = field(default_factory=list)
    told: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PARTS, 0))
    untold: dict[tuple[str, int], int] = field(default_factory=dict)
    raw: int = 0

    def stands(self, entries: Sequence[Shown]) -> bool:
        return len(self.entries) <= len(entries) and all(map(is_, self.entries, entries))

    def add(self, pair: Shown, raw: Mapping[str, int], told: Mapping[str, int] | None) -> None:
        self.entries.append(pair)
        self.raw += sum(raw.values())
        if told is None:
            for item in raw.items():
                self.untold[item] = self.untold.get(item, 0) + 1
        else:
            for name, value in told.items():
                self.told[name] += value

    def parts(self, ratio: float) -> dict[str, int]:
        parts = dict(self.told)
        for (name, raw), count in self.untold.items():
            parts[name] += count * round(raw * ratio)
        return parts


@dataclass(slots=True)
class Gauge:
    """The accounting of one run's window. `known` are tokens of full messages that usage has told."""

    frame: Frame
    last: Measured | None = None
    ratio: float = 1.0
    known: dict[int, int] = field(default_factory=dict)
    fixed: dict[str, int] = field(default_factory=dict)
    _raw: dict[tuple[int, Form], tuple[Message, dict[str, int]]] = field(default_factory=dict)
    _front: Front = field(default_factory=Front)

    def __post_init__(self) -> None:
        self.fixed = {
            "system": tokens.of_content(self.frame.system),
            "tools": sum(tokens.estimate(str(tool)) for tool in self.frame.tools),
        }

    def share(self, entry: Entry, blocks: Sequence[Block]) -> int:
        """Tokens of an entry in its form: measured where usage told, else estimated and corrected."""
        return sum(self._shares(entry, blocks).values())

    def read(
        self,
        version: int,
        upto: int,
        entries: Sequence[Shown],
        last: Measured | None = None,
    ) -> Reading:
        """The window's tokens and parts, from `last` (the last usage when not given, and never an older one) on; exact
        when (version, upto) is what that was counted on."""
        last = last or self.last
        known = last if last and last.version == version and last.upto <= upto else None
        front = self._summed(entries)
        parts, new = front.parts(self.ratio), 0
        for name, raw in self.fixed.items():
            parts[name] += round(raw * self.ratio)
        for entry, blocks in entries[len(front.entries) :]:
            shares = self._shares(entry, blocks)
            for name, value in shares.items():
                parts[name] += value
            if known and entry.message.number > known.upto:
                new += sum(shares.values())
        total = known.prompt + new if known else sum(parts.values())
        estimated = not known or known.upto != upto or not known.counted
        return Reading(tokens=total, parts=scaled(parts, total), estimated=estimated)

    def estimate(self, entries: Iterable[tuple[Entry, Sequence[Block]]]) -> int:
        """Tokens of a window as if no usage had been told for the whole of it."""
        return sum(round(raw * self.ratio) for raw in self.fixed.values()) + sum(
            self.share(*pair) for pair in entries
        )

    def learn(self, version: int, upto: int, usage: Usage, entries: Sequence[Shown]) -> None:
        """Take in what one answer's usage says about the window it was asked with."""
        front = self._summed(entries)
        rest = entries[len(front.entries) :]
        before, self.last = self.last, Measured(version=version, upto=upto, prompt=usage.prompt)
        if before and before.counted and before.version == version:
            new = [pair for pair in rest if pair[0].message.number > before.upto]
            self._learn_tail(usage.prompt - before.prompt, new)
        raw = sum(self.fixed.values()) + front.raw + sum(sum(self._raw_of(*pair).values()) for pair in rest)
        self.ratio = min(MOST_RATIO, max(1 / MOST_RATIO, usage.prompt / raw)) if raw else 1.0

    def _summed(self, entries: Sequence[Shown]) -> Front:
        """The front of these entries that usage has told all of that it will: only what is new there is added."""
        settled = self.last.upto if self.last else 0
        if not self._front.stands(entries):
            self._front = Front()
        front = self._front
        rest = entries[len(front.entries) :]
        for pair in takewhile(lambda pair: pair[0].message.number <= settled, rest):
            front.add(pair, self._raw_of(*pair), self._told(*pair))
        return front

    def _learn_tail(self, gained: int, new: Sequence[Shown]) -> None:
        """Split what the prompt gained over the messages that were new in it; answers are known from their output,
        and what stands there as a preview is not the message's own size."""
        weights = {entry.message.number: self.share(entry, blocks) for entry, blocks in new}
        open_ = {entry.message.number for entry, _ in new if self._is_unknown(entry)}
        rest = gained - sum(weight for number, weight in weights.items() if number not in open_)
        whole = sum(weights[number] for number in open_)
        if whole <= 0 or rest <= 0:
            return
        for number in open_:
            self.known[number] = max(1, round(rest * weights[number] / whole))

    def _is_unknown(self, entry: Entry) -> bool:
        return entry.form is Form.FULL and entry.message.kind is not Kind.ANSWER

    def _shares(self, entry: Entry, blocks: Sequence[Block]) -> Mapping[str, int]:
        told = self._told(entry, blocks)
        if told is not None:
            return told
        return {name: round(value * self.ratio) for name, value in self._raw_of(entry, blocks).items()}

    def _told(self, entry: Entry, blocks: Sequence[Block]) -> Mapping[str, int] | None:
        """The shares of an entry whose tokens usage has told; None where they are estimated."""
        known = self._known(entry.message) if entry.form is Form.FULL else 0
        return scaled(self._raw_of(entry, blocks), known) if known else None

    def _known(self, message: Message) -> int:
        if message.number in self.known:
            return self.known[message.number]
        return message.tokens if message.counted is Counted.USAGE else 0

    def _raw_of(self, entry: Entry, blocks: Sequence[Block]) -> dict[str, int]:
        """Remembered by message, not by number: a drawn edit may never be applied, and its numbers go to others."""
        key = (entry.message.number, entry.form)
        known = self._raw.get(key)
        if known is None or known[0] is not entry.message:
            known = self._raw[key] = (entry.message, _by_part(entry, blocks))
        return known[1]


def _by_part(entry: Entry, blocks: Sequence[Block]) -> dict[str, int]:
    kind = entry.message.kind
    if kind is Kind.ANSWER:
        thinking = sum(tokens.of_block(block) for block in blocks if is_thinking(block))
        said = {"assistant": tokens.of_content(blocks) - thinking}
        return {**said, "thinking": thinking} if thinking else said
    if entry.form is not Form.FULL and kind is Kind.RESULTS:
        return {"stubs": tokens.of_content(blocks)}
    return {_OF_KIND[kind]: tokens.of_content(blocks)}


def scaled(parts: Parts, total: int) -> dict[str, int]:
    """The same shares, adding up to exactly `total` (largest remainders get the rest)."""
    whole = sum(parts.values())
    if not whole:
        return dict(parts)
    if len(parts) == 1:
        return dict.fromkeys(parts, total)
    exact = {name: value * total / whole for name, value in parts.items()}
    floors = {name: int(value) for name, value in exact.items()}
    missing = total - sum(floors.values())
    for name in sorted(exact, key=lambda name: floors[name] - exact[name])[:missing]:
        floors[name] += 1
    return floors
