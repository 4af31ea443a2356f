"""What is printed: rows in Markdown, and what the budget asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .figures import Result, Spread

COST = (
    *(
        "runs",
        "workers × threads",
        "all at work after s",
        "alive",
        "turns/s (ideal)",
        "CPU ms a turn: workers",
    ),
    *(
        "pages",
        "Postgres",
        "Redis",
        "stand-in, viewers",
        "cores busy",
        "memory MB: workers",
        "pages",
        "in all",
    ),
    *("database kB a turn", "WAL kB a turn", "connections"),
)
WAITS = (
    *("runs", "workers", "event → 50 viewers p50 / p95 / p99 ms", "→ others", "POST p50 / p95 ms"),
    *("interrupt answered", "pause after the turn", "resume", "stop now", "unanswered"),
)
OURS = ("workers", "web", "postgres", "redis")
"""What counts as the product; the stand-in and the viewers are the world."""


ASKED = ("interrupt", "stop_now")
"""Calls that end for these reasons were ended by our own orders."""


def lines(results: Sequence[Result]) -> Iterator[str]:
    yield from _table(COST, [_cost(result) for result in results])
    yield ""
    yield from _table(WAITS, [_waits(result) for result in results])


def _table(head: Sequence[str], rows: Sequence[Iterator[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def _cost(result: Result) -> Iterator[str]:
    load, cpu, memory = result.load, result.cpu_ms_a_turn, result.memory
    yield f"{load.runs:,}"
    yield f"{load.workers} × {load.threads}"
    yield f"{result.up_s:.0f}"
    again = sum(count for why, count in result.lost.items() if why not in ASKED)
    yield f"{result.alive:,}" + (f", {again} calls made again" if again else "")
    yield f"{result.turns / result.seconds:.1f} ({load.ideal:.1f}), {result.share:.0%}"
    for name in ("workers", "web", "postgres", "redis"):
        yield f"{cpu[name]:.1f}"
    yield f"{cpu['llm']:.1f}, {cpu['viewers']:.1f}"
    yield f"{result.cores:.2f}"
    yield f"{memory.pss['workers'] / 1e6:.0f}"
    yield f"{memory.pss['web'] / 1e6:.0f}"
    yield f"{memory_of(result) / 1e6:.0f}"
    yield f"{result.database_bytes / max(result.turns, 1) / 1e3:.1f}"
    yield f"{result.wal_bytes / max(result.turns, 1) / 1e3:.1f}"
    yield str(memory.connections)


def _waits(result: Result) -> Iterator[str]:
    orders = result.orders
    yield f"{result.load.runs:,}"
    yield str(result.load.workers)
    yield _three(result.shared)
    yield _three(result.alone)
    for kind in ("post", "interrupt", "pause", "resume", "stop_now"):
        yield _two(orders.get(kind))
    yield str(result.unanswered)


def memory_of(result: Result) -> int:
    """Bytes of everything that is ours, shared pages counted once (PSS)."""
    return sum(result.memory.pss[name] for name in OURS)


def _three(found: Spread) -> str:
    return f"{found.p50:.0f} / {found.p95:.0f} / {found.p99:.0f}" if found.count else "–"


def _two(found: Spread | None) -> str:
    return f"{found.p50:.0f} / {found.p95:.0f}" if found and found.count else "–"


def verdicts(result: Result) -> Iterator[Mapping[str, Any]]:
    """The budget's rows (design), for the row that asks most."""
    prompt = [result.orders[kind] for kind in ("interrupt", "pause", "stop_now") if kind in result.orders]
    yield _verdict("runs not alive", result.load.runs - result.alive, 0)
    yield _verdict("memory in all, MB", memory_of(result) / 1e6, 1500)
    yield _verdict("orders answered, p95 ms", max((one.p95 or 0 for one in prompt), default=0), 1000)
    yield _verdict("orders without an answer", result.unanswered, 0)
    yield _verdict("event → browser, 50 viewers, p95 ms", result.shared.p95 or 0, 100)


def _verdict(what: str, figure: float, most: float) -> Mapping[str, Any]:
    return {"what": what, "figure": round(figure, 1), "most": most, "ok": figure <= most}
