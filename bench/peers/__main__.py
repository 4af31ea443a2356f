"""`make bench-peers`: every row, the tables, build/bench-peers.json."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from . import jobs, table
from .jobs import ALL, FAILING, OURS, Row
from .server import Office, office

OUT = Path("build/bench-peers.json")
WINDOWS = (20_000, 40_000, 200_000, 400_000)
AT_A_TIME = 2
"""Rows whose times do not count share the cores."""

Told = dict[str, Any]


def main() -> None:
    asked = _asked()
    present = [who for who in ALL if not asked.only or who in asked.only.split(",")]
    if not jobs.PEERS.exists():
        print(
            f"There is no {jobs.PEERS}: make bench-peers makes it. Only our own rows are measured.",
            file=sys.stderr,
        )
        present = [who for who in present if who in OURS]
    with office() as desk:
        told = dict(_groups(desk, present, asked))
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps({"about": _about(asked), "tables": told}, indent=1) + "\n", encoding="utf-8")
    for title, rows in told.items():
        print(f"\n### {title}\n")
        print("\n".join(table.lines(rows)))
        for row in rows:
            if row["state"] != "done":
                print(
                    f"{table.NAMES[row['who']]}, {row['fault'] or 'no fault'}: {row['state']}",
                    file=sys.stderr,
                )


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.peers", description="The long job, by us and by others."
    )
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--failing-turns", type=int, default=130)
    parser.add_argument(
        "--passes", type=int, default=3, help="So often the timed rows are measured, by turns."
    )
    parser.add_argument("--only", default="", help=f"Some of {','.join(ALL)}.")
    parser.add_argument("--quick", action="store_true", help="The first table only.")
    return parser.parse_args()


def _groups(
    desk: Office, present: Sequence[str], asked: argparse.Namespace
) -> Iterator[tuple[str, list[Told]]]:
    yield (
        "A perfect summariser",
        _timed(desk, [Row(who=who, turns=asked.turns) for who in present], asked.passes),
    )
    if asked.quick:
        return
    others = [who for who in present if who != "path"]
    lossy = [Row(who=who, turns=asked.turns, fault="summary_lossy") for who in others]
    yield "A summariser that drops every other line", _together(desk, lossy)
    failing = [_failing(who, fault, asked) for fault in FAILING for who in others]
    yield (
        f"A summariser that fails: ours {asked.turns} turns, others {asked.failing_turns}",
        _together(desk, failing),
    )
    yield "Other jobs", _together(desk, list(_other_jobs(others)))


def _failing(who: str, fault: str, asked: argparse.Namespace) -> Row:
    """Ours clears for so long that a short job never asks for a summary, so it gets the long one."""
    return Row(who=who, turns=asked.turns if who in OURS else asked.failing_turns, fault=fault)


def _other_jobs(present: Sequence[str]) -> Iterator[Row]:
    for width, turns in ((12, 25), (30, 10)):
        yield from (Row(who=who, turns=turns, width=width) for who in present)
    if "engine" in present:
        yield Row(who="engine", turns=60, wide=60_000)
        yield from (Row(who="engine", context=context) for context in WINDOWS)


def _timed(desk: Office, rows: Sequence[Row], passes: int) -> list[Told]:
    """Each row's middle pass by CPU. They take turns, so that load hits all."""
    taken: dict[Row, list[Told]] = {row: [] for row in rows}
    for _ in range(passes):
        for row, found in taken.items():
            found.append(_told(row, desk))
    return [_middle(found) for found in taken.values()]


def _middle(found: Sequence[Told]) -> Told:
    ranked = sorted(found, key=lambda told: told.get("cpu_ms") or 0.0)
    spread = [ranked[0].get("cpu_ms"), ranked[-1].get("cpu_ms")]
    return ranked[len(ranked) // 2] | {"cpu_spread": spread}


def _together(desk: Office, rows: Sequence[Row]) -> list[Told]:
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return [told | {"cpu_ms": None} for told in pool.map(lambda row: _told(row, desk), rows)]


def _told(row: Row, desk: Office) -> Told:
    told = jobs.done(row, desk)
    print("… " + " | ".join(table.cells(told)), file=sys.stderr, flush=True)
    return told


def _about(asked: argparse.Namespace) -> Told:
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "passes": asked.passes,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "load": " ".join(f"{load:.1f}" for load in os.getloadavg()),
        "versions": _versions(),
    }


def _versions() -> list[str]:
    if not jobs.PEERS.exists():
        return []
    asked = [str(jobs.PEERS), "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"]
    names = tuple(
        f"{name}==" for name in ("anthropic", "deepagents", "inspect_ai", "langchain", "pydantic-ai-slim")
    )
    listed = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    return [line for line in listed.splitlines() if line.startswith(names)]


if __name__ == "__main__":
    main()
