"""`python -m tests.cases FILE [--json]`: a line a case, exit 1 if any fails."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .checks import failures
from .expand import load
from .operations import OPERATIONS, outcomes


def verdict(case: Mapping[str, Any]) -> dict[str, Any]:
    """{"id", "pass", "problems"} of one case; an operation that is not known fails it."""
    if case["operation"] not in OPERATIONS:
        return {"id": case["id"], "pass": False, "problems": [f"no operation {case['operation']!r}"]}
    found = [wrong for outcome in outcomes(case) for wrong in failures(outcome, case["checks"])]
    return {"id": case["id"], "pass": not found, "problems": found}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cases", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true", help="a JSON line a case")
    parser.add_argument("--only", nargs="*", help="ids of the cases to run")
    given = parser.parse_args()
    cases = [case for case in load(given.file) if not given.only or case["id"] in given.only]
    verdicts = [verdict(case) for case in cases]
    for one in verdicts:
        mark = "ok  " if one["pass"] else "FAIL"
        sys.stdout.write(
            (json.dumps(one) if given.json else f"{mark} {one['id']} {'; '.join(one['problems'])}") + "\n"
        )
    return 0 if all(one["pass"] for one in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
