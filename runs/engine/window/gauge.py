"""How full the window is, and with what: from one source, for gauge, chart, thresholds and shares alike.

The usage of the last answer is the truth about the (version, upto) it was counted on; only what came after is
estimated, with the estimator corrected by what this run's usage taught. A share belongs to (message, form).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .. import tokens
from ..events import PARTS, Form, Frame, Parts, Usage
from ..messages import Block, Counted, Kind, Message
from .lines import is_thinking
from .versions import Entry

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
class Gauge:
    """The accounting of one run's window. `known` are tokens of full messages that usage has told."""

    frame: Frame
    last: Measured | None = None
    ratio: float = 1.0
    known: dict[int, int] = field(default_factory=dict)
    fixed: dict[str, int] = field(default_factory=dict)
    _raw: dict[tuple[int, Form], tuple[Message, dict[str, int]]] = field(default_factory=dict)
    _told: dict[int, tuple[Message, int, dict[str, int]]] = field(default_factory=dict)

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
        entries: Iterable[tuple[Entry, Sequence[Block]]],
        last: Measured | None = None,
    ) -> Reading:
        """The window's tokens and parts, from `last` (the last usage when not given) on; exact when (version, upto)
        is what that was counted on."""
        last = last or self.last
        known = last if last and last.version == version and last.upto <= upto else None
        parts = dict.fromkeys(PARTS, 0)
        for name, raw in self.fixed.items():
            parts[name] += round(raw * self.ratio)
        new = 0
        for entry, blocks in entries:
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

    def learn(
        self, version: int, upto: int, usage: Usage, entries: Sequence[tuple[Entry, Sequence[Block]]]
    ) -> None:
        """Take in what one answer's usage says about the window it was asked with."""
        before, self.last = self.last, Measured(version=version, upto=upto, prompt=usage.prompt)
        if before and before.counted and before.version == version:
            new = [pair for pair in entries if pair[0].message.number > before.upto]
            self._learn_tail(usage.prompt - before.prompt, new)
        raw = sum(self.fixed.values()) + sum(sum(self._raw_of(*pair).values()) for pair in entries)
        self.ratio = min(MOST_RATIO, max(1 / MOST_RATIO, usage.prompt / raw)) if raw else 1.0

    def _learn_tail(self, gained: int, new: Sequence[tuple[Entry, Sequence[Block]]]) -> None:
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

    def _shares(self, entry: Entry, blocks: Sequence[Block]) -> dict[str, int]:
        known = self._known(entry.message) if entry.form is Form.FULL else 0
        if not known:
            return {name: round(value * self.ratio) for name, value in self._raw_of(entry, blocks).items()}
        told = self._told.get(entry.message.number)
        if told is None or told[0] is not entry.message or told[1] != known:
            told = (entry.message, known, scaled(self._raw_of(entry, blocks), known))
            self._told[entry.message.number] = told
        return told[2]

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
        return {"assistant": tokens.of_content(blocks) - thinking, "thinking": thinking}
    if entry.form is not Form.FULL and kind is Kind.RESULTS:
        return {"stubs": tokens.of_content(blocks)}
    return {_OF_KIND[kind]: tokens.of_content(blocks)}


def scaled(parts: Parts, total: int) -> dict[str, int]:
    """The same shares, adding up to exactly `total` (largest remainders get the rest)."""
    whole = sum(parts.values())
    if not whole:
        return dict(parts)
    exact = {name: value * total / whole for name, value in parts.items()}
    floors = {name: int(value) for name, value in exact.items()}
    missing = total - sum(floors.values())
    for name in sorted(exact, key=lambda name: floors[name] - exact[name])[:missing]:
        floors[name] += 1
    return floors
