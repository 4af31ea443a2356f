"""What a run has come to so far, kept in its row by the transaction of each write: no page adds it up.

{"turns", "compactions", "clearings", "offloads", "tokens": {"input", "output", "cache_read", "cache_write"},
"cost", "lost", "window": {"limit", "max", "final"}}; cost is in microdollars, and so is lost, the part of it
that went for attempts that came to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.engine.events import Edit, Usage

COUNTS = ("turns", "compactions", "clearings", "offloads", "cost", "lost")


@dataclass(slots=True, kw_only=True)
class Sums:
    turns: int = 0
    compactions: int = 0
    clearings: int = 0
    offloads: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: int = 0
    lost: int = 0
    limit: int = 0
    window_max: int = 0
    window_final: int = 0

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Sums:
        if not stored:
            return cls()
        window = stored["window"]
        counts = {name: stored[name] for name in COUNTS}
        sizes = {"limit": window["limit"], "window_max": window["max"], "window_final": window["final"]}
        return cls(**counts, **stored["tokens"], **sizes)

    def json(self) -> dict[str, Any]:
        tokens = {"input": self.input, "output": self.output}
        tokens |= {"cache_read": self.cache_read, "cache_write": self.cache_write}
        counts = {"turns": self.turns, "compactions": self.compactions, "clearings": self.clearings}
        window = {"limit": self.limit, "max": self.window_max, "final": self.window_final}
        counts |= {"offloads": self.offloads}
        return counts | {"tokens": tokens, "cost": self.cost, "lost": self.lost, "window": window}

    def spend(self, usage: Usage, cost: int) -> None:
        self.input += usage.input
        self.output += usage.output
        self.cache_read += usage.cache_read
        self.cache_write += usage.cache_write + usage.cache_write_1h
        self.cost += cost

    def see_window(self, tokens: int, limit: int) -> None:
        self.limit = limit or self.limit
        self.window_final = tokens
        self.window_max = max(self.window_max, tokens)

    def count_edit(self, edit: Edit) -> None:
        if edit.kind == "compact":
            self.compactions += 1
        elif edit.kind == "offload":
            self.offloads += 1
        elif edit.kind == "clear_results":
            self.clearings += 1
