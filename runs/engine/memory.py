"""Twins in memory of everything outside: what engine tests, cases and benchmarks run on."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from .messages import Message, result_text, results_of, texts_of
from .ports import Cancel, Hit


@dataclass(slots=True)
class MemoryFiles:
    """RunFiles as a dict."""

    texts: dict[str, str] = field(default_factory=dict)

    def write(self, name: str, text: str) -> None:
        self.texts[name] = text

    def read(self, name: str) -> str | None:
        return self.texts.get(name)

    def names(self) -> Sequence[str]:
        return sorted(self.texts)


@dataclass(slots=True)
class MemoryHistory:
    """History over a list; search finds lines that hold every word."""

    messages: list[Message] = field(default_factory=list)

    def message(self, number: int) -> Message:
        return next(message for message in self.messages if message.number == number)

    def of_turn(self, turn: int) -> Sequence[Message]:
        return [message for message in self.messages if message.turn == turn]

    def search(self, query: str, k: int) -> Sequence[Hit]:
        words = query.casefold().split()
        hits: list[Hit] = []
        for message in self.messages:
            parts = [texts_of(message.content), *map(result_text, results_of(message.content))]
            lines = "\n".join(parts).splitlines()
            for at, line in enumerate(lines):
                if words and all(word in line.casefold() for word in words):
                    around = "\n".join(lines[max(0, at - 2) : at + 3])
                    kind = message.kind.value
                    hits.append(
                        Hit(turn=message.turn, message=message.number, kind=kind, text=around, score=1.0)
                    )
        return hits[:k]


class SystemClock:
    """The machine's clock; a wait ends at once when cancelled."""

    def now_ms(self) -> int:
        return int(time.time() * 1000)

    def sleep(self, seconds: float, cancel: Cancel) -> None:
        woken = threading.Event()
        forget = cancel.on_cancel(woken.set)
        woken.wait(seconds)
        forget()


@dataclass(slots=True)
class ManualClock:
    """A clock that only moves when somebody sleeps."""

    ms: int = 0

    def now_ms(self) -> int:
        return self.ms

    def sleep(self, seconds: float, cancel: Cancel) -> None:
        self.ms += round(seconds * 1000)
