"""What is printed: one line a row, and beside each figure how many times ours it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Told = Mapping[str, Any]

NAMES = {
    "engine": "agentdash, engine",
    "path": "agentdash, whole path with store",
    "runner": "SDK tool runner, on-demand compaction",
    "pydantic_ai": "pydantic-ai, AnthropicCompaction",
    "deepagents": "deepagents, defaults",
    "inspect_ai": "inspect-ai, CompactionSummary",
}
HEAD = (
    *("who", "last turn", "CPU ms a turn", "RSS MB", "requests", "prompt Mtok", "cache read", "cost M"),
    *("edits", "longest", "400s of its making / too long", "facts in the request", "or one recall away"),
)


def lines(rows: Sequence[Told]) -> Iterator[str]:
    """A table in Markdown; ratios against our engine where it is among the rows."""
    ours = next((row for row in rows if row["who"] == "engine"), None)
    yield "| " + " | ".join(HEAD) + " |"
    yield "|---" * len(HEAD) + "|"
    for row in rows:
        yield "| " + " | ".join(cells(row, ours)) + " |"


def cells(row: Told, ours: Told | None = None) -> Iterator[str]:
    yield ", ".join([NAMES[row["who"]], *_job(row)])
    yield f"{row['turn']}" if row["state"] == "done" else f"{row['turn']} (died)"
    yield _times(row, ours, "cpu_ms", 1)
    yield " → ".join(f"{size:.0f}" for size in row.get("rss_mb", ()))
    yield f"{row['requests']}" + (f" + {row['counted']} counts" if row["counted"] else "")
    yield f"{row['prompt_m']:.2f}"
    yield f"{row['cache_read']:.1%}"
    yield _times(row, ours, "cost_m", 2)
    yield _edits(row)
    yield f"{row['longest'] / 1000:.1f}k"
    yield f"{row['bad_requests']} / {row['too_long']}"
    yield f"{row['seen']}/{row['planted']} (keyed {row['seen_keyed']}/{row['keyed']})"
    yield f"{row['reach']}/{row['planted']}"


def _job(row: Told) -> Iterator[str]:
    if row["fault"]:
        yield row["fault"].replace("summary_", "summaries ")
    if row["width"] > 1:
        yield f"{row['width']} reads a turn"
    if row["wide"]:
        yield f"{row['wide'] // 1000} kB tool inputs"
    if row["context"] != 100_000:
        yield f"limit {row['context'] // 1000}k"


def _times(row: Told, ours: Told | None, name: str, digits: int) -> str:
    """The figure and its ratio to ours; a dash where it was not measured."""
    value = row.get(name)
    if not value:
        return "–"
    base = (ours or {}).get(name)
    ratio = f" (× {value / base:.2f})" if base and row is not ours else ""
    return f"{value:.{digits}f}{ratio}"


def _edits(row: Told) -> str:
    failed = f", {row['bad_summaries']} failed" if row["bad_summaries"] else ""
    if "clearings" in row:
        return f"{row['clearings']} clearings, {row['compactions']} compactions{failed}"
    return f"{row['summaries']} summaries{failed}"
