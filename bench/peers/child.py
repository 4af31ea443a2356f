"""What a harness finds when it runs: its address, its pieces, its clock. Needs the standard library only."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LLM = "claude-sonnet-4-6"
MAX_TOKENS = 4_096
SYSTEM = "You read pieces of text, one after the other, with the tool read_piece."


@dataclass(slots=True)
class Clock:
    """CPU of this process, every thread, from mark to mark; the first ones are warming up and do not count."""

    marks: list[float] = field(default_factory=list)

    def mark(self) -> None:
        self.marks.append(time.process_time())

    def per_mark(self, warm: int = 5) -> float:
        """Mean of the rest in ms, 0 where there is none."""
        if len(self.marks) <= warm + 1:
            return 0.0
        return 1000 * (self.marks[-1] - self.marks[warm]) / (len(self.marks) - warm - 1)


CLOCK = Clock()
"""Marked once for each piece that is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """`url` is the server, `folder` the workspace with the pieces, `mark` tokens at which to compact."""

    url: str
    folder: str
    turns: int
    goal: str
    context: int
    mark: int
    width: int = 1

    def read(self, path: str) -> str:
        CLOCK.mark()
        return (Path(self.folder) / path).read_text(encoding="utf-8")

    @property
    def most_calls(self) -> int:
        return 2 * self.turns + 60


def main(do: Callable[[Errand], dict[str, Any] | None]) -> None:
    """Do the errand given as JSON, and tell how it ended and what it took."""
    errand = Errand(**json.loads(sys.argv[1]))
    os.environ |= {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": errand.url}
    before = _rss()
    told: dict[str, Any] = {"state": "done"}
    try:
        told |= do(errand) or {}
    except BaseException as error:  # a harness may end in any way: that it did is the figure
        told["state"] = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
    told = {"cpu_ms": round(CLOCK.per_mark() * errand.width, 2), "rss_mb": [before, _rss()]} | told
    print(json.dumps(told), flush=True)
    os._exit(0)


def _rss() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
