"""`python -m bench.scale`: measure, print the table, write build/bench-scale.json.

Without sizes: 10, 100 and 1,000 runs on two workers, and 1,000 on one and on four; under twelve minutes.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tests.chaos.servers import missing

from . import machine, table
from .house import Ground
from .load import Load
from .row import row

OUT = Path("build/bench-scale.json")
PACKAGES = (
    *("agentdash-cockpit", "anthropic", "httpx2", "Django", "celery", "channels", "channels_redis"),
    *("uvicorn", "psycopg", "redis"),
)
GRID = ((10, 2), (100, 2), (1000, 2), (1000, 1), (1000, 4))


def main() -> int:
    asked = _asked()
    if lacking := missing():
        print(f"The bench needs {lacking}. On Debian or Ubuntu: sudo apt install {lacking}", file=sys.stderr)
        return 2
    for number in (signal.SIGTERM, signal.SIGINT):  # whoever ends the bench ends its processes
        signal.signal(number, lambda *_: sys.exit(130))
    began = machine.about()
    with Ground() as ground:
        results = [row(ground, load) for load in _loads(asked)]
    most = max(results, key=lambda result: (result.load.runs, -abs(result.load.workers - 2)))
    about = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        **began,
        "load_after": machine.about()["load"],
        "versions": {name: version(name) for name in PACKAGES},
    }
    budget = list(table.verdicts(most))
    OUT.parent.mkdir(exist_ok=True)
    told = {"about": about, "rows": [result.json() for result in results], "budget": budget}
    OUT.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    print("\n".join(table.lines(results)))
    print(f"\n{most.load.runs:,} runs on {most.load.workers} workers:")
    for verdict in budget:
        sign = "ok  " if verdict["ok"] else "OVER"
        print(f"{sign} {verdict['what']}: {verdict['figure']:g} (at most {verdict['most']:g})")
    print(f"{about['at']} · {about['cores']} cores · {about['system']} · load {about['load']}")
    print(f"All figures are in {OUT}.")
    return 0


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--runs", type=int, help="One row of so many runs instead of the grid.")
    parser.add_argument("--workers", type=int, help="Worker processes of that row (2).")
    parser.add_argument("--viewers", type=int, default=200)
    parser.add_argument(
        "--seconds", type=float, default=60, help="Measured for so long once all runs are at work."
    )
    parser.add_argument("--answer", type=float, default=20, help="Seconds that the llm takes for an answer.")
    parser.add_argument(
        "--pieces", type=int, default=20, help="Pieces in which an answer arrives, at least 4."
    )
    return parser.parse_args()


def _loads(asked: argparse.Namespace) -> Iterator[Load]:
    given = asked.runs or asked.workers
    grid = ((asked.runs or 1000, asked.workers or 2),) if given else GRID
    for runs, workers in grid:
        yield Load(
            runs=runs,
            workers=workers,
            viewers=asked.viewers,
            seconds=asked.seconds,
            answer_s=asked.answer,
            pieces=max(asked.pieces, 4),
        )


if __name__ == "__main__":
    sys.exit(main())
