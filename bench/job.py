"""What is measured, and what came out: plain values that pass from a child process to the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from runs.engine.events import Usage

LIMIT = 100_000
"""Tokens of the window, as in the comparison with other harnesses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """`row` is who does it: bare, engine or path. `fault` is a fault of the rehearsal, like summary_lossy."""

    row: str
    turns: int = 300
    fault: str = ""
    policy: str = "default"

    @property
    def llm(self) -> str:
        return f"rehearsal/job-{self.turns}" + (f"+{self.fault}" if self.fault else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Facts that were planted, that stand in the last request, and that one recall brings back; keyed and prose."""

    planted: tuple[int, int] = (0, 0)
    seen: tuple[int, int] = (0, 0)
    recalled: tuple[int, int] = (0, 0)

    def told(self) -> dict[str, Any]:
        names = ("planted", "seen", "recalled")
        return {name: {"keyed": getattr(self, name)[0], "prose": getattr(self, name)[1]} for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Times are milliseconds a turn beyond the stand-in's own; sizes are bytes, RSS in MB.

    `rewritten` are tokens paid as new although the request before held them.
    """

    job: Job
    turns: int
    state: str
    cpu_ms: Sequence[float]
    wall_ms: Sequence[float]
    rss_before: float
    rss_peak: float
    usage: Usage
    rewritten: int = 0
    window_max: int = 0
    clearings: int = 0
    compactions: int = 0
    failed: int = 0
    reach: Reach = Reach()
    database: int = 0
    messages: int = 0
    extra: dict[str, Any] = field(default_factory=dict)

    def told(self) -> dict[str, Any]:
        """The result as JSON."""
        usage = self.usage
        return {
            "row": self.job.row,
            "turns_asked": self.job.turns,
            "fault": self.job.fault,
            "policy": self.job.policy,
            "turns": self.turns,
            "state": self.state,
            "cpu_ms": _about(self.cpu_ms),
            "wall_ms": _about(self.wall_ms),
            "rss_mb": {"before": self.rss_before, "peak": self.rss_peak},
            "tokens": {
                "input": usage.input,
                "cache_write": usage.cache_write + usage.cache_write_1h,
                "cache_read": usage.cache_read,
                "output": usage.output,
                "rewritten": self.rewritten,
            },
            "cache_read_share": round(usage.cache_read / max(1, usage.prompt), 4),
            "cost_m": round(cost_m(usage), 3),
            "window_max": self.window_max,
            "clearings": self.clearings,
            "compactions": self.compactions,
            "failed_summaries": self.failed,
            "facts": self.reach.told(),
            "bytes": {"database": self.database, "messages": self.messages},
        } | self.extra


def cost_m(usage: Usage) -> float:
    """Millions of base input tokens: input + 1.25 written + 0.1 read + 5 output."""
    written = 1.25 * usage.cache_write + 2 * usage.cache_write_1h
    return (usage.input + written + 0.1 * usage.cache_read + 5 * usage.output) / 1_000_000


def _about(samples: Sequence[float]) -> dict[str, float]:
    """Mean of all turns, and of the first and the last tenth."""
    tenth = max(1, len(samples) // 10)
    parts = {"mean": samples, "first_tenth": samples[:tenth], "last_tenth": samples[-tenth:]}
    return {name: round(sum(part) / max(1, len(part)), 2) for name, part in parts.items()}
