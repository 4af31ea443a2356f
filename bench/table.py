"""What is printed: one line a row, and beside each time how many times the SDK's raw call it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

HEAD = (
    *("who", "turns", "CPU ms", "x SDK", "wall ms", "CPU first/last tenth", "RSS MB", "prompt Mtok"),
    *("cache read", "cost M", "clear/compact/failed", "facts seen", "+ recall", "DB/messages"),
)


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """The table in Markdown."""
    base = next((row["cpu_ms"]["mean"] for row in rows if row["row"] == "bare"), 0.0)
    yield "| " + " | ".join(HEAD) + " |"
    yield "|---" * len(HEAD) + "|"
    for row in rows:
        yield "| " + " | ".join(_cells(row, base)) + " |"


def _cells(row: Row, base: float) -> Iterator[str]:
    cpu, tokens, size = row["cpu_ms"], row["tokens"], row["bytes"]
    prompt = tokens["input"] + tokens["cache_write"] + tokens["cache_read"]
    yield _name(row)
    yield str(row["turns"]) if row["state"] == "done" else f"{row['turns']} ({row['state']})"
    yield f"{cpu['mean']:.1f}"
    yield f"{cpu['mean'] / base:.1f}" if base else ""
    yield f"{row['wall_ms']['mean']:.1f}"
    yield f"{cpu['first_tenth']:.1f} / {cpu['last_tenth']:.1f}"
    yield f"{row['rss_mb']['before']:.0f} → {row['rss_mb']['peak']:.0f}"
    yield f"{prompt / 1e6:.2f}"
    yield f"{row['cache_read_share']:.1%}"
    yield f"{row['cost_m']:.2f}"
    yield f"{row['clearings']}/{row['compactions']}/{row['failed_summaries']}"
    yield _facts(row, "seen")
    yield _facts(row, "recalled")
    yield f"{size['database'] / size['messages']:.2f}" if size["messages"] else ""


def _name(row: Row) -> str:
    names = {"bare": "SDK's raw call", "engine": "engine alone", "path": "whole path"}
    fault = row["fault"].replace("summary_", "summaries ").replace("_", " ")
    parts = [names[row["row"]], fault, "" if row["policy"] == "default" else row["policy"]]
    return ", ".join(part for part in parts if part)


def _facts(row: Row, name: str) -> str:
    found, planted = row["facts"][name], row["facts"]["planted"]
    total, all_ = sum(found.values()), sum(planted.values())
    return f"{total}/{all_} (keyed {found['keyed']}/{planted['keyed']})"


def verdicts(rows: Sequence[Row]) -> Iterator[Mapping[str, Any]]:
    """What the budget asks for, and what was measured. Times of a busy machine prove nothing either way."""
    for row in rows:
        if row["fault"] or row["row"] == "bare":
            continue
        cpu_most = 5 if row["row"] == "engine" else 10
        yield _verdict(f"{_name(row)}: CPU ms a turn", row["cpu_ms"]["mean"], cpu_most)
        if row["row"] == "path":
            yield _verdict("whole path: wall ms a turn beyond the llm", row["wall_ms"]["mean"], 25)
            yield _verdict(
                "whole path: database / message bytes",
                row["bytes"]["database"] / row["bytes"]["messages"],
                1.2,
            )
        if row["turns_asked"] == 300:
            yield _verdict(f"{_name(row)}: cost in M base input tokens", row["cost_m"], 1.8)
        if row["turns_asked"] == 1000:
            yield _verdict(f"{_name(row)}: cost of 1,000 turns", row["cost_m"], 6.2)
        if row["turns_asked"] >= 3000:
            growth = row["cpu_ms"]["last_tenth"] / row["cpu_ms"]["first_tenth"]
            yield _verdict(f"{_name(row)}: last / first tenth of {row['turns_asked']:,} turns", growth, 1.1)
        written = row["tokens"]["cache_write"] + row["tokens"]["input"]
        yield _verdict(
            f"{_name(row)}: share written anew without need", row["tokens"]["rewritten"] / written, 0.02
        )


def _verdict(what: str, figure: float, most: float) -> Mapping[str, Any]:
    return {"what": what, "figure": round(figure, 3), "most": most, "ok": figure <= most}
