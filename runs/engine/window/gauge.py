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
from .forms import is_thinking
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The truth of one answer: the whole prompt of (version, upto)."""

    version: int
    upto: int
    prompt: int


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
    _raw: dict[tuple[int, Form], dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fixed = {
            "system": tokens.of_content(self.frame.system),
            "tools": sum(tokens.estimate(str(tool)) for tool in self.frame.tools),
        }

    def share(self, entry: Entry, blocks: Sequence[Block]) -> int:
        """Tokens of an entry in its form: measured where usage told, else estimated and corrected."""
        return sum(self._shares(entry, blocks).values())

    def read(self, version: int, upto: int, entries: Iterable[tuple[Entry, Sequence[Block]]]) -> Reading:
        """The window's tokens and parts. Exact when (version, upto) is what the last usage was counted on."""
        parts = dict.fromkeys(PARTS, 0)
        for name, raw in self.fixed.items():
            parts[name] += round(raw * self.ratio)
        new = 0
        for entry, blocks in entries:
            shares = self._shares(entry, blocks)
            for name, value in shares.items():
                parts[name] += value
            if self.last and entry.message.number > self.last.upto:
                new += sum(shares.values())
        known = self.last if self.last and self.last.version == version and self.last.upto <= upto else None
        total = known.prompt + new if known else sum(parts.values())
        return Reading(tokens=total, parts=scaled(parts, total), estimated=not known or known.upto != upto)

    def learn(
        self, version: int, upto: int, usage: Usage, entries: Sequence[tuple[Entry, Sequence[Block]]]
    ) -> None:
        """Take in what one answer's usage says about the window it was asked with."""
        before, self.last = self.last, Measured(version=version, upto=upto, prompt=usage.prompt)
        if before and before.version == version:
            self._learn_tail(usage.prompt - before.prompt, [pair for pair in entries if self._is_new(pair[0], before)])
        raw = sum(self.fixed.values()) + sum(sum(self._raw_of(*pair).values()) for pair in entries)
        self.ratio = min(2.0, max(0.5, usage.prompt / raw)) if raw else 1.0

    def carry(self, measured: Measured, version: int) -> None:
        """An edit touched only what came after `measured`: what usage told holds for the new version too."""
        self.last = Measured(version=version, upto=measured.upto, prompt=measured.prompt)

    def _is_new(self, entry: Entry, before: Measured) -> bool:
        return entry.message.number > before.upto and entry.form is Form.FULL

    def _learn_tail(self, gained: int, new: Sequence[tuple[Entry, Sequence[Block]]]) -> None:
        """Split what the prompt gained over the messages that were new in it; answers are known from their output."""
        weights = {entry.message.number: self.share(entry, blocks) for entry, blocks in new}
        answers = {entry.message.number for entry, _ in new if entry.message.kind is Kind.ANSWER}
        rest = gained - sum(weights[number] for number in answers)
        whole = sum(weight for number, weight in weights.items() if number not in answers)
        if whole <= 0 or rest <= 0:
            return
        for number in weights.keys() - answers:
            self.known[number] = max(1, round(rest * weights[number] / whole))

    def _shares(self, entry: Entry, blocks: Sequence[Block]) -> dict[str, int]:
        raw = self._raw_of(entry, blocks)
        known = self._known(entry.message) if entry.form is Form.FULL else 0
        if known:
            return scaled(raw, known)
        return {name: round(value * self.ratio) for name, value in raw.items()}

    def _known(self, message: Message) -> int:
        if message.number in self.known:
            return self.known[message.number]
        return message.tokens if message.counted is Counted.USAGE else 0

    def _raw_of(self, entry: Entry, blocks: Sequence[Block]) -> dict[str, int]:
        key = (entry.message.number, entry.form)
        if key not in self._raw:
            self._raw[key] = _by_part(entry, blocks)
        return self._raw[key]


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
