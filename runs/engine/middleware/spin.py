"""Spin: work that goes round in circles. A nudge for the same call at first; then the run is paused.

Four circles, of turns since a person last spoke: the same calls with the same results; two to four turns that repeat
three times; turns that bring no result which was not there before; inputs that fit no tool. Durations are no part of
a result: the same command never takes the same time.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence

from ..errors import Spinning, UnfitInputs
from ..events import Event, NoticeGiven, SpinSeen
from ..messages import Block, Kind, Message, calls_of, canonical, result_text, results_of, sha256
from ..tools.toolbox import UNFIT
from ..window.head import notice
from ..window.versions import Window
from .base import Technique

NUDGE = (
    "The last {times} calls of {name} were the same and gave the same result. "
    "Try something else, or say what blocks you."
)
PERIODS, CYCLES = (2, 3, 4), 3
NO_NEWS = 15
"""Turns without a new result. Source of these three: the house's rules for loops (reliability.md §3g)."""

UNFIT_TURNS = 3

_CHANGES = frozenset({"write_file", "edit_file", "take_note", "update_note"})
"""What they change is news, however alike their answers are."""

_SILENT = re.compile(r"exit code 0 · [\d.]+ s · 0 bytes, 0 omitted")
"""A command that ended well and printed nothing is meant to change something too."""

_DURATION = re.compile(r"\d(?<!\w\d)\d*(?:\.\d+)? ?(?:ms|s|sec|seconds?)\b")
"""Begins with what it looks for, a digit, so that all other places are passed over quickly."""


class Spin(Technique):
    """Counts from the archive's messages in the window, each once, so a worker that takes a run up counts on."""

    name = "spin"

    def __init__(self) -> None:
        self._counted = 0
        self._forget()

    def _forget(self) -> None:
        """A person spoke: what was before is no circle any more."""
        self._turns: deque[str] = deque(maxlen=max(PERIODS) * CYCLES)
        self._seen: set[str] = set()
        self._asked: Sequence[Block] = ()
        self._name = ""
        self._alike = self._stale = self._unfit = 0

    def after_turn(self, window: Window) -> Iterator[Event]:
        policy = self.desk.policy.valves
        if not self._count(window):
            return
        trouble = self._circle(policy.spin_pause) if policy.spin_pause else None
        if trouble:
            times, error = trouble
            yield SpinSeen(turn=self.desk.turn, name=self._name, times=times)
            raise error
        if policy.spin_nudge and self._alike == policy.spin_nudge:
            yield SpinSeen(turn=self.desk.turn, name=self._name, times=self._alike)
            words = NUDGE.format(times=self._alike, name=self._name)
            line = notice(self.desk.numbers.message, self.desk.turn, words)
            yield NoticeGiven(turn=self.desk.turn, message=line)
            window.append(line)
            self.desk.numbers.message += 1

    def _circle(self, most: int) -> tuple[int, Spinning] | None:
        """How often, and what a person is told; None while the work moves on."""
        ask = "Say what to do instead, or resume."
        if self._alike >= most:
            return self._alike, Spinning(
                f"{self._name} was called {self._alike} times with the same result. {ask}"
            )
        if self._unfit >= UNFIT_TURNS:
            told = f"{self._unfit} turns in a row called tools with inputs that do not fit them. {ask}"
            return self._unfit, UnfitInputs(told)
        period = next((period for period in PERIODS if self._repeats(period)), 0)
        if period:
            return CYCLES, Spinning(f"The last {period} turns came {CYCLES} times in the same order. {ask}")
        if self._stale >= NO_NEWS:
            return self._stale, Spinning(f"The last {self._stale} turns brought no new result. {ask}")
        return None

    def _repeats(self, period: int) -> bool:
        last = list(self._turns)[-period * CYCLES :]
        circle = last[:period]
        return len(last) == period * CYCLES and last == circle * CYCLES and len(set(circle)) > 1

    def _count(self, window: Window) -> int:
        """Each message is looked at once; those of an edit's head are the product's, and no turns. How many turns with
        calls were new."""
        turns = 0
        for number in range(self._counted + 1, window.upto + 1):
            message = window.messages.get(number)
            if message is None:
                continue
            if message.kind is Kind.SAY:
                self._forget()
            elif message.kind is Kind.ANSWER:
                self._asked = calls_of(message.content)
            elif message.kind is Kind.RESULTS and self._asked:
                turns += self._turn(message)
        self._counted = window.upto
        return turns

    def _turn(self, results: Message) -> bool:
        given = {block["tool_use_id"]: block for block in results_of(results.content)}
        pairs = [(call, given[call["id"]]) for call in self._asked if call["id"] in given]
        if not pairs:
            return False
        self._name = pairs[0][0]["name"]
        gave = [_hash(_bare(result)) for _, result in pairs]
        turn = _hash(
            [[call["name"], call["input"], what] for (call, _), what in zip(pairs, gave, strict=True)]
        )
        self._alike = self._alike + 1 if self._turns and self._turns[-1] == turn else 1
        self._turns.append(turn)
        news = [self._is_news(*pair, what) for pair, what in zip(pairs, gave, strict=True)]
        self._stale = 0 if any(news) else self._stale + 1
        unfit = all(result_text(result).startswith(UNFIT) for _, result in pairs)
        self._unfit = self._unfit + 1 if unfit else 0
        return True

    def _is_news(self, call: Block, result: Block, gave: str) -> bool:
        found = {gave}
        acts = call["name"] in _CHANGES or _SILENT.fullmatch(result_text(result))
        if acts and not result.get("is_error"):
            found.add(_hash([call["name"], call["input"]]))
        news = bool(found - self._seen)
        self._seen |= found
        return news


def _bare(result: Block) -> str:
    return _DURATION.sub("", result_text(result))


def _hash(value: object) -> str:
    return sha256(canonical(value))
