"""`python -m bench`: measure, print the table, write build/bench.json."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from . import table

OUT = Path("build/bench.json")
PACKAGES = ("agentdash-cockpit", "anthropic", "httpx2", "Django", "celery", "channels", "pydantic")


def main() -> None:
    asked = _asked()
    rows = [*_timed(asked.turns, asked.passes), *_untimed(asked.turns, asked.long)]
    told = {"about": _about(asked), "rows": rows, "budget": list(table.verdicts(rows))}
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    print("\n".join(table.lines(rows)))
    for verdict in told["budget"]:
        sign = "ok  " if verdict["ok"] else "OVER"
        print(f"{sign} {verdict['what']}: {verdict['figure']:g} (at most {verdict['most']:g})")
    print(f"Load {told['about']['load']}; all figures are in {OUT}.")


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure the long job of the rehearsal."
    )
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument(
        "--passes", type=int, default=3, help="The timed rows are measured so often, by turns."
    )
    parser.add_argument("--long", action="store_true", help="1,000 and 3,000 turns too (some minutes more).")
    return parser.parse_args()


def _timed(turns: int, passes: int) -> list[dict[str, Any]]:
    """Each row in the middle of its passes: the one whose CPU is the median. They take turns, so load hits all."""
    taken: dict[str, list[dict[str, Any]]] = {"bare": [], "engine": [], "path": []}
    for _ in range(passes):
        for name, found in taken.items():
            found.append(_measured(row=name, turns=turns))
    return [_middle(found) for found in taken.values()]


def _middle(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    ranked = sorted(found, key=lambda row: row["cpu_ms"]["mean"])
    wall = median(row["wall_ms"]["mean"] for row in found)
    middle = ranked[len(ranked) // 2]
    spread = [ranked[0]["cpu_ms"]["mean"], ranked[-1]["cpu_ms"]["mean"]]
    return middle | {"wall_ms": middle["wall_ms"] | {"mean": round(wall, 2)}, "cpu_spread": spread}


def _untimed(turns: int, long: bool) -> Iterator[dict[str, Any]]:
    """What summaries are worth: lossy ones, failing ones; and, if wished, what many turns come to."""
    yield _measured(row="engine", turns=turns, fault="summary_lossy")
    yield _measured(row="engine", turns=turns, fault="summary_empty")
    if long:
        yield _measured(row="engine", turns=1000)
        yield _measured(row="engine", turns=3000)
        yield _measured(row="path", turns=3000)


def _measured(**job: Any) -> dict[str, Any]:
    """One row, in a process of its own."""
    print(f"… {' '.join(str(value) for value in job.values())}", file=sys.stderr, flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "bench.one", json.dumps(job)], stdout=subprocess.PIPE, check=True
    )
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def _about(asked: argparse.Namespace) -> dict[str, Any]:
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "turns": asked.turns,
        "passes": asked.passes,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "load": " ".join(f"{load:.1f}" for load in os.getloadavg()),
        "versions": {name: version(name) for name in PACKAGES},
    }


if __name__ == "__main__":
    main()
